"""Verifying graphs with conditionals of TensorFlow 1: what has no value in a branch that is not taken."""

import pytest
import tensorflow as tf
from proof_graphs import saved

from graphviewer.errors import GraphViewerError
from graphviewer.runtime.run import run
from graphviewer.runtime.verify import verify

v1 = tf.compat.v1


def conditional(*, taken: bool):
    """x and w go through a cond to y; its condition is a constant, and leftovers hang on both of its branches."""

    def build() -> None:
        x, w = v1.placeholder(tf.float32, [None, 2], "x"), v1.get_variable("w", [2], use_resource=False)
        on = tf.constant(taken, name="on")
        tf.identity(v1.cond(on, lambda: x * w, lambda: x - w), name="y")
        off, live = v1.raw_ops.Switch(data=x, pred=on, name="split")
        tf.tanh(off, name="when_off")
        tf.tanh(live, name="when_on")

    return build


@pytest.mark.parametrize("taken", [True, False])
def test_that_a_graph_with_a_leftover_conditional_is_the_same_as_itself(taken, tmp_path):
    document = saved(conditional(taken=taken), tmp_path, control_flow_v2=False)

    found = verify(document, document)

    assert (found.verdict, found.reason) == ("same", "difference 0")
    assert [one.name for one in found.outputs] == ["y"]


def test_that_named_outputs_without_a_value_are_skipped_and_told(tmp_path):
    document = saved(conditional(taken=True), tmp_path, control_flow_v2=False)

    found = verify(document, document, ["when_off", "y", "when_on"])

    assert (found.verdict, found.skipped) == ("same", ("when_off",))
    assert [one.name for one in found.outputs] == ["y", "when_on"]
    assert found.to_json()["skipped"] == ["when_off"]


def test_that_a_value_in_one_graph_only_is_a_difference(tmp_path):
    document = saved(conditional(taken=True), tmp_path / "on", control_flow_v2=False)
    other = saved(conditional(taken=False), tmp_path / "off", control_flow_v2=False)

    found = verify(document, other, ["when_on"])
    both = verify(document, other, ["when_on", "split"])

    assert found.verdict == "cannot"
    assert "In the result, 'when_on' has no value" in found.reason
    assert both.verdict == "different"
    assert "no value" in both.reason


def test_that_nothing_but_dead_outputs_proves_nothing(tmp_path):
    document = saved(conditional(taken=True), tmp_path, control_flow_v2=False)

    found = verify(document, document, ["when_off"])

    assert found.verdict == "cannot"
    assert "'when_off' has no value: it lies in a branch of a conditional that is not taken" in found.reason
    with pytest.raises(GraphViewerError, match="'when_off' has no value"):
        run(document, ["when_off", "y"])
