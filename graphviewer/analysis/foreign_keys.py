"""Keys of a checkpoint that is not the SavedModel's own: a variable's full name decides, not its place.

A SavedModel says which key of its own checkpoint is whose. Keras numbers the variables of a model anew with every
export (``_all_variables/3`` is another variable then), and a layer more moves the numbers of those after it, so that
such a key says nothing about another checkpoint. Both tell the full names (``dense/kernel``): the SavedModel of its
objects, the checkpoint of its keys.
Source: keras/src/export/saved_model_export_archive.py, tensorflow/core/protobuf/trackable_object_graph.proto.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from google.protobuf.message import DecodeError

from graphviewer import protos
from graphviewer.errors import CheckpointError
from graphviewer.model.document import Document

_ROOT = 0
_ATTRIBUTES = "/.ATTRIBUTES/"
_PLACE = re.compile(r"(?:(?<=/)|(?<=-)|^)\d+(?=/|$)")
"""A number in a key that counts: ``variables/3``, ``layer_with_weights-0``."""

_NUMBER = re.compile(r"_\d+$")
_UNNAMED = "Variable"
"""TensorFlow's name for a variable without one."""

_COPIES = frozenset({"_all_variables/*", "variables/*"})
"""Keras' export writes each variable twice, with one value."""


class Keys(Protocol):
    """What is asked of a checkpoint here."""

    def keys(self) -> list[str]: ...

    @property
    def object_graph(self) -> bytes | None: ...


def saved_model_folder(document: Document) -> Path | None:
    """The folder that a SavedModel was read from; None for other documents, and for results that are not saved."""
    if document.kind != "savedmodel" or document.path is None:
        return None
    path = document.path.absolute()
    return path if path.is_dir() else path.parent


def is_own_prefix(document: Document, prefix: Path) -> bool:
    """The checkpoint was written with the SavedModel."""
    folder = saved_model_folder(document)
    return folder is not None and prefix.resolve() == (folder / "variables" / "variables").resolve()


def full_names(checkpoint: Keys) -> dict[str, str]:
    """By key the full name of its variable: what the objects tell, else the key itself, where it was saved by name."""
    try:
        raw = checkpoint.object_graph
        if raw is None:
            return {key: key for key in checkpoint.keys() if _ATTRIBUTES not in key}  # noqa: SIM118 - not a mapping
        saved = protos.TrackableObjectGraph.FromString(raw)
    except (CheckpointError, DecodeError):
        return {}
    return {one.checkpoint_key: one.full_name for node in saved.nodes for one in node.attributes if one.full_name}


class ForeignKeys:
    """Says which key of a checkpoint holds an object of a SavedModel that the checkpoint may not belong to.

    Args:
        document: a SavedModel with its objects.
        checkpoint: any.
    """

    def __init__(self, document: Document, checkpoint: Keys) -> None:
        self._document, self._checkpoint = document, checkpoint
        self._objects: Any = document.meta.object_graph_def if document.meta is not None else None

    @cached_property
    def foreign(self) -> bool:
        """Keys that the SavedModel tells are not to be trusted."""
        if self._objects is None or not self._objects.nodes or not self._checkpoint.keys():
            return False
        prefix = getattr(self._checkpoint, "prefix", None)
        if prefix is not None and saved_model_folder(self._document) is not None:
            return not is_own_prefix(self._document, prefix)
        named = [(path, name) for thing, path in self._paths.items() if (name := self.name(thing)) is not None]
        return any(self._names.get(path) != name for path, name in named)

    def by_key(self, told: str) -> str | None:
        """The key of what the SavedModel's own checkpoint has under ``told``; None where nothing decides."""
        return self.by_object(self._at(told), told) if self.foreign else told

    def contradicted(self, told: str, names: Collection[str]) -> bool:
        """The checkpoint gives a key to a variable of another name, where the graph came without its objects.

        Args:
            told: key in a checkpoint that has objects.
            names: of the variable's handles, which TensorFlow and Keras number: ``d/kernel_1``, or ``Variable_3``.
        """
        if self._objects is not None and self._objects.nodes:
            return False
        full = _stem(self._names.get(told, "")) if _ATTRIBUTES in told else ""
        known = {_stem(name) for name in names} - {"", _UNNAMED}
        return bool(full and known) and not any(_ends_alike(full, name) for name in known)

    def by_object(self, thing: int, told: str | None) -> str | None:
        """The key of an object, which the same path as in the SavedModel would lead to ``told``."""
        if not self.foreign:
            return told
        name = self.name(thing)
        same = self._keys_of_name.get(name, []) if name is not None else []
        kind = _kind(told or self._paths.get(thing, ""))
        if name is not None and same and self._own[kind, name] < 2:
            alike = [key for key in same if _kind(key) == kind] or same
            if len(alike) == 1 or (len(alike) == len(_COPIES) and {*map(_kind, alike)} == _COPIES):
                return alike[0]
        if told is None or told not in self._held:
            return told
        agrees = told in same or told not in self._names
        return told if agrees and not _PLACE.search(_path(told)) else None

    def name(self, thing: int) -> str | None:
        """The full name of a variable among the SavedModel's objects."""
        if not 0 <= thing < len(self._objects.nodes) or self._objects.nodes[thing].WhichOneof("kind") != "variable":
            return None
        return self._objects.nodes[thing].variable.name or None

    @cached_property
    def _held(self) -> set[str]:
        return set(self._checkpoint.keys())

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return full_names(self._checkpoint)

    @cached_property
    def _keys_of_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for key, name in self._names.items():
            if key in self._held:
                found[name].append(key)
        return found

    @cached_property
    def _own(self) -> Mapping[tuple[str, str], int]:
        """How many of the SavedModel's variables have a name, among those that lie alike."""
        return Counter(
            (_kind(path), name) for thing, path in self._paths.items() if (name := self.name(thing)) is not None
        )

    @cached_property
    def _children(self) -> list[dict[str, int]]:
        """By object its children, by their names as keys have them."""
        return [{_escaped(one.local_name): one.node_id for one in node.children} for node in self._objects.nodes]

    @cached_property
    def _paths(self) -> Mapping[int, str]:
        """By object the key that the shortest way from the root gives its value."""
        found = {_ROOT: ""}
        waiting = deque([_ROOT])
        while waiting:
            thing = waiting.popleft()
            for name, child in self._children[thing].items():
                if child not in found and 0 <= child < len(self._children):
                    found[child] = f"{found[thing]}/{name}" if found[thing] else name
                    waiting.append(child)
        return {thing: f"{path}{_ATTRIBUTES}VARIABLE_VALUE" for thing, path in found.items()}

    def _at(self, key: str) -> int:
        """The object that the parts of a key lead to; -1 for none."""
        thing = _ROOT
        for part in _path(key).split("/"):
            thing = self._children[thing].get(part, -1)
            if not 0 <= thing < len(self._children):
                return -1
        return thing


def _stem(name: str) -> str:
    return _NUMBER.sub("", name)


def _ends_alike(first: str, second: str) -> bool:
    """The same, but for scopes around one of them."""
    return f"/{first}".endswith(f"/{second}") or f"/{second}".endswith(f"/{first}")


def _path(key: str) -> str:
    return key.partition(_ATTRIBUTES)[0]


def _kind(key: str) -> str:
    """A key without its numbers: keys that only differ in them lie in one list."""
    return _PLACE.sub("*", _path(key))


def _escaped(name: str) -> str:
    """As tensorflow/python/checkpoint/trackable_view.py writes the name of a child in a key."""
    return name.replace(".", "..").replace("/", ".S")
