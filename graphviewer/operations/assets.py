"""Asset files of a SavedModel: the tensors that hold their paths, and where the files lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.formats.locate import saved_model_of
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint, parse_input

_FOLDER = "assets"
_LISTED = "saved_model_assets"


def asset_files(document: Document) -> dict[Endpoint, str]:
    """The tensors that a SavedModel's loader feeds with paths, each with the name of its file in the assets folder."""
    if document.meta is None:
        return {}
    return {
        Endpoint(*parse_input(asset.tensor_info.name)): Path(asset.filename).name
        for asset in (*_listed(document.meta), *document.meta.asset_file_def)
        if asset.tensor_info.name and Path(asset.filename).name
    }


def assets_folder(document: Document) -> Path | None:
    """Where the assets lie: in the SavedModel, which may be known by its variables alone; None when it is not known."""
    if document.kind == "savedmodel" and document.path is not None:
        path = document.path.absolute()
        return (path if path.is_dir() else path.parent) / _FOLDER
    model = saved_model_of(document.checkpoint.absolute()) if document.checkpoint is not None else None
    return model / _FOLDER if model is not None else None


def _listed(meta: Any) -> Iterator[Any]:
    """AssetFileDefs where TF1 keeps them: as messages of any kind in a collection."""
    listed = meta.collection_def[_LISTED].any_list.value if _LISTED in meta.collection_def else ()
    for packed in listed:
        try:
            yield protos.AssetFileDef.FromString(packed.value)
        except DecodeError:
            continue
