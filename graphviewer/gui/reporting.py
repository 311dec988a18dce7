"""The report of a comparison with its pictures, written to a file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from graphviewer.analysis.unfolded_diff import unfold_diff
from graphviewer.export.report import report
from graphviewer.formats.writing import require_writable, write_atomically
from graphviewer.gui.render import Picture, render, scene_of

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Diff
    from graphviewer.model.overlay import Overlay

_LONGEST = 3600  # pixels: most drawings in full size, and small enough to send around


def write_report(diff: Diff, path: Path, roles: Overlay | None, *, force: bool = False) -> None:
    """Draw both graphs in both themes and write the page.

    Args:
        diff: the comparison.
        path: where to.
        roles: of the first graph's nodes, for the summary by role.
        force: replace an existing file.

    Raises:
        WriteError: the file exists, or cannot be written.
    """
    require_writable(path, force=force)  # said before the work, not after it
    scenes = [
        Picture(scene_of(document, overlay=overlay), title=title)
        for document, overlay, title in zip(
            (diff.before, diff.after), unfold_diff(diff).overlays, diff.titles, strict=True
        )
    ]

    def draw(theme: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "picture.png"
            render(scenes, picture, theme=theme, longest=_LONGEST)
            return picture.read_bytes()

    write_atomically(path, [report(diff, roles, draw).encode("utf-8", "replace")], force=force)
