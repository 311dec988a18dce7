"""Running a graph forward: values, statistics, feeds of all kinds, files."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from proof_graphs import network, saved

from graphviewer.errors import GraphViewerError, OperationError, WriteError
from graphviewer.formats import open_document
from graphviewer.runtime.feeds import FeedError
from graphviewer.runtime.permission import NotAllowedError
from graphviewer.runtime.run import run
from graphviewer.worker.jobs import run_job

v1 = tf.compat.v1


def doubled() -> None:
    x = v1.placeholder(tf.float32, [None, 2], "x")
    tf.multiply(x, 2.0, name="y")
    tf.reduce_sum(x, name="total")


def test_that_statistics_are_those_of_the_values(tmp_path):
    document = saved(doubled, tmp_path)
    values = np.array([[1.0, np.nan], [np.inf, -4.0]], np.float32)

    (found,), fed = run(document, ["y"], {"x": values})

    np.testing.assert_array_equal(found.value, values * 2)
    assert found.to_json() == {
        "name": "y", "dtype": "float32", "shape": [2, 2], "min": -8.0, "max": 2.0, "mean": -3.0, "file": None,
        "not_finite": 2, "std": 5.0, "zeros": 0, "nan": 1, "infinite": 1, "bars": [1, *[0] * 9, 1],
    }  # fmt: skip
    assert [(feed.name, feed.made) for feed in fed] == [("x", False)]


def test_that_made_up_values_are_the_same_in_every_run_and_other_for_another_seed(tmp_path):
    document = saved(network(resource=True), tmp_path)

    first, again, other = (run(document, ["y"], seed=seed)[0][0].value for seed in (0, 0, 1))

    assert first.shape == (2, 3)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_that_outputs_are_written_as_arrays_that_numpy_reads(tmp_path):
    document = saved(doubled, tmp_path)
    values = np.ones([3, 2], np.float32)

    found = run_job(
        "run", {"path": str(document.path), "outputs": ["y", "total"], "feeds": {}, "folder": str(tmp_path / "out")}
    )
    np.save(tmp_path / "x.npy", values)
    request = {"path": str(document.path), "outputs": ["y"], "feeds": {"x": str(tmp_path / "x.npy")}, "force": True}
    run_job("run", {**request, "folder": str(tmp_path / "out")})

    assert [output["file"] for output in found["outputs"]] == [
        str(tmp_path / "out" / f"{n}.npy") for n in ("y", "total")
    ]
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), values * 2)
    with pytest.raises(WriteError, match="exists"):
        run_job("run", {**request, "folder": str(tmp_path / "out"), "force": False})


def test_that_one_output_is_written_to_the_file_that_was_named(tmp_path):
    document = saved(doubled, tmp_path)
    np.save(tmp_path / "x.npy", np.ones([3, 2], np.float32))
    request = {"path": str(document.path), "feeds": {"x": str(tmp_path / "x.npy")}, "npy": str(tmp_path / "twice.npy")}

    found = run_job("run", {**request, "outputs": ["y"]})

    assert found["outputs"][0]["file"] == str(tmp_path / "twice.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "twice.npy"), np.full([3, 2], 2.0, np.float32))
    with pytest.raises(WriteError, match="exists"):
        run_job("run", {**request, "outputs": ["y"]})
    with pytest.raises(OperationError, match="holds one array, and 2 outputs"):
        run_job("run", {**request, "outputs": ["y", "total"], "force": True})
    with pytest.raises(WriteError, match="is the file that is read"):
        run_job("run", {**request, "outputs": ["y"], "npy": str(tmp_path / "x.npy"), "force": True})


def test_that_strings_and_bfloat16_are_written_as_numpy_knows_them(tmp_path):
    def build() -> None:
        v1.string_join([v1.placeholder(tf.string, [None], "words"), "!"], name="text")
        tf.cast(v1.placeholder(tf.float32, [2], "x"), tf.bfloat16, name="brain")

    feeds = {"words": np.array(["ab", "c"]), "x": np.array([0.5, 2.0])}
    found, _ = run(saved(build, tmp_path), ["text", "brain"], feeds, folder=tmp_path)

    assert np.load(tmp_path / "text.npy").tolist() == [b"ab!", b"c!"]
    assert np.load(tmp_path / "brain.npy").tolist() == [0.5, 2.0]
    assert [(one.to_json()["dtype"], one.to_json()["min"]) for one in found] == [("string", None), ("bfloat16", 0.5)]


def test_that_an_image_is_decoded_and_resized_to_what_the_tensor_takes(tmp_path):
    image = np.zeros([6, 4, 3], np.uint8)
    image[..., 0] = 200
    (tmp_path / "red.png").write_bytes(tf.io.encode_png(image).numpy())

    def build() -> None:
        tf.identity(v1.placeholder(tf.float32, [None, 8, 8, 3], "last"), name="channels_last")
        tf.identity(v1.placeholder(tf.uint8, [1, 3, 8, 8], "first"), name="channels_first")
        tf.identity(v1.placeholder(tf.float32, [None, None, 3], "one"), name="alone")
        tf.io.decode_png(v1.placeholder(tf.string, [], "file"), name="decoded")

    document = saved(build, tmp_path)
    names = ("last", "first", "one", "file")
    found, _ = run(
        document,
        ["channels_last", "channels_first", "alone", "decoded"],
        {name: str(tmp_path / "red.png") for name in names},
    )

    last, first, alone, decoded = (one.value for one in found)
    assert (last.shape, float(last[..., 0].min()), float(last[..., 1:].max())) == ((1, 8, 8, 3), 200.0, 0.0)
    assert (first.shape, int(first[0, 0].min()), int(first[0, 1:].max())) == ((1, 3, 8, 8), 200, 0)
    np.testing.assert_array_equal(alone, image)
    np.testing.assert_array_equal(decoded, image)
    (tmp_path / "red.png").write_bytes(b"no image")
    with pytest.raises(GraphViewerError, match="red.png is no image"):
        run(document, ["alone"], {"one": str(tmp_path / "red.png")})


def test_that_any_node_of_a_network_can_be_run_with_any_tensor_fed(tmp_path):
    document = saved(network(resource=False), tmp_path)
    hidden = np.ones([1, 3], np.float32)

    (weights, result), _ = run(document, ["w/read", "y"], {"MatMul": hidden})

    offset = run(document, ["b"])[0][0].value
    assert weights.value.shape == (4, 3)
    np.testing.assert_allclose(result.value, np.tanh(hidden + offset), rtol=1e-6)


def test_that_nodes_without_a_value_are_refused_with_the_reason(tmp_path):
    def build() -> None:
        network(resource=True)()
        variable = v1.get_variable("n", [], use_resource=True)
        v1.assign_add(variable, 1.0, name="step")

    document = saved(build, tmp_path)
    step = next(node.name for node in document.graph_def.node if node.op == "AssignAddVariableOp")
    for name, reason in (
        (step, "changes a variable"),
        ("save/SaveV2", "writes a checkpoint"),
        ("w", "it is a resource"),
    ):
        with pytest.raises(OperationError, match=reason):
            run(document, [name])


def test_that_a_loop_is_run_to_its_end_and_not_inside(tmp_path):
    def build() -> None:
        step = lambda i, x: (i + 1, x * 2.0)  # noqa: E731
        tf.identity(v1.while_loop(lambda i, x: i < 5, step, [0, tf.ones([2])])[1], name="y")

    document = saved(build, tmp_path, control_flow_v2=False)

    assert run(document, ["y"])[0][0].value.tolist() == [32.0, 32.0]
    with pytest.raises(OperationError, match="inside a loop"):
        run(document, ["while/mul"])


def test_that_python_and_files_are_not_touched_without_permission(tmp_path):
    def build() -> None:
        v1.write_file(str(tmp_path / "written"), "x")
        with v1.control_dependencies([v1.get_default_graph().get_operations()[-1]]):
            tf.identity(1.0, name="y")

    document = saved(build, tmp_path)

    with pytest.raises(NotAllowedError, match="writes files.*WriteFile") as error:
        run(document, ["y"])
    assert [touch.op for touch in error.value.touches] == ["WriteFile"]
    assert run_job("touches", {"path": str(document.path), "outputs": ["y"]})["touches"][0]["kind"] == "writes files"
    assert not (tmp_path / "written").exists()
    run(document, ["y"], allow=True)
    assert (tmp_path / "written").exists()


def test_that_a_savedmodel_runs_by_its_signature(tmp_path):
    class Net(tf.Module):
        def __init__(self):
            self.factor = tf.Variable([2.0, 3.0])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def serve(self, x):
            return {"out": x * self.factor}

    net = Net()
    tf.saved_model.save(net, str(tmp_path / "model"), signatures=net.serve)
    document = open_document(tmp_path / "model")
    signature = document.signatures["serving_default"]

    (found,), _ = run(document, [signature.outputs["out"].name], {signature.inputs["x"].name: np.ones([1, 2])})

    assert found.value.tolist() == [[2.0, 3.0]]


def test_that_a_feed_that_does_not_fit_says_both_shapes(tmp_path):
    with pytest.raises(FeedError, match=r"\[3, 5\].*'x' takes \[\?, 2\]"):
        run(saved(doubled, tmp_path), ["y"], {"x": np.zeros([3, 5])})


def test_that_a_file_in_the_place_of_a_folder_is_said_to_be_one(tmp_path):
    document = saved(doubled, tmp_path)
    taken = tmp_path / "x.npy"
    taken.write_bytes(b"")
    with pytest.raises(WriteError, match="is a file") as refused:
        run(document, ["y"], folder=taken)
    assert f"--npy {taken}" in refused.value.shell
    assert "--" not in refused.value.hint
    with pytest.raises(WriteError, match="would become a folder") as refused:
        run(document, ["y"], folder=tmp_path / "new.npy")
    assert "--npy" in refused.value.shell
    assert not (tmp_path / "new.npy").exists()
    (tmp_path / "new.npy").mkdir()
    run(document, ["y"], folder=tmp_path / "new.npy")
    assert (tmp_path / "new.npy" / "y.npy").is_file()


@pytest.mark.parametrize(
    ("name", "meant"),
    [("image", "serving_default_image"), ("Image", "serving_default_image"), ("meter", "meter_in/scale")],
)
def test_that_an_unknown_feed_leads_to_the_input_that_may_be_meant(name, meant, tmp_path):
    def build() -> None:
        x = v1.placeholder(tf.float32, [2], "serving_default_image")
        tf.add(x, v1.placeholder(tf.float32, [2], "meter_in/scale"), name="y")

    with pytest.raises(GraphViewerError, match=f"no tensor '{name}'") as refused:
        run(saved(build, tmp_path), ["y"], {name: "1"})
    assert refused.value.hint == f"Closest: {meant}."
