"""Folding, inlining, renaming and clearing against TensorFlow: the result imports, runs, and gives the same bits."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import function as legacy_function
from test_freeze import IMAGES, assert_equal, freeze, output, run, trained, training_graph, variable

from graphviewer import protos
from graphviewer.analysis.import_check import import_faults
from graphviewer.formats import open_document
from graphviewer.model.document import Document
from graphviewer.operations.registry import operations

v1 = tf.compat.v1


def built(build, *, control_flow_v2=True) -> Document:
    with tf.Graph().as_default() as graph:
        (v1.enable_control_flow_v2 if control_flow_v2 else v1.disable_control_flow_v2)()
        build()
    return Document("graphdef", protos.GraphDef.FromString(graph.as_graph_def().SerializeToString()))


def apply(operation, document, **options):
    return operations()[operation].run(document, **options)


class Session:
    """What a document gives, wrapped as the result of an operation."""

    def __init__(self, document):
        self.document = document


def same(before, after, fetches=("y:0",), feed=None):
    assert_equal(run(Session(before), fetches, feed), run(Session(after), fetches, feed))


def c(values, dtype=tf.int32):
    return tf.constant(values, dtype)


RAW = tf.raw_ops
FOLDED = {
    "add": lambda: c([1, -2]) + c(3),
    "subtract": lambda: c([[1], [5]]) - c([2, 7]),
    "multiply": lambda: c([1 << 20, 3], tf.int64) * c(1 << 20, tf.int64),
    "floor-divide": lambda: c([7, -7, 6]) // c([2, 2, -4]),
    "floor-modulo": lambda: c([7, -7, 6]) % c([2, 2, -4]),
    "maximum": lambda: tf.maximum(c([1, 9]), c(4)) - tf.minimum(c([1, 9]), c(4)),
    "negative": lambda: -c([1, 2], tf.int16),
    "compare": lambda: tf.stack([c(1) < c(2), c(1.5, tf.float32) >= c(2.0, tf.float32), tf.not_equal(c(3), c(3))]),
    "logic": lambda: tf.logical_or(
        tf.logical_not(c(True, tf.bool)), tf.logical_and(c([True, False], tf.bool), c(True, tf.bool))
    ),
    "cast-up": lambda: tf.cast(c([1, -3]), tf.float64),
    "cast-bool": lambda: tf.cast(c([True, False], tf.bool), tf.float32),
    "cast-narrow": lambda: tf.cast(c([1, 255]), tf.uint8),
    "sum": lambda: tf.reduce_sum(c([[1, 2], [3, 4]]), [-1], keepdims=True),
    "product": lambda: tf.reduce_prod(c([2, 3, 4])),
    "maximum-of": lambda: tf.reduce_max(c([[1, 2], [3, 4]]), 0),
    "all": lambda: tf.reduce_all(c([[True, False], [True, True]], tf.bool), 1),
    "reshape": lambda: tf.reshape(c([1.5, 2.5, 3.5, 4.5], tf.float32), [2, -1]),
    "pack": lambda: tf.stack([c([1, 2]), c([3, 4])], axis=1),
    "unpack": lambda: tf.unstack(c([[1, 2], [3, 4]]), axis=1)[1] + 0,
    "concatenate": lambda: tf.concat([c([[1], [2]]), c([[3], [4]])], 1),
    "strided-slice": lambda: c(np.arange(24).reshape(2, 3, 4))[..., tf.newaxis, 1::2],
    "strided-slice-back": lambda: c(np.arange(24).reshape(2, 3, 4))[-1, ::-1, 3:0:-2],
    "slice": lambda: tf.slice(c([[1, 2, 3], [4, 5, 6]]), [0, 1], [-1, 2]),
    "gather": lambda: tf.gather(c([[1, 2], [3, 4]]), [1, 0, 1], axis=1),
    "expand": lambda: tf.expand_dims(c([1, 2]), -1),
    "squeeze": lambda: tf.squeeze(c([[[1], [2]]]), [0]),
    "transpose": lambda: tf.transpose(c([[[1, 2]], [[3, 4]]]), [2, 0, 1]),
    "transpose-a-scalar": lambda: RAW.Transpose(x=c(3), perm=c([])),
    "fill": lambda: tf.fill([2, 3], c(2.5, tf.float32)),
    "range": lambda: tf.range(10, 1, -3),
    "select": lambda: tf.where(c([True, False], tf.bool), c([1, 2]), c(7)),
    "like": lambda: tf.zeros_like(c([1.5], tf.float32)) + 0 * RAW.OnesLike(x=c([1.0], tf.float32)),
    "shape": lambda: tf.shape(v1.placeholder_with_default(c([[1, 2, 3]]), [1, 3])),
    "shape-of-placeholder": lambda: RAW.Shape(input=tf.nn.relu(v1.placeholder(tf.float32, [4, 3], "x"))),
    "size-and-rank": lambda: RAW.Size(input=c([[1, 2, 3]])) * RAW.Rank(input=c([[1, 2, 3]])),
    "shapes": lambda: RAW.ShapeN(input=[c([1.0], tf.float32), c([[1.0, 2.0]], tf.float32)])[1] + 0,
}
NOT_FOLDED = {
    "overflow": lambda: c(1 << 30) * c(4),
    "division-of-floats": lambda: c([1.0], tf.float32) / c([3.0], tf.float32),
    "lossy-cast": lambda: tf.cast(c([(1 << 24) + 1]), tf.float32),
    "not-a-number": lambda: tf.stack([c(float("nan"), tf.float32) < c(1.0, tf.float32)]),
    "unknown-shape": lambda: tf.shape(v1.placeholder_with_default([[1.0]], [None, 1])),
}
KEPT = {"like", "shape"}


@pytest.fixture(scope="module")
def constants():
    """All of the cases in one graph: every session costs."""

    def build():
        for name, make in {**FOLDED, **NOT_FOLDED}.items():
            tf.identity_n([make(), tf.constant(0)], name=f"out/{name}")

    before = built(build)
    result = apply("fold-constants", before)
    fetches = [f"out/{name}:0" for name in {**FOLDED, **NOT_FOLDED}]
    feed = {"x:0": np.zeros([4, 3], np.float32)}
    return result, run(Session(before), fetches, feed), run(result, fetches, feed)


@pytest.mark.parametrize("name", FOLDED)
def test_that_constants_are_folded_bit_for_bit(constants, name):
    result, before, after = constants
    np.testing.assert_array_equal(after[f"out/{name}:0"], before[f"out/{name}:0"], strict=True)
    nodes = {node.name: node for node in result.document.graph_def.node}
    source = nodes[nodes[f"out/{name}"].input[0].split(":")[0]]
    assert name in KEPT or source.op == "Const"


@pytest.mark.parametrize("name", NOT_FOLDED)
def test_that_what_is_not_exact_is_left_alone(constants, name):
    result, before, after = constants
    np.testing.assert_array_equal(after[f"out/{name}:0"], before[f"out/{name}:0"], strict=True)
    nodes = {node.name: node for node in result.document.graph_def.node}
    assert nodes[nodes[f"out/{name}"].input[0].split(":")[0]].op != "Const"


def nested_conditionals():
    x = v1.placeholder(tf.float32, [2], "x")
    on, off = tf.constant(True), tf.constant(False)
    inner = v1.cond(on, lambda: v1.cond(tf.logical_and(on, off), lambda: x + 1.0, lambda: x * 2.0), lambda: x - 3.0)
    switched, _ = v1.cond(off, lambda: (x, inner), lambda: (inner, x))
    output(switched)


def conditional_around_a_loop():
    x = v1.placeholder(tf.float32, [2], "x")

    def loop():
        return v1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1]

    output(v1.cond(tf.constant(False), loop, lambda: x + 1.0) + v1.cond(tf.constant(True), loop, lambda: x))


def conditional_in_a_loop():
    x = v1.placeholder(tf.float32, [2], "x")

    def step(i, y):
        return i + 1, v1.cond(tf.constant(True), lambda: y * 2.0 + tf.cast(tf.shape(y)[0], tf.float32), lambda: y)

    output(v1.while_loop(lambda i, _: i < 3, step, [0, x])[1])


def index_of_a_merge():
    x = v1.placeholder(tf.float32, [2], "x")
    dead, live = RAW.Switch(data=x, pred=tf.constant(True))
    merged = RAW.Merge(inputs=[dead + 1.0, live + 2.0])
    output(merged.output + tf.cast(merged.value_index, tf.float32))


def case_of_functions():
    x = v1.placeholder(tf.float32, [2], "x")
    output(tf.switch_case(tf.constant(5), [lambda: x, lambda: x + 1.0, lambda: x + 2.0]))


@pytest.mark.parametrize("control_flow_v2", [False, True], ids=["switch", "functions"])
@pytest.mark.parametrize(
    "build",
    [nested_conditionals, conditional_around_a_loop, conditional_in_a_loop, index_of_a_merge, case_of_functions],
)
def test_that_conditionals_on_constants_become_the_branch_that_is_taken(build, control_flow_v2):
    before = built(build, control_flow_v2=control_flow_v2)

    result = apply("fold-constants", before, outputs=["y"])

    same(before, result.document, feed={"x:0": np.array([1.5, -2.0], np.float32)})
    if build is not conditional_in_a_loop or not control_flow_v2:
        assert any("folded cond" in rewrite.rule for rewrite in result.rewrites)


def test_that_a_frozen_network_gives_the_same_bits_when_folded(tmp_path):
    original = trained(training_graph(False), tmp_path, ["net_1/prob:0"], feed={"images:0": IMAGES})
    frozen = freeze(original.document, ["net_1/prob"], inputs=["images"])

    result = apply("fold-constants", frozen.document, outputs=["net_1/prob"])

    assert_equal(original.values, run(result, ["net_1/prob:0"], {"images:0": IMAGES}))
    assert len(result.document.graph) < len(frozen.document.graph)


def calls_with_effects():
    value = variable("v", [2], resource=True)
    x = v1.placeholder(tf.float32, [2], "x")

    @tf.function
    def inner(a, b):
        value.assign_add(a)
        return a * 2.0, b, value.read_value()

    @tf.function
    def outer(a):
        with tf.control_dependencies([tf.debugging.assert_less(a, 100.0)]):
            first, second, third = inner(a, a + 1.0)
            return tf.cond(first[0] > 0.0, lambda: first + third, lambda: second)

    with tf.control_dependencies([value.assign(tf.ones([2]))]):
        result = outer(x)
    with tf.control_dependencies([result]):
        output(result + inner(x, x)[2])
    tf.group(inner(x, x), name="group")


def legacy_functions():
    @legacy_function.Defun(tf.float32, tf.float32, func_name="Legacy")
    def legacy(a, b):
        return a * b + 1.0, a - b

    x = v1.placeholder(tf.float32, [2], "x")
    first, second = legacy(x, x + 2.0)
    with tf.control_dependencies([first]):
        third, _ = legacy(first, second)
    output(third)


def loops_in_functions():
    x = v1.placeholder(tf.float32, [2], "x")

    @legacy_function.Defun(tf.float32, func_name="Loop")
    def looped(a):
        return v1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * 2.0), [0, a])[1]

    output(looped(x) + looped(x + 1.0))


@pytest.mark.parametrize("build", [calls_with_effects, legacy_functions, loops_in_functions])
def test_that_inlined_functions_give_what_the_calls_gave(build):
    before = built(build, control_flow_v2=build is calls_with_effects)

    result = apply("inline-functions", before)

    fetches = ["y:0"]
    same(before, result.document, fetches, {"x:0": np.array([1.5, 2.0], np.float32)})
    called = {node.op for node in result.document.graph_def.node}
    assert not called & {"PartitionedCall", "StatefulPartitionedCall", "Legacy", "Loop"}
    assert not result.warnings or "radients" in result.warnings[0]


def test_that_updates_in_inlined_functions_still_happen_when_only_waited_for():
    result = apply("inline-functions", built(calls_with_effects))

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(result.document.graph_def.SerializeToString()), name="")
        with v1.Session(graph=graph) as session:
            feed = {"x:0": np.array([1.0, 2.0], np.float32)}
            session.run("v/Assign")
            before = session.run("v/Read/ReadVariableOp:0")
            session.run("group", feed)
            after = session.run("v/Read/ReadVariableOp:0")
    np.testing.assert_allclose(after - before, feed["x:0"], rtol=1e-5)


def test_that_a_savedmodel_is_inlined_repaired_and_frozen(tmp_path):
    class Net(tf.Module):
        def __init__(self):
            initial = np.random.RandomState(0).rand(4, 4).astype("f4") + 0.5
            self.parts = [tf.Variable(row, name=f"p{number}") for number, row in enumerate(initial)]

        def normal(self, x, training):
            scale, offset, mean, variance = self.parts
            if not training:
                return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)[0]
            y, batch_mean, batch_variance = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=True)[:3]
            mean.assign_sub((mean - batch_mean) * 0.1)
            variance.assign_sub((variance - batch_variance) * 0.1)
            return tf.nn.dropout(y, 0.5)

        @tf.function(input_signature=[tf.TensorSpec([None, 2, 2, 4], tf.float32, name="x")])
        def serve(self, x):
            return {"out": self.normal(x, True)}

        @tf.function(input_signature=[tf.TensorSpec([None, 2, 2, 4], tf.float32, name="x")])
        def infer(self, x):
            return {"out": self.normal(x, False)}

    net = Net()
    tf.saved_model.save(net, str(tmp_path), signatures={"train": net.serve, "serving_default": net.infer})
    document = open_document(tmp_path)
    name = {key: document.signatures[key].outputs["out"].name for key in ("train", "serving_default")}
    fed = {key: document.signatures[key].inputs["x"].name for key in name}
    x = np.random.RandomState(1).rand(3, 2, 2, 4).astype("f4")

    alone = apply("inference-mode", document, outputs=[name["train"]])
    assert "inside functions: apply inline-functions first" in " ".join(alone.warnings)

    inlined = apply("inline-functions", document)
    repaired = apply("inference-mode", inlined.document, outputs=[name["train"]])
    frozen = freeze(repaired.document, [name["train"]], saver="")

    expected = net.infer(x)["out"].numpy()
    assert_equal({name["train"]: expected}, run(frozen, [name["train"]], {fed["train"]: x}))
    assert not repaired.warnings


def test_that_a_renamed_metagraph_imports_restores_and_gives_the_same(tmp_path):
    feed = {"images:0": IMAGES}
    original = trained(training_graph(True), tmp_path, ["net_1/prob:0"], feed=feed)

    result = apply("rename", original.document, scopes="net_1=valid/tower,net=backbone,save=keeper,images=x/images")

    whole = protos.MetaGraphDef()
    whole.CopyFrom(result.document.meta)
    whole.graph_def.CopyFrom(result.document.graph_def)
    with tf.Graph().as_default() as graph:
        saver = v1.train.import_meta_graph(v1.MetaGraphDef.FromString(whole.SerializeToString()))
        with v1.Session(graph=graph) as session:
            saver.restore(session, str(original.document.checkpoint))
            given = session.run("valid/tower/prob:0", {"x/images:0": IMAGES})
            names = {one.name for one in v1.trainable_variables()}
    np.testing.assert_allclose(given, original.values["net_1/prob:0"], rtol=1e-5)
    assert "backbone/a/weights:0" in names
    frozen = freeze(result.document, ["valid/tower/prob"], inputs=["x/images"])
    assert_equal(
        {"valid/tower/prob:0": original.values["net_1/prob:0"]},
        run(frozen, ["valid/tower/prob:0"], {"x/images:0": IMAGES}),
    )


def test_that_devices_that_do_not_exist_stop_no_graph_any_more():
    def build():
        with tf.device("/job:worker/task:7/device:GPU:3"):
            output(tf.function(lambda x: x * 2.0)(tf.constant([1.0])))

    cleared = apply("clear-devices", built(build)).document
    inlined = apply("inline-functions", cleared).document

    assert_equal({"y:0": np.array([2.0], np.float32)}, run(Session(inlined)))


def broken(change):
    """A graph of a variable, a call and a few ops, changed."""

    def build():
        x = v1.placeholder(tf.float32, [2], "x")
        value = variable("v", [2], resource=False)
        v1.assign(value, x, name="assign")
        output(tf.function(lambda a: a * 2.0)(x) + value)
        tf.argmax(x, name="arg")

    document = built(build)
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(document.graph_def)
    change(graph_def, {node.name: node for node in graph_def.node})
    return Document("graphdef", graph_def)


CHANGES = {
    "sound": lambda graph, nodes: None,
    "missing node": lambda graph, nodes: graph.node.remove(nodes["x"]),
    "double": lambda graph, nodes: graph.node.add(name="x", op="NoOp"),
    "dtype along an edge": lambda graph, nodes: nodes["y"].input.__setitem__(0, "arg"),
    "value as a reference": lambda graph, nodes: nodes["assign"].input.__setitem__(0, "x"),
    "port": lambda graph, nodes: nodes["arg"].input.__setitem__(0, "x:1"),
    "arity": lambda graph, nodes: nodes["arg"].input.append("x"),
    "attribute": lambda graph, nodes: nodes["arg"].attr.__delitem__("T"),
    "order of inputs": lambda graph, nodes: nodes["arg"].input.insert(0, "^v"),
    "colocation": lambda graph, nodes: nodes["arg"].attr["_class"].list.s.append(b"loc:@absent"),
    "cycle": lambda graph, nodes: nodes["y"].input.__setitem__(0, "y"),
    "name": lambda graph, nodes: nodes["arg"].__setattr__("name", "arg!"),
    "unread attribute": lambda graph, nodes: nodes["arg"].attr["_unknown"].__setattr__("i", 3),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_that_the_import_check_says_what_tensorflow_says(change):
    document = broken(change)
    refused = False
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(v1.GraphDef.FromString(document.graph_def.SerializeToString()), name="")
        except (ValueError, TypeError, tf.errors.OpError):
            refused = True
    assert bool(import_faults(document)) == refused


def test_that_a_call_of_an_absent_function_is_a_fault_though_tensorflow_finds_it_only_when_it_runs():
    document = broken(lambda graph, nodes: graph.ClearField("library"))
    assert [fault.kind for fault in import_faults(document)] == ["no-function"]


def test_that_the_part_of_a_saved_models_restore_function_restores(tmp_path):
    module = tf.Module()
    module.kept, module.gone = tf.Variable([[2.0], [3.0]]), tf.Variable([5.0])

    @tf.function(input_signature=[tf.TensorSpec([1, 2], tf.float32)])
    def serve(x):
        return {"y": x @ module.kept}

    module.serve = serve
    tf.saved_model.save(module, str(tmp_path / "model"), signatures=serve)
    before = open_document(tmp_path / "model")
    extracted = apply("extract", before, outputs=["y"])
    restoring = {f.signature.name: f for f in extracted.document.graph_def.library.function}
    (name,) = [name for name in restoring if "restore" in name]
    (call,) = [node for node in extracted.document.graph_def.node if node.attr["f"].func.name == name]
    assert sum(op == "VarHandleOp" for op in extracted.document.graph.ops) == 1
    assert not any("save" in name for name in restoring)
    with tf.Graph().as_default(), v1.Session() as session:
        tf.graph_util.import_graph_def(
            v1.GraphDef.FromString(extracted.document.graph_def.SerializeToString()), name=""
        )
        session.run(call.name, {call.input[0] + ":0": str(tmp_path / "model" / "variables" / "variables")})
        fed = {f"{extracted.document.graph_def.node[at].name}:0": [[1.0, 1.0]] for at in feeds(extracted, call)}
        (value,) = session.run([f"{name}:0" for name in extracted.outputs], fed)
    assert value.tolist() == [[5.0]]


def feeds(extracted, call):
    """Placeholders of a result, but what a call reads."""
    graph = extracted.document.graph
    return [at for at, op in enumerate(graph.ops) if op == "Placeholder" and graph.names[at] not in call.input]
