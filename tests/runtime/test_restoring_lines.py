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


def pasted(lines, names):
    """What the variables of these names hold after the lines were run in the default graph."""
    reads = "\n".join(f"    values[{name!r}] = session.run({read!r})" for name, read in names.items())
    scope: dict[str, object] = {"values": {}}
    exec("\n".join(lines) + "\n" + reads, scope)
    return scope["values"]


@pytest.mark.parametrize("resource", [False, True])
def test_that_lines_for_a_graph_def_alone_work_after_importing_it(tf, tmp_path, resource):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.get_variable_scope().set_use_resource(resource)
        network(tf, "net", 3)
        v1.get_variable("text", [], tf.string, initializer=v1.constant_initializer("word"), use_resource=resource)
        session.run(v1.global_variables_initializer())
        prefix = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
        trained = {variable.op.name: session.run(variable) for variable in v1.global_variables()}
    with tf.Graph().as_default() as graph:
        v1.get_variable_scope().set_use_resource(resource)
        network(tf, "net", 5)
        v1.get_variable("text", [], tf.string, initializer=v1.constant_initializer(""), use_resource=resource)
        v1.get_variable("new", initializer=[7.0, 8.0])
        names = {one.op.name: one.value().name for one in v1.global_variables()}
        v1.train.write_graph(graph, str(tmp_path), "new.pb", as_text=False)
    found = run_job("variables", {"path": str(tmp_path / "new.pb"), "checkpoint": prefix})
    graph_def = v1.GraphDef.FromString((tmp_path / "new.pb").read_bytes())
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        values = pasted(found["lines"], names)
    assert values["new"].tolist() == [7, 8]
    assert values["head"].shape == (3, 5)
    for name in set(trained) - {"head"}:
        assert np.array_equal(values[name], trained[name]), name


def test_that_lines_for_a_saved_model_load_it_with_its_values(tf, tmp_path):
    model = tf.Module()
    model.w = tf.Variable([1.0, 2.0])
    tf.saved_model.save(model, str(tmp_path / "saved"))
    found = run_job("variables", {"path": str(tmp_path / "saved")})
    assert found["coverage"] == 1.0
    scope: dict[str, object] = {}
    exec("\n".join(found["lines"]), scope)
    assert scope["model"].w.numpy().tolist() == [1, 2]
