"""A checkpoint as something to draw: its variables by scope, or its objects as they hold each other.

An object-based checkpoint (``tf.train.Checkpoint``) names its keys by the shortest way from the root object; so do the
boxes here; an element of a list has its variable's own name, or else the list's, behind its number. A child that is
held by others too, and the variable behind an optimizer's slot, are joined by edges.
Source: tensorflow/core/protobuf/trackable_object_graph.proto, tensorflow/python/checkpoint/util.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint.checkpoint import OBJECT_GRAPH_KEY, Checkpoint
from graphviewer.model.making import set_shape

__all__ = ["KEY", "drawn_graph"]

KEY = "key"
"""Attribute of a drawn variable: its key in the checkpoint."""

_ROOT, _ROOT_NAME = 0, "(root)"
_DEEPEST = 40
_LONGEST_NAME = 80
_VARIABLE, _OBJECT = "Variable", "Object"


def drawn_graph(checkpoint: Checkpoint) -> Any:
    """A GraphDef whose nodes are the variables of a checkpoint, and its objects where it has an object graph."""
    graph = protos.GraphDef()
    used: set[str] = set()
    objects = _objects(checkpoint)
    if objects is not None:
        used = _add_objects(graph, objects, checkpoint)
    for key in checkpoint:
        if key not in used and key != OBJECT_GRAPH_KEY:
            _describe(graph.node.add(name=key, op=_VARIABLE), key, checkpoint)
    return graph


def _objects(checkpoint: Checkpoint) -> Any | None:
    """The object graph, where there is one that can be read."""
    try:
        raw = checkpoint.object_graph
        found = protos.TrackableObjectGraph.FromString(raw) if raw is not None else None
    except (CheckpointError, DecodeError):
        return None
    return found if found is not None and len(found.nodes) else None


def _describe(node: Any, key: str, checkpoint: Checkpoint) -> None:
    """Write what the index says about a key into a node's attributes."""
    node.attr[KEY].s = key.encode("utf-8", "replace")
    if key not in checkpoint:
        return
    node.attr["dtype"].type = checkpoint.dtype(key)
    set_shape(node.attr["shape"].shape, checkpoint.shape(key))
    for part in checkpoint.slices(key):
        text = ":".join(f"{start},{length}" for start, length in part)
        node.attr["slices"].list.s.append(text.encode())


def _add_objects(graph: Any, objects: Any, checkpoint: Checkpoint) -> set[str]:
    """Add the objects that hold values or other objects, with an edge from holder to held; gives the keys they use."""
    names = _names(objects)
    shown = [number for number, thing in enumerate(objects.nodes) if _is_shown(thing)]
    kept = set(shown)
    inputs: dict[int, dict[str, None]] = {number: {} for number in shown}
    for holder, held in _edges(objects):
        if holder in kept and held in kept and holder != held:
            inputs[held].setdefault(names[holder])
    used: set[str] = set()
    for number in shown:
        thing = objects.nodes[number]
        keys = [attribute.checkpoint_key for attribute in thing.attributes]
        used.update(keys)
        node = graph.node.add(name=names[number], op=_VARIABLE if keys else _OBJECT, input=inputs[number])
        if keys:
            _describe(node, keys[0], checkpoint)
            node.attr["full_name"].s = thing.attributes[0].full_name.encode("utf-8", "replace")
        if len(keys) > 1:
            node.attr["keys"].list.s.extend(key.encode("utf-8", "replace") for key in keys)
    return used


def _is_shown(thing: Any) -> bool:
    """Empty lists of Keras's bookkeeping say nothing."""
    return bool(thing.attributes or thing.children or thing.slot_variables)


def _edges(objects: Any) -> Iterator[tuple[int, int]]:
    """Holder and held, and variable and its slots; never out of the list."""
    count = len(objects.nodes)
    for number, thing in enumerate(objects.nodes):
        for child in thing.children:
            if 0 <= child.node_id < count:
                yield number, child.node_id
        for slot in thing.slot_variables:
            variable, place = slot.original_variable_node_id, slot.slot_variable_node_id
            if 0 <= variable < count and 0 <= place < count:
                yield variable, place


def _names(objects: Any) -> Mapping[int, str]:
    """A name for each object: the shortest way from the root; slots under their optimizer; the rest by number."""
    names: dict[int, str] = {_ROOT: ""}
    taken = {""}

    def give(number: int, name: str) -> None:
        names[number] = name if name not in taken else f"{name}#{number}"
        taken.add(names[number])

    _walk(objects, names, give)
    for thing_number, thing in enumerate(objects.nodes):
        for slot in thing.slot_variables:
            if 0 <= slot.slot_variable_node_id < len(objects.nodes) and slot.slot_variable_node_id not in names:
                original = names.get(slot.original_variable_node_id, str(slot.original_variable_node_id))
                above = names.get(thing_number, "")
                give(slot.slot_variable_node_id, "/".join(filter(None, (above, _part(slot.slot_name), original))))
    for number in range(len(objects.nodes)):
        if number not in names:
            give(number, f"(apart)/{number}")
    return {**names, _ROOT: _ROOT_NAME}


def _walk(objects: Any, names: Mapping[int, str], give: Any) -> None:
    """Name the children of the root, theirs, and so on, breadth first."""
    waiting = deque([(_ROOT, 0)])
    while waiting:
        number, depth = waiting.popleft()
        for child in objects.nodes[number].children:
            if 0 <= child.node_id < len(objects.nodes) and child.node_id not in names:
                # A way without end, as no program makes one, would need memory by the square of its length.
                above = names[number] if depth < _DEEPEST else f"(deep)/{number}"
                part = _part(child.local_name) or str(child.node_id)
                if part.isdigit():
                    part = _numbered(part, objects.nodes[child.node_id], above)
                give(child.node_id, "/".join(filter(None, (above, part))))
                waiting.append((child.node_id, depth + 1 if depth < _DEEPEST else 1))


def _numbered(part: str, thing: Any, above: str) -> str:
    """The place of a thing in a list, with its variable's own name, or else the list's: a number alone says nothing."""
    own = next((attribute.full_name for attribute in thing.attributes if attribute.full_name), "")
    told = _part(own[-_LONGEST_NAME:].replace("/", ".")) or above.rpartition("/")[2].partition(" ")[0]
    return f"{part} {told}".rstrip()


def _part(name: str) -> str:
    """A local name as one part of a path, and without what has a meaning in the name of a node's input."""
    return name.replace("/", ".S").replace(":", ".").replace("^", ".")
