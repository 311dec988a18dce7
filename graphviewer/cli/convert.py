"""The verb that writes a graph in another format."""

from __future__ import annotations

from pathlib import Path

import click

from graphviewer.cli.options import PATH, force_option, refuse_to_overwrite, tags_option
from graphviewer.cli.output import ProgressLine, clean, counted, note, say, size
from graphviewer.errors import GraphViewerError, RunsCodeError, WriteError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.registry import writers
from graphviewer.worker.jobs import run_job


@click.command("convert")
@click.argument("source", metavar="IN", type=PATH)
@click.argument("target", metavar="OUT", type=PATH)
@tags_option
@click.option("--salvage", is_flag=True, help="Of a damaged file, take the complete nodes.")
@click.option("--run", "allow", is_flag=True, help="Load a Keras model, which runs code from its file.")
@force_option
def convert_verb(
    source: Path,
    target: Path,
    tags: tuple[str, ...] | None,
    salvage: bool,
    allow: bool,
    force: bool,
) -> None:
    """Write a graph in another format: .pb, .pbtxt or .meta, chosen by the suffix of OUT.

    A Keras model (.keras, .h5) becomes its graph, with the weights in it.
    """
    refuse_to_overwrite(target, force, source)
    if target.suffix.lower() not in writers():
        raise WriteError(f"'{target.suffix}' is no format that can be written.", f"Use {', '.join(writers())}.")
    with ProgressLine() as progress:
        try:
            document = open_document(source, tags=tags, salvage=salvage, progress=progress)
        except RunsCodeError as error:
            if not allow:
                raise GraphViewerError(error.message, _ASK) from None
            nodes = _convert_keras(source, target, progress, force=force)
        else:
            nodes = len(document.graph_def.node)
            if not nodes:
                raise GraphViewerError(
                    f"{source.name} holds no graph.", "Name a file that does; 'info' tells what it holds."
                )
            progress(0.9, f"writing {target.name}")
            save_document(document, target, force=force)
            for problem in document.problems:
                if salvage and problem.severity == "error":
                    note(problem.reason)
    say(f"{clean(source.name)} → {clean(target.name)}: {counted(nodes, 'node')}, {size(target.stat().st_size)}")


_ASK = (
    "Only Keras can read it, and loading it runs code that the file may bring along. If you trust who made it, add "
    "--run."
)


def _convert_keras(source: Path, target: Path, progress: ProgressLine, *, force: bool) -> int:
    """Let Keras load a model and write its graph; the number of its nodes."""
    request = {"path": str(source), "out": str(target), "force": force}
    nodes: int = run_job("keras", request, progress)["nodes"]
    return nodes
