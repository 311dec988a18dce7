"""Which checkpoint key holds a variable that a SavedModel's function captures, told by the objects themselves.

TF2 writes its objects twice: in the SavedModel, where each function lists the objects that it captures, and in the
checkpoint, where each object lists its keys. TensorFlow pairs the two by walking both from the root, by the names of
children, and so is it done here. Nothing else speaks of the variables of a Keras model that ``tf.saved_model.save``
wrote: its functions read one handle, and the restore function fills another.
Source: tensorflow/python/saved_model/load.py, tensorflow/python/checkpoint/restore.py.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.tensors import node_shape

_ROOT = 0
_VALUE = "VARIABLE_VALUE"
"""The attribute under which an object of a checkpoint tells the key of a variable's value."""


def captured_keys(
    document: Document,
    behind: Ints,
    raw: Callable[[], bytes | None],
    chosen: Callable[[int, str | None], str | None] = lambda _, told: told,
) -> dict[int, str]:
    """By variable node the key of its value, for variables that calls of the SavedModel's functions capture.

    Args:
        document: its MetaGraphDef has the objects, and what functions capture.
        behind: int32 [n]: the variable that each node hands on, as ``variables_behind`` gives it.
        raw: gives the checkpoint's object graph, where it has one; asked only where there is something to look for.
        chosen: gives the key of an object that is found under a key, or under none.
    """
    objects = _objects(document)
    if objects is None:
        return {}
    found: dict[int, set[int]] = defaultdict(set)
    for variable, thing in _captured(document, objects, behind):
        found[variable].add(thing)
    keys = _saved_keys(objects, raw()) if found else {}
    told = {variable: {chosen(thing, keys.get(thing)) for thing in things} for variable, things in found.items()}
    return {variable: key for variable, (key, *others) in told.items() if key is not None and not others}


def _objects(document: Document) -> Any | None:
    meta = document.meta
    return meta.object_graph_def if meta is not None and len(meta.object_graph_def.concrete_functions) else None


def _captured(document: Document, objects: Any, behind: Ints) -> Iterator[tuple[int, int]]:
    """Variables that calls hand their functions after the arguments, with the objects that the functions name."""
    graph = document.graph
    for number, node in enumerate(document.graph_def.node):
        called = node.attr["f"].func.name if "f" in node.attr else node.op
        function = document.functions.get(called) if called in objects.concrete_functions else None
        if function is None:
            continue
        things = objects.concrete_functions[called].bound_inputs
        given = sum(text[:1] != "^" for text in node.input)
        first = given - len(things)
        if first < 0 or given != len(function.signature.input_arg):
            continue  # not as it was saved
        for edge in graph.edges_into(number).tolist():
            at, variable = int(graph.slot[edge]) - first, int(behind[graph.src[edge]])
            captured = 0 <= at < len(things) and variable >= 0 and not graph.control[edge]
            if captured and _is_of(document.node(variable), objects, things[at]):
                yield variable, things[at]


def _is_of(node: Any, objects: Any, thing: int) -> bool:
    """The object is a variable of the node's dtype and shape."""
    if not 0 <= thing < len(objects.nodes) or objects.nodes[thing].WhichOneof("kind") != "variable":
        return False
    variable, shape = objects.nodes[thing].variable, node_shape(node)
    if "dtype" not in node.attr or node.attr["dtype"].type != variable.dtype:
        return False
    return shape is None or variable.shape.unknown_rank or shape == [one.size for one in variable.shape.dim]


def _saved_keys(objects: Any, raw: bytes | None) -> Mapping[int, str]:
    """By object of the SavedModel, the key of its value in the checkpoint."""
    try:
        saved = protos.TrackableObjectGraph.FromString(raw or b"")
    except DecodeError:
        return {}
    if not objects.nodes or not saved.nodes:
        return {}
    found = {}
    for thing, other in _same_objects(objects, saved).items():
        key = next((one.checkpoint_key for one in saved.nodes[other].attributes if one.name == _VALUE), None)
        if key is not None:
            found[thing] = key
    return found


def _same_objects(objects: Any, saved: Any) -> dict[int, int]:
    """By object of one tree the object of the other that is reached from the root by the same names."""
    same = {_ROOT: _ROOT}
    children: dict[int, dict[str, int]] = {}
    waiting = deque([_ROOT])
    while waiting:
        thing = waiting.popleft()
        other = same[thing]
        if other not in children:
            children[other] = {child.local_name: child.node_id for child in saved.nodes[other].children}
        for child in objects.nodes[thing].children:
            number, twin = child.node_id, children[other].get(child.local_name, -1)
            if number not in same and 0 <= number < len(objects.nodes) and 0 <= twin < len(saved.nodes):
                same[number] = twin
                waiting.append(number)
    return same
