"""Verbs that look at one file: info, check, outputs, roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from graphviewer.cli.options import checkpoint_option, json_option, output_option, path_argument, tags_option
from graphviewer.cli.output import (
    ProgressLine,
    clean,
    counted,
    note,
    number,
    say,
    say_json,
    shortened,
    size,
    styled,
    table,
)

_TOP_OPS = 6
_SWITCH = "which inference mode fixes"  # in the reason of an input
_INFERENCE_MODE = "'graphviewer apply inference-mode FILE --output NAME -o OUT' applies it."
_MOST_LOGGED = 20
_KINDS = {
    "graphdef": "GraphDef",
    "pbtxt": "GraphDef as text",
    "metagraph": "MetaGraphDef",
    "savedmodel": "SavedModel",
    "checkpoint": "checkpoint",
    "tfevents": "events file",
}
_SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}


@click.command("info", short_help="Say what a file is and what it holds.")
@path_argument
@tags_option
@json_option
def info_verb(path: Path, tags: tuple[str, ...] | None, as_json: bool) -> None:
    """Say what a file is and what it holds; of a SavedModel with several graphs, all of them unless --tags is given.

    Of an events file, the newest graph, and the names of the others.
    """
    from graphviewer.analysis.stats import statistics
    from graphviewer.formats import open_document

    with ProgressLine() as progress:
        document = open_document(path, tags=tags, alone=True, progress=progress)
        graphs, logged = document.extra.get("metagraphs", ()), document.extra.get("graphs", ())
        found = statistics(document if tags is None else replace(document, extra={}))
    facts = {
        "kind": document.kind,
        "nodes": found.nodes,
        "edges": found.edges,
        "functions": found.functions,
        "ops": dict(found.ops),
        "variables": found.variables,
        "parameters": found.parameters,
        "bytes": found.bytes,
        "producer": found.producer,
        "min_consumer": found.min_consumer,
        "signatures": list(found.signatures),
        "problems": found.problems,
    }
    if logged:
        facts["graphs"] = [
            {"name": one.name, "step": one.step, "bytes": one.place.length, "shown": one.shown} for one in logged
        ]
    if as_json:
        say_json(facts)
    else:
        _card(path, facts)
        for problem in document.problems:
            if problem.kind == "checkpoint":
                say("  " + styled(problem.reason, fg="red"))
        if len(graphs) > 1:
            listed = " | ".join(clean(",".join(graph.tags)) for graph in graphs)
            say(f"  {len(graphs)} graphs: {listed} (--tags chooses)")
        if len(logged) > 1:
            _list_logged(logged)


def _list_logged(graphs: Sequence[Any]) -> None:
    """The graphs of an events file, the newest first."""
    say(f"  {len(graphs)} graphs (--tags chooses):")
    for one in graphs[: -_MOST_LOGGED - 1 : -1]:
        shown = " (this one)" if one.shown else ""
        say(f"    {clean(one.name)}  {size(one.place.length)}{shown}")
    if len(graphs) > _MOST_LOGGED:
        say(f"    and {counted(len(graphs) - _MOST_LOGGED, 'earlier one')}: see --json")


def _card(path: Path, facts: Mapping[str, Any]) -> None:
    """The facts as a few lines to take in at a glance."""
    name = styled(path.absolute().name, bold=True)  # also of '.'
    say(f"{name}  {_KINDS.get(facts['kind'], facts['kind'])}, {size(facts['bytes'])} on disk")
    say(f"  {counted(facts['nodes'], 'node')}, {counted(facts['edges'], 'edge')}" + _functions(facts["functions"]))
    if facts["variables"]:
        say(f"  {counted(facts['variables'], 'variable')} with {counted(facts['parameters'], 'parameter')}")
    elif facts["parameters"]:
        say(f"  {counted(facts['parameters'], 'parameter')} in constants")
    if facts["ops"]:
        say(f"  {_top_ops(facts['ops'])}")
    if facts["signatures"]:
        say(f"  signatures: {clean(', '.join(facts['signatures']))}")
    if facts["producer"]:
        least = f", needs version {facts['min_consumer']}" if facts["min_consumer"] else ""
        say(f"  written by graph version {facts['producer']}{least}")
    if facts["problems"]:
        say("  " + click.style(f"{counted(facts['problems'], 'problem')}: see graphviewer check", fg="yellow"))


def _functions(count: int) -> str:
    return f", {counted(count, 'function')}" if count else ""


def _top_ops(ops: Mapping[str, int]) -> str:
    ranked = sorted(ops.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = ", ".join(f"{shortened(op)} {number(count)}" for op, count in ranked[:_TOP_OPS])
    more = len(ranked) - _TOP_OPS
    return f"{shown} and {counted(more, 'other op')}" if more > 0 else shown


@click.command("check", short_help="Look for faults; exit code 1 where there are any.")
@path_argument
@tags_option
@json_option
def check_verb(path: Path, tags: tuple[str, ...] | None, as_json: bool) -> int:
    """Look for faults: dangling inputs, repeated names, damaged values. Exit code 1 where there are any.

    Nodes that compute as in training are no fault; they are told beside the faults.
    """
    from graphviewer.analysis.check import check, check_files, training_notes
    from graphviewer.formats import open_document

    with ProgressLine() as progress:
        document = open_document(path, tags=tags, progress=progress)
        problems, notes = [*check(document), *check_files(document)], training_notes(document)
    if as_json:
        keys = ("node", "function", "kind", "severity", "reason", "hint")
        listed = [{key: getattr(problem, key) for key in keys} for problem in problems]
        say_json({"problems": listed} | ({"notes": notes} if notes else {}))
    elif not problems:
        say(f"{clean(path.absolute().name)}: no problems found")
    else:
        _list_problems(problems)
    if notes and not as_json:
        note(" ".join([*notes, _INFERENCE_MODE]))
    return 1 if problems else 0


def _list_problems(problems: Sequence[Any]) -> None:
    for problem in problems:
        where = problem.node + (f" in function {problem.function}" if problem.function else "")
        sign = click.style(problem.severity, fg=_SEVERITY_COLOURS[problem.severity])
        say(
            f"{sign}: {styled(where, bold=True)}: {clean(problem.reason)}"
            if where
            else f"{sign}: {clean(problem.reason)}"
        )
        if problem.hint:
            say(f"  {styled(problem.hint, dim=True)}")
    say(counted(len(problems), "problem"))


@click.command("outputs", short_help="Rank the likely outputs and inputs, with reasons.")
@path_argument
@output_option
@tags_option
@json_option
def outputs_verb(path: Path, outputs: tuple[str, ...], tags: tuple[str, ...] | None, as_json: bool) -> None:
    """Rank the nodes that may be the outputs, and the inputs that feed them, with reasons."""
    from graphviewer.worker.jobs import run_job

    with ProgressLine() as progress:
        found = run_job("suggest", {"path": str(path), "outputs": outputs, "tags": tags}, progress)
    if as_json:
        say_json(found)
        return
    for title, key in (("outputs", "outputs"), ("inputs", "inputs")):
        rows = [
            (str(rank), one["name"], f"{one['score']:.2f}", one["reason"]) for rank, one in enumerate(found[key], 1)
        ]
        if rows:
            table((">", title, ">score", "because"), rows)
        else:
            say(f"no {title} suggest themselves")
        if key == "outputs":
            say()
    switches = [one["name"] for one in found["inputs"] if _SWITCH in one["reason"]]
    if switches:
        told = f"Inference mode fixes {', '.join(switches)} for good: {_INFERENCE_MODE}"
        note(f"{told} A switch that neither name nor use tells is set with --flags NAME=false.")


@click.command("roles", short_help="Say what each node is for, seen from the outputs.")
@path_argument
@output_option
@checkpoint_option
@tags_option
@click.option("--all", "every", is_flag=True, help="List every node, not only counts.")
@json_option
def roles_verb(
    path: Path,
    outputs: tuple[str, ...],
    checkpoint: Path | None,
    tags: tuple[str, ...] | None,
    every: bool,
    as_json: bool,
) -> None:
    """Say what each node is for, seen from the chosen outputs; without any, from a signature's or the likeliest."""
    from graphviewer.model.overlay import role_label
    from graphviewer.worker.jobs import run_job

    given = str(checkpoint) if checkpoint else None
    request = {"path": str(path), "outputs": outputs, "checkpoint": given, "tags": tags}
    with ProgressLine() as progress:
        found = run_job("roles", request, progress)
    if as_json:
        say_json(found)
        return
    if not outputs:
        note(found["taken"])
    if every:
        for name, entry in found["roles"].items():
            marks = f" [{', '.join(entry['markers'])}]" if entry["markers"] else ""
            say(f"{role_label(entry['role'] or '-'):<18} {clean(name)}  {styled(entry['reason'] + marks, dim=True)}")
        return
    _role_counts(found["roles"])


def _role_counts(roles: Mapping[str, Mapping[str, Any]]) -> None:
    """Nodes per role, one example reason each, and the markers of inference nodes that deserve a look."""
    from graphviewer.model.overlay import role_label

    groups: dict[str, list[str]] = {}
    for name, entry in roles.items():
        groups.setdefault(entry["role"] or "-", []).append(name)
    ranked = sorted(groups.items(), key=lambda group: (group[0] != "inference", -len(group[1])))
    rows = [
        (role_label(role), number(len(names)), f"{names[0]}: {roles[names[0]]['reason']}") for role, names in ranked
    ]
    table(("role", ">nodes", "for example"), rows)
    for marker in ("training_mode", "random"):
        marked = [name for name, entry in roles.items() if entry["role"] == "inference" and marker in entry["markers"]]
        if marked:
            note(f"{counted(len(marked), 'inference node')} marked {marker}: {', '.join(marked[:3])}")
