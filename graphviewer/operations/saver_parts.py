"""The part of a restore function that some variables need: a smaller graph keeps it, as it alone knows their keys.

A SavedModel of TF2 restores all its variables in one function, which takes their handles as arguments; kept as it is,
it would keep all of them. What it reads from the checkpoint stays: one op reads all keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from graphviewer import protos
from graphviewer.analysis.control_flow import variables_behind
from graphviewer.model.document import Document
from graphviewer.model.names import body_source, parse_input

_WRITES = "AssignVariableOp"
_INPUT_SHAPES = "_input_shapes"


def with_parts_of_savers(document: Document, calls: Sequence[int], variables: Collection[int]) -> Document:
    """A document whose ``calls`` restore ``variables`` alone; the same where nothing else is restored.

    Args:
        document: not changed; nodes keep their numbers.
        calls: nodes that call restore functions.
        variables: nodes to go on restoring.
    """
    behind = variables_behind(document.graph)
    shortened = {}
    for number in calls:
        node = document.node(number)
        called = node.attr["f"].func.name
        sources = [document.graph.index.get(parse_input(text)[0], -1) for text in node.input if text[:1] != "^"]
        gone = {at for at, source in enumerate(sources) if source >= 0 and behind[source] not in (-1, *variables)}
        alone = sum(document.node(other).attr["f"].func.name == called for other in calls) == 1
        function = _without_arguments(document.functions[called], gone) if gone and alone else None
        if function is not None:
            shortened[number] = (gone, function)
    if not shortened:
        return document
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(document.graph_def)
    for number, (gone, _) in shortened.items():
        _drop_inputs(graph_def.node[number], gone)
    new = {function.signature.name: function for _, function in shortened.values()}
    for function in graph_def.library.function:
        if function.signature.name in new:
            function.CopyFrom(new[function.signature.name])
    return document.with_graph(graph_def, payloads=document.payloads, path=document.path, problems=document.problems)


def _drop_inputs(node: Any, gone: Collection[int]) -> None:
    """Take inputs, which come before control inputs, and their types from a call."""
    node.input[:] = _left(node.input, gone)
    if "Tin" in node.attr:
        types = node.attr["Tin"].list.type
        types[:] = _left(types, gone)
    for attribute in ("_read_only_resource_inputs", _INPUT_SHAPES):  # by place; TensorFlow works them out anew
        if attribute in node.attr:
            del node.attr[attribute]


def _left(entries: Iterable[Any], gone: Collection[int]) -> list[Any]:
    return [entry for at, entry in enumerate(entries) if at not in gone]


def _without_arguments(function: Any, gone: Collection[int]) -> Any | None:
    """A copy of a function without some arguments, and without what only served them; None where its result needs one
    of them.
    """
    arguments = [argument.name for argument in function.signature.input_arg]
    nodes = {node.name: node for node in function.node_def}
    lost = _readers(function, {arguments[at] for at in gone if at < len(arguments)})
    if any(body_source(text) in lost for text in function.ret.values()):
        return None
    writes = [name for name, node in nodes.items() if node.op == _WRITES and name not in lost]
    needed = _needed(nodes, [*writes, *(body_source(text) for text in function.ret.values())], lost)
    made = type(function)()
    made.CopyFrom(function)
    del made.node_def[:]
    for node in function.node_def:
        if node.name in needed:
            made.node_def.add().CopyFrom(node)
            made.node_def[-1].input[:] = [text for text in node.input if body_source(text) not in lost]
    _shorten_signature(made, function, gone, needed)
    return made


def _shorten_signature(made: Any, function: Any, gone: Collection[int], needed: Collection[str]) -> None:
    """Arguments, what is said of them by their place, and nodes that run for their effects."""
    signature = function.signature
    del made.signature.input_arg[:]
    made.signature.input_arg.extend(_left(signature.input_arg, gone))
    ends = {key: name for key, name in function.control_ret.items() if name in needed}
    made.control_ret.clear()
    made.control_ret.update(ends)
    made.signature.control_output[:] = [key for key in signature.control_output if key in ends]
    places = _left(range(len(signature.input_arg)), gone)
    made.arg_attr.clear()
    made.resource_arg_unique_id.clear()
    for new, old in enumerate(places):
        if old in function.arg_attr:
            made.arg_attr[new].CopyFrom(function.arg_attr[old])
        if old in function.resource_arg_unique_id:
            made.resource_arg_unique_id[new] = function.resource_arg_unique_id[old]
    if _INPUT_SHAPES in made.attr:
        del made.attr[_INPUT_SHAPES]


def _readers(function: Any, arguments: Collection[str]) -> set[str]:
    """Arguments, and nodes that take a value from them, directly or through others."""
    found = set(arguments)
    size = -1
    while size != len(found):  # nodes may stand in any order
        size = len(found)
        found.update(
            node.name
            for node in function.node_def
            if any(text[:1] != "^" and body_source(text) in found for text in node.input)
        )
    return found


def _needed(nodes: Any, ends: Iterable[str], lost: Collection[str]) -> set[str]:
    """Nodes that ``ends`` depend on, themselves included, with nodes that are lost left out."""
    found: set[str] = set()
    stack = list(ends)
    while stack:
        name = stack.pop()
        if name in nodes and name not in found and name not in lost:
            found.add(name)
            stack.extend(body_source(text) for text in nodes[name].input)
    return found
