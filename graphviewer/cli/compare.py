"""The verb that compares two files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from graphviewer.cli.options import PATH, force_option, json_option, refuse_to_overwrite
from graphviewer.cli.output import ProgressLine, clean, say, say_json, size

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Diff, Pin
    from graphviewer.model.overlay import Overlay
    from graphviewer.model.progress import Progress


@click.command("diff")
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@click.option("--stat", is_flag=True, help="Only count: by status, role and op.")
@click.option("--full", is_flag=True, help="Every node that is not the same, with the reason.")
@click.option("--html", type=PATH, metavar="OUT", help="Write a report with pictures, one self-contained file.")
@click.option("--values", is_flag=True, help="Compare variables and constants in place of nodes.")
@click.option(
    "--sort",
    type=click.Choice(["name", "difference", "share", "size"]),
    help="Order of values: by name, or the largest difference, share of differing elements, or size first.",
)
@click.option(
    "--pin", "pins", multiple=True, metavar="OLD=NEW", help="These two nodes are the same; OLD= or =NEW: have no match."
)
@force_option
@json_option
def diff_verb(
    before: Path,
    after: Path,
    stat: bool,
    full: bool,
    html: Path | None,
    values: bool,
    sort: str | None,
    pins: Sequence[str],
    force: bool,
    as_json: bool,
) -> int:
    """Compare two graphs node by node, or two checkpoints value by value.

    Exit code 0 when they are the same, 1 when they differ. Order of nodes, encoding of tensors and versions do not
    count. A checkpoint beside its graph means the graph; two checkpoints, or one without a graph, are compared by their
    values, and so is everything with --values.
    """
    if html is not None:
        refuse_to_overwrite(html, force, before, after)
    with ProgressLine() as progress:
        if values or sort or _are_checkpoints(before, after):
            if html is not None:
                raise click.UsageError("--html is a report about graphs.")
            return _diff_values(before, after, sort, progress, full=full, as_json=as_json)
        diff, roles = _diff_graphs(before, after, [_pin(text) for text in pins], progress)
        if html is not None:
            from graphviewer.gui.reporting import write_report

            write_report(diff, html, roles, force=force)
    if as_json:
        say_json(diff.to_json())
    elif html is not None:
        say(f"{clean(html.name)}: {size(html.stat().st_size)}")
    else:
        for line in _lines(diff, roles, stat=stat, full=full):
            say(line)
    return 0 if diff.same else 1


def _are_checkpoints(*paths: Path) -> bool:
    """Whether all paths name checkpoints themselves, or any is one that has no graph beside it."""
    from graphviewer.formats.locate import locate

    alone = [locate(path, alone=not path.is_dir()).graph is None for path in paths]
    return all(alone) or any(one and locate(path).graph is None for one, path in zip(alone, paths, strict=True))


def _pin(text: str) -> Pin:
    old, sign, new = text.partition("=")
    if not sign or not (old or new):
        raise click.BadParameter(f"'{text}' is not OLD=NEW.", param_hint="--pin")
    return old or None, new or None


def _diff_graphs(before: Path, after: Path, pins: Sequence[Pin], progress: Progress) -> tuple[Diff, Overlay | None]:
    """The comparison, with the roles of what went away."""
    from graphviewer.analysis.diff import compare
    from graphviewer.analysis.diff.purposes import explained, roles_of_before
    from graphviewer.formats import open_document

    first = open_document(before, progress=lambda part, text: progress(0.3 * part, text))
    second = open_document(after, progress=lambda part, text: progress(0.3 + 0.3 * part, text))
    diff = compare(first, second, progress=lambda part, text: progress(0.6 + 0.3 * part, text), pins=pins)
    progress(0.9, "finding what each node was for")
    roles = roles_of_before(diff)
    return explained(diff, roles), roles


def _lines(diff: Diff, roles: Overlay | None, *, stat: bool, full: bool) -> Iterator[str]:
    from graphviewer.cli.diff_text import by_role, by_scope, every_change, functions, head, signatures, statistics

    yield from head(diff)
    if roles is not None and not full:
        yield from by_role(diff, roles)
    if diff.changes:
        yield from (statistics if stat else every_change if full else by_scope)(diff)
    if not stat:
        yield from functions(diff, full=full)
    yield from signatures(diff)


def _diff_values(before: Path, after: Path, sort: str | None, progress: Progress, *, full: bool, as_json: bool) -> int:
    from graphviewer.analysis.diff.variables import ORDERS, Order, compare_variables, values_of
    from graphviewer.cli.diff_text import values
    from graphviewer.formats import open_document

    documents = [open_document(path, alone=not path.is_dir() and _is_checkpoint(path)) for path in (before, after)]
    titles = (documents[0].title, documents[1].title)
    found = compare_variables(values_of(documents[0]), values_of(documents[1]), titles, progress)
    order: Order = next((one for one in ORDERS if one == sort), "name" if as_json else "difference")
    if as_json:
        say_json(found.to_json(order))
    else:
        values(found, order, full=full)
    return 0 if found.same else 1


def _is_checkpoint(path: Path) -> bool:
    from graphviewer.formats.locate import locate

    return locate(path, alone=True).graph is None
