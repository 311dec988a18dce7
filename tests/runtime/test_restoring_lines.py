"""The lines to paste, run by TensorFlow in the program they are for."""

from __future__ import annotations

import numpy as np
import pytest

from graphviewer.worker.jobs import run_job


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow")


def network(tf, scope, units):
    v1 = tf.compat.v1
    with v1.variable_scope(scope):
        v1.get_variable("w", [4, 3], initializer=v1.random_normal_initializer())
        v1.get_variable("parts", [6], partitioner=tf.compat.v1.fixed_size_partitioner(2))
    v1.get_variable("head", [3, units])


@pytest.mark.parametrize("units", [3, 5])
def test_that_pasted_lines_restore_what_fits_and_initialise_the_rest(tf, tmp_path, units):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        network(tf, "net", 3)
        session.run(v1.global_variables_initializer())
        prefix = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
        trained = {variable.op.name: session.run(variable) for variable in v1.global_variables()}
    with tf.Graph().as_default() as graph:
        network(tf, "net", units)
        v1.get_variable("new", [2])
        v1.train.export_meta_graph(str(tmp_path / "tuned.meta"))
        found = run_job("variables", {"path": str(tmp_path / "tuned.meta"), "checkpoint": prefix})
        lines = "\n".join(found["lines"]).replace(
            "    saver.restore(", "    before = session.run(tf.report_uninitialized_variables())\n    saver.restore("
        )
        lines += "\n    values = {name: session.run(variable) for name, variable in variables.items()}"
        lines += "\n    left = session.run(tf.report_uninitialized_variables())"
        scope: dict[str, object] = {}
        exec(lines, scope)
    assert len(scope["left"]) == 0
    assert {"new", *(["head"] if units != 3 else [])}.isdisjoint(name.decode() for name in scope["before"])
    restored = set(trained) - ({"head"} if units != 3 else set())
    for name in restored:
        assert np.array_equal(scope["values"][name], trained[name]), name
    assert len(graph.get_operations()) > 0
