"""SavedModels of TF2 and Keras, however they were written, freeze to what TensorFlow loads and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from test_freeze import exact_session, freeze

from graphviewer.analysis.coverage import coverage
from graphviewer.analysis.variable_keys import variable_sources
from graphviewer.errors import OperationError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.checkpoint import OBJECT_GRAPH_KEY, open_checkpoint
from graphviewer.operations.registry import operations
from graphviewer.runtime.verify import verify

v1, keras, layers = tf.compat.v1, tf.keras, tf.keras.layers
ROW = tf.TensorSpec([None, 4], tf.float32)
FEW_WORDS = np.array([["a", "b", "nowhere"], ["b", "b", "a"]])


def randomised(model: Any) -> Any:
    """Every value another one: crossed keys show."""
    random = np.random.default_rng(3)
    for variable in model.variables:
        if "float" in str(variable.dtype):
            variable.assign(random.uniform(0.1, 1.0, variable.shape).astype(np.float32))
    return model


def compiled() -> Any:
    model = keras.Sequential([keras.Input((4,)), layers.Dense(4), layers.Dropout(0.3), layers.Dense(2)])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    return model


def plain() -> Any:
    return keras.Sequential([keras.Input((4,)), layers.Dense(4), layers.Dense(4), layers.Dense(4)])


def shared_layer() -> Any:
    dense, first, second = layers.Dense(4, "tanh"), keras.Input((4,)), keras.Input((4,))
    return keras.Model([first, second], layers.Add()([dense(dense(first)), dense(second)]))


def batch_norm() -> Any:
    image = keras.Input((6, 6, 3))
    steps = layers.SpatialDropout2D(0.2)(layers.BatchNormalization()(layers.Conv2D(4, 3)(image)))
    return keras.Model(image, layers.Dense(2)(layers.GaussianNoise(0.1)(layers.GlobalAveragePooling2D()(steps))))


class Subclassed(keras.Model):
    """Layers in a list and a dict, weights of its own, and a tf.Variable; all but the layers of one name."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [layers.Dense(4) for _ in range(2)]
        self.heads = {"a": layers.Dense(4)}
        self.scale = self.add_weight(shape=(4,), name="kernel")
        self.shift = tf.Variable(tf.ones([4]), name="kernel")

    def call(self, values: Any) -> Any:
        for block in self.blocks:
            values = block(values)
        return self.heads["a"](values) * self.scale - self.shift


def subclassed() -> Any:
    model = Subclassed()
    model(np.ones((1, 4), np.float32))
    return model


def lookup() -> Any:
    words = keras.Input((3,), dtype="string")
    numbers = layers.StringLookup(vocabulary=["a", "b"])(words)
    return keras.Model(words, layers.Dense(2)(layers.Embedding(4, 3)(numbers)))


def recurrent() -> Any:
    words = keras.Input((5,), dtype="int32")
    states = layers.Bidirectional(layers.LSTM(3, return_sequences=True, dropout=0.1))(layers.Embedding(6, 3)(words))
    return keras.Model(words, layers.LayerNormalization()(layers.GRU(3)(states)))


def recurrent_without_dropout() -> Any:
    words = keras.Input((5,), dtype="int32")
    return keras.Model(words, layers.Bidirectional(layers.LSTM(3))(layers.Embedding(6, 3)(words)))


def attention() -> Any:
    rows = keras.Input((4,), dtype="float32")
    steps = layers.Reshape((2, 2))(layers.Normalization(mean=1.0, variance=2.0)(rows))
    return keras.Model(rows, layers.MultiHeadAttention(2, 2)(steps, steps))


def half_precision() -> Any:
    return keras.Sequential([keras.Input((4,)), layers.Dense(4, dtype="mixed_bfloat16"), layers.Dense(2)])


KERAS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        made.__name__: made
        for made in (
            compiled,
            plain,
            shared_layer,
            batch_norm,
            subclassed,
            lookup,
            recurrent,
            recurrent_without_dropout,
            attention,
            half_precision,
        )
    }
)


class Module(tf.Module):
    """Functions that capture different variables, which lists and dicts hold, all of one name and shape."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third, fourth = tf.unstack(tf.random.stateless_uniform([4, 4], [1, 2]))
        self.several = [tf.Variable(first, name="w"), tf.Variable(second, name="w")]
        self.named = {"x": tf.Variable(third, name="w"), "y": tf.Variable(fourth, name="w")}

    @tf.function(input_signature=[ROW])
    def up(self, rows: Any) -> Any:
        return {"up": rows * self.several[0] + self.named["y"]}

    @tf.function(input_signature=[ROW])
    def down(self, rows: Any) -> Any:
        return {
            "down": tf.cond(tf.reduce_sum(rows) > 0, lambda: rows - self.several[1], lambda: rows * self.named["x"])
        }


class Wrapped(tf.Module):
    """A Keras model inside a module with variables of its own."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model, self.own = model, tf.Variable([1.0, 2.0, 3.0, 4.0], name="kernel")

    @tf.function(input_signature=[ROW])
    def up(self, rows: Any) -> Any:
        return {"up": self.model(rows) * self.own}

    @tf.function(input_signature=[ROW])
    def down(self, rows: Any) -> Any:
        return {"down": self.model.layers[0](rows) - self.own}


class Growing(tf.Module):
    """A table whose entries were added: the checkpoint has them."""

    def __init__(self) -> None:
        super().__init__()
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
        self.table.insert(["a"], [2.0])
        self.weight = tf.Variable(3.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def serve(self, words: Any) -> Any:
        return {"out": self.table.lookup(words) * self.weight}


def save_module(module: Any, path: Path) -> None:
    tf.saved_model.save(module, str(path), signatures={"up": module.up, "down": module.down})


def resave(source: Path, path: Path) -> None:
    loaded = tf.saved_model.load(str(source))
    tf.saved_model.save(loaded, str(path), signatures=dict(loaded.signatures))


def save_old(path: Path) -> None:
    """By the builder of TF1, with a saver."""
    with tf.Graph().as_default(), exact_session(None) as session:
        rows = v1.placeholder(tf.float32, [None, 4], "rows")
        result = rows * v1.get_variable("w", [4]) + v1.get_variable("b", [4], use_resource=True)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(path), {"rows": rows}, {"result": result})


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """All models, each written once."""
    keras.utils.set_random_seed(1)
    made = tmp_path_factory.mktemp("models")
    for name, build in KERAS.items():
        model = randomised(build())
        model.export(str(made / f"{name}-export"), verbose=False)
        if name != "recurrent":  # TensorFlow refuses: the seed of the cell's dropout belongs to no object
            tf.saved_model.save(model, str(made / f"{name}-save"))
    save_module(Module(), made / "module")
    save_module(Wrapped(randomised(plain())), made / "wrapped")
    for name in ("module", "wrapped", "compiled-save", "compiled-export"):
        resave(made / name, made / f"{name}-again")
    save_old(made / "old")
    return made


MODELS = [
    *(f"{name}-{way}" for name in KERAS for way in ("save", "export") if (name, way) != ("recurrent", "save")),
    *("module", "wrapped", "module-again", "wrapped-again", "compiled-save-again", "compiled-export-again", "old"),
]


def outputs_of(document: Any) -> list[str]:
    """The outputs of all signatures that compute something."""
    kept = [one for key, one in document.signatures.items() if not key.startswith("__")]
    return list(dict.fromkeys(end.name for one in kept for end in one.outputs.values()))


def feeds_of(signature: Any) -> dict[str, np.ndarray]:
    """Values for the inputs of a signature: words, numbers of words, or anything."""
    found = {}
    for name, tensor in signature.inputs.items():
        shape = [2 if size.size < 0 else size.size for size in tensor.tensor_shape.dim]
        dtype = tf.dtypes.as_dtype(tensor.dtype)
        if dtype == tf.string:
            found[name] = FEW_WORDS
        else:
            found[name] = np.random.default_rng(5).uniform(0, 5, shape).astype(dtype.as_numpy_dtype)
    return found


def run_frozen(result: Any, signature: Any, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(result.document.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run([name for table in result.tables for name in table.initializers])
            fetches = {name: tensor.name for name, tensor in signature.outputs.items()}
            return session.run(fetches, {signature.inputs[name].name: value for name, value in feeds.items()})


@pytest.mark.parametrize("name", MODELS)
def test_that_every_signature_freezes_to_what_tensorflow_loads(name, folder):
    document = open_document(folder / name)
    loaded = tf.saved_model.load(str(folder / name)).signatures

    for key, function in loaded.items():
        signature = document.signatures[key]
        result = freeze(document, [tensor.name for tensor in signature.outputs.values()])

        feeds = feeds_of(signature)
        after = run_frozen(result, signature, feeds)
        before = function(**{name: tf.constant(value) for name, value in feeds.items()})
        assert result.frozen
        for output, value in before.items():
            np.testing.assert_allclose(after[output], value.numpy(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["compiled-save", "subclassed-save", "lookup-save", "wrapped", "recurrent-export"])
def test_that_both_sides_of_a_proof_find_the_same_values(name, folder):
    document = open_document(folder / name)
    ends = outputs_of(document)

    found = verify(document, replace(freeze(document, ends).document, kind="graphdef", meta=None), ends, allow=True)

    assert (found.verdict, found.reason) == ("same", "difference 0")


@pytest.mark.parametrize("name", ["compiled-save", "subclassed-save", "wrapped", "compiled-export", "module"])
@pytest.mark.parametrize("suffix", [".pb", ".meta"])
def test_that_what_stays_of_a_model_still_finds_its_values(name, suffix, folder, tmp_path):
    document = open_document(folder / name)
    ends = outputs_of(document)[:1]
    smaller = operations()["extract"].run(document, outputs=ends).document
    save_document(smaller, tmp_path / f"smaller{suffix}")

    again = freeze(open_document(tmp_path / f"smaller{suffix}"), ends, checkpoint=document.checkpoint)

    assert again.document.graph_def.node == freeze(document, ends).document.graph_def.node


@pytest.mark.parametrize("name", MODELS)
def test_that_the_variables_panel_and_freeze_take_the_same_keys(name, folder):
    document = open_document(folder / name)
    checkpoint = open_checkpoint(document.checkpoint)

    found = coverage(document, checkpoint, ignored=(OBJECT_GRAPH_KEY,))

    assert {row.status for row in found.variables if row.name is not None} == {"both"}
    taken = {document.graph.names[at]: one.key for at, one in variable_sources(document, checkpoint).items()}
    shown = {row.name: row.key for row in found.variables if row.name is not None}
    assert shown.items() <= taken.items()


def test_that_objects_and_copies_say_the_same(folder):
    """Two ways to the keys of a Keras model: what its functions capture, and what is restored in a variable's place."""
    document = open_document(folder / "subclassed-save")
    checkpoint = open_checkpoint(document.checkpoint)
    told = variable_sources(document, checkpoint)
    captured = {at: one.key for at, one in told.items() if one.told_by == "told by the SavedModel's objects"}

    copied = variable_sources(replace(document, meta=None), checkpoint)

    assert len(captured) == 7
    assert captured == {at: copied[at].key for at in captured}


def test_that_a_model_whose_calls_were_opened_says_what_to_do(folder):
    document = open_document(folder / "compiled-save")
    opened = operations()["inline-functions"].run(document).document

    with pytest.raises(OperationError, match="have no value in the checkpoint") as error:
        freeze(opened, outputs_of(opened))

    assert "freeze it as it was saved" in error.value.hint


def test_that_entries_that_were_added_to_a_table_come_from_the_checkpoint(tmp_path):
    model = Growing()
    tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    document = open_document(tmp_path)
    signature = document.signatures["serving_default"]

    result = freeze(document, [signature.outputs["out"].name])

    filler = result.tables[0].initializers[0]
    told = f"run '{filler}' once before anything else, with the checkpoint's prefix fed to"
    assert any(told in warning for warning in result.warnings)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(result.document.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run(filler, {document.saver.filename_tensor_name: str(document.checkpoint)})
            found = session.run(signature.outputs["out"].name, {signature.inputs["words"].name: ["a", "b"]})
    np.testing.assert_array_equal(found, [6.0, 0.0])
