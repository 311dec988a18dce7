"""The graph that a person looks at: nodes that call functions are scopes with the functions' nodes inside."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphviewer.model.document import Document
from graphviewer.model.function_body import FIRST_ARGUMENT, Call, FunctionBody, calls_of, scope_paths
from graphviewer.model.graph import Graph, Ints
from graphviewer.model.overlay import NONE, Overlay

LIBRARY = "Function library"
"""Scope of the functions that nothing calls; no node of TensorFlow has a space in its name."""
MOST_NODES = 100_000
"""Nodes of functions that are shown for the first time; what goes beyond stays closed."""
MOST_REPEATED = 20_000
"""Nodes of functions that are shown again, for another call."""
MOST_CHARACTERS = 50_000_000
"""Of all names together: a node deep inside carries the names of all calls around it."""
MOST_DEPTH = 30
"""Calls inside calls."""

_INHERITED_STATUSES = frozenset({"added", "removed"})


class Opened(NamedTuple):
    """One function shown inside one call.

    Attributes:
        call: the calling node, -1 for a function that nothing calls.
        attribute: the attribute of the call that names the function.
        path: the scope that holds the function's nodes.
        first: number of its first node; arguments come first.
        body: what is shown.
    """

    call: int
    attribute: str
    function: str
    path: str
    first: int
    body: FunctionBody


class Closed(NamedTuple):
    """A function that is not shown inside a call, and why (the end of a sentence)."""

    attribute: str
    function: str
    reason: str


@dataclass(frozen=True, eq=False)
class Unfolded(Document):
    """A document to look at: ``graph``, ``scopes`` and ``node`` know the nodes of called functions too.

    The nodes of the graph keep their numbers; those of functions follow. A call keeps its edges; besides, it feeds the
    arguments of its functions. ``graph_def`` stays what is in the file: operations and analyses work on that.

    Attributes:
        main: nodes of the graph itself.
        opened: functions shown, by ``first``.
        closed: functions not shown, by calling node.
        caller: int32 [nodes of functions], the node of the graph inside which each is, -1 for none.
    """

    main: int = 0
    whole: Graph | None = None
    opened: Sequence[Opened] = ()
    closed: Mapping[int, Sequence[Closed]] = field(default_factory=dict)
    caller: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    @cached_property
    def graph(self) -> Graph:
        """The nodes of the graph, then those of the functions inside its calls."""
        assert self.whole is not None
        return self.whole

    @cached_property
    def calls(self) -> Mapping[int, Sequence[Opened]]:
        """The functions shown inside each call, by calling node."""
        found: dict[int, list[Opened]] = {}
        for one in self.opened:
            found.setdefault(one.call, []).append(one)
        return found

    @cached_property
    def opened_at(self) -> Mapping[str, Sequence[Opened]]:
        """The functions shown, by the scope that holds them."""
        found: dict[str, list[Opened]] = {}
        for one in self.opened:
            found.setdefault(one.path, []).append(one)
        return found

    def shown(self, function: str) -> Opened | None:
        """The first place where a function is shown."""
        return next((one for one in self.opened if one.function == function), None)

    def passed(self, opened: Opened, argument: int) -> int | None:
        """The edge by which a call gives an argument to its function; None where the op does not tell."""
        first = FIRST_ARGUMENT.get(self.graph.ops[opened.call])
        if first is None:
            return None
        edges = self.graph.edges_into(opened.call)
        found = edges[self.graph.slot[edges] == first + argument]
        return int(found[0]) if len(found) else None

    @cached_property
    def overlays(self) -> MutableMapping[Overlay, Overlay]:
        """What ``extended`` made of overlays that are still in use."""
        return WeakKeyDictionary()

    @cached_property
    def _firsts(self) -> Ints:
        return np.array([one.first for one in self.opened], np.int32)

    def around(self, number: int) -> Opened | None:
        """The function that a node is in; None for a node of the graph itself."""
        if number < self.main:
            return None
        return self.opened[int(np.searchsorted(self._firsts, number, "right")) - 1]

    def node(self, number: int) -> Any:
        """NodeDef by number; inside a function its name is the one in the function."""
        around = self.around(number)
        return super().node(number) if around is None else around.body.nodes[number - around.first]

    def full_node(self, number: int) -> Any:
        """NodeDef by number with its constant's content."""
        return super().full_node(number) if number < self.main else self.node(number)


def unfold(document: Document) -> Document:
    """The document with every function inside its calls, within limits; itself where the library is empty.

    Functions that nothing calls (traces of a Keras model for training, say) are in the scope ``LIBRARY``.
    A function that calls itself is not opened again inside itself. Time and memory follow the size of the library, not
    the number of calls: what goes beyond the limits stays closed.
    """
    if isinstance(document, Unfolded):
        return document
    if not document.functions:
        return document
    growth = _Growth(document)
    growth.open_calls()
    growth.open_uncalled()
    plain = {one.name: getattr(document, one.name) for one in fields(Document)}
    whole, caller = growth.graph(), np.array(growth.caller, np.int32)
    return Unfolded(
        **plain,
        main=len(document.graph),
        whole=whole,
        opened=growth.opened,
        closed=growth.closed,
        caller=caller,
    )


class _Site(NamedTuple):
    """A call that waits to be opened.

    Attributes:
        functions: (attribute, function, path inside the call's scope) of each.
        caller: the node of the graph itself around it.
        inside: functions around it, the outermost first.
    """

    node: int
    name: str
    functions: Sequence[tuple[str, str, str]]
    caller: int
    inside: tuple[str, ...]


def _sites(calls: Iterable[Call], names: Sequence[str], scopes: Collection[str]) -> Iterator[_Site]:
    """The calls among some nodes. One function goes right into the call's scope, if that is free."""
    for call in calls:
        name, functions = names[call.node], []
        for attribute, function in call.functions:
            path = "" if len(call.functions) == 1 and name not in scopes else f"/{attribute}"
            while path and name + path in scopes:
                path += "'"
            functions.append((attribute, function, path))
        yield _Site(call.node, name, functions, call.node, ())


class _Growth:
    """The graph while calls are opened: outer ones first, so that a limit leaves the innermost closed."""

    def __init__(self, document: Document) -> None:
        self._functions, self._main = document.functions, document.graph
        self._calls = calls_of(document.graph_def.node, self._functions)
        self._bodies: dict[str, FunctionBody] = {}
        self._inner: dict[str, Sequence[_Site]] = {}
        self._shown: set[str] = set()
        self._left = {True: MOST_NODES, False: MOST_REPEATED}
        self._characters = MOST_CHARACTERS
        self.names = list(self._main.names)
        self.opened: list[Opened] = []
        self.closed: dict[int, list[Closed]] = {}
        self.caller: list[int] = []
        self._edges: list[tuple[Ints, ...]] = [(self._main.src, self._main.dst, self._main.port, self._main.slot)]

    def open_calls(self) -> None:
        """Open the calls of the graph, then those inside, and so on."""
        names = self._main.names
        self._open_all(_sites(self._calls, names, scope_paths(names) if self._calls else ()))

    def open_uncalled(self) -> None:
        """Open the functions that neither the graph nor a function calls; then those that only call each other."""
        inner = (call for name in self._functions for call in self._body(name).calls)
        named = {function for call in chain(self._calls, inner) for _, function in call.functions}
        for name in sorted(self._functions, key=lambda name: name in named):
            if name not in self._shown:
                self._open_all([_Site(-1, LIBRARY, [("", name, f"/{name}")], -1, ())])

    def _open_all(self, sites: Iterable[_Site]) -> None:
        waiting = deque(sites)
        while waiting:
            site = waiting.popleft()
            for attribute, function, path in site.functions:
                if reason := self._refusal(site, function, site.name + path):
                    self.closed.setdefault(site.node, []).append(Closed(attribute, function, reason))
                else:
                    waiting.extend(self._open(site, attribute, function, site.name + path))

    def _body(self, function: str) -> FunctionBody:
        if function not in self._bodies:
            self._bodies[function] = FunctionBody.of(self._functions[function], self._functions)
        return self._bodies[function]

    def _refusal(self, site: _Site, function: str, path: str) -> str:
        """Why a function is not shown inside a call; empty where it is."""
        if function in site.inside:
            return "it calls itself, and is shown once"
        if len(site.inside) >= MOST_DEPTH:
            return f"more than {MOST_DEPTH} calls are nested"
        count = len(self._body(function)) + 1
        if count > self._left[function not in self._shown]:
            return "too many nodes of functions are shown already"
        if count * len(path) > self._characters:
            return "the names inside would be too long"
        return ""

    def _open(self, site: _Site, attribute: str, function: str, path: str) -> list[_Site]:
        """Append a function's nodes inside a call; returns the calls among them."""
        body, first = self._bodies[function], len(self.names)
        self._left[function not in self._shown] -= len(body) + 1
        self._characters -= len(body) * len(path)
        self._shown.add(function)
        self.opened.append(Opened(site.node, attribute, function, path, first, body))
        self.names.extend([f"{path}/{name}" for name in body.names])
        self.caller.extend([site.caller] * len(body))
        given = np.arange(first, first + (body.arguments if site.node >= 0 else 0), dtype=np.int32)
        nothing = np.zeros_like(given)
        self._edges.append((np.full_like(given, site.node), given, nothing, nothing))
        self._edges.append((body.src + first, body.dst + first, body.port, body.slot))
        inside = (*site.inside, function)
        return [
            inner._replace(node=first + inner.node, name=f"{path}/{inner.name}", caller=site.caller, inside=inside)
            for inner in self._sites_in(function)
        ]

    def _sites_in(self, function: str) -> Sequence[_Site]:
        """The calls in a function, with names and numbers as in the function."""
        if function not in self._inner:
            body = self._bodies[function]
            self._inner[function] = list(_sites(body.calls, body.names, body.scopes))
        return self._inner[function]

    def graph(self) -> Graph:
        """All that was opened, as one graph."""
        nodes = [node for one in self.opened for node in one.body.nodes]
        src, dst, port, slot = (np.concatenate(column) for column in zip(*self._edges, strict=True))
        return Graph(
            self.names,
            [*self._main.ops, *(node.op for node in nodes)],
            [*self._main.devices, *(node.device for node in nodes)],
            src,
            dst,
            port,
            slot,
            self._main.dangling,
        )


def calling_ops(document: Document) -> frozenset[str]:
    """Names of the library's functions, and ops of nodes that call one by an attribute (``MapDataset``)."""
    if not isinstance(document, Unfolded):
        return frozenset(document.functions)
    return frozenset({*document.functions, *(document.graph.ops[node] for node in document.calls if node >= 0)})


def extended(overlay: Overlay, document: Document) -> Overlay:
    """An overlay of a graph for its unfolded document: nodes of functions take what the call around them has.

    A comparison says of a call that it differs, not which nodes inside do: of its statuses only those are taken that
    hold for all of them.
    """
    if not isinstance(document, Unfolded) or len(overlay.codes) != document.main:
        return overlay
    known = document.overlays.get(overlay)
    if known is None:
        known = document.overlays[overlay] = _inherit(overlay, document)
    return known


def _inherit(overlay: Overlay, document: Unfolded) -> Overlay:
    codes, names = np.where(document.caller < 0, NONE, overlay.codes[document.caller]), document.graph.names
    if overlay.kind == "diff":
        inherited = [at for at, name in enumerate(overlay.categories) if name in _INHERITED_STATUSES]
        codes = np.where(np.isin(codes, inherited), codes, NONE)
    callers = document.caller.tolist()
    reasons = {call: f"inside {names[call]}: {overlay.reasons[call]}" for call in set(callers) - {-1}}
    return Overlay(
        overlay.kind,
        overlay.categories,
        np.concatenate([overlay.codes, codes]).astype(np.int8),
        [*overlay.reasons, *(reasons.get(call, "") for call in callers)],
        overlay.markers,
        document.main,
    )
