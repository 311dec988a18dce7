"""Families of ops, and what is told about nodes from op definitions."""

import pytest
from graphs import FLOAT, GraphBuilder

from graphviewer import protos
from graphviewer.analysis import ops
from graphviewer.analysis.control_flow import inside_branches, inside_loops, variables_behind
from graphviewer.analysis.effects import effect_only
from graphviewer.model.document import Document
from graphviewer.model.graph import Graph
from graphviewer.protos import DataType


def names(graph, mask):
    return {name for name, found in zip(graph.names, mask, strict=True) if found}


@pytest.mark.parametrize(
    ("family", "inside", "outside"),
    [
        (
            ops.is_variable_write,
            (
                "Assign AssignVariableOp AssignSub CountUpTo ScatterNdUpdate ResourceScatterAdd ResourceApplyAdam "
                "SparseApplyFtrlV2 ResourceStridedSliceAssign ApplyLazyMomentum"
            ),
            "ScatterNd ScatterNdNonAliasingAdd TensorArrayScatterV3 ReadVariableOp AccumulatorApplyGradient Identity",
        ),
        (ops.is_apply_op, "ApplyAdam ResourceSparseApplyAdagrad NegTrain", "Assign AssignSub ApproximateEqual"),
        (
            ops.is_gradient_op,
            (
                "ReluGrad Relu6Grad MaxPoolGradGradV2 FusedBatchNormGradV3 Conv2DBackpropFilter BroadcastGradientArgs "
                "TensorArrayGradV3 CudnnRNNBackpropV3 SymbolicGradient FakeQuantWithMinMaxVarsGradient"
            ),
            "Conv2DBackpropInput StopGradient PreventGradient ResourceApplyGradientDescent DebugGradientIdentity Relu",
        ),
        (ops.is_summary_op, "ScalarSummary MergeSummary WriteScalarSummary SummaryWriter", "DebugNumericSummary"),
        (
            ops.is_pipeline_op,
            "MapDataset IteratorGetNext QueueDequeueManyV2 FIFOQueueV2 TFRecordReaderV2 ParseExampleV2 DecodeJpeg",
            "FakeQueue DecodeProtoV2 CTCGreedyDecoder Reshape LookupTableFindV2",
        ),
        (ops.is_pipeline_source, "IteratorGetNext QueueDequeueV2 ReaderReadV2 Unstage", "ParseExample MapDataset"),
        (ops.is_random_op, "RandomUniform StatelessRandomNormalV2 Multinomial", "RandomDataset RandomShuffleQueueV2"),
        (ops.is_table_initializer, "InitializeTableV2 LookupTableImportV2", "LookupTableFindV2"),
        (ops.is_table_op, "HashTableV2 MutableDenseHashTable", "LookupTableSizeV2"),
    ],
)
def test_that_a_family_holds_its_ops_and_no_neighbours(family, inside, outside):
    assert [op for op in inside.split() if not family(op)] == []
    assert [op for op in outside.split() if family(op)] == []


def test_that_every_registered_op_that_hands_a_reference_back_is_a_write_or_passes_it_on():
    """TensorFlow's registry as the oracle: an op from a reference to the same reference changes the variable."""
    passing = {*ops.REF_TO_VALUE, "RefSelect", "DebugGradientRefIdentity", "RefIn", "RefInputFloatInput"}
    unknown = []
    for op, definition in protos._op_table().items():
        inputs, outputs = definition.input_arg, definition.output_arg
        if inputs and outputs and inputs[0].is_ref and outputs[0].is_ref and op not in passing:
            unknown += [op] if not ops.is_variable_write(op) else []
    assert unknown == []


def test_that_tables_of_ops_hold_registered_ops_only():
    named = [*ops.REF_TO_VALUE, *ops.REF_TO_VALUE.values(), *ops.RESOURCE_TO_VALUE, *ops.RESOURCE_TO_VALUE.values()]
    named += [*ops.VARIABLE_OPS, *ops.SAVE_OPS, *ops.RESTORE_OPS, *ops.CHECK_OPS, *ops.SHAPE_OPS, *ops.LOSS_OPS]
    named += [*ops.CALL_OPS, *ops.CONTROL_FLOW_OPS, *ops.PASS_OPS, *ops.INITIALIZED_OPS, *ops.BATCH_NORM_OPS]
    assert [op for op in named if protos.op_def(op) is None] == []


def test_that_arguments_are_named_and_lists_spread_out():
    b = GraphBuilder()
    b.node("a", "AddN", "x", "y", "z", N=3, T=FLOAT)
    b.node("s", "SaveV2", "p", "n", "t", "v", "w", dtypes=[FLOAT, DataType.INT64])
    b.node("c", "MadeUpOp", "x")
    first, second, third = b.graph_def.node
    assert ops.argument_names(first) == ["inputs", "inputs", "inputs"]
    assert ops.argument_names(second) == ["prefix", "tensor_names", "shape_and_slices", "tensors", "tensors"]
    assert [argument.dtype for argument in ops.arguments(second)[3:]] == [FLOAT, DataType.INT64]
    assert ops.arguments(third) is None


def test_that_a_damaged_count_does_not_make_arguments_without_end():
    b = GraphBuilder()
    b.node("a", "AddN", "x", N=2**60, T=FLOAT)
    assert len(ops.arguments(b.graph_def.node[0])) == 1


def test_that_handles_are_told_from_values():
    b = GraphBuilder()
    b.node("r", "ApplyGradientDescent", "v", "lr", "g", T=FLOAT)
    b.node("s", "ResourceApplyGradientDescent", "v", "lr", "g", T=FLOAT)
    for node in b.graph_def.node:
        assert [argument.is_handle for argument in ops.arguments(node)] == [True, False, False]


def test_that_outputs_are_counted():
    b = GraphBuilder()
    b.node("i", "IteratorGetNext", "it", output_types=protos.AttrValue(list={"type": [FLOAT, FLOAT]}))
    b.node("n", "NoOp")
    b.node("s", "Split", "axis", "x", num_split=4, T=FLOAT)
    b.node("u", "MadeUpOp")
    assert [ops.output_count(node) for node in b.graph_def.node] == [2, 0, 4, None]


def test_that_a_variable_is_seen_through_reads_entries_and_switches():
    b = GraphBuilder()
    b.node("v", "VarHandleOp", dtype=FLOAT)
    b.node("enter", "Enter", "v")
    b.node("switch", "Switch", "enter", "p")
    b.node("read", "ReadVariableOp", "switch:1")
    b.node("same", "Identity", "read")
    b.node("used", "Relu", "same")
    b.node("p", "Placeholder", dtype=DataType.BOOL)
    graph = Graph.from_nodes(b.graph_def.node)
    behind = variables_behind(graph)
    assert [behind[graph.index[name]] for name in ("v", "enter", "switch", "read", "same")] == [0] * 5
    assert [behind[graph.index[name]] for name in ("used", "p")] == [-1, -1]


def test_that_rings_of_identities_end():
    b = GraphBuilder()
    for number in range(5):
        b.node(f"i{number}", "Identity", f"i{(number + 1) % 5}")
    graph = Graph.from_nodes(b.graph_def.node)
    assert set(variables_behind(graph)) == {-1}


def test_that_long_chains_of_identities_are_followed():
    b = GraphBuilder()
    b.node("i0", "VariableV2", dtype=FLOAT, shape=[])
    for number in range(1, 5000):
        b.node(f"i{number}", "Identity", f"i{number - 1}")
    graph = Graph.from_nodes(b.graph_def.node)
    assert set(variables_behind(graph)) == {0}


def test_that_only_groups_of_writes_and_checks_are_effect_only():
    b = GraphBuilder()
    b.node("v", "VariableV2", dtype=FLOAT, shape=[])
    b.node("write", "Assign", "v", "x")
    b.node("check", "Assert", "p")
    b.node("group", "NoOp", "^write", "^check")
    b.node("wider", "NoOp", "^group", "^check")
    b.node("mixed", "NoOp", "^write", "^x")
    b.node("empty", "NoOp")
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("p", "Placeholder", dtype=DataType.BOOL)
    document = Document("graphdef", b.graph_def)
    assert names(document.graph, effect_only(document)) == {"write", "check", "group", "wider"}


def test_that_the_merge_of_a_conditional_assert_is_effect_only_and_its_pivots_are_not():
    b = GraphBuilder()
    b.node("p", "Placeholder", dtype=DataType.BOOL)
    b.node("g/Switch", "Switch", "p", "p")
    b.node("g/switch_t", "Identity", "g/Switch:1")
    b.node("g/switch_f", "Identity", "g/Switch")
    b.node("g/NoOp", "NoOp", "^g/switch_t")
    b.node("g/done", "Identity", "g/switch_t", "^g/NoOp")
    b.node("g/Assert", "Assert", "g/switch_f", "^g/switch_f")
    b.node("g/done_1", "Identity", "g/switch_f", "^g/Assert")
    b.node("g/Merge", "Merge", "g/done_1", "g/done", N=2)
    document = Document("graphdef", b.graph_def)
    assert names(document.graph, effect_only(document)) == {"g/Assert", "g/done_1", "g/Merge"}


def guard(b, then, other):
    """``if p: then() else: other()``, and a node that waits for it."""
    for name, op in (("then", then), ("else", other)):
        function = b.graph_def.library.function.add()
        function.signature.name = name
        function.signature.output_arg.add(name="ran", type=DataType.BOOL)
        function.node_def.add(name="work", op=op)
        function.node_def.add(name="ran", op="Identity", input=["p", "^work"])
    guard = b.graph_def.node.add(name="guard", op="If", input=["p"])
    guard.attr["then_branch"].func.name, guard.attr["else_branch"].func.name = "then", "else"
    b.node("guard/Identity", "Identity", "guard")
    b.node("y", "LogicalNot", "p", "^guard/Identity")


@pytest.mark.parametrize(
    ("then", "other", "found"),
    [
        ("NoOp", "Assert", {"guard", "guard/Identity"}),
        ("NoOp", "NoOp", set()),
        ("ReadFile", "Assert", set()),
    ],
)
def test_that_a_call_is_effect_only_where_its_functions_do_nothing_but_check(then, other, found):
    b = GraphBuilder()
    b.node("p", "Placeholder", dtype=DataType.BOOL)
    guard(b, then, other)
    document = Document("graphdef", b.graph_def)
    assert names(document.graph, effect_only(document)) == found


def loop(b, scope, start):
    """A TF1 loop that adds to ``start``; gives the name of its Exit."""
    b.node(f"{scope}/Enter", "Enter", start)
    b.node(f"{scope}/Merge", "Merge", f"{scope}/Enter", f"{scope}/Next", N=2)
    b.node(f"{scope}/Less", "Less", f"{scope}/Merge", f"{scope}/Merge")
    b.node(f"{scope}/LoopCond", "LoopCond", f"{scope}/Less")
    b.node(f"{scope}/Switch", "Switch", f"{scope}/Merge", f"{scope}/LoopCond")
    b.node(f"{scope}/Exit", "Exit", f"{scope}/Switch")
    b.node(f"{scope}/Body", "Identity", f"{scope}/Switch:1")
    return f"{scope}/Exit", f"{scope}/Body"


def test_that_the_inside_of_loops_ends_at_the_exit_and_holds_inner_loops_whole():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    out, body = loop(b, "outer", "x")
    inner, step = loop(b, "outer/inner", body)
    b.node("outer/inner/Next", "NextIteration", step)
    b.node("outer/Next", "NextIteration", inner)
    b.node("after", "Relu", out)
    last, step = loop(b, "second", "after")
    b.node("second/Next", "NextIteration", step)
    b.node("end", "Relu", last)
    graph = Graph.from_nodes(b.graph_def.node)
    outside = names(graph, ~inside_loops(graph))
    assert outside == {"x", "outer/Exit", "after", "second/Exit", "end"}


def test_that_branches_end_at_their_merge_and_loops_are_no_branches():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("p", "Placeholder", dtype=DataType.BOOL)
    b.node("c/Switch", "Switch", "x", "p")
    b.node("c/yes", "Relu", "c/Switch:1")
    b.node("c/Merge", "Merge", "c/Switch", "c/yes", N=2)
    out, step = loop(b, "w", "c/Merge")
    b.node("w/Next", "NextIteration", step)
    b.node("end", "Relu", out)
    graph = Graph.from_nodes(b.graph_def.node)
    assert names(graph, inside_branches(graph)) == {"c/Switch", "c/yes"}
