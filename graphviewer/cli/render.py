"""The verb that draws a graph, or two side by side, as a picture."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from graphviewer.cli.options import (
    PATH,
    force_option,
    json_option,
    output_option,
    path_argument,
    refuse_to_overwrite,
    tags_option,
)
from graphviewer.cli.output import ProgressLine, clean, note, say, say_json, size
from graphviewer.errors import GraphViewerError, UnknownNameError
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.names import Endpoint, nearest

if TYPE_CHECKING:
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay

_ALL: Literal["all"] = "all"


class _Size(click.ParamType[tuple[int, int]]):
    """``1600x1000``: width and height in pixels."""

    name = "WxH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        found = re.fullmatch(r"(\d{1,6})[xX×](\d{1,6})", value) if isinstance(value, str) else None
        if found is None:
            self.fail(f"'{value}' is no size such as 1600x1000.", param, ctx)
        return int(found.group(1)), int(found.group(2))


@click.command("render")
@path_argument
@click.option("--diff", "other", type=PATH, metavar="OTHER", help="Draw this file beside it, what differs coloured.")
@click.option(
    "--expand", multiple=True, metavar="SCOPE", help="Open this scope; may be repeated; 'all' opens every one."
)
@click.option(
    "--overlay",
    type=click.Choice(["roles", "diff", "none"]),
    help="What colours mean; by default diff with --diff, roles with --output, else none.",
)
@output_option
@tags_option
@click.option(
    "--size",
    "pixels",
    type=_Size(),
    metavar="WxH",
    help="Size in pixels; by default that of the drawing, of a .png at most 6000 a side.",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True)
@click.option("-o", "--out", type=PATH, required=True, metavar="OUT", help="The picture to write: .png or .svg.")
@force_option
@json_option
def render_verb(
    path: Path,
    other: Path | None,
    expand: tuple[str, ...],
    overlay: str | None,
    outputs: tuple[str, ...],
    tags: tuple[str, ...] | None,
    pixels: tuple[int, int] | None,
    theme: str,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Draw a graph as PNG or SVG, without a window or a screen."""
    from graphviewer.analysis.diff.titles import titles
    from graphviewer.formats import open_document
    from graphviewer.gui.render import Picture, render, scene_of

    kind = overlay or ("diff" if other else "roles" if outputs else "none")
    if kind == "diff" and other is None:
        raise click.UsageError("--overlay diff needs the other file.")
    refuse_to_overwrite(out, force, path, other)
    with ProgressLine() as progress:
        documents = [open_document(path, tags=tags, progress=progress)]
        if other is not None:
            documents.append(open_document(other, progress=progress))
        wanted = [_endpoints(document, outputs, required=len(documents) == 1) for document in documents]
        progress(0.5, "drawing")
        names = [""] if other is None else titles(*documents)
        pictures = [
            Picture(
                scene_of(
                    document,
                    expand=_scopes(documents, document, expand),
                    overlay=layer,
                    outputs=[endpoint.node for endpoint in chosen],
                ),
                title=name,
            )
            for document, layer, chosen, name in zip(
                documents, _overlays(kind, documents, wanted), wanted, names, strict=True
            )
        ]
        painted = render(pictures, out, theme=theme, size=pixels, force=force)
    if painted.scale < 1:
        note(
            f"{clean(out.name)} is {painted.width} x {painted.height} pixels, {painted.scale:.0%} of the drawing's "
            f"{painted.natural[0]} x {painted.natural[1]}: write an .svg, or give --size or fewer --expand, to read it."
        )
    if as_json:
        boxes = sum(len(picture.scene.drawing) for picture in pictures)
        say_json({"output": str(out), "size": [painted.width, painted.height], "boxes": boxes})
    else:
        say(f"{clean(out.name)}: {size(out.stat().st_size)}")


def _endpoints(document: Document, outputs: Sequence[str], *, required: bool) -> list[Endpoint]:
    """The named outputs; of two graphs, either may lack one."""
    if required:
        return endpoints_named(document, outputs, "outputs")
    found = []
    for name in outputs:
        try:
            found += endpoints_named(document, [name], "outputs")
        except UnknownNameError as error:
            note(f"{document.title}: {error.message}")
    return found


def _overlays(
    kind: str, documents: Sequence[Document], wanted: Sequence[Sequence[Endpoint]]
) -> Sequence[Overlay | None]:
    """The colours of each document."""
    if kind == "none":
        return [None] * len(documents)
    if kind == "diff":
        from graphviewer.analysis.diff import compare
        from graphviewer.analysis.unfolded_diff import unfold_diff

        return unfold_diff(compare(documents[0], documents[1])).overlays
    return [_roles(document, chosen) for document, chosen in zip(documents, wanted, strict=True)]


def _roles(document: Document, outputs: Sequence[Endpoint]) -> Overlay:
    from graphviewer.analysis.endpoints import suggest_outputs, take_outputs
    from graphviewer.analysis.roles import classify

    if not outputs:
        ranked = suggest_outputs(document)
        if not ranked:
            raise GraphViewerError(f"No output of {document.title} suggests itself.", "Name one with --output.")
        outputs, text = take_outputs(document, ranked)
        note(text)
    return classify(document, outputs)


def _scopes(
    documents: Sequence[Document], document: Document, expand: Sequence[str]
) -> Collection[str] | Literal["all"] | None:
    """The scopes to open in one document; each must be in one of them.

    Raises:
        UnknownNameError: no document has a scope of that name.
    """
    if not expand:
        return None
    if _ALL in expand:
        return _ALL
    known = [one.unfolded.scopes.by_path for one in documents]
    paths = [path.strip("/") for path in expand]
    for path in paths:
        if not any(path in scopes for scopes in known):
            close = nearest(path, [name for scopes in known for name in scopes if name])
            raise UnknownNameError(f"There is no scope '{path}'.", f"Closest: {', '.join(close)}." if close else "")
    return [path for path in paths if path in document.unfolded.scopes.by_path]
