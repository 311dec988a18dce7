"""What becomes of a node when an input that named a variable carries the variable's value.

One small function per kind of op; ``RULES`` says which op follows which.
Source: tensorflow/python/framework/convert_to_constants.py, with what it refuses or misses added.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from graphviewer.analysis.ops import LOOP_CALL_OPS, REF_TO_VALUE, arguments, is_variable_write
from graphviewer.errors import OperationError
from graphviewer.model.making import const_node
from graphviewer.model.nodes import control_inputs, data_inputs
from graphviewer.operations.draft import keep_attributes
from graphviewer.operations.freezing.body import Body, Tensor, Value
from graphviewer.operations.freezing.calls import call_of, retype_argument
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
    if is_variable_write(op) and site.slot == 0 and not site.body.consumers((site.node.name, 0)):
        return _wait(site)
    rule = RULES.get(op)
    if rule is not None:
        return rule(site)
    if call_of(site.node, site.body.library) is not None:
        return _call(site)
    if is_variable_write(op) and site.slot == 0:
        raise OperationError(
            f"{site.body.where(site.node.name)} ({op}) updates a variable, and the outputs depend on it.",
            "Choose outputs that do not, or name an input there.",
            shell="Choose outputs that do not, or cut there with --input.",
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
            "Choose other outputs, or name an input there.",
            shell="Choose other outputs, or cut there with --input.",
        )
    site.body.read.append((site.node.name, site.value.variable))
    return ()


def _dtype(site: Site) -> int:
    """What the node says that it reads, else what the variable is."""
    node = site.edit()  # asking the original for what it lacks would add that to it
    return int(node.attr["dtype"].type or site.value.dtype)


def _read(site: Site) -> Iterable[int]:
    node = site.edit()
    node.op = "Identity"
    node.attr["T"].type = _dtype(site)
    if "dtype" in node.attr:
        del node.attr["dtype"]
    site.body.read.append((site.node.name, site.value.variable))
    site.report("read -> identity", f"reads the constant '{site.value.variable}'")
    return ()


def _gather(site: Site) -> Iterable[int]:
    """ResourceGather reads whole rows, GatherV2 along an axis: the first after the batch."""
    node, was = site.edit(), site.node
    index_type, batch_dims, dtype = node.attr["Tindices"].type, node.attr["batch_dims"].i, _dtype(site)
    axis = np.array(batch_dims, np.int64 if index_type == DataType.INT64 else np.int32)
    axis_input = site.body.add_const(f"{was.name}/axis", index_type, axis, reader=node)
    node.op = "GatherV2"
    node.input[:] = [*data_inputs(node), axis_input, *control_inputs(node)]
    keep_attributes(node, ())
    node.attr["Tparams"].type = dtype
    node.attr["Tindices"].type = node.attr["Taxis"].type = index_type
    if batch_dims:
        node.attr["batch_dims"].i = batch_dims
    site.body.read.append((was.name, site.value.variable))
    site.report("gather -> gather", f"gathers from the constant '{site.value.variable}'")
    return ()


def _gather_nd(site: Site) -> Iterable[int]:
    node = site.edit()
    node.op = "GatherNd"
    dtype, index_type = _dtype(site), node.attr["Tindices"].type
    keep_attributes(node, ())
    node.attr["Tparams"].type, node.attr["Tindices"].type = dtype, index_type
    site.body.read.append((node.name, site.value.variable))
    site.report("gather -> gather", f"gathers from the constant '{site.value.variable}'")
    return ()


def _shape(site: Site) -> Iterable[int]:
    node = site.edit()
    node.op = "Shape"
    node.attr["T"].type = site.value.dtype
    site.report("shape -> shape", f"gives the shape of the constant '{site.value.variable}'")
    return ()


def _initialized(site: Site) -> Iterable[int]:
    """A constant is always initialised. The answer still waits for what it read, which a conditional may switch off."""
    node = site.edit()
    control = control_inputs(node)
    if site.body.in_flow(node.name):
        control += site.body.waits(data_inputs(node)[0], dtype=site.value.dtype)
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
    if not site.value.resource or "T" not in site.node.attr or site.node.attr["T"].type != DataType.RESOURCE:
        return _use_value(site)
    site.edit().attr["T"].type = site.value.dtype
    site.report("handle -> value", f"hands on the value of '{site.value.variable}'")
    if site.node.op == "_SwitchN":
        return range(site.edit().attr["num_outs"].i)
    return _ports(site.node.op)


def _handles(site: Site) -> Iterable[int]:
    """IdentityN: each input has its own type."""
    types = site.node.attr["T"].list.type if "T" in site.node.attr else ()
    if site.slot >= len(types) or types[site.slot] != DataType.RESOURCE:
        return _use_value(site)
    site.edit().attr["T"].list.type[site.slot] = site.value.dtype
    site.report("handle -> value", f"hands on the value of '{site.value.variable}'")
    return (site.slot,)


def _call(site: Site) -> Iterable[int]:
    """A call: its argument is a value now; the functions follow when all arguments are known."""
    call = call_of(site.node, site.body.library)
    argument = call.argument(site.slot) if call is not None else -1
    if call is None or argument < 0 or not site.value.resource:
        return _use_value(site)
    if not retype_argument(site.edit(), call, site.slot, DataType.RESOURCE, site.value.dtype):
        return _use_value(site)
    if argument not in site.body.calls.setdefault(site.node.name, {}):
        site.body.calls[site.node.name][argument] = site.value
        site.report("handle -> value", f"passes the value of '{site.value.variable}' to the function")
    return (argument,) if site.node.op in LOOP_CALL_OPS else ()


def _no_copy_mark(site: Site) -> Iterable[int]:
    """A mark for reads to come: nothing is left of it but what it waits for."""
    node = site.edit()
    node.op = "NoOp"
    node.input[:] = control_inputs(node)
    keep_attributes(node, ())
    site.report("mark -> no-op", f"marked reads of '{site.value.variable}', which is a constant now")
    return ()


def _wait(site: Site) -> Iterable[int]:
    """An update that nothing reads, but that a node in a branch or loop lies there by: only its place is left."""
    known = arguments(site.node) or []
    last = len(data_inputs(site.node)) - 1
    dtype = known[last].dtype if 0 < last < len(known) else site.value.dtype
    node = site.edit()
    node.op = "Identity"
    node.input[:] = [node.input[last], *control_inputs(node)]
    keep_attributes(node, ())
    node.attr["T"].type = dtype
    site.report("update -> wait", f"updated '{site.value.variable}', which is a constant now; others still wait for it")
    return ()


_UPDATES = {"Assign": "Identity", "AssignAdd": "Add", "AssignSub": "Sub"}


def _update(site: Site) -> Iterable[int]:
    """An update of a reference whose result is used: compute the result, update nothing."""
    if site.slot:
        return _use_value(site)
    node = site.edit()
    node.op = _UPDATES[site.node.op]
    if node.op != "Identity":
        site.body.read.append((node.name, site.value.variable))
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
        "DisableCopyOnRead": _no_copy_mark,
        **dict.fromkeys(_UPDATES, _update),
    }
)
"""By op."""
