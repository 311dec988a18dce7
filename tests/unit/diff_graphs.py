"""Small graphs, and what a comparison says of them, for the tests of diff."""

from __future__ import annotations

from graphviewer import protos
from graphviewer.model.document import Document


def node(name, op, *inputs, device="", **attrs):
    made = protos.NodeDef(name=name, op=op, input=inputs, device=device)
    for key, value in attrs.items():
        made.attr[key].CopyFrom(value)
    return made


def dtype(number):
    return protos.AttrValue(type=number)


def document(*nodes, functions=(), producer=1):
    graph_def = protos.GraphDef(node=nodes)
    graph_def.versions.producer = producer
    graph_def.library.function.extend(functions)
    return Document("graphdef", graph_def, title="test")


def statuses(diff):
    """Status by name, unchanged nodes left out."""
    return {change.name: change.status for change in diff.changes}


def counts(diff):
    return {status: n for status, n in diff.summary().items() if n}


def matches(diff):
    return {change.name: change.match for change in diff.changes}
