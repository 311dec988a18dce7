"""What kind of box a node is, and which edges are references."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.analysis.ops import CALL_OPS, PLACEHOLDER_OPS, VARIABLE_OPS

CONSTANT_OPS = frozenset({"Const", "HostConst"})


class Kind(IntEnum):
    """The shapes of boxes."""

    OP = 0
    CONSTANT = 1
    VARIABLE = 2
    PLACEHOLDER = 3
    CALL = 4
    SCOPE = 5
    FRAME = 6


def kind_of(op: str, functions: Collection[str] = ()) -> Kind:
    """The kind of a node; an op that is a library function's name calls it."""
    if op in CONSTANT_OPS:
        return Kind.CONSTANT
    if op in VARIABLE_OPS:
        return Kind.VARIABLE
    if op in PLACEHOLDER_OPS or op == "_Arg":
        return Kind.PLACEHOLDER
    if op in CALL_OPS or op in functions:
        return Kind.CALL
    return Kind.OP


def kinds_of(ops: Sequence[str], functions: Collection[str] = ()) -> NDArray[np.int8]:
    """int8 [nodes]: ``Kind`` of each op."""
    table = {op: kind_of(op, functions) for op in set(ops)}
    return np.fromiter((table[op] for op in ops), np.int8, len(ops))


@lru_cache(maxsize=4096)
def _references(op: str) -> tuple[bool, bool]:
    """Whether an op takes, and gives, references (TF1 variables)."""
    definition = protos.op_def(op)
    if definition is None:
        return False, False
    return any(arg.is_ref for arg in definition.input_arg), any(arg.is_ref for arg in definition.output_arg)


def is_reference(source_op: str, target_op: str) -> bool:
    """Whether an edge between two ops carries a reference: one gives it, the other takes it.

    Told by op, not by port: no op of TensorFlow gives both references and values to an op that takes both.
    """
    return _references(source_op)[1] and _references(target_op)[0]
