"""The report on real graphs: pairs and SavedModels are found, frozen and proved, and no graph can stop it."""

from __future__ import annotations

import sys
from multiprocessing import resource_tracker
from pathlib import Path

import pytest
import tensorflow as tf
from proof_graphs import network, saved

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from corpus_report import Case, Worker, cases, report, summary, table
from deadly import die_on_deadly

v1 = tf.compat.v1


@pytest.fixture(scope="module", autouse=True)
def _tracker() -> None:
    """multiprocessing starts it once for the whole session, which is no leak of the test that happens to be first."""
    resource_tracker.ensure_running()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A pair, a pair whose values are gone, and a SavedModel with two signatures, one of which counts."""
    place = tmp_path_factory.mktemp("corpus")
    saved(network(resource=True), place / "pair")
    saved(network(resource=False), place / "broken")
    next((place / "broken").glob("*.data-*")).unlink()
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, name="x")
        w = v1.get_variable("w", [], use_resource=False)
        signatures = {
            name: v1.saved_model.predict_signature_def({"x": x}, {"y": y})
            for name, y in (("scale", tf.multiply(x, w, name="y")), ("count", v1.assign_add(w, 1.0)))
        }
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(place / "served"))
        builder.add_meta_graph_and_variables(session, ["serve"], signature_def_map=signatures)
        builder.save()
    return place


def test_that_each_graph_is_frozen_and_proved_or_refused_with_the_reason(folder):
    rows = {(row.file, row.outputs): row for row in (report(case, folder) for case in cases(folder))}

    pair, counted = rows["pair/model.ckpt.meta", ("y",)], rows["served [count]", ("AssignAdd:0",)]
    assert (pair.verdict, pair.max_abs, pair.nodes[0] > pair.nodes[1]) == ("same", 0.0, True)
    assert (rows["served [scale]", ("y:0",)].verdict, counted.verdict) == ("same", "refused")
    assert "changes a variable" in counted.reason
    assert "data-00000-of-00001 is missing" in rows["broken/model.ckpt.meta", ("y",)].reason
    assert str(folder) not in table(list(rows.values()))
    assert summary([pair, counted]) == "2 graphs: 1 same, 1 refused; 1 with difference 0"


def test_that_a_graph_that_ends_the_process_costs_its_own_row_only(tmp_path):
    with Worker(tmp_path, die_on_deadly) as worker:
        rows = [worker.row(Case(tmp_path / name)) for name in ("first", "deadly", "last")]

    assert [row.verdict for row in rows] == ["same", "crashed", "same"]
    assert "exit code 7" in rows[1].reason
