"""An open file: its graph and all that came with it. Immutable; operations return new documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.model.graph import Graph
from graphviewer.model.problem import Problem
from graphviewer.model.scopes import Scopes, build_scopes

DRAWN = "drawn"
"""Key of ``Document.extra``: makes a GraphDef to draw in place of a graph that is not there."""


class Payload(NamedTuple):
    """Bytes of a large constant that stay in the file until someone asks: ``tensor_content`` of ``value``."""

    offset: int
    length: int


@dataclass(frozen=True)
class Payloads:
    """Constants left in a big file, by node number; read with pread after a look at size and mtime.

    A map held open would kill the process (SIGBUS) when the file is written again in place, and would block replacing
    it on Windows.
    """

    path: Path
    size: int
    mtime_ns: int
    by_node: Mapping[int, Payload]

    def read(self, node: int) -> bytes:
        """The bytes of a node's constant.

        Raises:
            ReadError: the file changed since it was opened.
        """
        payload = self.by_node[node]
        with open(self.path, "rb") as file:
            status = os.fstat(file.fileno())
            if (status.st_size, status.st_mtime_ns) != (self.size, self.mtime_ns):
                raise ReadError(f"{self.path.name} changed on disk since it was opened.", "Open it again.")
            file.seek(payload.offset)
            return file.read(payload.length)


@dataclass(frozen=True, eq=False)
class Document:
    """What was opened. Messages inside are never changed in place, by convention and by review.

    Attributes:
        kind: ``graphdef``, ``pbtxt``, ``metagraph``, ``savedmodel``, ``checkpoint``, ``tfevents``.
        graph_def: GraphDef; large constants may be left out, see ``payloads`` and ``full_node``.
        title: short name for tabs and reports.
        path: the file it was read from; None for a result that is not saved.
        meta: MetaGraphDef without its graph_def, for saver, collections and signatures; None for a bare GraphDef.
        checkpoint: prefix of the checkpoint found beside the graph, or given.
        problems: faults seen while reading; ``analysis.check`` finds those inside the graph.
    """

    kind: str
    graph_def: Any
    title: str = ""
    path: Path | None = None
    meta: Any | None = None
    checkpoint: Path | None = None
    payloads: Payloads | None = None
    problems: tuple[Problem, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def graph(self) -> Graph:
        """The nodes as columns."""
        return Graph.from_nodes(self.graph_def.node)

    @cached_property
    def scopes(self) -> Scopes:
        """The scope tree of the graph."""
        return build_scopes(self.graph)

    @property
    def unfolded(self) -> Document:
        """The document to look at: called functions with their nodes inside the calls; itself where none is called.

        Of a document without nodes that can be drawn all the same (a checkpoint), what ``extra["drawn"]()`` gives.
        """
        return self if self._shown is None else self._shown

    @cached_property
    def _shown(self) -> Document | None:
        """What ``unfolded`` gives; None for itself: one that refers to itself would outlive its tab as a cycle."""
        from graphviewer.model.bodies import unfold

        if DRAWN in self.extra:
            return replace(self, graph_def=self.extra[DRAWN](), extra={})
        found = unfold(self)
        return None if found is self else found

    @cached_property
    def functions(self) -> dict[str, Any]:
        """FunctionDefs of the library by name."""
        return {function.signature.name: function for function in self.graph_def.library.function}

    @property
    def saver(self) -> Any | None:
        """SaverDef, where the file has one."""
        return self.meta.saver_def if self.meta is not None and self.meta.HasField("saver_def") else None

    @property
    def signatures(self) -> Mapping[str, Any]:
        """SignatureDefs by key; empty where the file has none."""
        return self.meta.signature_def if self.meta is not None else {}

    @cached_property
    def collections(self) -> Mapping[str, tuple[str, ...]]:
        """Node names listed by each ``node_list`` collection, as written (``x:0``)."""
        if self.meta is None:
            return {}
        found = self.meta.collection_def.items()
        return {key: tuple(value.node_list.value) for key, value in found if value.HasField("node_list")}

    @cached_property
    def variable_defs(self) -> Mapping[str, tuple[Any, ...]]:
        """VariableDefs by collection (``variables``, ``trainable_variables`` ...); unreadable entries are left out."""
        if self.meta is None:
            return {}
        found = {}
        for key, value in self.meta.collection_def.items():
            if value.HasField("bytes_list") and "variables" in key:
                found[key] = tuple(_variable_defs(value.bytes_list.value))
        return found

    def node(self, number: int) -> Any:
        """NodeDef by number; a large constant's content may be missing from it."""
        return self.graph_def.node[number]

    def full_node(self, number: int) -> Any:
        """NodeDef by number with its constant's content, read from the file where it was left there."""
        node = self.graph_def.node[number]
        if self.payloads is None or number not in self.payloads.by_node:
            return node
        whole = protos.NodeDef()
        whole.CopyFrom(node)
        whole.attr["value"].tensor.tensor_content = self.payloads.read(number)
        return whole

    def with_graph(self, graph_def: Any, **changes: Any) -> Document:
        """A new, unsaved document around another graph, keeping signatures and collections."""
        return replace(self, graph_def=graph_def, **{"path": None, "payloads": None, "problems": (), **changes})


def _variable_defs(entries: Iterable[bytes]) -> Iterable[Any]:
    from google.protobuf.message import DecodeError

    for raw in entries:
        try:
            definition = protos.VariableDef.FromString(raw)
        except DecodeError:  # some frameworks keep their own messages in collections called '...variables'
            continue
        if definition.variable_name:
            yield definition
