"""Verbs that make a new graph from one: freeze, strip, apply."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from graphviewer.cli.options import (
    PATH,
    force_option,
    input_option,
    json_option,
    out_option,
    output_option,
    path_argument,
    refuse_to_overwrite,
    require_names,
    tags_option,
    verify_option,
)
from graphviewer.cli.output import ProgressLine, clean, counted, note, number, say, say_json, size
from graphviewer.cli.prove import (
    end_of_proof,
    feed_option,
    proof_feeds,
    proof_json,
    proof_request,
    proof_text,
    prove,
    say_proof_notes,
    yes_option,
)
from graphviewer.errors import OperationError
from graphviewer.operations.registry import Parameter, operations
from graphviewer.worker.jobs import run_job

_METHODS = ("extract", "remove-training-nodes")
_RESULT_KEYS = ("output", "nodes", "bytes", "outputs", "inputs", "frozen", "warnings", "rewrites")
_INFERENCE = "inference-mode"
_CHOSEN = {"newest": "newest", "state": "named by the file checkpoint,", "name": "it has the graph's name,"}
_OF_SAVED_MODEL = "variables"
"""What the checkpoint in a SavedModel is always called."""
_KEYS_IF_ANY = ("tables", "files", "switches", "values")


@click.command("strip")
@path_argument
@output_option
@input_option
@click.option("--method", type=click.Choice(_METHODS), default="extract", show_default=True, help="How to strip.")
@tags_option
@out_option
@force_option
@verify_option
@feed_option
@yes_option
@json_option
def strip_verb(path: Path, out: Path, method: str, **given: Any) -> int:
    """Remove what the outputs do not need; variables stay variables.

    The method remove-training-nodes does what TensorFlow's function of that name does: it removes pass-through nodes
    only; gradients, optimizer and saver stay.
    """
    return _make(method, path, out, **given)


class Operations(click.Group):
    """Every declared operation as a verb of its own, its options made from its parameters."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(operations())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return operation_command(cmd_name) if cmd_name in operations() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in operations():
            close = difflib.get_close_matches(args[0], operations(), 1)
            hint = f"Did you mean '{close[0]}'?" if close else f"There are: {', '.join(operations())}."
            raise OperationError(f"There is no operation '{args[0]}'.", hint)
        return super().resolve_command(ctx, args)


@click.command("apply", cls=Operations, short_help="Apply any operation: apply OPERATION PATH -o OUT.")
def apply_verb() -> None:
    """Apply any operation: graphviewer apply OPERATION PATH [--KEY VALUE]... -o OUT."""


def operation_command(name: str) -> click.Command:
    """The verb of a declared operation."""
    operation = operations()[name]

    def run(path: Path, out: Path, **given: Any) -> int:
        return _make(name, path, out, **given)

    command: Callable[..., int] = run
    for decorate in (json_option, yes_option, feed_option, verify_option, force_option, out_option, tags_option):
        command = decorate(command)
    for parameter in reversed(operation.parameters):
        command = _option(parameter)(command)
    return click.command(name, help=operation.doc, short_help=operation.doc.split("\n")[0])(path_argument(command))


def _option(parameter: Parameter) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The option of a declared parameter; endpoints are asked for by ``--output`` and by ``--outputs``."""
    flag = "--" + parameter.name.replace("_", "-")
    if parameter.kind == "endpoints":
        names = [flag, flag.removesuffix("s")]
        return click.option(
            *dict.fromkeys(names),
            parameter.name,
            multiple=True,
            metavar="NAME",
            callback=require_names,
            help=parameter.doc,
        )
    if parameter.kind == "flag":
        return click.option(flag, parameter.name, is_flag=True, default=bool(parameter.default), help=parameter.doc)
    kind = PATH if parameter.kind == "checkpoint" else str
    return click.option(
        flag, parameter.name, type=kind, default=parameter.default, required=parameter.required, help=parameter.doc
    )


def _make(
    operation: str,
    path: Path,
    out: Path,
    *,
    tags: tuple[str, ...] | None,
    force: bool,
    as_json: bool,
    verify: bool,
    feeds: tuple[str, ...],
    allow: bool,
    **parameters: Any,
) -> int:
    """Run an operation, say what it did, and prove it where that is asked for; the exit code."""
    given = proof_feeds(feeds, verify=verify)
    refuse_to_overwrite(out, force, path, parameters.get("checkpoint"))
    request = {
        "operation": operation,
        "path": str(path),
        "out": str(out),
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "tags": tags,
        "force": force,
        "keep_provenance": False,
    }
    with ProgressLine() as progress:
        result = run_job("operation", request, progress)
        more = {"allow": allow, "feeds": given}
        proof = prove(proof_request(request, result) | more, progress) if verify else None
    if as_json:
        found = {key: result[key] for key in _KEYS_IF_ANY if result[key]}
        say_json({key: result[key] for key in _RESULT_KEYS} | found | proof_json(proof))
    else:
        for warning in result["warnings"]:
            note(warning)
        if proof is not None:
            say_proof_notes(proof)
        say(_calm_line(path, out, result) + proof_text(proof))
        if proof is not None and proof["verdict"] != "same" and operation == _INFERENCE:
            _note_purpose(path, out, result["outputs"])
    return end_of_proof(proof)


def _note_purpose(path: Path, out: Path, outputs: Sequence[str]) -> None:
    """What proves a result that computes on purpose something else than the original does."""
    output = f"EVALUATION_OUTPUT={outputs[0] if outputs else 'OUTPUT'}"
    note(
        "The result computes as in inference, which the original as it is does not. What proves it is the original's "
        f"tower for evaluation, if it has one: graphviewer verify {clean(f'{path} {out} --output {output}')}"
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


def _calm_line(path: Path, out: Path, result: Mapping[str, Any]) -> str:
    """``frozen.pb: 1,736 → 223 nodes, file of 7.1 MB → file of 309 kB, 47 variables became constants``.

    Of a folder, the size before is that of the graph in it.
    """
    (nodes, left), (before, after) = result["nodes"], result["bytes"]
    what = "file" if path.is_file() else "graph"
    parts = [f"{number(nodes)} → {number(left)} nodes", f"{what} of {size(before)} → file of {size(after)}"]
    if result["frozen"]:
        parts.append(
            f"{counted(result['frozen'], 'variable')} became {'a constant' if result['frozen'] == 1 else 'constants'}"
        )
    return f"{clean(out.name)}: {', '.join(parts)}{_values_text(result['values'])}"


def _values_text(values: Mapping[str, Any] | None) -> str:
    """``; values: model.ckpt-200 (newest of 2)``; why only where nobody chose, nothing where a SavedModel has them."""
    prefix = Path(values["checkpoint"]) if values is not None else None
    if values is None or prefix is None:
        return ""
    name = prefix.name
    if name == _OF_SAVED_MODEL:
        if values["chosen"] != "given":
            return ""
        name = "/".join(prefix.absolute().parts[-3:])  # of another SavedModel, by its folder
    why = _CHOSEN.get(values["chosen"])
    chosen = f" ({why} of {number(values['of'])})" if why else ""
    return f"; values: {clean(name)}{chosen}"


freeze_verb = operation_command("freeze")
