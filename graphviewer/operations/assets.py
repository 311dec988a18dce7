"""Where the asset files of a SavedModel lie."""

from __future__ import annotations

from pathlib import Path

from graphviewer.formats.locate import saved_model_of
from graphviewer.model.document import Document

_FOLDER = "assets"


def assets_folder(document: Document) -> Path | None:
    """Where the assets lie: in the SavedModel, which may be known by its variables alone; None when it is not known."""
    if document.kind == "savedmodel" and document.path is not None:
        path = document.path.absolute()
        return (path if path.is_dir() else path.parent) / _FOLDER
    model = saved_model_of(document.checkpoint.absolute()) if document.checkpoint is not None else None
    return model / _FOLDER if model is not None else None
