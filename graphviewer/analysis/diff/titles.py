"""What two documents are called beside each other: files of one name by what differs in their paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

from graphviewer.model.document import Document

_MIDDLE = 2  # folders between the one that differs and the file; more are not shown


def titles(before: Document, after: Document) -> tuple[str, str]:
    """``model.pb`` and ``frozen.pb``; ``run_1/model.pb`` and ``run_2/model.pb``; of one file twice, which is which."""
    if not before.title and not after.title:
        return "the first graph", "the second graph"
    if before.title != after.title:
        return before.title, after.title
    if before.path is not None and after.path is not None:
        parts = [PurePath(os.path.abspath(one.path)).parts for one in (before, after) if one.path is not None]
        same = next(
            (at for at, pair in enumerate(zip(*map(reversed, parts), strict=False)) if pair[0] != pair[1]), None
        )
        if same is not None:
            return _from(parts[0], same, before.title), _from(parts[1], same, after.title)
    return f"{before.title} (before)", f"{after.title} (after)"


def _from(parts: Sequence[str], same: int, title: str) -> str:
    """A path from the part that differs on; ``title`` where that is the last one.

    Args:
        parts: of the path, the outermost first.
        same: how many of the last ones both paths share.
        title: what the document is called, for the last part.
    """
    shown = list(parts[len(parts) - 1 - same :])
    if same == 0:
        return f"{title} ({shown[0]})"
    between = shown[1:-1] if len(shown) - 2 <= _MIDDLE else ["…"]
    return "/".join([shown[0].rstrip("/"), *between, title])
