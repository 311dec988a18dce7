"""Verbs that run graphs with TensorFlow, in this process: verify and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from graphviewer.cli.options import (
    PATH,
    checkpoint_option,
    force_option,
    json_option,
    output_option,
    path_argument,
    tags_option,
)
from graphviewer.cli.output import ProgressLine, clean, note, say, say_error, say_json, table
from graphviewer.errors import OperationError
from graphviewer.worker.jobs import run_job

EXIT_CODES: Mapping[str, int] = MappingProxyType({"same": 0, "different": 1, "cannot": 2})
"""Exit code by verdict."""

feed_option = click.option(
    "--feed",
    "feeds",
    multiple=True,
    metavar="NAME=FILE",
    help="The value of a tensor: a .npy, .npz (FILE.npz:KEY) or image file, a number, true or false. "
    "What is not given is made up.",
)
yes_option = click.option("--yes", "allow", is_flag=True, help="Run graphs that could touch files, network or Python.")
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Of made-up values.")


@click.command("verify")
@click.argument("before", metavar="A", type=PATH)
@click.argument("after", metavar="B", type=PATH)
@checkpoint_option
@tags_option
@output_option
@feed_option
@seed_option
@yes_option
@json_option
def verify_verb(
    before: Path,
    after: Path,
    checkpoint: Path | None,
    tags: tuple[str, ...] | None,
    outputs: tuple[str, ...],
    feeds: tuple[str, ...],
    seed: int,
    allow: bool,
    as_json: bool,
) -> int:
    """Run two graphs on the same values, and compare what they give.

    Exit code 0 when they are the same, 1 when they differ, 2 when that cannot be told. Inputs of B are fed in A too,
    where they may be any tensor; both run without TensorFlow's optimizers.
    """
    request = {
        "before": str(before),
        "after": str(after),
        "outputs": list(outputs),
        "feeds": parse_feeds(feeds),
        "checkpoint": str(checkpoint) if checkpoint is not None else None,
        "tags": tags,
        "allow": allow,
        "seed": seed,
    }
    with ProgressLine() as progress:
        found = run_job("verify", request, progress)
    if as_json:
        say_json(found)
    elif found["verdict"] != "cannot":
        _say_verdict(found)
    _say_touches(found["touches"])
    return end_of_proof(found)


@click.command("run")
@path_argument
@checkpoint_option
@tags_option
@output_option
@feed_option
@click.option("-o", "--out", "folder", type=PATH, metavar="DIR", help="Write each output there as a .npy file.")
@click.option("--npy", "npy", type=PATH, metavar="FILE", help="Write the one output to this .npy file.")
@force_option
@seed_option
@yes_option
@json_option
def run_verb(
    path: Path,
    checkpoint: Path | None,
    tags: tuple[str, ...] | None,
    outputs: tuple[str, ...],
    feeds: tuple[str, ...],
    folder: Path | None,
    npy: Path | None,
    force: bool,
    seed: int,
    allow: bool,
    as_json: bool,
) -> None:
    """Run a graph forward, and tell what its outputs are. Without --output, the best suggestion."""
    request = {
        "path": str(path),
        "outputs": list(outputs),
        "feeds": parse_feeds(feeds),
        "checkpoint": str(checkpoint) if checkpoint is not None else None,
        "tags": tags,
        "folder": str(folder) if folder is not None else None,
        "npy": str(npy) if npy is not None else None,
        "force": force,
        "allow": allow,
        "seed": seed,
    }
    with ProgressLine() as progress:
        found = run_job("run", request, progress)
    if as_json:
        say_json(found)
        return
    _note_feeds(found["feeds"])
    columns = ("output", "dtype", "shape", ">min", ">max", ">mean", ">std", ">NaN", ">inf", "file")
    table(columns, [_row(output) for output in found["outputs"]])


def parse_feeds(texts: Sequence[str]) -> dict[str, str]:
    """``NAME=FILE`` as a table.

    Raises:
        OperationError: no ``=``, or a name given twice.
    """
    feeds: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name and value):
            raise OperationError(f"'{text}' feeds nothing.", "Write --feed NAME=FILE, for example images=batch.npy.")
        if name in feeds:
            raise OperationError(f"'{name}' is fed twice.", "Give one --feed for each tensor.")
        feeds[name] = value
    return feeds


def proof_text(proof: Mapping[str, Any] | None) -> str:
    """``, verified: difference 0`` for the end of a line that tells what was made."""
    if proof is None or proof["verdict"] == "cannot":
        return ""
    return f", {'verified' if proof['verdict'] == 'same' else 'different'}: {clean(proof['reason'])}"


def end_of_proof(proof: Mapping[str, Any] | None) -> int:
    """Say why nothing could be proved, if so; the exit code. None is a proof that nobody asked for."""
    if proof is None:
        return 0
    if proof["verdict"] == "cannot":
        say_error(f"{proof['reason']}.", proof["hint"])
    return EXIT_CODES[proof["verdict"]]


def _say_verdict(found: Mapping[str, Any]) -> None:
    _note_feeds(found["feeds"])
    for name in found["unused"]:
        note(f"{name} was not fed: the outputs do not need it")
    for pair in found["paired"]:
        note(f"{pair['before']} of the original stands for {pair['after']} of the result, by {pair['by']}")
    say(clean(f"{found['verdict']}: {found['reason']}"))
    rows = [
        (one["name"], _number(one["max_abs"]), _number(one["max_rel"]), "same" if one["nan_equal"] else "other places")
        for one in found["outputs"]
    ]
    table(("output", ">max abs", ">max rel", "NaN"), rows)
    before, after = found["seconds"]
    say(f"run time: {_time(before)} before, {_time(after)} after (medians)")


def _note_feeds(feeds: Sequence[Mapping[str, Any]]) -> None:
    for feed in feeds:
        shape = ", ".join(map(str, feed["shape"]))
        note(f"fed {feed['name']}: {feed['dtype']} [{shape}], {'made up' if feed['made'] else 'as given'}")


def _say_touches(touches: Sequence[Mapping[str, Any]]) -> None:
    for touch in touches:
        inside = f" in function {touch['function']}" if touch["function"] else ""
        note(f"{touch['kind']}: {touch['node']} ({touch['op']}){inside}")


def _row(output: Mapping[str, Any]) -> tuple[str, ...]:
    shape = "[" + ", ".join(map(str, output["shape"])) + "]"
    numbers = (_number(output[key]) for key in ("min", "max", "mean", "std"))
    counts = (f"{output[key]:,}" for key in ("nan", "infinite"))
    return (output["name"], output["dtype"], shape, *numbers, *counts, output["file"] or "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"
