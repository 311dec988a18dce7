"""A proof restores the original with the values that the result was made of, whichever saver or name tells them."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf
from click.testing import CliRunner, Result

from graphviewer.cli import main
from graphviewer.formats import open_document
from graphviewer.operations.registry import operations
from graphviewer.runtime.restore import Matching
from graphviewer.runtime.verify import verify

v1 = tf.compat.v1


def shell(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture(params=[True, False], ids=["resource", "reference"])
def averaged(request, tmp_path):
    """y = x w: w is 1, and its average 3; the saver ``save`` reads the value, ``save_1`` the average.

    The file says ``save``; the checkpoint has ``w`` under another scope as well, where it is 7.
    """
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [None, 2], "x")
        weights = v1.get_variable("net/w", [2], initializer=v1.ones_initializer(), use_resource=request.param)
        average = v1.get_variable(
            "net/w/ExponentialMovingAverage", [2], initializer=v1.constant_initializer(3.0), use_resource=request.param
        )
        tf.multiply(x, weights, name="y")
        keeper = v1.train.Saver({"net/w": weights, "net/w/ExponentialMovingAverage": average})
        v1.train.Saver({"net/w/ExponentialMovingAverage": weights})
        model = graph.as_graph_def()
        session.run(v1.global_variables_initializer())
        other = v1.Variable([7.0, 7.0], name="old/w")
        session.run(other.initializer)
        every = v1.train.Saver(
            {"net/w": weights, "net/w/ExponentialMovingAverage": average, "old/w": other}, name="every"
        )
        every.save(session, str(tmp_path / "model.ckpt"), write_meta_graph=False)
        v1.train.export_meta_graph(
            str(tmp_path / "model.ckpt.meta"),
            graph_def=model,
            saver_def=keeper.saver_def,
            clear_extraneous_savers=False,
        )
    return tmp_path / "model.ckpt.meta"


WAYS = [
    pytest.param({}, 1.0, id="as usual"),
    pytest.param({"saver": "save"}, 1.0, id="the file's own saver"),
    pytest.param({"saver": "save_1"}, 3.0, id="another saver"),
    pytest.param({"saver": "moving-averages"}, 3.0, id="averages"),
    pytest.param({"saver": "names"}, 1.0, id="names"),
    pytest.param({"rename": "net=old"}, 7.0, id="another scope"),
]


@pytest.mark.parametrize(("way", "value"), WAYS)
def test_that_the_proof_takes_the_values_that_the_freeze_took(way, value, averaged):
    document = open_document(averaged)
    frozen = operations()["freeze"].run(document, outputs=["y"], **way).document

    found = verify(document, frozen, ["y"], {"x": "1,1"}, matching=Matching(**way))
    last = verify(document, frozen, ["y"], {"x": "1,1"})

    assert (found.verdict, found.reason) == ("same", "difference 0")
    assert found.outputs[0].to_json()["max"] == value
    assert last.verdict == ("same" if value == 1.0 else "different")


@pytest.mark.parametrize(("way", "value"), WAYS)
def test_that_the_shell_proves_a_freeze_with_its_saver_and_so_does_verify(way, value, averaged, tmp_path):
    flags = [word for name, given in way.items() for word in (f"--{name}", given)]

    made = shell("freeze", averaged, "--output", "y", "-o", tmp_path / "y.pb", *flags, "--verify", "--json")
    later = shell("verify", averaged, tmp_path / "y.pb", *flags)

    assert made.exit_code == later.exit_code == 0
    assert json.loads(made.stdout)["verification"]["reason"] == "difference 0"


def test_that_another_saver_restores_by_itself(averaged):
    """A saver of the graph is TensorFlow's own word: a freeze that mistakes its keys would be found out."""
    document = open_document(averaged)
    wrong = operations()["freeze"].run(document, outputs=["y"], saver="names").document

    assert verify(document, wrong, ["y"], matching=Matching(saver="save_1")).verdict == "different"
