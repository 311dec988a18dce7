"""Small documents for the tests of operations, written as lines, and a checkpoint made of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphviewer import protos
from graphviewer.model.document import Document
from graphviewer.model.making import const_node
from graphviewer.model.tensors import tensor_value
from graphviewer.operations.registry import Result, operations
from graphviewer.protos import DataType

PRODUCER = 1395


def node(line: str, **attributes: Any) -> Any:
    """A NodeDef from ``name = Op input input:1 ^control``; attributes by kind of their Python value."""
    name, _, rest = line.partition(" = ")
    op, *inputs = rest.split()
    made = protos.NodeDef(name=name, op=op, input=inputs)
    for key, value in attributes.items():
        set_attribute(made.attr[key], value)
    return made


def set_attribute(attribute: Any, value: Any) -> None:
    """bool, str, dtype number, or list of sizes (a shape)."""
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.type = value
    elif isinstance(value, str):
        attribute.s = value.encode()
    else:
        attribute.shape.SetInParent()
        for size in value:
            attribute.shape.dim.add(size=size)


def const(name: str, values: Any, dtype: int = DataType.FLOAT) -> Any:
    return const_node(name, dtype, values=np.asarray(values))


def variable(name: str, shape: Sequence[int], dtype: int = DataType.FLOAT, op: str = "VariableV2") -> Any:
    return node(f"{name} = {op}", dtype=dtype, shape=list(shape))


def document(*nodes: Any, meta: Any = None, functions: Sequence[Any] = ()) -> Document:
    """A document; lines without attributes may be given as text."""
    graph_def = protos.GraphDef()
    graph_def.versions.producer = PRODUCER
    for given in nodes:
        graph_def.node.append(node(given) if isinstance(given, str) else given)
    graph_def.library.function.extend(functions)
    return Document("graphdef", graph_def, meta=meta)


class Values:
    """A checkpoint of arrays that notes what is read."""

    def __init__(self, values: Mapping[str, Any], dtypes: Mapping[str, int] | None = None) -> None:
        self._values = {key: np.asarray(value, np.float32) for key, value in values.items()}
        self._dtypes = dtypes or {}
        self.seen: list[str] = []

    def keys(self) -> list[str]:
        return list(self._values)

    def shape(self, key: str) -> list[int]:
        return list(self._values[key].shape)

    def dtype(self, key: str) -> int:
        return self._dtypes.get(key, DataType.FLOAT)

    object_graph = None

    def read(self, key: str, slice: Sequence[tuple[int, int]] | None = None) -> np.ndarray:  # noqa: A002
        self.seen.append(key)
        parts = tuple(np.s_[start : start + size] for start, size in slice or ())
        return self._values[key][parts]

    def raw(self, key: str) -> bytes | None:
        return None


def lines(result: Document) -> list[str]:
    """The nodes as ``name = Op inputs``."""
    return [" ".join([f"{made.name} = {made.op}", *made.input]) for made in result.graph_def.node]


def by_name(result: Document) -> dict[str, Any]:
    return {made.name: made for made in result.graph_def.node}


def assert_every_node_accounted_for(before: Document, result: Result) -> None:
    """Each node of before is kept, converted or removed, exactly once; each node of after is kept or has an origin."""
    old, new = set(before.graph.names), set(result.document.graph.names)
    origins, removals = result.provenance.origins, result.provenance.removals
    sources = [origin.source for origin in origins.values() if origin.source is not None]
    kept = new - set(origins)
    assert set(origins) <= new
    assert kept <= old
    assert len(sources) == len(set(sources))
    assert not set(removals) & (kept | set(sources))
    assert old == kept | set(sources) | set(removals)
    assert all(removal.reason for removal in removals.values())
    assert all(origin.reason for origin in origins.values())


# What the tests of freezing share

F = DataType.FLOAT
WEIGHTS = np.arange(4.0).reshape(2, 2)


def freeze(before: Document, checkpoint: Values | None, outputs: Sequence[str] = ("y",), **options: Any) -> Result:
    """Freeze, and see that no node is lost silently."""
    result = operations()["freeze"].run(before, outputs=list(outputs), checkpoint=checkpoint, **options)
    assert_every_node_accounted_for(before, result)
    return result


def placeholder(name: str = "x") -> Any:
    return node(f"{name} = Placeholder", dtype=F, shape=[-1, 2])


def identity(line: str, **attributes: Any) -> Any:
    """A node of one dtype ``T``."""
    return node(line, T=F, **attributes)


def value_of(result: Result, name: str) -> np.ndarray:
    return tensor_value(by_name(result.document)[name].attr["value"].tensor)


def network(*more: Any) -> Document:
    """``y``: x times a variable; and ``more``."""
    return document(
        placeholder(),
        variable("net/w", [2, 2]),
        identity("net/w/read = Identity net/w"),
        identity("y = MatMul x net/w/read"),
        *more,
    )


def apply(operation: str, before: Document, **options: Any) -> Result:
    """Run an operation, and see that no node is lost silently."""
    result = operations()[operation].run(before, **options)
    assert_every_node_accounted_for(before, result)
    return result


def function(name: str, arguments: Mapping[str, int], results: Mapping[str, tuple[int, str]], *nodes: Any) -> Any:
    """``arguments`` by name -> dtype, ``results`` by name -> (dtype, tensor of the body)."""
    made = protos.FunctionDef()
    made.signature.name = name
    for argument, dtype in arguments.items():
        made.signature.input_arg.add(name=argument, type=dtype)
    for result, (dtype, text) in results.items():
        made.signature.output_arg.add(name=result, type=dtype)
        made.ret[result] = text
    made.node_def.extend(nodes)
    return made


def call(line: str, name: str, inputs: Sequence[int] = (F,), outputs: Sequence[int] = (F,)) -> Any:
    """A node that calls a function by its attribute ``f``."""
    made = node(line)
    made.attr["f"].func.name = name
    made.attr["Tin"].list.type.extend(inputs)
    made.attr["Tout"].list.type.extend(outputs)
    return made


SQUARE = function("square", {"a": F}, {"out": (F, "mul:z:0")}, identity("mul = Mul a a"))
TWICE = function(
    "twice",
    {"b": F},
    {"out": (F, "again:output:0")},
    call("once = PartitionedCall b", "square"),
    call("again = StatefulPartitionedCall once:output:0", "square"),
)
