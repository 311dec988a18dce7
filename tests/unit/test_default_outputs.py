"""What is run when nobody names an output."""

from __future__ import annotations

import pytest
from operation_graphs import document, identity, node, placeholder

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.runtime.outputs import default_outputs


def test_that_only_tensors_with_values_are_taken_by_themselves():
    meta = protos.MetaGraphDef()
    meta.signature_def["init"].outputs["__saved_model_init_op"].name = "NoOp"
    graph = document(placeholder(), identity("y = Relu x"), node("NoOp = NoOp ^y"), meta=meta)
    assert default_outputs(graph, graph) == ["y"]


def test_that_a_graph_without_values_says_so():
    graph = document(node("a = NoOp"), node("b = NoOp ^a"))
    with pytest.raises(OperationError, match="no output in common"):
        default_outputs(graph, graph)


def test_that_outputs_of_signatures_come_in_an_order_of_their_own():
    ends = [f"{letter} = Relu x" for letter in "abcdefgh"]
    orders = []
    for names in ("hgfedcba", "abcdefgh"):
        meta = protos.MetaGraphDef()
        for name in names:
            meta.signature_def["serving_default" if name < "e" else "another"].outputs[name].name = f"{name}:0"
        graph = document(placeholder(), *(identity(end) for end in ends), meta=meta)
        orders.append(default_outputs(graph, graph))
    assert orders == [list("abcdefgh")] * 2
