"""How nodes call functions of the library: by attribute, with arguments of their own or captured ones, or by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from graphviewer import protos
from graphviewer.analysis.ops import BRANCH_CALL_OPS, arguments

Library = Mapping[str, Any]
"""FunctionDefs by name."""


class Call(NamedTuple):
    """How a node calls functions.

    Attributes:
        first: its first input that is an argument.
        number: which argument of the functions that is.
        arguments: attributes that list dtypes of arguments, in order; none where the function itself says them.
        results: attribute that lists dtypes of results; empty as above, and where results are of the op's own types.
        functions: attributes that name the functions; none where the node's op does.
    """

    first: int
    number: int
    arguments: tuple[str, ...]
    results: str
    functions: tuple[str, ...]

    def argument(self, slot: int) -> int:
        """The number of the argument that an input is; negative where it is none."""
        return slot - self.first + self.number if slot >= self.first else -1

    def slot(self, argument: int) -> int:
        """The input that an argument comes from; negative where it comes from elsewhere, as a dataset's elements do."""
        return argument - self.number + self.first if argument >= self.number else -1


def _call(first: int, arguments: tuple[str, ...], results: str, *functions: str) -> Call:
    return Call(first, 0, arguments, results, functions)


_BRANCHES = ("then_branch", "else_branch")
_BY_ATTRIBUTE: Mapping[str, Call] = MappingProxyType(
    {
        "PartitionedCall": _call(0, ("Tin",), "Tout", "f"),
        "StatefulPartitionedCall": _call(0, ("Tin",), "Tout", "f"),
        "RemoteCall": _call(1, ("Tin",), "Tout", "f"),
        "If": _call(1, ("Tin",), "Tout", *_BRANCHES),
        "StatelessIf": _call(1, ("Tin",), "Tout", *_BRANCHES),
        "Case": _call(1, ("Tin",), "Tout", "branches"),
        "StatelessCase": _call(1, ("Tin",), "Tout", "branches"),
        "While": _call(0, ("T",), "T", "cond", "body"),
        "StatelessWhile": _call(0, ("T",), "T", "cond", "body"),
        "MapDefun": _call(0, ("Targuments", "Tcaptured"), "", "f"),
        "BatchFunction": _call(0, ("Tin", "Tcaptured"), "Tout", "f"),
    }
)
_ONCE = frozenset({"PartitionedCall", "StatefulPartitionedCall", "RemoteCall", *BRANCH_CALL_OPS})

_CAPTURES = "Targuments"
_CAPTURING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2", "FlatMapDataset"), "f"),
        **dict.fromkeys(("InterleaveDataset", "ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3"), "f"),
        **dict.fromkeys(("ParallelInterleaveDatasetV4", "LegacyParallelInterleaveDatasetV2"), "f"),
        **dict.fromkeys(("MapAndBatchDataset", "ReduceDataset", "ScanDataset"), "f"),
        **dict.fromkeys(("FilterDataset", "ParallelFilterDataset", "TakeWhileDataset"), "predicate"),
    }
)
"""Ops whose function takes what the op captured after what the dataset gives; the attribute that names it."""


def call_of(node: Any, library: Library) -> Call | None:
    """How a node calls functions; None where it calls none that is known."""
    known = _BY_ATTRIBUTE.get(node.op)
    if known is not None:
        return known
    if node.op in _CAPTURING:
        return _capturing(node, library)
    return Call(0, 0, (), "", ()) if node.op in library else None


def _capturing(node: Any, library: Library) -> Call | None:
    attribute = _CAPTURING[node.op]
    if attribute not in node.attr or _CAPTURES not in node.attr:  # looking would add them
        return None
    function = library.get(node.attr[attribute].func.name)
    definition = protos.op_def(node.op)
    given = arguments(node)
    if function is None or definition is None or given is None:
        return None
    name = next((one.name for one in definition.input_arg if one.type_list_attr == _CAPTURES), "")
    first = next((slot for slot, one in enumerate(given) if one.name == name), -1)
    number = len(function.signature.input_arg) - len(node.attr[_CAPTURES].list.type)
    return Call(first, number, (_CAPTURES,), "", (attribute,)) if first >= 0 and number >= 0 else None


def runs_again(node: Any | None, library: Library) -> bool:
    """The node calls functions, and one of them may run several times: loops, and what maps functions over data."""
    return node is not None and node.op not in _ONCE and node.op not in library and call_of(node, library) is not None


def retype_argument(node: Any, call: Call, slot: int, was: int, dtype: int) -> bool:
    """Make an argument of dtype ``was`` one of ``dtype`` in the caller's attributes; False where it is of another."""
    if not call.arguments:
        return True
    place = slot - call.first
    for name in call.arguments:
        types = node.attr[name].list.type
        if 0 <= place < len(types):
            if types[place] != was:
                return False
            types[place] = dtype
            return True
        place -= len(types)
    return False


class _OpName:
    """A node's op as the name of the function that it calls."""

    def __init__(self, node: Any) -> None:
        self._node = node

    @property
    def name(self) -> str:
        return str(self._node.op)

    @name.setter
    def name(self, name: str) -> None:
        self._node.op = name


def called_functions(node: Any, call: Call) -> list[Any]:
    """By what a calling node names its functions: objects with a ``name`` that may be set."""
    if not call.functions:
        return [_OpName(node)]
    found: list[Any] = []
    for name in call.functions:
        if name in node.attr:
            value = node.attr[name]
            found += [value.func] if value.HasField("func") else list(value.list.func)
    return found
