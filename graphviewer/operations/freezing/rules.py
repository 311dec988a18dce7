"""What becomes of a node when an input that named a variable carries the variable's value.

One small function per kind of op; ``RULES`` says which op follows which.
Source: tensorflow/python/framework/convert_to_constants.py, with what it refuses or misses added.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from graphviewer.analysis.ops import REF_TO_VALUE, arguments, is_variable_write
from graphviewer.errors import OperationError
from graphviewer.model.tensors import const_node
from graphviewer.operations.freezing.body import Body, Tensor, Value
from graphviewer.protos import DataType


@dataclass(frozen=True)
class Site:
    """Where a rule works.

    Attributes:
        node: the node as it was.
        slot: its input that carries a value now.
        value: that value.
    """

    body: Body
    node: Any
    slot: int
    value: Value

    def edit(self) -> Any:
        return self.body.edit(self.node.name)

    def report(self, rule: str, reason: str) -> None:
        self.body.report(self.node.name, rule, reason)


Rule = Callable[[Site], Iterable[int]]
"""Changes the node; gives the outputs that carry the value on."""


class Call(NamedTuple):
    """How an op calls functions.

    Attributes:
        first: its first input that is an argument.
        arguments, results: attributes that list dtypes of arguments and of results.
        functions: attributes that name the functions.
    """

    first: int
    arguments: str
    results: str
    functions: tuple[str, ...]


_BRANCHES = ("then_branch", "else_branch")
CALLS: Mapping[str, Call] = MappingProxyType(
    {
        "PartitionedCall": Call(0, "Tin", "Tout", ("f",)),
        "StatefulPartitionedCall": Call(0, "Tin", "Tout", ("f",)),
        "RemoteCall": Call(1, "Tin", "Tout", ("f",)),
        "If": Call(1, "Tin", "Tout", _BRANCHES),
        "StatelessIf": Call(1, "Tin", "Tout", _BRANCHES),
        "Case": Call(1, "Tin", "Tout", ("branches",)),
        "StatelessCase": Call(1, "Tin", "Tout", ("branches",)),
        "While": Call(0, "T", "T", ("cond", "body")),
        "StatelessWhile": Call(0, "T", "T", ("cond", "body")),
    }
)
"""Ops that call functions of the library."""


def propagate(body: Body, start: Mapping[Tensor, Value]) -> None:
    """Follow values from ``start`` through a body, rewriting every node that they reach.

    Raises:
        OperationError: a node needs the variable itself, not its value.
    """
    work: deque[Tensor] = deque()
    for tensor, value in start.items():
        if tensor not in body.value:
            body.value[tensor] = value
            work.append(tensor)
    while work:
        tensor = work.popleft()
        value = body.value[tensor]
        for name, slot in body.consumers(tensor):
            for port in _rewrite(Site(body, body.nodes[name], slot, value)):
                if (name, port) not in body.value:
                    body.value[name, port] = value
                    work.append((name, port))
    _forget_reads_of_updates(body)


def _forget_reads_of_updates(body: Body) -> None:
    """What reads the reference that an update gives reads the new value, which is computed: no value of before."""
    work = [(name, port) for name, port in body.value if name in body.nodes and body.nodes[name].op in _UPDATES]
    updated: set[Tensor] = set(work)
    readers: set[str] = set()
    while work:
        for name, _ in body.consumers(work.pop()):
            handed = (
                [(name, port) for port in _ports(body.nodes[name].op)] if body.nodes[name].op in REF_TO_VALUE else []
            )
            readers.add(name)
            work += [tensor for tensor in handed if tensor not in updated]
            updated.update(handed)
    old = {name for tensor in body.value if tensor not in updated for name, _ in body.consumers(tensor)}
    body.read = [(name, variable) for name, variable in body.read if name not in readers or name in old]


def _rewrite(site: Site) -> Iterable[int]:
    op = site.node.op
    rule = RULES.get(op)
    if rule is not None:
        return rule(site)
    if is_variable_write(op) and site.slot == 0:
        raise OperationError(
            f"{site.body.where(site.node.name)} ({op}) updates a variable, and the outputs depend on it.",
            "Choose outputs that do not, or cut there with --input.",
        )
    return _use_value(site)


def _use_value(site: Site) -> Iterable[int]:
    """An op that takes a value: it reads a reference as one; a handle it could only use as such."""
    known = arguments(site.node)
    if known is None:
        as_handle = site.value.resource
    else:
        as_handle = site.slot < len(known) and known[site.slot].is_handle
    if as_handle:
        raise OperationError(
            f"{site.body.where(site.node.name)} ({site.node.op}) uses the variable '{site.value.variable}' itself, "
            "not its value, so it cannot be frozen.",
            "Choose other outputs, or cut there with --input.",
        )
    site.body.read.append((site.node.name, site.value.variable))
    return ()


def _read(site: Site) -> Iterable[int]:
    node = site.edit()
    node.op = "Identity"
    node.attr["T"].type = site.node.attr["dtype"].type or site.value.dtype
    if "dtype" in node.attr:
        del node.attr["dtype"]
    site.body.read.append((site.node.name, site.value.variable))
    site.report("read -> identity", f"reads the constant '{site.value.variable}'")
    return ()


def _gather(site: Site) -> Iterable[int]:
    """ResourceGather reads whole rows, GatherV2 along an axis: the first after the batch."""
    node, was = site.edit(), site.node
    index_type, batch_dims = was.attr["Tindices"].type, was.attr["batch_dims"].i
    axis = np.array(batch_dims, np.int64 if index_type == DataType.INT64 else np.int32)
    data = [text for text in node.input if not text.startswith("^")]
    control = [text for text in node.input if text.startswith("^")]
    data.append(site.body.add_const(f"{was.name}/axis", index_type, axis))
    node.op = "GatherV2"
    node.input[:] = data + control
    _keep_attributes(node, "_class")
    node.attr["Tparams"].type = was.attr["dtype"].type or site.value.dtype
    node.attr["Tindices"].type = node.attr["Taxis"].type = index_type
    if batch_dims:
        node.attr["batch_dims"].i = batch_dims
    site.body.read.append((was.name, site.value.variable))
    site.report("gather -> gather", f"gathers from the constant '{site.value.variable}'")
    return ()


def _gather_nd(site: Site) -> Iterable[int]:
    node, was = site.edit(), site.node
    node.op = "GatherNd"
    _keep_attributes(node, "_class")
    node.attr["Tparams"].type = was.attr["dtype"].type or site.value.dtype
    node.attr["Tindices"].type = was.attr["Tindices"].type
    site.body.read.append((was.name, site.value.variable))
    site.report("gather -> gather", f"gathers from the constant '{site.value.variable}'")
    return ()


def _keep_attributes(node: Any, *names: str) -> None:
    for name in list(node.attr):
        if name not in names:
            del node.attr[name]


def _shape(site: Site) -> Iterable[int]:
    node = site.edit()
    node.op = "Shape"
    node.attr["T"].type = site.value.dtype
    site.report("shape -> shape", f"gives the shape of the constant '{site.value.variable}'")
    return ()


def _initialized(site: Site) -> Iterable[int]:
    """A constant is always initialised. The answer still waits for what it read, which a conditional may switch off."""
    source = site.node.input[site.slot].split(":")[0]
    control = [text for text in site.edit().input if text.startswith("^")]
    if not site.body.function and source != site.value.variable:
        control.append(f"^{source}")
    node = const_node(site.node.name, DataType.BOOL, values=np.array(True))
    node.input.extend(dict.fromkeys(control))
    node.device = site.node.device
    site.body.new[site.node.name] = node
    site.report("is initialized -> constant", f"'{site.value.variable}' is a constant now, so it has a value")
    return ()


def _reference(site: Site) -> Iterable[int]:
    node = site.edit()
    node.op = REF_TO_VALUE[site.node.op]
    site.report("reference -> value", f"hands on the value of '{site.value.variable}'; it was {site.node.op}")
    return _ports(site.node.op)


def _ports(op: str) -> Iterable[int]:
    return (0, 1) if op.endswith("Switch") else (0,)


def _handle(site: Site) -> Iterable[int]:
    """An op of any type: it hands a handle on, but reads a reference."""
    if not site.value.resource or site.node.attr["T"].type != DataType.RESOURCE:
        return _use_value(site)
    site.edit().attr["T"].type = site.value.dtype
    site.report("handle -> value", f"hands on the value of '{site.value.variable}'")
    if site.node.op == "_SwitchN":
        return range(site.node.attr["num_outs"].i)
    return _ports(site.node.op)


def _handles(site: Site) -> Iterable[int]:
    """IdentityN: each input has its own type."""
    types = site.node.attr["T"].list.type
    if site.slot >= len(types) or types[site.slot] != DataType.RESOURCE:
        return _use_value(site)
    site.edit().attr["T"].list.type[site.slot] = site.value.dtype
    site.report("handle -> value", f"hands on the value of '{site.value.variable}'")
    return (site.slot,)


def _call(site: Site) -> Iterable[int]:
    """A call: its argument is a value now; the functions follow when all arguments are known."""
    call = CALLS[site.node.op]
    argument = site.slot - call.first
    types = site.node.attr[call.arguments].list.type
    if argument < 0 or argument >= len(types) or types[argument] != DataType.RESOURCE:
        return _use_value(site)
    site.edit().attr[call.arguments].list.type[argument] = site.value.dtype
    if argument not in site.body.calls.setdefault(site.node.name, {}):
        site.body.calls[site.node.name][argument] = site.value
        site.report("handle -> value", f"passes the value of '{site.value.variable}' to the function")
    return (argument,) if "While" in site.node.op else ()


_UPDATES = {"Assign": "Identity", "AssignAdd": "Add", "AssignSub": "Sub"}


def _update(site: Site) -> Iterable[int]:
    """An update of a reference whose result is used: compute the result, update nothing."""
    if site.slot:
        return _use_value(site)
    node = site.edit()
    node.op = _UPDATES[site.node.op]
    if node.op == "Identity":
        node.input[:] = node.input[1:]
    for attribute in ("use_locking", "validate_shape"):
        if attribute in node.attr:
            del node.attr[attribute]
    site.report(
        "update -> value",
        f"the outputs use what {site.node.op} gives; the variable '{site.value.variable}' stays as it is",
    )
    return (0,)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "ReadVariableOp": _read,
        "ResourceGather": _gather,
        "ResourceGatherNd": _gather_nd,
        "VariableShape": _shape,
        "IsVariableInitialized": _initialized,
        "VarIsInitializedOp": _initialized,
        "IdentityN": _handles,
        **dict.fromkeys(REF_TO_VALUE, _reference),
        **dict.fromkeys(("Identity", "Enter", "Exit", "NextIteration", "Switch", "Merge", "_SwitchN"), _handle),
        **dict.fromkeys(CALLS, _call),
        **dict.fromkeys(_UPDATES, _update),
    }
)
"""By op."""
