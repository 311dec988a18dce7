"""Lines of Python to paste: restore what a checkpoint has fitting values for, initialise the rest.

A Saver does it where TensorFlow keeps a list of the graph's variables, as a MetaGraph has it; a SavedModel brings its
own values along, and those of another checkpoint are assigned to its variables; else values are assigned to nodes by
name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphviewer.analysis.assigning import assigning_lines, assignment
from graphviewer.analysis.coverage import Coverage, VariableRow
from graphviewer.analysis.foreign_keys import full_names, is_own_prefix, saved_model_folder
from graphviewer.analysis.prefixes import PrefixChange, likely_prefix
from graphviewer.analysis.variable_keys import Keys
from graphviewer.model.document import Document
from graphviewer.model.names import parse_input
from graphviewer.model.problem import Problem


@dataclass(frozen=True)
class Offer:
    """A change of scope after which more variables have a value of their shape; the user has to say that it is right.

    Attributes:
        change: the beginning of the names in the graph, and in the checkpoint.
        pairs: (name, key) of the variables that it would give a value.
    """

    change: PrefixChange
    pairs: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The offer as a sentence."""
        old, new = (f"'{part}/'" if part else "no scope" for part in (self.change.old, self.change.new))
        count = len(self.pairs)
        return f"{count:,} more would have a value if {old} in the graph is {new} in the checkpoint."


@dataclass(frozen=True)
class _Free:
    """A checkpoint's keys that no variable uses."""

    checkpoint: Keys
    free: list[str]

    def keys(self) -> list[str]:
        return self.free

    def shape(self, key: str) -> list[int]:
        return self.checkpoint.shape(key)

    def dtype(self, key: str) -> int:
        return self.checkpoint.dtype(key)

    @property
    def object_graph(self) -> bytes | None:
        return self.checkpoint.object_graph


def offer_prefix(found: Coverage, checkpoint: Keys) -> Offer | None:
    """The change of scope that gives most of the variables without a key one of their shape and dtype."""
    alone = {row.name: row for row in found.variables if row.status == "only_graph" and row.name is not None}
    free = {str(row.key): row for row in found.variables if row.status == "only_checkpoint"}
    change = likely_prefix({name: row.shape for name, row in alone.items()}, _Free(checkpoint, list(free)))
    if change is None:
        return None
    pairs = []
    for name, row in alone.items():
        other = free.get(_moved(name, change) or "")
        if other is not None and (row.shape, row.dtype) in ((other.shape, other.dtype), (None, other.dtype)):
            pairs.append((name, str(other.key)))
    return Offer(change, tuple(pairs)) if pairs else None


def _moved(name: str, change: PrefixChange) -> str | None:
    """A name after the change; None where it does not begin with the old scope."""
    start = change.old + "/" if change.old else ""
    if not name.startswith(start):
        return None
    return (change.new + "/" if change.new else "") + name[len(start) :]


def lines_to_paste(
    document: Document,
    found: Coverage,
    checkpoint: Path,
    offer: Offer | None = None,
    *,
    values: Keys | None = None,
    problems: Sequence[Problem] = (),
) -> list[str]:
    """The lines that give the variables of a graph their values; empty for a graph without variables.

    Args:
        document: the graph.
        found: it against the checkpoint.
        checkpoint: its prefix.
        offer: a change of scope to mention.
        values: the checkpoint itself, for the full names in it.
        problems: of its files, to mention: without them no line restores anything.
    """
    told = [f"# {one.reason} {one.hint}".encode("ascii", "backslashreplace").decode() for one in problems]
    lines = _lines(document, found, checkpoint, offer, values)
    return [*told, *lines] if lines else []


def _lines(
    document: Document, found: Coverage, checkpoint: Path, offer: Offer | None, values: Keys | None
) -> list[str]:
    names = {row.name for row in found.variables if row.name is not None}
    if not names:
        return []
    folder = saved_model_folder(document)
    if folder is not None and is_own_prefix(document, checkpoint):
        return [
            "import tensorflow as tf",
            "",
            "# the values come along with the SavedModel: nothing else is to be restored",
            _loading(document, folder),
        ]
    if folder is not None and values is not None and document.meta and document.meta.object_graph_def.nodes:
        return [
            "import tensorflow as tf",
            "",
            _loading(document, folder),
            *_assigned_by_full_name(found, checkpoint, full_names(values)),
        ]
    if names <= _listed(document):
        return restoring_lines(found, checkpoint, offer)
    offered = [f"    # {offer.text}", *(f"    # {assignment(*pair)}" for pair in offer.pairs)] if offer else []
    return assigning_lines(
        document, found, checkpoint, [line.encode("ascii", "backslashreplace").decode() for line in offered]
    )


def _loading(document: Document, folder: Path) -> str:
    """TensorFlow reads the values of a SavedModel with it."""
    tags = sorted(document.meta.meta_info_def.tags) if document.meta is not None else []
    chosen = f", tags={[*map(str, tags)]!a}" if tags != ["serve"] else ""
    return f"model = tf.saved_model.load({str(folder)!a}{chosen})"


_ASSIGNED = """\
}
variables = {id(one): one for function in model.signatures.values() for one in function.variables}.values()
names = [variable.name.split(':')[0] for variable in variables]
for name, variable in zip(names, variables):
    if name in keys:
        assert names.count(name) == 1, f'{name} is the name of several variables'
        variable.assign(read(keys[name]))"""


def _assigned_by_full_name(found: Coverage, checkpoint: Path, names: Mapping[str, str]) -> Iterator[str]:
    """The variables that the signatures read get their values; the others keep those that came along."""
    both = [row for row in found.variables if row.status == "both"]
    rest = [row for row in found.variables if row.status in ("only_graph", "differs")]
    for row in rest:
        note = f"the checkpoint has {row.held}" if row.held else "the checkpoint has none"
        yield f"# {row.name!a} keeps the SavedModel's value: {note}"
    if not both:
        return
    yield f"read = tf.train.load_checkpoint({str(checkpoint)!a}).get_tensor"
    yield f"# {len(both):,} with a fitting value in the checkpoint: full name, key"
    yield "keys = {"
    for row in both:
        yield f"    {names.get(str(row.key), str(row.name))!a}: {row.key!a},"
    yield from _ASSIGNED.split("\n")


def _listed(document: Document) -> set[str]:
    """Variables that tf.global_variables() and tf.local_variables() give after the MetaGraph is imported."""
    groups = (document.variable_defs.get(key, ()) for key in ("variables", "local_variables"))
    return {parse_input(one.variable_name)[0] for group in groups for one in group}


def restoring_lines(found: Coverage, checkpoint: Path | str, offer: Offer | None = None) -> list[str]:
    """A Saver over the variables with a fitting value, and an initializer over the others.

    Empty for a graph without variables. Names are written as ASCII literals: they come from files.

    Args:
        found: graph against checkpoint.
        checkpoint: its prefix.
        offer: a change of scope to mention; its variables are initialised unless the user takes it up.
    """
    both = [row for row in found.variables if row.status == "both"]
    rest = [row for row in found.variables if row.status in ("only_graph", "differs")]
    if not both and not rest:
        return []
    return [
        "import tensorflow.compat.v1 as tf",
        "",
        "listed = tf.global_variables() + tf.local_variables()",
        "variables = {variable.op.name: variable for variable in listed}",
        *_saver(both, offer),
        *_initializer(rest),
        "with tf.Session() as session:",
        *(["    session.run(initializer)"] if rest else []),
        *([f"    saver.restore(session, {str(checkpoint)!a})"] if both else []),
    ]


def _saver(both: Sequence[VariableRow], offer: Offer | None) -> Iterator[str]:
    if both:
        yield f"# {len(both):,} with a fitting value in the checkpoint: key, variable"
        yield "saver = tf.train.Saver({"
        for key, names in _by_key(both).items():
            texts = [f"variables[{name!a}]" for name in names]
            yield f"    {key!a}: {texts[0] if len(texts) == 1 else '[' + ', '.join(texts) + ']'},"
        yield from _offered(offer)
        yield "})"
    elif offer is not None:
        yield "# saver = tf.train.Saver({"
        yield from _offered(offer)
        yield "# })"


def _by_key(rows: Sequence[VariableRow]) -> Mapping[str, list[str]]:
    """The variables of each key: several where they are parts of one that was partitioned."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(str(row.key), []).append(str(row.name))
    return found


def _offered(offer: Offer | None) -> Iterator[str]:
    if offer is not None:
        yield f"    # {offer.text}".encode("ascii", "backslashreplace").decode()
        for name, key in offer.pairs:
            yield f"    # {key!a}: variables[{name!a}],"


def _initializer(rest: Sequence[VariableRow]) -> Iterator[str]:
    if rest:
        yield f"# {len(rest):,} without a value in the checkpoint, or with one of another shape or dtype"
        yield "initializer = tf.variables_initializer(["
        for row in rest:
            note = f"  # the checkpoint has {row.held}" if row.held else ""
            yield f"    variables[{row.name!a}],{note}"
        yield "])"
