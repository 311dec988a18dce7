"""The verb about variables: what restoring a checkpoint would leave without a value, and the lines that do it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from graphviewer.cli.options import checkpoint_option, json_option, path_argument, tags_option
from graphviewer.cli.output import ProgressLine, clean, counted, number, say, say_json, styled, table
from graphviewer.errors import CheckpointError

_COVERAGE = {
    "only_graph": "only in the graph",
    "differs": "of another shape or type",
    "only_checkpoint": "only in the checkpoint",
    "both": "in both",
}
_ROW_KEYS = ("name", "key", "shape", "dtype", "status", "nearest")


@click.command("variables", short_help="Compare a graph's variables with a checkpoint.")
@path_argument
@checkpoint_option
@tags_option
@json_option
def variables_verb(path: Path, checkpoint: Path | None, tags: tuple[str, ...] | None, as_json: bool) -> None:
    """Compare the variables of a graph with the keys of a checkpoint: what restoring it would leave without a value.

    Without --json it ends in lines of Python to paste: a Saver over what matches, an initializer over what does not.
    """
    from graphviewer.worker.jobs import run_job

    request = {"path": str(path), "checkpoint": str(checkpoint) if checkpoint else None, "tags": tags}
    with ProgressLine() as progress:
        found = run_job("variables", request, progress)
    if found["checkpoint"] is None and found["variables"]:
        raise CheckpointError(f"There is no checkpoint beside {path.absolute().name}.", "Name one with --checkpoint.")
    if as_json:
        rows = [{key: row[key] for key in _ROW_KEYS} for row in found["variables"]]
        say_json({"variables": rows, "coverage": found["coverage"]})
    elif found["kind"] != "checkpoint" and not any(row["name"] for row in found["variables"]):
        say(f"{clean(path.absolute().name)} has no variables.")
    else:
        _tell(found)


def _tell(found: Mapping[str, Any]) -> None:
    rows, counts = found["variables"], found["counts"]
    if not found["lines"]:  # a checkpoint alone, or a graph without variables
        say(f"{counted(len(rows), 'variable')} in {clean(Path(found['checkpoint']).name)}")
        table(("variable", "dtype and shape"), [(row["key"], _type_text(row)) for row in rows])
        return
    say(", ".join(f"{number(counts[status])} {text}" for status, text in _COVERAGE.items() if status in counts))
    unset = counts.get("only_graph", 0) + counts.get("differs", 0)
    rest = f"; {number(unset)} {'stays' if unset == 1 else 'stay'} uninitialised" if unset else ""
    say(f"{found['coverage']:.0%} of the graph's variables have a fitting value in the checkpoint{rest}")
    for problem in found["problems"]:
        say(styled(clean(problem), fg="red"))
    unfit = [row for row in rows if row["status"] != "both"]
    if unfit:
        table(("status", "variable or key", "dtype and shape", "checkpoint"), [_cells(row) for row in unfit])
    if found["offer"] is not None:
        say(styled(found["offer"]["text"], fg="yellow"))
    say()
    for line in found["lines"]:
        say(clean(line))


def _cells(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    near = f"nearest: {', '.join(row['nearest'])}" if row["nearest"] else ""
    return _COVERAGE[row["status"]], row["name"] or row["key"] or "", _type_text(row), row["held"] or near


def _type_text(row: Mapping[str, Any]) -> str:
    shape = "of unknown rank" if row["shape"] is None else str(row["shape"]).replace("-1", "?")
    return f"{row['dtype']} {shape}"
