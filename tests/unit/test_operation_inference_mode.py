"""Training mode becomes inference mode: what is repaired, how it is told, and what is only named."""

import numpy as np
import pytest
from operation_graphs import (
    F,
    assert_every_node_accounted_for,
    by_name,
    const,
    document,
    identity,
    lines,
    node,
    placeholder,
    variable,
)

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.errors import OperationError
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType

BOOL = DataType.BOOL


def inference_mode(before, outputs=("y",), **options):
    result = operations()["inference-mode"].run(before, outputs=outputs, **options)
    assert_every_node_accounted_for(before, result)
    return result


def batch_norm(name, source, *statistics, training=True, scale="gamma/read", offset="beta/read"):
    made = node(f"{name} = FusedBatchNormV3 {source} {scale} {offset} {' '.join(statistics)}", T=F, U=F)
    made.attr["is_training"].b = training
    return made


def weights(*names):
    made = []
    for name in names:
        made += [variable(name, [2]), identity(f"{name}/read = Identity {name}")]
    return made


def updated(variable_name, statistic, tag):
    return [
        identity(f"{tag}/sub = Sub {variable_name}/read {statistic}"),
        const(f"{tag}/decay", 0.1),
        identity(f"{tag}/mul = Mul {tag}/sub {tag}/decay"),
        identity(f"{tag}/update = AssignSub {variable_name} {tag}/mul"),
    ]


EMPTY = [const("e", np.zeros(0)), const("e_1", np.zeros(0))]


def trained_network(*more, statistics=("m", "v")):
    m, v = statistics
    return document(
        placeholder(),
        *weights("gamma", "beta", m, v),
        *EMPTY,
        batch_norm("bn", "x", "e", "e_1"),
        identity("y = Relu bn"),
        *more,
    )


def test_that_a_batch_norm_reads_the_variables_that_its_statistics_update():
    before = trained_network(*updated("m", "bn:1", "a"), *updated("v", "bn:2", "b"), statistics=("m", "v"))
    before.graph_def.node[11].attr["_output_shapes"].list.shape.add()

    result = inference_mode(before)

    bn = by_name(result.document)["bn"]
    assert list(bn.input) == ["x", "gamma/read", "beta/read", "m/read", "v/read"]
    assert not bn.attr["is_training"].b
    assert "_output_shapes" not in bn.attr
    assert [one.rule for one in result.rewrites] == ["inference mode"]
    assert result.warnings == ()
    statuses = {change.after: change.status for change in compare(before, result.document, result.provenance).changes}
    assert statuses["bn"] == "changed"


def test_that_a_variable_without_a_plain_read_gets_one():
    v = [node("v = VarHandleOp", dtype=F, shape=[2]), node("v/late = ReadVariableOp v ^b/mul", dtype=F)]
    update = [
        identity("b/mul = Neg bn:2"),
        node("b/update = AssignSubVariableOp v b/mul", dtype=F),
    ]
    before = document(
        placeholder(),
        *weights("gamma", "beta", "m"),
        *v,
        *EMPTY,
        batch_norm("bn", "x", "e", "e_1"),
        identity("y = Relu bn"),
        *updated("m", "bn:1", "a"),
        *update,
    )

    result = inference_mode(before)

    assert "bn/v = ReadVariableOp v" in lines(result.document)
    assert result.provenance.origins["bn/v"].source is None


def test_that_an_evaluation_tower_tells_where_no_update_does():
    before = trained_network(
        batch_norm("valid", "x", "m/read", "v/read", training=False), identity("valid/y = Relu valid")
    )

    result = inference_mode(before)

    assert list(by_name(result.document)["bn"].input)[3:] == ["m/read", "v/read"]
    assert "'valid', which has the same weights" in result.rewrites[0].reason


def test_that_names_beside_the_scale_tell_at_last():
    before = document(
        placeholder(),
        *weights("n/gamma", "n/beta", "n/moving_mean", "n/moving_variance"),
        *EMPTY,
        batch_norm("bn", "x", "e", "e_1", scale="n/gamma/read", offset="n/beta/read"),
        identity("y = Relu bn"),
    )

    result = inference_mode(before)

    assert list(by_name(result.document)["bn"].input)[3:] == ["n/moving_mean/read", "n/moving_variance/read"]
    assert "names" in result.rewrites[0].reason


def test_that_a_batch_norm_that_updates_what_it_reads_is_only_switched():
    norm = batch_norm("bn", "x", "m/read", "v/read")
    norm.attr["exponential_avg_factor"].f = 0.1
    before = document(placeholder(), *weights("gamma", "beta", "m", "v"), norm, identity("y = Relu bn"))

    bn = by_name(inference_mode(before).document)["bn"]

    assert list(bn.input)[3:] == ["m/read", "v/read"]
    assert (bn.attr["is_training"].b, bn.attr["exponential_avg_factor"].f) == (False, 1.0)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([], "nothing updates a variable"),
        ([*updated("m", "bn:1", "a"), *updated("v", "bn:1", "b"), *updated("v", "bn:2", "c")], "update 'm' and 'v'"),
    ],
)
def test_that_a_batch_norm_that_cannot_be_repaired_is_named_with_the_reason(more, reason):
    result = inference_mode(trained_network(*more))

    assert by_name(result.document)["bn"].attr["is_training"].b
    assert "'bn' was not repaired" in result.warnings[0]
    assert reason in result.warnings[0]


def test_that_statistics_that_the_network_uses_itself_stop_the_repair():
    before = trained_network(identity("z = Mul y bn:1"), *updated("m", "bn:1", "a"), *updated("v", "bn:2", "b"))

    result = inference_mode(before, ["z"])

    assert "'z' reads its batch statistics too" in result.warnings[0]


def test_that_variables_of_another_dtype_are_not_taken():
    before = document(
        placeholder(),
        *weights("gamma", "beta", "v"),
        variable("m", [2], DataType.DOUBLE),
        *EMPTY,
        batch_norm("bn", "x", "e", "e_1"),
        identity("y = Relu bn"),
        node("a/cast = Cast bn:1", SrcT=F, DstT=DataType.DOUBLE),
        node("a = Assign m a/cast", T=DataType.DOUBLE),
        *updated("v", "bn:2", "b"),
    )

    assert "'m' has another dtype" in inference_mode(before).warnings[0]


def test_that_waits_for_updates_go():
    before = trained_network(*updated("m", "bn:1", "a"), *updated("v", "bn:2", "b"))
    before.graph_def.node.append(identity("z = Identity y ^a/update ^b/update ^e"))

    result = inference_mode(document(*before.graph_def.node), ["z"])

    assert list(by_name(result.document)["z"].input) == ["y", "^e"]
    assert "a/update" not in by_name(result.document)


def dropout(keep):
    """As TensorFlow 1 wrote it; ``keep`` is the input that gives the probability."""
    return [
        node("shape = Shape x", T=F, out_type=DataType.INT32),
        node("uniform = RandomUniform shape", dtype=F, T=DataType.INT32),
        identity(f"shifted = Add uniform {keep}"),
        identity("mask = Floor shifted"),
        identity(f"scaled = RealDiv x {keep}"),
        identity("drop = Mul scaled mask"),
    ]


def test_that_a_dropout_is_spliced_and_its_parts_go_with_a_reason():
    before = document(placeholder(), const("keep", 0.8), *dropout("keep"), identity("y = Relu drop ^drop"))

    result = inference_mode(before)

    assert lines(result.document) == ["x = Placeholder", "y = Relu x ^x"]
    assert result.provenance.removals["drop"].rule == "spliced"
    assert "served the dropout that ended in 'drop'" in result.provenance.removals["mask"].reason
    statuses = {change.before: change.status for change in compare(before, result.document, result.provenance).changes}
    assert statuses["drop"] == "spliced"


def test_that_a_dropout_that_is_the_output_passes_its_input_on():
    before = document(placeholder(), const("keep", 0.8), *dropout("keep"))

    assert lines(inference_mode(before, ["drop"]).document) == ["x = Placeholder", "drop = Identity x"]


def test_that_gradients_of_a_dropout_do_not_hide_it():
    before = document(
        placeholder(), const("keep", 0.8), *dropout("keep"), identity("y = Relu drop"), identity("grad = Mul y mask")
    )

    result = inference_mode(before, keep_rest=True)

    assert list(by_name(result.document)["y"].input) == ["x"]
    assert "grad" in by_name(result.document)


def function(name, *nodes):
    made = protos.FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="x", type=F)
    made.signature.output_arg.add(name="out", type=F)
    made.node_def.extend(nodes)
    made.ret["out"] = f"{nodes[-1].name}:{'y:0' if nodes[-1].op == 'FusedBatchNormV3' else 'activations:0'}"
    return made


def test_that_training_inside_a_function_is_named_with_what_helps():
    call = node("y = PartitionedCall x")
    call.attr["f"].func.name = "net"
    call.attr["Tin"].list.type.append(F)
    call.attr["Tout"].list.type.append(F)
    norm = node("bn = FusedBatchNormV3 x x x x x", T=F, U=F)
    before = document(placeholder(), call, functions=[function("net", norm)])

    assert (
        "net/bn computes as in training inside functions: apply inline-functions first"
        in (inference_mode(before).warnings[0])
    )


def test_that_a_graph_in_inference_mode_is_only_extracted():
    before = document(placeholder(), identity("y = Relu x"), identity("other = Neg x"))

    result = inference_mode(before)

    assert lines(result.document) == ["x = Placeholder", "y = Relu x"]
    assert result.warnings == ("Nothing that the outputs need was in training mode.",)
    assert result.rewrites == ()


def test_that_keeping_the_rest_and_cutting_inputs_exclude_each_other():
    with pytest.raises(OperationError, match="cannot be kept"):
        inference_mode(trained_network(), keep_rest=True, inputs=["x"])


def test_that_a_saver_stays_where_it_alone_knows_the_keys():
    meta = protos.MetaGraphDef()
    meta.saver_def.save_tensor_name, meta.saver_def.restore_op_name = "save/control:0", "save/all"
    meta.saver_def.filename_tensor_name = "save/file:0"

    def saved(key):
        return document(
            placeholder(),
            variable("w", [2]),
            identity("w/read = Identity w"),
            identity("y = Mul x w/read"),
            const("save/file", b"f", DataType.STRING),
            const("save/names", [key], DataType.STRING),
            const("save/slices", [b""], DataType.STRING),
            "save/SaveV2 = SaveV2 save/file save/names save/slices w/read",
            node("save/control = Identity save/file ^save/SaveV2", T=DataType.STRING),
            "save/all = NoOp",
            meta=meta,
        )

    assert "save/SaveV2" in by_name(inference_mode(saved(b"average/w")).document)
    assert inference_mode(saved(b"average/w")).document.saver == meta.saver_def
    assert "save/SaveV2" not in by_name(inference_mode(saved(b"w")).document)


def test_that_a_dropout_that_keeps_a_constant_in_a_branch_stays_as_an_identity():
    layer, waiting = dropout("keep"), const("c", 7.0)
    for part in layer:
        part.input[:] = ["switch:1" if text == "x" else text for text in part.input]
    waiting.input.append("^drop")
    before = document(
        placeholder(),
        node("choice = Placeholder", dtype=DataType.BOOL, shape=[]),
        identity("switch = Switch x choice"),
        const("keep", 0.8),
        *layer,
        waiting,
        identity("y = Merge switch c"),
    )

    after = lines(inference_mode(before, inputs=["choice"]).document)

    assert "drop = Identity switch:1" in after
    assert "c = Const ^drop" in after
