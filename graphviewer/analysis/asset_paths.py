"""Tensors and variables of a SavedModel that hold the paths of its asset files: a loader gives them, no checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.analysis.control_flow import variables_behind
from graphviewer.analysis.ops import is_assign
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint

_LISTED = "saved_model_assets"


def asset_files(document: Document) -> dict[Endpoint, str]:
    """The tensors that a SavedModel's loader feeds with paths, each with the name of its file in the assets folder."""
    if document.meta is None:
        return {}
    return {
        Endpoint.parse(asset.tensor_info.name): Path(asset.filename).name
        for asset in (*_listed(document.meta), *document.meta.asset_file_def)
        if asset.tensor_info.name and Path(asset.filename).name
    }


def _listed(meta: Any) -> Iterator[Any]:
    """AssetFileDefs where TF1 keeps them: as messages of any kind in a collection."""
    listed = meta.collection_def[_LISTED].any_list.value if _LISTED in meta.collection_def else ()
    for packed in listed:
        try:
            yield protos.AssetFileDef.FromString(packed.value)
        except DecodeError:
            continue


def settled_variables(document: Document) -> dict[int, str]:
    """Variables that hold the path of an asset, by node number: the name of the file."""
    graph, assets = document.graph, asset_files(document)
    if not assets:
        return {}
    behind = variables_behind(graph)
    found = {}
    for endpoint, file in assets.items():
        number = graph.index.get(endpoint.node)
        for writer in graph.consumers(number) if number is not None else ():
            inputs = graph.inputs(writer)
            if is_assign(graph.ops[writer]) and len(inputs) > 1 and inputs[1] == number and behind[inputs[0]] >= 0:
                found[int(behind[inputs[0]])] = file
    return found
