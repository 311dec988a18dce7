"""The verb that compares two files."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from graphviewer.cli.options import (
    PATH,
    checkpoint_option,
    force_option,
    json_option,
    refuse_to_overwrite,
    split_tags,
    tags_option,
)
from graphviewer.cli.output import ProgressLine, clean, say, say_json, size

if TYPE_CHECKING:
    from graphviewer.analysis.diff import Diff, Pin
    from graphviewer.model.document import Document
    from graphviewer.model.overlay import Overlay
    from graphviewer.model.progress import Progress


class _Side(NamedTuple):
    """One of the two files, and what to take of it."""

    path: Path
    tags: tuple[str, ...] | None
    checkpoint: Path | None

    def open(self, progress: Progress | None = None, *, alone: bool = False) -> Document:
        """Read it. A checkpoint that is given is for graphs with variables, and may belong to one side only."""
        from graphviewer.formats import open_document
        from graphviewer.formats.locate import locate
        from graphviewer.model.progress import silent

        given = None if locate(self.path, alone=alone).graph is None else self.checkpoint
        return open_document(self.path, checkpoint=given, tags=self.tags, alone=alone, progress=progress or silent)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No search for garbage in rings: a comparison makes none, and half a million objects to search through."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@click.command("diff", short_help="Compare two graphs by nodes, or checkpoints by values.")
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
@tags_option
@click.option(
    "--tags-after", callback=split_tags, metavar="TAGS", help="Which graph of AFTER, where it is another than --tags."
)
@checkpoint_option
@click.option(
    "--checkpoint-after", type=PATH, metavar="PREFIX", help="Values of AFTER, where they are others than --checkpoint."
)
@force_option
@json_option
@_collector_at_rest()
def diff_verb(
    before: Path,
    after: Path,
    tags: tuple[str, ...] | None,
    tags_after: tuple[str, ...] | None,
    checkpoint: Path | None,
    checkpoint_after: Path | None,
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
    values, and so is everything with --values. --tags and --checkpoint are for both files, but for what --tags-after
    and --checkpoint-after say.
    """
    if html is not None:
        refuse_to_overwrite(html, force, before, after, checkpoint, checkpoint_after)
    sides = (
        _Side(before, tags, checkpoint),
        _Side(after, tags if tags_after is None else tags_after, checkpoint_after or checkpoint),
    )
    with ProgressLine() as progress:
        if values or sort or _are_checkpoints(before, after):
            if html is not None:
                raise click.UsageError("--html is a report about graphs.")
            return _diff_values(sides, sort, progress, full=full, as_json=as_json)
        diff, roles = _diff_graphs(sides, _pins(pins), progress)
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


def _pins(texts: Sequence[str]) -> list[Pin]:
    """All pins; a node that two of them name would be left to chance."""
    pins = list(dict.fromkeys(map(_pin, texts)))
    for side, where in enumerate(("first", "second")):
        names = [pin[side] for pin in pins if pin[side] is not None]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            others = " and to ".join(repr(pin[1 - side] or "nothing") for pin in pins if pin[side] == twice)
            message = f"'{twice}' of the {where} graph is pinned twice: to {others}."
            raise click.BadParameter(message, param_hint="--pin")
    return pins


def _diff_graphs(sides: tuple[_Side, _Side], pins: Sequence[Pin], progress: Progress) -> tuple[Diff, Overlay | None]:
    """The comparison, with the roles of what went away."""
    from graphviewer.analysis.diff import compare
    from graphviewer.analysis.diff.purposes import explained, roles_of_before
    from graphviewer.model.progress import part_of

    first = sides[0].open(part_of(progress, 0.0, 0.3))
    second = sides[1].open(part_of(progress, 0.3, 0.6))
    diff = compare(first, second, progress=part_of(progress, 0.6, 0.9), pins=pins)
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


def _diff_values(sides: tuple[_Side, _Side], sort: str | None, progress: Progress, *, full: bool, as_json: bool) -> int:
    from graphviewer.analysis.diff.titles import titles
    from graphviewer.analysis.diff.variables import ORDERS, Order, compare_variables, values_of
    from graphviewer.cli.diff_text import values

    documents = [side.open(alone=not side.path.is_dir() and _is_checkpoint(side.path)) for side in sides]
    named = (documents[0].title, documents[1].title) if as_json else titles(*documents)
    found = compare_variables(values_of(documents[0]), values_of(documents[1]), named, progress)
    order: Order = next((one for one in ORDERS if one == sort), "name" if as_json else "difference")
    if as_json:
        say_json(found.to_json(order))
    else:
        values(found, order, full=full)
    return 0 if found.same else 1


def _is_checkpoint(path: Path) -> bool:
    from graphviewer.formats.locate import locate

    return locate(path, alone=True).graph is None
