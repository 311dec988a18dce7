"""Results that cannot run, or give the same whatever is fed, never pass silently."""

from __future__ import annotations

import pytest
from operation_graphs import F, document, identity, node, placeholder

from graphviewer.operations.registry import operations

ITERATOR = (
    node("dataset = TensorSliceDataset"),
    node("it = IteratorV2"),
    node("make = MakeIterator dataset it"),
    node("input/next = IteratorGetNext it"),
)
QUEUE = (
    node("q = FIFOQueueV2"),
    node("fill = QueueEnqueueV2 q x"),
    node("input/next = QueueDequeueV2 q"),
)
ENDLESS = (node("it = OneShotIterator"), node("input/next = IteratorGetNext it"))


def warnings(operation, *nodes, inputs=()):
    before = document(placeholder(), *nodes, identity("scale = Relu input/next"), identity("y = Softmax scale"))
    for made in before.graph_def.node:
        if made.name == "input/next":
            made.attr["output_types"].list.type.append(F)
            made.attr["component_types"].list.type.append(F)
    return operations()[operation].run(before, outputs=["y"], inputs=inputs).warnings


@pytest.mark.parametrize("operation", ["extract", "freeze"])
@pytest.mark.parametrize(("pipeline", "lacks"), [(ITERATOR, "its initializer"), (QUEUE, "its queue runners")])
def test_that_a_result_which_reads_a_pipeline_that_nothing_fills_is_warned_about(operation, pipeline, lacks):
    told = [text for text in warnings(operation, *pipeline) if "pipeline" in text]
    assert len(told) == 1
    assert told[0].startswith(
        f"The result still reads the input pipeline at input/next, which cannot run without {lacks}"
    )
    assert "name an input, for instance " in told[0]


@pytest.mark.parametrize("operation", ["extract", "freeze"])
def test_that_a_pipeline_that_is_fed_or_fills_itself_is_not_warned_about(operation):
    assert not [text for text in warnings(operation, *ITERATOR, inputs=["input/next"]) if "pipeline" in text]
    assert not [text for text in warnings(operation, *ENDLESS) if "pipeline" in text]


@pytest.mark.parametrize("operation", ["extract", "freeze"])
def test_that_an_output_that_depends_on_no_input_is_warned_about(operation):
    before = document(placeholder(), node("r = RandomUniform"), identity("y = Relu r"), identity("z = Relu x"))
    run = operations()[operation].run
    assert "'y' depends on no input" in " ".join(run(before, outputs=["y"]).warnings)
    assert "depends on no input" not in " ".join(run(before, outputs=["z"]).warnings)
