"""What people reported of other tools, each with an input of its own: where it was reported is in the name."""

import numpy as np
import pytest
from operation_graphs import (
    WEIGHTS,
    F,
    Values,
    by_name,
    const,
    document,
    freeze,
    identity,
    lines,
    network,
    node,
    placeholder,
    value_of,
    variable,
)

from graphviewer import protos
from graphviewer.analysis.coverage import coverage
from graphviewer.analysis.diff import compare
from graphviewer.analysis.endpoints import suggest_inputs, suggest_outputs, warn_output
from graphviewer.analysis.import_check import import_faults
from graphviewer.errors import GraphViewerError, OperationError, UnknownNameError
from graphviewer.formats.checkpoint import open_checkpoint
from graphviewer.model.names import Endpoint, resolve
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType


def run(name, before, **options):
    return operations()[name].run(before, **options)


def trained(*more):
    """``prob`` of x, a loss on it, and a step of training."""
    return document(
        placeholder(),
        placeholder("labels"),
        const("net/w/Initializer/zeros", WEIGHTS),
        variable("net/w", [2, 2]),
        node("net/w/Assign = Assign net/w net/w/Initializer/zeros", T=F),
        identity("net/w/read = Identity net/w"),
        identity("net/logits = MatMul x net/w/read"),
        identity("prob = Softmax net/logits"),
        identity("xent = SoftmaxCrossEntropyWithLogits net/logits labels"),
        const("rate", 0.1),
        identity("gradients/grad = MatMul x xent:1"),
        node("train = ApplyGradientDescent net/w rate gradients/grad", T=F),
        *more,
    )


# Output nodes unknown or wrong


def test_that_outputs_are_ranked_with_reasons_and_training_nodes_are_none_tf3986_tensorbox180():
    found = suggest_outputs(trained())

    assert found[0].name == "prob"
    assert all(one.reason for one in found)
    assert not {one.name for one in found} & {"train", "gradients/grad", "net/w/Assign", "net/w/Initializer/zeros"}


def test_that_of_more_than_10000_nodes_a_few_are_offered_and_the_right_one_first_tf3986():
    layers = (identity(f"l{n} = Relu l{n - 1}" if n else "l0 = Relu net/logits") for n in range(5_000))
    ends = (identity(f"gradients/g{n} = ReluGrad gradients/grad l{n}") for n in range(5_000))

    found = suggest_outputs(trained(*layers, *ends, identity("score = Softmax l4999")))

    assert len(found) == 10
    assert {one.name for one in found[:2]} == {"prob", "score"}
    assert not [one for one in found if one.name.startswith("gradients/")]


@pytest.mark.parametrize(
    "text", ["prob", "prob:0", "^prob", "'prob:0'", '"prob"', "graph.get_tensor_by_name('prob:0')"]
)
def test_that_names_are_taken_as_code_and_messages_write_them_cpm43(text):
    assert resolve(text, trained().graph.index).node == "prob"
    assert run("extract", trained(), outputs=[text]).outputs == ("prob",)


def test_that_an_output_that_depends_on_no_input_is_warned_about_landmark95():
    before = trained(identity("norm = L2Loss net/w/read"))

    assert "depends on no input" in warn_output(before, Endpoint("norm"))
    assert "depends on no input" in " ".join(freeze(before, Values({"net/w": WEIGHTS}), ["norm"]).warnings)


def test_that_the_shape_of_an_initialiser_is_refused_and_a_kernel_warned_about_landmark95():
    shape = const("net/v/Initializer/shape", [2, 2], DataType.INT32)
    first = node("net/v/Initializer/zeros = RandomUniform net/v/Initializer/shape", T=DataType.INT32, dtype=F)
    assigned = node("net/v/Assign = Assign net/v net/v/Initializer/zeros", T=F)
    before = trained(variable("net/v", [2, 2]), shape, first, assigned)

    with pytest.raises(OperationError, match="first values"):
        freeze(before, Values({"net/w": WEIGHTS}), ["net/v/Initializer/shape"])
    kernel = freeze(before, Values({"net/w": WEIGHTS}), ["net/w/read"])
    assert "'net/w/read' depends on no input" in " ".join(kernel.warnings)
    assert "net/w/read" not in {one.name for one in suggest_outputs(before)[:3]}


@pytest.mark.parametrize("name", ["net/w/Assign", "net/w/Initializer/zeros", "train"])
def test_that_assignments_and_first_values_are_no_outputs_bilm107_magenta1730(name):
    with pytest.raises(OperationError, match=f"'{name}' cannot be an output"):
        freeze(trained(), Values({"net/w": WEIGHTS}), [name])


def test_that_the_label_of_another_tool_is_understood_scalable_agent24():
    index = document(placeholder(), identity("concat = Identity x")).graph.index

    assert resolve("concat/(concat)", index).node == "concat"


def test_that_a_signature_says_which_node_is_called_identity_tfjs3803():
    meta = protos.MetaGraphDef()
    meta.signature_def["serving_default"].outputs["Identity"].name = "StatefulPartitionedCall:0"
    before = document(placeholder(), identity("StatefulPartitionedCall = Neg x"), identity("other = Neg x"), meta=meta)

    assert suggest_outputs(before)[0].name.partition(":")[0] == "StatefulPartitionedCall"


# The checkpoint does not fit the graph


def test_that_missing_slots_of_the_optimizer_stop_nothing_tf4766_openvino116():
    before = network(variable("net/w/RMSProp_1", [2, 2]), variable("adam_vars/beta1_power", []))

    assert freeze(before, Values({"net/w": WEIGHTS})).frozen == 1


def test_that_missing_values_are_listed_with_the_nearest_keys_ml_kws63():
    with pytest.raises(OperationError, match=r"net/w +net/w +model/net/w") as error:
        freeze(network(), Values({"model/net/w": WEIGHTS, "global_step": 1.0}))
    assert "variables verb" in error.value.shell


@pytest.mark.parametrize("name", ["net/batch_norm/beta", "net/act_quant/max", "output_bias"])
def test_that_graph_and_checkpoint_are_compared_in_three_ways_ml_kws63_models10614_bert3(name):
    before = network(variable(name, [2]))
    near = f"old/{name}"

    found = coverage(before, Values({"net/w": WEIGHTS, near: [0.0, 0.0], "global_step": 1.0}))

    assert {row.name or row.key: row.status for row in found.variables} == {
        "net/w": "both", name: "only_graph", near: "only_checkpoint", "global_step": "only_checkpoint",
    }  # fmt: skip
    assert next(row.nearest for row in found.variables if row.name == name)[0] == near
    assert found.ratio == 1 / 2


def test_that_unfitting_shapes_are_a_table_tf24808_models8701():
    with pytest.raises(OperationError, match=r"net/w +float32 \[2, 2\] +float32 \[3, 2\]"):
        freeze(network(), Values({"net/w": np.zeros((3, 2))}))


def test_that_an_object_based_checkpoint_is_called_that_automl249():
    values = Values({"_CHECKPOINTABLE_OBJECT_GRAPH": 0.0, "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE": WEIGHTS})

    with pytest.raises(OperationError, match="no value in the checkpoint") as error:
        freeze(network(), values)
    assert "object-based" in error.value.hint


def test_that_a_graph_given_as_checkpoint_is_called_one_tf22245(tmp_path):
    (tmp_path / "graph.pbtxt").write_text('node { name: "x" op: "Placeholder" }\n')

    with pytest.raises(GraphViewerError, match=r"graph\.pbtxt is not a checkpoint but a GraphDef text") as error:
        open_checkpoint(tmp_path / "graph.pbtxt")
    assert "prefix" in error.value.hint


# The frozen graph will not load or run


def test_that_nothing_asks_for_a_reference_any_more_facenet161_tf3628_tf17729():
    before = document(
        placeholder(),
        node("phase_train = Placeholder", dtype=DataType.BOOL, shape=[]),
        variable("mean", [2, 2]),
        node("cond/Switch = RefSwitch mean phase_train", T=F),
        node("cond/AssignSub = AssignSub cond/Switch:1 cond/Switch:1", T=F),
        node("cond/Merge = RefMerge cond/Switch cond/AssignSub", T=F, N=2),
        identity("y = MatMul x cond/Merge"),
    )
    before.graph_def.node[5].attr["N"].i = 2

    result = freeze(before, Values({"mean": WEIGHTS}))

    assert import_faults(result.document) == []
    assert {made.op for made in result.document.graph_def.node} >= {"Switch", "Sub", "Merge"}
    assert {rewrite.node for rewrite in result.rewrites} >= {"cond/Switch", "cond/AssignSub", "cond/Merge"}


def test_that_no_assignment_stays_behind_an_output_tensorflow_onnx77_tf35406():
    before = network(
        const("zeros", WEIGHTS),
        node("net/w/Assign = Assign net/w zeros", T=F),
        node("asked = IsVariableInitialized net/w", dtype=F),
        identity("z = Neg y ^net/w/Assign"),
    )

    kept = {made.op for made in freeze(before, Values({"net/w": WEIGHTS}), ["z"]).document.graph_def.node}
    assert kept == {"Placeholder", "Const", "Identity", "MatMul", "Neg"}


def test_that_a_switch_of_handles_switches_values_keras11032():
    before = document(
        placeholder(),
        node("v = VarHandleOp", dtype=F, shape=[2, 2]),
        node("on = Placeholder", dtype=DataType.BOOL, shape=[]),
        node("switch = Switch v on", T=DataType.RESOURCE),
        node("read = ReadVariableOp switch:1", dtype=F),
        identity("y = MatMul x read"),
    )

    result = freeze(before, Values({"v": WEIGHTS}))

    assert by_name(result.document)["switch"].attr["T"].type == F
    assert import_faults(result.document) == []


def test_that_the_axis_of_a_gather_gets_a_name_that_is_free_tf53866():
    rows = node("Gather = ResourceGather v ids", dtype=F, Tindices=DataType.INT32)
    taken = const("Gather/axis", 7, DataType.INT32)
    handle = node("v = VarHandleOp", dtype=F, shape=[2, 2])
    before = document(const("ids", [0], DataType.INT32), taken, handle, rows, identity("y = Neg Gather"))

    names = freeze(before, Values({"v": WEIGHTS})).document.graph.names

    assert len(set(names)) == len(names)


def test_that_tables_are_listed_with_what_fills_them_tf8665():
    before = document(
        node("keys = Placeholder", dtype=DataType.STRING, shape=[-1]),
        const("words", [b"a"], DataType.STRING),
        const("numbers", [1], DataType.INT64),
        const("unknown", -1, DataType.INT64),
        node("table = HashTableV2", key_dtype=DataType.STRING, value_dtype=DataType.INT64),
        node("fill = InitializeTableV2 table words numbers", Tkey=DataType.STRING, Tval=DataType.INT64),
        node("y = LookupTableFindV2 table keys unknown", Tin=DataType.STRING, Tout=DataType.INT64),
    )

    result = freeze(before, None)

    assert "fill" in result.document.graph.names
    assert any("lookup tables (table): run 'fill' once" in warning for warning in result.warnings)


def test_that_an_iterator_is_offered_as_input_and_cut_tf17884():
    following = node("next = IteratorGetNext iterator")
    following.attr["output_types"].list.type.append(F)
    following.attr["output_shapes"].list.shape.add().dim.add(size=2)
    before = document(
        "iterator = OneShotIterator",
        following,
        variable("w", [2, 2]),
        identity("h = MatMul next w"),
        identity("y = Softmax h"),
    )

    offered = [one.name for one in suggest_inputs(before, [Endpoint("y")])]

    assert offered[0].partition(":")[0] == "next"
    assert lines(run("extract", before, outputs=["y"], inputs=offered[:1]).document)[0] == "next = Placeholder"


# It loads, but gives wrong numbers


AVERAGED = {"net/w": WEIGHTS, "net/w/ExponentialMovingAverage": WEIGHTS + 1, "net/w/Adam": WEIGHTS + 2}


def test_that_moving_averages_are_offered_and_taken_when_asked_for_tf9724():
    raw = freeze(network(), Values(AVERAGED))
    averaged = freeze(network(), Values(AVERAGED), saver="moving-averages")

    assert any("--saver moving-averages" in warning for warning in raw.warnings)
    np.testing.assert_array_equal(value_of(raw, "net/w"), WEIGHTS)
    np.testing.assert_array_equal(value_of(averaged, "net/w"), WEIGHTS + 1)
    assert not averaged.warnings
    with pytest.raises(OperationError, match="no moving averages"):
        freeze(network(), Values({"net/w": WEIGHTS}), saver="moving-averages")


def test_that_a_graph_saved_for_training_is_flagged_tf26075():
    norm = node("norm = FusedBatchNormV3 x scale offset empty empty", T=F, U=F, is_training=True)
    before = document(
        placeholder(), const("scale", [1.0, 1.0]), const("offset", [0.0, 0.0]), const("empty", []), norm,
        identity("y = Relu norm"),
    )  # fmt: skip

    with pytest.raises(OperationError, match="computes as in training.*norm"):
        freeze(before, None)


def test_that_each_constant_is_compared_with_the_checkpoint_tf35167():
    first = freeze(network(), Values({"net/w": WEIGHTS})).document
    second = freeze(network(), Values({"net/w": WEIGHTS + 1})).document

    assert [change.before or change.name for change in compare(first, second).changes] == ["net/w"]


# Strip or optimise damages the graph


@pytest.mark.parametrize("name", operations())
def test_that_control_inputs_stay_behind_the_others_tf8404(name):
    before = trained(identity("z = Identity prob ^rate"), identity("last = Neg z ^x"))
    options = {"rename": {"scopes": "net=moved"}, "cut-inputs": {"inputs": ["z"]}}.get(name, {})
    if operations()[name].parameter("outputs") is not None:
        options["outputs"] = ["last"]

    after = run(name, before, checkpoint=Values({"net/w": WEIGHTS}), **options).document

    for made in after.graph_def.node:
        control = [text.startswith("^") for text in made.input]
        assert control == sorted(control)


@pytest.mark.parametrize("name", ["remove-training-nodes", "fold-constants", "extract"])
def test_that_an_identity_that_is_an_output_stays_tf8242_tf8181(name):
    before = document(const("c", 1.0), identity("mid = Identity c"), identity("output = Identity mid"))

    after = run(name, before, outputs=["output"]).document

    assert "output" in after.graph.names


def test_that_each_input_keeps_its_own_dtype_tf5913():
    before = document(
        node("raw = Placeholder", dtype=DataType.UINT8, shape=[-1]),
        node("image = Cast raw", SrcT=DataType.UINT8, DstT=F),
        node("length = Cast raw", SrcT=DataType.UINT8, DstT=DataType.INT64),
        node("y = Tile image length", T=F, Tmultiples=DataType.INT64),
    )

    after = by_name(run("cut-inputs", before, inputs=["image", "length"], outputs=["y"]).document)

    assert [after[name].attr["dtype"].type for name in ("image", "length")] == [F, DataType.INT64]


def test_that_a_colocation_with_what_is_gone_goes_pr59227():
    near = identity("y = Neg x")
    near.attr["_class"].list.s.append(b"loc:@gone")

    after = run("extract", document(placeholder(), identity("gone = Neg x"), near), outputs=["y"]).document

    assert import_faults(after) == []


def test_that_an_identity_that_pins_a_branch_is_not_removed_pr8765():
    before = document(
        const("flag", True, DataType.BOOL),
        node("cond/Switch = Switch flag flag", T=DataType.BOOL),
        node("cond/switch_t = Identity cond/Switch:1", T=DataType.BOOL),
        const("in_branch", 1.0),
        identity("y = Neg in_branch ^cond/switch_t"),
    )

    after = run("remove-training-nodes", before, outputs=["y"]).document

    assert "cond/switch_t" in after.graph.names


def test_that_an_input_that_is_not_there_is_answered_with_the_nearest_tf19515():
    before = document(placeholder("input/Mul"), identity("y = Neg input/Mul"))

    with pytest.raises(UnknownNameError) as error:
        run("extract", before, outputs=["y"], inputs=["input/Mull"])
    assert "input/Mul" in error.value.hint


def test_that_training_switches_become_constants_tf5867_tf6124_tensorlayer155():
    before = document(
        placeholder(),
        node("keep_prob = Placeholder", dtype=F, shape=[]),
        node("is_training = Placeholder", dtype=DataType.BOOL, shape=[]),
        identity("scaled = Mul x keep_prob"),
        node("switch = Switch scaled is_training", T=F),
        identity("on = Neg switch:1"),
        node("y = Merge switch on", T=F),
    )
    before.graph_def.node[-1].attr["N"].i = 2

    result = run("inference-mode", before, outputs=["y"], flags="keep_prob=1,is_training=false")

    assert [made.name for made in result.document.graph_def.node if made.op == "Placeholder"] == ["x"]
