"""The verb that writes a graph in another format."""

from __future__ import annotations

from pathlib import Path

import click

from graphviewer.cli.options import PATH, force_option, json_option, refuse_to_overwrite, tags_option, verify_option
from graphviewer.cli.output import ProgressLine, clean, counted, note, say, say_json, size
from graphviewer.cli.prove import (
    end_of_proof,
    feed_option,
    proof_feeds,
    proof_json,
    proof_text,
    prove,
    say_proof_notes,
    yes_option,
)
from graphviewer.errors import GraphViewerError, RunsCodeError, WriteError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.registry import writers
from graphviewer.model.document import Document
from graphviewer.worker.jobs import run_job

_ASK = (
    "Only Keras can read it, and loading it runs code that the file may bring along. If you trust who made it, add "
    "--run."
)


@click.command("convert", short_help="Write a graph, or a Keras model as one, in another format.")
@click.argument("source", metavar="IN", type=PATH)
@click.argument("target", metavar="OUT", type=PATH)
@tags_option
@click.option("--salvage", is_flag=True, help="Of a damaged file, take the complete nodes.")
@click.option("--run", "load", is_flag=True, help="Load a Keras model, which runs code from its file.")
@force_option
@verify_option
@feed_option
@yes_option
@json_option
def convert_verb(
    source: Path,
    target: Path,
    tags: tuple[str, ...] | None,
    salvage: bool,
    load: bool,
    force: bool,
    verify: bool,
    feeds: tuple[str, ...],
    allow: bool,
    as_json: bool,
) -> int:
    """Write a graph in another format: .pb, .pbtxt or .meta, chosen by the suffix of OUT.

    A Keras model (.keras, .h5) becomes its graph, with the weights in it; with --verify, Keras runs the model, and
    TensorFlow the graph, on the same values. Exit code 1 when they differ, 2 when that cannot be told.
    """
    if salvage and verify:
        raise click.UsageError("A damaged file cannot be run: --salvage and --verify exclude each other.")
    given = proof_feeds(feeds, verify=verify)
    refuse_to_overwrite(target, force, source)
    if target.suffix.lower() not in writers():
        raise WriteError(f"'{target.suffix}' is no format that can be written.", f"Use {', '.join(writers())}.")
    with ProgressLine() as progress:
        try:
            document = open_document(source, tags=tags, salvage=salvage, progress=progress)
        except RunsCodeError as error:
            if not load:
                raise GraphViewerError(error.message, _ASK) from None
            wanted = {"path": str(source), "out": str(target), "force": force, "prove": verify, "feeds": given}
            made = run_job("keras", wanted, progress)
            nodes, proof = made["nodes"], made.get("verification")
        else:
            nodes = _write(document, source, target, force, progress)
            for problem in document.problems:
                if salvage and problem.severity == "error":
                    note(problem.reason)
            asked = {"before": str(source), "after": str(target), "tags": tags, "allow": allow, "feeds": given}
            proof = prove(asked, progress) if verify else None
    if as_json:
        made_file = {"output": str(target), "nodes": nodes, "bytes": target.stat().st_size}
        say_json(made_file | proof_json(proof))
        return end_of_proof(proof)
    if proof is not None:
        say_proof_notes(proof)
    made_of = f"{clean(source.name)} → {clean(target.name)}"
    say(f"{made_of}: {counted(nodes, 'node')}, {size(target.stat().st_size)}{proof_text(proof)}")
    return end_of_proof(proof)


def _write(document: Document, source: Path, target: Path, force: bool, progress: ProgressLine) -> int:
    """Write a graph; its number of nodes.

    Raises:
        GraphViewerError: the file holds no graph.
        WriteError: it cannot be written.
    """
    nodes = len(document.graph_def.node)
    if not nodes:
        raise GraphViewerError(f"{source.name} holds no graph.", "Name a file that does; 'info' tells what it holds.")
    progress(0.9, f"writing {target.name}")
    save_document(document, target, force=force)
    return nodes
