"""Lines of Python to paste for a graph whose variables TensorFlow keeps no list of.

A GraphDef alone has no collections: after ``import_graph_def`` no Saver knows its variables. Values are assigned to the
nodes by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphviewer.analysis.control_flow import variables_behind
from graphviewer.analysis.coverage import Coverage, VariableRow
from graphviewer.analysis.ops import ASSIGN_OPS, RESTORE_OPS
from graphviewer.analysis.restore_functions import BETWEEN, MAX_STEPS
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints

_HEAD = """\
import tensorflow.compat.v1 as tf

# for the default graph, with the nodes under their own names: tf.import_graph_def(graph_def, name='')
read = tf.train.load_checkpoint({checkpoint}).get_tensor


def assign(session, name, value):
    variable = session.graph.get_tensor_by_name(name + ':0')
    given = tf.placeholder(variable.op.get_attr('dtype'))
    if variable.dtype == tf.resource:
        put = tf.raw_ops.AssignVariableOp(resource=variable, value=given)
    else:
        put = tf.raw_ops.Assign(ref=variable, value=given)
    session.run(put, {{given: value}})

"""


def assigning_lines(
    document: Document, found: Coverage, checkpoint: Path | str, offered: Sequence[str] = ()
) -> list[str]:
    """Run the graph's own initializers where the checkpoint has no fitting value, and assign the others.

    Args:
        document: the graph.
        found: it against the checkpoint; with variables of the graph.
        checkpoint: its prefix.
        offered: comments about a change of scope.
    """
    both = [row for row in found.variables if row.status == "both"]
    rest = [row for row in found.variables if row.status in ("only_graph", "differs")]
    return [
        *_HEAD.format(checkpoint=ascii(str(checkpoint))).split("\n"),
        "with tf.Session() as session:",
        *_initializers(document, rest),
        *_assignments(both),
        *offered,
    ]


def assignment(name: str, key: str) -> str:
    """The line that gives a variable the whole value of a key."""
    return f"assign(session, {name!a}, read({key!a}))"


def _assignments(both: Sequence[VariableRow]) -> Iterator[str]:
    if both:
        yield f"    # {len(both):,} with a fitting value in the checkpoint: variable, key"
    for row in both:
        if row.part is None:
            yield "    " + assignment(str(row.name), str(row.key))
        else:
            part = ", ".join(f"{start}:{start + size}" for start, size in row.part)
            yield f"    assign(session, {row.name!a}, read({row.key!a})[{part}])"


def _initializers(document: Document, rest: Sequence[VariableRow]) -> Iterator[str]:
    if not rest:
        return
    behind = variables_behind(document.graph)
    found = [(row, _initializer(document, document.graph.index[str(row.name)], behind)) for row in rest]
    yield f"    # {len(rest):,} without a value in the checkpoint, or with one of another shape or dtype"
    for row, name in found:
        if name is None:
            yield f"    # the graph has no initializer for {row.name!a}: assign it a value{_note(row)}"
    if any(name is not None for _, name in found):
        yield "    session.run(["
        for row, name in found:
            if name is not None:
                yield f"        {name!a},{_note(row)}"
        yield "    ])"


def _note(row: VariableRow) -> str:
    return f"  # the checkpoint has {row.held}" if row.held else ""


def _initializer(document: Document, number: int, behind: Ints) -> str | None:
    """The node that gives a variable its first value: the one that TensorFlow names so, else the only assignment that
    restores nothing.
    """
    graph = document.graph
    own = f"{graph.names[number]}/Assign"
    found = [
        graph.names[user]
        for user in graph.consumers(number)
        if graph.ops[user] in ASSIGN_OPS
        and len(inputs := graph.inputs(user)) > 1
        and behind[inputs[0]] == number
        and not _is_restored(document, inputs[1])
    ]
    return own if own in found else found[0] if len(found) == 1 else None


def _is_restored(document: Document, value: int) -> bool:
    """Whether a value is read from a checkpoint, over reshapes and casts."""
    graph = document.graph
    for _ in range(MAX_STEPS):
        inputs = graph.inputs(value)
        if graph.ops[value] not in BETWEEN or not inputs:
            break
        value = inputs[0]
    return graph.ops[value] in RESTORE_OPS
