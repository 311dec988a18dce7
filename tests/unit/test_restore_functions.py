"""The strings that a restore function's constants hold."""

from __future__ import annotations

from graphviewer import protos
from graphviewer.analysis.restore_functions import constant_strings
from graphviewer.protos import DataType


def constant(values, size):
    node = protos.NodeDef(name="c", op="Const")
    tensor = node.attr["value"].tensor
    tensor.dtype = DataType.STRING
    tensor.tensor_shape.dim.add(size=size)
    tensor.string_val.extend(values)
    return node


def test_that_one_value_stands_for_all_where_it_is_stored_once():
    assert constant_strings(constant([b"a"], 3)) == ["a", "a", "a"]
    assert constant_strings(constant([b"a", b"b"], 2)) == ["a", "b"]


def test_that_what_is_no_constant_has_no_strings():
    assert constant_strings(None) == []
    assert constant_strings(protos.NodeDef(name="n", op="Identity")) == []
