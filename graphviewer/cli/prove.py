"""Verbs that run graphs with TensorFlow, in this process: verify and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from graphviewer.errors import GraphViewerError, OperationError
from graphviewer.worker.jobs import run_job

EXIT_CODES: Mapping[str, int] = MappingProxyType({"same": 0, "different": 1, "cannot": 2})
"""Exit code by verdict."""
_MOST_NAMED = 10

feed_option = click.option(
    "--feed",
    "feeds",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of a tensor: a .npy, .npz (FILE.npz:KEY) or image file, a number, true or false, or a short list "
    "such as 0.7,0.7,0.8. What is not given is made up.",
)
yes_option = click.option("--yes", "allow", is_flag=True, help="Run graphs that could touch files, network or Python.")
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of made-up values."
)


@click.command("verify")
@click.argument("before", metavar="A", type=PATH)
@click.argument("after", metavar="B", type=PATH)
@checkpoint_option
@click.option("--saver", default="", metavar="TEXT", help="Of A, as freeze takes it: which values its variables have.")
@click.option("--rename", default="", metavar="TEXT", help="Of A, as freeze takes it: scopes of its checkpoint.")
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
    saver: str,
    rename: str,
    tags: tuple[str, ...] | None,
    outputs: tuple[str, ...],
    feeds: tuple[str, ...],
    seed: int,
    allow: bool,
    as_json: bool,
) -> int:
    """Run two graphs on the same values, and compare what they give.

    Exit code 0 when they are the same, 1 when they differ, 2 when that cannot be told. Inputs of B are fed in A too,
    where they may be any tensor; both run without TensorFlow's optimizers. --output A=B compares the tensor A of the
    first graph with B of the second.
    """
    request = {
        "before": str(before),
        "after": str(after),
        "outputs": list(outputs),
        "feeds": parse_feeds(feeds),
        "checkpoint": str(checkpoint) if checkpoint is not None else None,
        "saver": saver,
        "rename": rename,
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
    """Run a graph forward, and tell what its outputs are. Without --output, a signature's or the likeliest."""
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
    with ProgressLine() as progress, _feeds_asked_for():
        found = run_job("run", request, progress)
    if as_json:
        say_json(found)
        return
    _note_feeds(found["feeds"])
    if not outputs:
        note(found["taken"])
    columns = ("output", "dtype", "shape", ">min", ">max", ">mean", ">std", ">NaN", ">inf", "file")
    table(columns, [_row(output) for output in found["outputs"]])


def parse_feeds(texts: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` as a table.

    Raises:
        OperationError: no ``=``, or a name given twice.
    """
    feeds: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name and value):
            hint = "Write --feed NAME=VALUE, for example images=batch.npy or keep_prob=1."
            raise OperationError(f"'{text}' feeds nothing.", hint)
        if name in feeds:
            raise OperationError(f"'{name}' is fed twice.", "Give one --feed for each tensor.")
        feeds[name] = value
    return feeds


@contextmanager
def _feeds_asked_for() -> Iterator[None]:
    """Errors that ask for values say how the shell takes them."""
    from graphviewer.runtime.engine import StoppedError
    from graphviewer.runtime.feeds import FeedError

    try:
        yield
    except FeedError as error:
        error.shell = f"{error.shell} {_how_to_feed(error.needs)}".strip()
        raise
    except StoppedError as error:
        error.shell = f"{error.shell} Write --feed NAME=VALUE.".strip()
        raise


def _how_to_feed(names: Sequence[str]) -> str:
    """``Write --feed x=… --feed t=….``"""
    more = " …" if len(names) > _MOST_NAMED else ""
    return f"Write {' '.join(f'--feed {name}=VALUE' for name in names[:_MOST_NAMED])}{more}." if names else ""


def proof_request(request: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """What ``verify`` is asked about the ``result`` of an operation."""
    parameters = request["parameters"]
    return {
        "before": request["path"],
        "after": request["out"],
        "outputs": result["outputs"],
        "checkpoint": parameters.get("checkpoint"),
        "tags": request["tags"],
        **{name: parameters[name] for name in ("saver", "rename") if parameters.get(name)},
    }


def prove(request: Mapping[str, Any], progress: ProgressLine) -> dict[str, Any]:
    """Verify a result that is written already: what stops it makes the verdict ``cannot``, and the work stays done.

    Raises:
        click.Abort: the user stopped it; it says that the file stays.
    """
    try:
        return run_job("verify", request, progress)
    except KeyboardInterrupt:
        raise click.Abort(f"Stopped: {request['after']} is written, but not verified.") from None
    except GraphViewerError as error:
        from graphviewer.runtime.verify import cannot

        return cannot(error).to_json()


def proof_feeds(texts: Sequence[str], *, verify: bool) -> dict[str, str]:
    """The feeds of a verb that can verify what it makes.

    Raises:
        OperationError: as ``parse_feeds``, and for feeds without ``--verify``.
    """
    if texts and not verify:
        raise OperationError("--feed gives values for --verify, which is not asked for.", "Add --verify.")
    return parse_feeds(texts)


def proof_text(proof: Mapping[str, Any] | None) -> str:
    """``, verified: difference 0`` for the end of a line that tells what was made."""
    if proof is None:
        return ""
    if proof["verdict"] == "cannot":
        return "; written, but not verified"
    return f", {'verified' if proof['verdict'] == 'same' else 'different'}: {clean(proof['reason'])}{_doubt(proof)}"


def proof_json(proof: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the JSON of a verb that made something says of its proof; nothing where none was asked for."""
    return {} if proof is None else {"verified": proof["verdict"] == "same", "verification": proof}


def say_proof_notes(proof: Mapping[str, Any]) -> None:
    """What a proof was fed, and what it left out."""
    _note_feeds(proof["feeds"])
    for name in proof["unused"]:
        note(f"{name} was not fed: the outputs do not need it")
    for name in proof["skipped"]:
        note(f"{name} was not compared: its branch of a conditional is not taken, and it has no value in either graph")
    for pair in proof["paired"]:
        note(f"{pair['before']} of the original stands for {pair['after']} of the result, by {pair['by']}")


def end_of_proof(proof: Mapping[str, Any] | None) -> int:
    """Say why nothing could be proved, if so; the exit code. None is a proof that nobody asked for."""
    if proof is None:
        return 0
    if proof["verdict"] == "cannot":
        instead = f"Write --output {proof['instead'][0]} with the verb verify." if proof["instead"] else ""
        hints = [proof["shell"], _how_to_feed(proof["needs"]), instead]
        say_error(f"{proof['reason']}.", " ".join(filter(None, hints)))
    return EXIT_CODES[proof["verdict"]]


def _doubt(found: Mapping[str, Any]) -> str:
    return f", but that proves little: {clean(found['doubt'])}" if found["doubt"] else ""


def _say_verdict(found: Mapping[str, Any]) -> None:
    say_proof_notes(found)
    say(clean(f"{found['verdict']}: {found['reason']}") + _doubt(found))
    table(
        ("output", "shape", ">elements", "range", ">max abs", ">max rel", "NaN"),
        list(map(_difference, found["outputs"])),
    )
    before, after = found["seconds"]
    say(f"run time: {_time(before)} before, {_time(after)} after (medians)")


def _difference(one: Mapping[str, Any]) -> tuple[str, ...]:
    spread = "–" if one["min"] is None else f"{_number(one['min'])} … {_number(one['max'])}"
    numbers = (_number(one["max_abs"]), _number(one["max_rel"]))
    nan = "same" if one["nan_equal"] else "other places"
    return (one["name"], _shape(one["shape"]), f"{one['elements']:,}", spread, *numbers, nan)


def _note_feeds(feeds: Sequence[Mapping[str, Any]]) -> None:
    for feed in feeds:
        source = "made up" if feed["made"] else "as given"
        value = f": {feed['value']}" if feed["value"] is not None else ""
        place = ", in place of what the graph computes there" if feed["computed"] else ""
        note(clean(f"fed {feed['name']}: {feed['dtype']} {_shape(feed['shape'])}, {source}{value}{place}"))


def _shape(sizes: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, sizes)) + "]"


def _say_touches(touches: Sequence[Mapping[str, Any]]) -> None:
    for touch in touches:
        inside = f" in function {touch['function']}" if touch["function"] else ""
        note(f"{touch['kind']}: {touch['node']} ({touch['op']}){inside}")


def _row(output: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = (_number(output[key]) for key in ("min", "max", "mean", "std"))
    counts = (f"{output[key]:,}" for key in ("nan", "infinite"))
    return (output["name"], output["dtype"], _shape(output["shape"]), *numbers, *counts, output["file"] or "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"
