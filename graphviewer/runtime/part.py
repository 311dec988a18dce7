"""The part of a graph that some outputs need, cut at what is fed: exactly what TensorFlow would run, and no more.

TensorFlow imports all nodes or none, so one unknown op in a summary would spoil the proof of an inference path. Nodes
keep names, ops and attributes, but for devices, colocation and recorded shapes; a fed tensor becomes a placeholder.
This is not how the operations select nodes, on purpose: what proves a result must not share its mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from graphviewer import protos
from graphviewer.analysis.ops import FED_OPS, VARIABLE_OPS, is_pipeline_source, is_variable_write
from graphviewer.analysis.touches import Touch, touches
from graphviewer.errors import OperationError
from graphviewer.formats.wire import header
from graphviewer.model.document import Document
from graphviewer.model.names import CONTROL_PORT, Endpoint, parse_input
from graphviewer.operations.library import reached

_PARSERS = frozenset({"ParseExample", "ParseExampleV2", "ParseSingleExample"})
_SPARSE = ("Nsparse", "num_sparse")  # attributes that count their sparse outputs, whose parts must fit together
_RAGGED = "ragged_value_types"  # so must those of ragged ones
_NODE_FIELD = 1  # of GraphDef
_TWO_GIB = 2**31 - 1
_FORGOTTEN = ("_class", "_output_shapes")


@dataclass(frozen=True)
class Part:
    """Nodes of a document, and where they are cut.

    Attributes:
        document: the whole.
        ends: what the part computes.
        numbers: its nodes in file order.
        fed: the tensors at which it is cut: those that were given and are read, and those that must be fed because
            nothing computes them (placeholders, outputs of input pipelines).
        asked: the latter.
    """

    document: Document
    ends: tuple[Endpoint, ...]
    numbers: tuple[int, ...]
    fed: tuple[Endpoint, ...]
    asked: tuple[Endpoint, ...]

    def nodes(self) -> list[Any]:
        """The NodeDefs; large constants may be missing from them."""
        return [self.document.node(number) for number in self.numbers]

    def functions(self) -> list[Any]:
        """FunctionDefs that the part calls, directly or not, in file order."""
        names = reached(self.nodes(), self.document.graph_def.library)
        return [function for name, function in self.document.functions.items() if name in names]

    def ops(self) -> dict[str, str]:
        """The ops that it runs, each with the first node that has it; calls of functions are left out."""
        found: dict[str, str] = {}
        for nodes in (self.nodes(), *(function.node_def for function in self.functions())):
            for node in nodes:
                if node.op not in self.document.functions:
                    found.setdefault(node.op, node.name)
        return found

    def first(self, family: Callable[[str], bool]) -> str:
        """The first node whose op is of a family, functions included; empty where there is none."""
        return next((name for op, name in self.ops().items() if family(op)), "")

    def variables(self) -> list[int]:
        """Numbers of its variables."""
        return [number for number in self.numbers if self.document.graph.ops[number] in VARIABLE_OPS]

    def writes(self) -> bool:
        """A run changes a variable."""
        return bool(self.first(is_variable_write))

    def touches(self) -> list[Touch]:
        """What it could touch outside itself."""
        return touches(self.document, self.numbers)

    def placeholders(self) -> dict[Endpoint, str]:
        """Name of the placeholder that stands for each fed tensor: the node's own, where the node itself is gone."""
        taken = set(self.document.graph.names)
        kept = {self.document.graph.names[number] for number in self.numbers}
        names: dict[Endpoint, str] = {}
        for endpoint in self.fed:
            name = endpoint.node
            if name in kept or name in names.values():
                stem, count = f"{endpoint.node}_{endpoint.port}", 0
                name = stem
                while name in taken:
                    count += 1
                    name = f"{stem}_{count}"
                taken.add(name)
            names[endpoint] = name
        return names


def trace(document: Document, ends: Iterable[Endpoint], fed: Collection[Endpoint] = ()) -> Part:
    """The part that computes ``ends`` when ``fed`` are given."""
    graph = document.graph
    source, port, start = graph.src.tolist(), graph.port.tolist(), graph.in_start.tolist()
    given = {(graph.index[name], at) for name, at in fed}
    cut = {number for number, _ in given}
    gives_data = _data_givers(document, cut)
    ends = tuple(ends)
    seen, at_cut = bytearray(len(graph)), dict[tuple[int, int], None]()
    stack = [(graph.index[name], at) for name, at in ends]
    while stack:
        number, at = stack.pop()
        if at == CONTROL_PORT and (number in cut or graph.ops[number] in FED_OPS):
            continue  # its value is given: there is nothing to wait for
        if (number, at) in given or graph.ops[number] in FED_OPS or gives_data(number):
            if at != CONTROL_PORT:
                at_cut[number, at] = None
            continue
        if not seen[number]:
            seen[number] = 1
            stack.extend((source[edge], port[edge]) for edge in range(start[number], start[number + 1]))
    endpoints = {key: Endpoint(graph.names[key[0]], key[1]) for key in sorted(at_cut)}
    return Part(
        document,
        ends,
        tuple(number for number, one in enumerate(seen) if one),
        tuple(endpoints.values()),
        tuple(endpoint for key, endpoint in endpoints.items() if key not in given),
    )


def _data_givers(document: Document, given: Collection[int]) -> Callable[[int], bool]:
    """Tells of a node whether data come into the graph there, so that its outputs are fed.

    That is where a pipeline ends, and where serialized examples are parsed, which cannot be made up; but not if what is
    parsed is given.
    """
    graph = document.graph

    def gives_data(number: int) -> bool:
        op = graph.ops[number]
        if op not in _PARSERS:
            return is_pipeline_source(op)
        attributes = document.node(number).attr
        sparse = any(attributes[name].i for name in _SPARSE if name in attributes)
        if sparse or (_RAGGED in attributes and attributes[_RAGGED].list.type):
            return False
        return not bool(graph.ancestors([number])[sorted(given)].any())

    return gives_data


def union(first: Part, second: Part) -> Part:
    """Both parts as one graph.

    Raises:
        ValueError: one computes what the other is fed.
    """
    names = first.document.graph.names
    kept = [{names[number] for number in part.numbers} for part in (first, second)]
    if any(endpoint.node in kept[1] for endpoint in first.fed) or any(one.node in kept[0] for one in second.fed):
        raise ValueError("the parts are cut at different places")
    return Part(
        first.document,
        first.ends,
        tuple(sorted({*first.numbers, *second.numbers})),
        tuple(dict.fromkeys((*first.fed, *second.fed))),
        tuple(dict.fromkeys((*first.asked, *second.asked))),
    )


def serialized(
    part: Part, dtypes: Mapping[Endpoint, int], shapes: Mapping[Endpoint, Sequence[int]] = MappingProxyType({})
) -> bytes:
    """The part as the bytes of a GraphDef.

    Args:
        part: nodes are copied one by one, so that large constants are not in memory twice.
        dtypes: dtype number of every fed tensor.
        shapes: of fed tensors that are to have one: TensorFlow then refuses the graph where an op takes no such rank,
            while some ops end the process when they meet a value of it.

    Raises:
        OperationError: over 2 GiB, which TensorFlow cannot read.
        ReadError: the file that holds the large constants changed since it was opened.
    """
    document, names = part.document, part.placeholders()
    gone = set(document.graph.names) - {document.graph.names[number] for number in part.numbers}
    pieces: list[bytes] = []
    for endpoint, name in names.items():
        node = protos.NodeDef(name=name, op="Placeholder")
        node.attr["dtype"].type = dtypes[endpoint]
        node.attr["shape"].shape.unknown_rank = endpoint not in shapes
        for size in shapes.get(endpoint, ()):
            node.attr["shape"].shape.dim.add(size=size)
        pieces += _field(node)
    for number in part.numbers:
        node = protos.NodeDef()
        node.CopyFrom(document.full_node(number))
        node.device = ""
        for attribute in _FORGOTTEN:
            node.attr.pop(attribute, None)
        _rewire(node, names, gone)
        pieces += _field(node)
    pieces.append(_rest(part).SerializeToString())
    if sum(map(len, pieces)) > _TWO_GIB:
        raise OperationError("The graph takes more than 2 GiB, which TensorFlow cannot read.")
    return b"".join(pieces)


def _field(node: Any) -> tuple[bytes, bytes]:
    raw = node.SerializeToString()
    return header(_NODE_FIELD, len(raw)), raw


def _rewire(node: Any, names: Mapping[Endpoint, str], gone: Collection[str]) -> None:
    """Read placeholders where tensors are fed, and wait for no node that was left out.

    Inputs that the whole graph lacks too stay as they are: TensorFlow shall complain of them.
    """
    inputs: list[str] = []
    for text in node.input:
        name, port = parse_input(text)
        if port == CONTROL_PORT:
            inputs += [] if name in gone else [text]
        else:
            inputs.append(names.get(Endpoint(name, port), text))
    del node.input[:]
    node.input.extend(inputs)


def _rest(part: Part) -> Any:
    """Versions and called functions, with their gradients."""
    whole, rest = part.document.graph_def, protos.GraphDef()
    if whole.HasField("versions"):
        rest.versions.CopyFrom(whole.versions)
    functions = part.functions()
    names = {function.signature.name for function in functions}
    rest.library.function.extend(functions)
    rest.library.gradient.extend(one for one in whole.library.gradient if one.function_name in names)
    return rest


def ports_read(part: Part, name: str) -> list[int]:
    """Which outputs of a node the part's nodes and ends use, sorted."""
    graph = part.document.graph
    number = graph.index[name]
    inside = set(part.numbers)
    edges = [edge for edge in graph.edges_out_of(number).tolist() if int(graph.dst[edge]) in inside]
    ports = {int(graph.port[edge]) for edge in edges} | {end.port for end in part.ends if end.node == name}
    return sorted(ports - {CONTROL_PORT})
