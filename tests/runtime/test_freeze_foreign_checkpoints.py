"""A SavedModel with the checkpoint of another export: every variable gets the value of its own name, or none."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from test_freeze import freeze

from graphviewer import protos
from graphviewer.analysis.coverage import coverage
from graphviewer.errors import OperationError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, open_checkpoint
from graphviewer.operations.registry import operations
from graphviewer.runtime.verify import verify
from graphviewer.worker.variables import variables

keras, layers = tf.keras, tf.keras.layers
ROWS = np.random.default_rng(2).uniform(-1, 1, (3, 4)).astype(np.float32)


def built(seed: int, *, more: bool = False) -> Any:
    """Layers of one shape and fixed names; with one more in their middle."""
    keras.backend.clear_session()
    names = ["d0", "d1", "dx", "d2", "d3"] if more else ["d0", "d1", "d2", "d3"]
    given = result = keras.Input((4,))
    for name in names:
        result = layers.Dense(4, "tanh", name=name)(result)
    model = keras.Model(given, result)
    numbers = np.random.default_rng(seed)
    for variable in model.variables:
        variable.assign(numbers.uniform(-1, 1, variable.shape).astype(np.float32))
    return model


def export(model: Any, path: Path, order: int) -> None:
    """As Keras does, whose order of variables hangs on where they lie in memory: here on a number."""
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint("serve", model.__call__, input_signature=[tf.TensorSpec([None, 4], tf.float32)])
    archive._filter_and_track_resources()
    kept = list(archive._tf_trackable._all_variables)
    random.Random(order).shuffle(kept)
    archive._tf_trackable._all_variables = kept
    tf.saved_model.save(
        archive._tf_trackable, str(path), signatures={"serving_default": archive._get_concrete_fn("serve")}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("exports")
    export(built(1), made / "first", 1)
    export(built(2), made / "second", 2)
    export(built(3, more=True), made / "more", 3)
    tf.saved_model.save(built(1), str(made / "saved"))
    return made


def prefix(path: Path) -> Path:
    return path / "variables" / "variables"


def ends_of(document: Any) -> list[str]:
    return [tensor.name for tensor in document.signatures["serving_default"].outputs.values()]


def run(path: Path) -> np.ndarray:
    (result,) = tf.saved_model.load(str(path)).signatures["serving_default"](tf.constant(ROWS)).values()
    return result.numpy()


def run_frozen(document: Any) -> np.ndarray:
    signature = document.signatures["serving_default"]
    (given,), (made,) = (tuple(ends.values()) for ends in (signature.inputs, signature.outputs))
    raw = document.graph_def.SerializeToString()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(raw), name="")
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run(made.name, {given.name: ROWS})


def extracted(document: Any, path: Path) -> Any:
    save_document(operations()["extract"].run(document, outputs=ends_of(document)).document, path)
    return open_document(path)


def full_names(path: Path) -> dict[str, str]:
    raw = tf.train.load_checkpoint(str(path)).get_tensor(OBJECT_GRAPH_KEY)
    nodes = protos.TrackableObjectGraph.FromString(raw).nodes
    return {one.checkpoint_key: one.full_name for node in nodes for one in node.attributes}


def test_that_the_exports_number_their_variables_differently(folder):
    first, second = (full_names(prefix(folder / name)) for name in ("first", "second"))
    assert first.keys() == second.keys()
    assert first != second


@pytest.mark.parametrize("name", ["first", "saved"])
def test_that_freezing_and_the_proof_take_values_by_full_name(name, folder):
    document = open_document(folder / name, checkpoint=prefix(folder / "second"))

    result = freeze(document, ends_of(document))

    np.testing.assert_allclose(run_frozen(result.document), run(folder / "second"), rtol=1e-5, atol=1e-6)
    found = verify(document, replace(result.document, kind="graphdef", meta=None), ends_of(document), allow=True)
    assert (found.verdict, found.reason) == ("same", "difference 0")


@pytest.mark.parametrize("suffix", [".pb", ".meta"])
def test_that_a_part_without_its_objects_takes_no_value_of_another_name(suffix, folder, tmp_path):
    document = open_document(folder / "first")
    part = extracted(document, tmp_path / f"part{suffix}")

    result = freeze(part, ends_of(document), checkpoint=prefix(folder / "second"))
    frozen = replace(document, graph_def=result.document.graph_def)
    np.testing.assert_allclose(run_frozen(frozen), run(folder / "second"), rtol=1e-5, atol=1e-6)

    more = open_document(folder / "more")
    part = extracted(more, tmp_path / f"more{suffix}")
    with pytest.raises(OperationError, match="have no value in the checkpoint"):
        freeze(part, ends_of(more), checkpoint=prefix(folder / "first"))


def test_that_a_layer_that_the_checkpoint_lacks_is_refused_by_name(folder):
    document = open_document(folder / "more", checkpoint=prefix(folder / "first"))

    with pytest.raises(OperationError, match="2 variables that the outputs need have no value") as error:
        freeze(document, ends_of(document))

    assert "dx/kernel" in str(error.value)
    assert "not the SavedModel's own" in error.value.hint


def test_that_the_panel_gives_every_variable_the_key_of_its_name(folder):
    document = open_document(folder / "more")
    checkpoint = open_checkpoint(prefix(folder / "first"))
    named = full_names(checkpoint.prefix)

    found = coverage(document, checkpoint, ignored=(OBJECT_GRAPH_KEY,)).variables

    pairs = {row.name.removesuffix("_1"): named[row.key] for row in found if row.status == "both"}
    assert len(pairs) == 8
    assert all(name == full for name, full in pairs.items())
    lacking = {row.name.removesuffix("_1"): row.nearest for row in found if row.status == "only_graph"}
    assert lacking.keys() == {"dx/kernel", "dx/bias"}
    assert set(lacking["dx/bias"]) <= set(named.values())


def test_that_keys_that_no_variable_has_tell_their_full_names(folder):
    found = coverage(open_document(folder / "first"), open_checkpoint(prefix(folder / "more")))
    told = {row.held for row in found.variables if row.status == "only_checkpoint"}
    assert {"the value of dx/kernel", "the value of dx/bias"} <= told


def test_that_the_printed_lines_give_a_loaded_model_the_other_values(folder):
    lines = variables(str(folder / "first"), str(prefix(folder / "second")))["lines"]
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)

    (result,) = names["model"].signatures["serving_default"](tf.constant(ROWS)).values()

    np.testing.assert_allclose(result.numpy(), run(folder / "second"), rtol=1e-6, atol=1e-7)


def test_that_the_printed_lines_leave_what_the_checkpoint_lacks_as_it_was(folder):
    names: dict[str, Any] = {}
    exec("\n".join(variables(str(folder / "more"), str(prefix(folder / "first")))["lines"]), names)
    values = {one.name: one.numpy() for one in names["model"].signatures["serving_default"].variables}
    own, other = ({one.path: one.numpy() for one in made.variables} for made in (built(3, more=True), built(1)))

    for name, value in values.items():
        path = name.split(":")[0]
        np.testing.assert_array_equal(value, own[path] if path.startswith("dx/") else other[path])


def test_that_a_data_file_that_is_missing_is_said(folder, tmp_path):
    export(built(1), tmp_path / "model", 1)
    whole = variables(str(tmp_path / "model"))
    next((tmp_path / "model" / "variables").glob("*.data-*")).unlink()
    found = variables(str(tmp_path / "model"))

    assert whole["problems"] == []
    assert "is missing" in found["problems"][0]
    assert found["lines"][0] == f"# {found['problems'][0]}"
