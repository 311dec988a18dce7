"""The verb that opens the window."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from graphviewer.cli.options import PATH, checkpoint_option, force_option, refuse_to_overwrite, tags_option
from graphviewer.errors import GraphViewerError
from graphviewer.formats.locate import locate


@click.command("open")
@click.argument("path", type=PATH, required=False)
@click.option("--diff", "other", type=PATH, metavar="OTHER", help="Compare with this file.")
@checkpoint_option
@tags_option
@click.option("--timings", is_flag=True, help="Print one line of JSON with the moments of the start.")
@click.option("--quit", "quit_after", is_flag=True, help="Close the window after the first picture.")
@click.option("--screenshot", type=PATH, metavar="OUT.png", help="Save a picture of the window.")
@force_option
def open_verb(
    path: Path | None,
    other: Path | None,
    checkpoint: Path | None,
    tags: tuple[str, ...] | None,
    timings: bool,
    quit_after: bool,
    screenshot: Path | None,
    force: bool,
) -> int:
    """Open the window; without PATH, with a welcome page."""
    for file in (path, other):
        if file is not None:
            locate(file)  # what is not there is said in the shell, not in a window
    if screenshot is not None:
        refuse_to_overwrite(screenshot, force, path, other, checkpoint)
    _require_screen(unattended=quit_after or screenshot is not None)
    from graphviewer.gui.app import run

    return run(
        path,
        diff=other,
        checkpoint=checkpoint,
        tags=tags,
        timings=timings,
        quit_after=quit_after,
        screenshot=screenshot,
    )


def _require_screen(*, unattended: bool) -> None:
    """Qt ends the process without a word where there is no display."""
    known = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    if known or not sys.platform.startswith("linux"):
        return
    if not unattended:
        raise GraphViewerError(
            "There is no display to open a window on.", "Set DISPLAY, or use the render verb to draw a picture."
        )
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
