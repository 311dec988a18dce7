"""Feeds of a verification, in every combination: taken as they are meant, or refused in one sentence."""

import numpy as np
import pytest
import tensorflow as tf
from click.testing import CliRunner
from proof_graphs import saved

from graphviewer.cli import main
from graphviewer.errors import UnknownNameError
from graphviewer.runtime.run import run
from graphviewer.runtime.verify import verify

v1 = tf.compat.v1


def build():
    """x [?, 3], n [?] and an image go to y; other goes to z."""
    x, count = v1.placeholder(tf.float32, [None, 3], "x"), v1.placeholder(tf.int32, [None], "n")
    image = v1.placeholder(tf.uint8, [None, 4, 4, 3], "image")
    first, rest = tf.split(x, [1, 2], 1, name="parts")
    value = tf.cast(count, tf.float32)[:, None] * x + tf.reduce_sum(first) + tf.reduce_sum(rest)
    tf.identity(value + tf.reduce_sum(tf.cast(image, tf.float32)), name="y")
    tf.multiply(v1.placeholder(tf.float32, [2], "other"), 2.0, name="z")


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return saved(build, tmp_path_factory.mktemp("graph"))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.ones([2, 3]))
    np.save("three.npy", np.ones([3, 3]))
    np.savez("all.npz", x=np.ones([2, 3]), n=np.array([3, 4]))
    np.save("first.npy", np.ones([2, 1]))
    for name, channels in (("color.png", 3), ("gray.png", 1)):
        pixels = tf.constant(np.full([5, 6, channels], 200, np.uint8))
        (tmp_path / name).write_bytes(tf.io.encode_png(pixels).numpy())


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("feeds", "shapes"),
    [
        ({"x": "x.npy", "n": "all.npz:n"}, {"x": (2, 3), "n": (2,)}),
        ({"x:0": "all.npz:x", "n:0": "7"}, {"x": (2, 3), "n": (1,)}),
        ({"image": "color.png"}, {"image": (1, 4, 4, 3)}),
        ({"image:0": "gray.png", "x": "x.npy"}, {"image": (1, 4, 4, 3), "x": (2, 3)}),
        ({"parts": "first.npy"}, {"parts": (2, 1)}),
        ({"parts:0": "first.npy", "n": "all.npz:n", "x": "x.npy"}, {"parts": (2, 1), "n": (2,), "x": (2, 3)}),
    ],
)
def test_that_feeds_are_what_the_original_is_fed(graph, feeds, shapes):
    found = verify(graph, graph, ["y"], feeds)

    assert (found.verdict, found.reason) == ("same", "difference 0")
    assert {feed.name: feed.shape for feed in found.feeds if not feed.made} == shapes


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("feeds", "reason"),
    [
        ({"x": "x.npy", "x:0": "three.npy"}, "'x' and 'x:0' are one tensor, fed twice"),
        ({"x": "all.npz"}, "all.npz holds 2 arrays, and which one is not said"),
        ({"x": "all.npz:q"}, "all.npz holds 2 arrays, and no 'q'"),
        ({"x": "color.png"}, "color.png has the shape [1, 5, 6, 3], but 'x' takes [?, 3]"),
        ({"n": "1.5"}, "'n' (int32) cannot take 1.5"),
        ({"n": "."}, ". is a folder, and not a value for 'n'"),
        ({"x": "three.npy", "n": "all.npz:n"}, "TensorFlow cannot run the original: Incompatible shapes"),
        ({"y": "x.npy"}, "'y' is fed and is an output too, so that nothing is computed"),
    ],
)
def test_that_feeds_that_cannot_be_meant_are_refused_in_one_sentence(graph, feeds, reason):
    found = verify(graph, graph, ["y"], feeds)

    assert found.verdict == "cannot"
    assert found.reason.startswith(f"cannot verify: {reason}")
    assert "\n" not in found.reason


def test_that_an_output_that_a_node_does_not_have_cannot_be_fed(graph):
    with pytest.raises(UnknownNameError, match="no tensor 'parts:7' to feed"):
        verify(graph, graph, ["y"], {"parts:7": "1"})


def test_that_feeds_that_the_outputs_do_not_need_are_told(graph):
    result = CliRunner().invoke(
        main, ["verify", str(graph.path), str(graph.path), "--output", "y", "--feed", "other=1", "--feed", "n=2"]
    )

    assert result.exit_code == 0
    assert "other was not fed: the outputs do not need it" in result.stderr
    assert "n was not fed" not in result.stderr
    assert verify(graph, graph, ["y"], {"other": "1", "n": "2"}).unused == ("other",)


@pytest.mark.parametrize(
    ("use", "shape"),
    [
        (lambda x: tf.square(x), ()),
        (lambda x: tf.matmul(x, tf.ones([2, 3])), (2, 2)),
        (lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 3, 2]), 1, "SAME"), (2, 64, 64, 3)),
    ],
    ids=["scalar", "rows", "images"],
)
def test_that_a_tensor_of_unknown_rank_is_tried_with_plausible_shapes(use, shape, tmp_path):
    document = saved(lambda: tf.identity(use(v1.placeholder(tf.float32, None, "x")), name="y"), tmp_path)

    found = verify(document, document, ["y"])
    (output,), (fed,) = run(document, ["y"])

    assert (found.verdict, found.reason, found.feeds[0].shape) == ("same", "difference 0", shape)
    assert fed.shape == shape
    assert output.value.size


def test_that_where_no_shape_suits_all_made_up_feeds_are_asked_for(tmp_path):
    def two() -> None:
        first, second = v1.placeholder(tf.float32, None, "first"), v1.placeholder(tf.float32, None, "second")
        tf.matmul(tf.reshape(first, [7, 5]), tf.reshape(second, [5, 7]), name="y")

    document = saved(two, tmp_path)

    found = verify(document, document, ["y"])
    shell = CliRunner().invoke(main, ["verify", str(document.path), str(document.path), "--output", "y"])

    assert (found.verdict, set(found.needs)) == ("cannot", {"first", "second"})
    assert "--feed" not in found.hint
    assert "--feed first=VALUE" in shell.stderr
    assert "--feed second=VALUE" in shell.stderr


def test_that_no_rank_is_guessed_where_functions_are_called(tmp_path):
    @tf.function
    def filtered(x):
        return tf.nn.conv2d(x, tf.ones([3, 3, 3, 2]), 1, "SAME")

    document = saved(lambda: tf.identity(filtered(v1.placeholder(tf.float32, None, "x")), name="y"), tmp_path)

    found = verify(document, document, ["y"])

    assert (found.verdict, found.needs) == ("cannot", ("x",))
    assert "The shape of 'x' is not known" in found.reason
