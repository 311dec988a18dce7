"""A graph while an operation rewrites it node by node, and the account of what became of every node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import CONTROL_PORT, parse_input
from graphviewer.model.provenance import Origin, Provenance, Removal
from graphviewer.operations.cutting import unique
from graphviewer.operations.metadata import pruned_meta
from graphviewer.operations.registry import Rewrite
from graphviewer.operations.selection import fix_colocation

Tensor = tuple[str, int]
"""(node, output number); CONTROL_PORT for waiting."""

_INFERRED = ("_output_shapes", "_handle_dtypes", "_handle_shapes")


class Draft:
    """The nodes of a document by name, to be changed, added and removed; the document stays as it is.

    Attributes:
        nodes: as they are now, in order; never change one in place, ask ``edit`` for it.
        origins, removals: what became of nodes, by name in the result, and by name before.
        reasons: why a node goes away, should it go away in the end.
        rewrites: what was done, in order.
    """

    def __init__(self, document: Document) -> None:
        """Raises OperationError where several nodes share a name: who reads which cannot be told."""
        require_unique_names(document)
        self.document = document
        self.nodes: dict[str, Any] = dict(zip(document.graph.names, document.graph_def.node, strict=True))
        self.origins: dict[str, Origin] = {}
        self.removals: dict[str, Removal] = {}
        self.reasons: dict[str, Removal] = {}
        self.rewrites: list[Rewrite] = []
        self._own: set[str] = set()
        self._without_payload: set[str] = set()
        self._taken = set(self.nodes)
        self._readers: dict[str, dict[str, None]] = {}

    def is_original(self, name: str) -> bool:
        """The node was in the document before, under this name."""
        return name in self.document.graph.index

    def full_node(self, name: str) -> Any:
        """The node with its constant's content, read from the file where it was left there."""
        number = self.document.graph.index.get(name, -1)
        return self.nodes[name] if number < 0 or name in self._own else self.document.full_node(number)

    def readers(self, name: str) -> list[str]:
        """Nodes that read a node or wait for it."""
        return list(self._readers_of(name))

    def _readers_of(self, name: str) -> dict[str, None]:
        """The readers, kept up to date from the first look on."""
        if name not in self._readers:
            graph = self.document.graph
            number = graph.index.get(name, -1)
            edges = graph.out_edges[self._start[number] : self._start[number + 1]] if number >= 0 else ()
            names = (graph.names[reader] for reader in graph.dst[edges].tolist()) if len(edges) else ()
            self._readers[name] = dict.fromkeys(names)
        return self._readers[name]

    @cached_property
    def _start(self) -> list[int]:
        return list(self.document.graph.out_start.tolist())

    def _rewire(self, reader: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Note that a node reads other inputs now."""
        old, new = ({parse_input(text)[0] for text in texts} for texts in (before, after))
        for source in old - new:
            self._readers_of(source).pop(reader, None)
        for source in new - old:
            self._readers_of(source)[reader] = None

    def consumers(self, tensor: Tensor) -> list[tuple[str, int]]:
        """(node, input number) of what reads a tensor."""
        return [
            (reader, slot)
            for reader in self._readers_of(tensor[0])
            for slot, text in enumerate(self.nodes[reader].input)
            if parse_input(text) == tensor
        ]

    def edit(self, name: str) -> Any:
        """The copy of a node that may be changed, all but its name and inputs."""
        if name not in self._own:
            copy = protos.NodeDef()
            copy.CopyFrom(self.nodes[name])
            self.nodes[name] = copy
            self._own.add(name)
        return self.nodes[name]

    def convert(self, name: str, rule: str, reason: str) -> Any:
        """Like ``edit``, for a node that becomes another kind of node; reports it."""
        node = self.edit(name)
        forget_inferred(node)
        self.report(name, rule, reason)
        return node

    def set_inputs(self, name: str, inputs: Iterable[str]) -> None:
        """Give a node other inputs; control inputs go last, doubles of them away."""
        texts = list(inputs)
        data = [text for text in texts if not text.startswith("^")]
        control = dict.fromkeys(text for text in texts if text.startswith("^"))
        node = self.edit(name)
        self._rewire(name, node.input, texts)
        node.input[:] = [*data, *control]

    def replace(self, node: Any, rule: str, reason: str) -> None:
        """Put a new node in the place of the one of its name."""
        self._rewire(node.name, self.nodes[node.name].input, node.input)
        self.nodes[node.name] = node
        self._own.add(node.name)
        self._without_payload.add(node.name)
        self.report(node.name, rule, reason)

    def free_name(self, name: str) -> str:
        """``name``, or ``name_1`` ... when it is taken; reserved from now on."""
        return unique(name, self._taken)

    def add(self, node: Any, reason: str, rule: str = "added") -> str:
        """Append a node, under another name where its own is taken; returns the name."""
        return self.put(node, self.free_name(node.name), reason, rule)

    def put(self, node: Any, name: str, reason: str, rule: str = "added") -> str:
        """Append a node under a reserved name."""
        node.name = name
        self.nodes[node.name] = node
        self._own.add(node.name)
        self._rewire(node.name, (), node.input)
        self.origins[node.name] = Origin(None, rule, reason)
        return name

    def remove(self, name: str, rule: str, reason: str) -> None:
        """Take a node out; whoever reads it must be taken out, or read something else, too."""
        self._rewire(name, self.nodes.pop(name).input, ())
        self.origins.pop(name, None)
        if self.is_original(name):
            self.removals[name] = Removal(rule, reason)

    def redirect(self, tensors: Mapping[Tensor, str], *, only: Collection[str] | None = None) -> None:
        """Let what reads some tensors read something else.

        Args:
            tensors: what is read now -> the input to read instead. For a CONTROL_PORT, what waits for the node waits
                for that (``^name``), or, for an empty text, for nothing.
            only: nodes to change; by default all.
        """
        readers = dict.fromkeys(reader for name, _ in tensors for reader in self._readers_of(name))
        for reader in readers:
            if only is None or reader in only:
                texts = list(self.nodes[reader].input)
                changed = [tensors.get(parse_input(text), text) for text in texts]
                if changed != texts:
                    self.set_inputs(reader, [text for text in changed if text])

    def splice(self, targets: Mapping[str, str], reason: Callable[[str], str]) -> None:
        """Take nodes out and let what reads their first output read other tensors.

        Args:
            targets: node -> input to read instead, which may be another of these nodes; rings of them stay.
            reason: why, by node.
        """
        final = chain_ends(targets)
        tensors: dict[Tensor, str] = {(name, 0): text for name, text in final.items()}
        tensors |= {(name, CONTROL_PORT): f"^{parse_input(text)[0]}" for name, text in final.items()}
        self.redirect(tensors)
        for name in final:
            self.remove(name, "spliced", reason(name))
            self.rewrites.append(Rewrite(name, "spliced", reason(name)))

    def report(self, name: str, rule: str, reason: str) -> None:
        """Tell what a node became, and why."""
        source = self.origins[name].source if name in self.origins else name
        self.origins[name] = Origin(source, rule, reason)
        self.rewrites.append(Rewrite(name, rule, reason))

    def because(self, names: Iterable[str], reason: str) -> None:
        """Say why nodes will not be needed any more."""
        for name in names:
            self.reasons.setdefault(name, Removal("removed", reason))

    def prune(self, keep: Collection[str], candidates: Iterable[str], reason: str) -> None:
        """Remove nodes that nothing reads any more, and then what only these read.

        Args:
            keep: nodes that stay in any case.
            candidates: nodes that lost a reader.
            reason: why they are not needed.
        """
        stack = list(candidates)
        while stack:
            name = stack.pop()
            if name in keep or name not in self.nodes or self.readers(name):
                continue
            sources = [parse_input(text)[0] for text in self.nodes[name].input]
            self.remove(name, *self.reasons.get(name, Removal("removed", reason)))
            stack += sources

    def build(self, library: Any = None) -> Document:
        """The graph as it is now, as a document.

        Args:
            library: FunctionDefLibrary to use; by default the document's own.
        """
        document = self.document
        graph_def = protos.GraphDef()
        if document.graph_def.HasField("versions"):
            graph_def.versions.CopyFrom(document.graph_def.versions)
        index, left = document.graph.index, document.payloads.by_node if document.payloads is not None else {}
        payloads = {}
        gone = self.document.graph.index.keys() - self.nodes.keys()
        for name, node in self.nodes.items():
            number = index.get(name, -1)
            if number in left and name not in self._without_payload:
                payloads[len(graph_def.node)] = left[number]
            copy = graph_def.node.add()
            copy.CopyFrom(node)
            if gone and "_class" in copy.attr:
                fix_colocation(copy, self.nodes)
        own = document.graph_def.library if library is None else library
        if own.ByteSize():
            graph_def.library.CopyFrom(own)
        changes: dict[str, Any] = {"meta": pruned_meta(document.meta, index.keys(), self.nodes.keys())}
        if payloads and document.payloads is not None:
            changes["payloads"] = replace(document.payloads, by_node=payloads)
        return document.with_graph(graph_def, **changes)

    def provenance(self) -> Provenance:
        """Where the nodes came from, as long as none is renamed."""
        return Provenance(dict(self.origins), dict(self.removals))

    def provenance_after(self, later: Provenance, names: Collection[str]) -> Provenance:
        """The account of this draft and of what was done to its document afterwards.

        Args:
            later: in terms of the draft's nodes; it renames none.
            names: nodes of the final result.
        """
        origins = {name: origin for name, origin in self.origins.items() if name in names}
        for name, origin in later.origins.items():
            earlier = self.origins.get(name)
            source = origin.source if earlier is None or origin.source is None else earlier.source
            origins[name] = origin._replace(source=source)
        removals = dict(self.removals)
        for name, removal in later.removals.items():
            if self.is_original(name) and name not in removals:
                removals[name] = self.reasons.get(name, removal)
        return Provenance(origins, removals)


def chain_ends(targets: Mapping[str, str]) -> dict[str, str]:
    """By node: the input at the end of a chain of nodes that all pass their input on, in one walk over all of them.

    Args:
        targets: node -> what it passes on. Nodes in rings, and those that lead into one, have no end.
    """
    ends: dict[str, str] = {}
    walked: set[str] = set()
    for name in targets:
        path = []
        text = name
        while (source := parse_input(text)[0]) in targets and source not in walked:
            walked.add(source)
            path.append(source)
            text = targets[source]
        if source in ends or source not in targets:
            ends.update(dict.fromkeys(path, ends.get(source, text)))
    return ends


def require_unique_names(document: Document) -> None:
    """Raises OperationError where several nodes share a name."""
    if len(document.graph.index) < len(document.graph):
        raise OperationError("Several nodes share a name.", "The check verb lists them.")


def forget_inferred(node: Any) -> None:
    """Drop shapes and types inferred for the node that it was; an import that finds them wrong refuses the graph."""
    for attribute in _INFERRED:
        if attribute in node.attr:
            del node.attr[attribute]
    node.ClearField("experimental_type")


def keep_attributes(node: Any, kept: Callable[[str], bool] | Collection[str]) -> None:
    """Drop all other attributes of a node; ``_class`` stays."""
    wanted = kept if callable(kept) else kept.__contains__
    for name in list(node.attr):
        if name != "_class" and not wanted(name):
            del node.attr[name]


def signature_nodes(document: Document) -> Iterator[str]:
    """Nodes that signatures name."""
    signatures: Mapping[str, Any] = document.signatures
    for signature in signatures.values():
        for tensor in (*signature.inputs.values(), *signature.outputs.values()):
            yield parse_input(tensor.name)[0]
