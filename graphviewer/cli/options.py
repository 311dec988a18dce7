"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


class GivenPath(click.Path):
    """A path that says something: an empty one, as an unset variable of the shell gives, would mean this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("The path is empty.", param, ctx)
        return super().convert(value, param, ctx)


PATH = GivenPath(path_type=Path)

path_argument = click.argument("path", type=PATH)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
checkpoint_option = click.option(
    "--checkpoint",
    type=PATH,
    metavar="PREFIX",
    help="Values of the variables; by default the checkpoint beside the graph.",
)


def refuse_to_overwrite(out: Path, force: bool, *sources: Path | None) -> None:
    """Say before the work, not after it, that a file cannot be written there, or is one that is read.

    Raises:
        WriteError: see ``require_writable`` and ``refuse_to_replace``.
    """
    from graphviewer.formats.inputs import refuse_to_replace
    from graphviewer.formats.writing import require_writable

    require_writable(out, force=force)
    refuse_to_replace(out, sources)


def require_names(_context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an option that is given and names nothing: it is not the same as one that is left out."""
    for text in texts:
        if not text.strip(", \t"):
            raise click.BadParameter(f"'{text}' names nothing.", param=option)
    return texts


output_option = click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="NAME",
    callback=require_names,
    help="An output: a node, a tensor, or a signature's key; may be repeated, or hold names with commas.",
)
input_option = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME",
    callback=require_names,
    help="A tensor that is fed, or a signature's key; may be repeated, or hold names with commas.",
)
out_option = click.option(
    "-o", "--out", type=PATH, required=True, metavar="OUT", help="The file to write (.pb, .pbtxt, .meta)."
)
force_option = click.option("--force", is_flag=True, help="Overwrite a file that is there.")
verify_option = click.option(
    "--verify", is_flag=True, help="Run the original and the result with TensorFlow, and compare what they give."
)


def split_tags(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    """The tags of ``--tags``; None where it is not given."""
    return None if text is None else tuple(filter(None, text.split(",")))


tags_option = click.option(
    "--tags",
    callback=split_tags,
    metavar="TAGS",
    help="Which graph of a file with several: the tags of a SavedModel's, such as serve or serve,gpu; the name of an "
    "events file's, such as graph@100. graphviewer info lists them.",
)
