"""Keras models as graphs: loading them is Keras's work, and runs code that the file may bring along."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.model.document import Document
from graphviewer.model.names import resolve_all
from graphviewer.model.progress import Progress, silent
from graphviewer.operations.registry import operations
from graphviewer.runtime import engine
from graphviewer.runtime.keras_bombs import holds_hdf5, refuse_bomb

_SIGNATURE = "serving_default"
_METHOD = "tensorflow/serving/predict"
_SUFFIXES = ((".h5", ".hdf5"), (".keras",))
_EXPORT = "Where the model was made, model.export('folder') writes a SavedModel, which opens without running code."


def read_keras(path: Path, progress: Progress = silent) -> Document:
    """The graph of a model's forward pass, its weights as constants, its inputs and outputs as a signature.

    Lambda layers, which are code in the file, stay refused (``safe_mode``), but code of registered classes runs.

    Args:
        path: a ``.keras`` or HDF5 file; its content decides, not its suffix.
        progress: told how far it is.

    Raises:
        ReadError: Keras cannot load it, it holds weights only, or its inputs are not known.
    """
    progress(0.0, "starting TensorFlow")
    tensorflow = engine.load()
    progress(0.3, f"loading {path.name}")
    model = _load(tensorflow, path)
    progress(0.6, "tracing the model")
    with _one_sentence(path, "has a graph that cannot be traced"):
        frozen = _freeze(tensorflow, model)
    progress(0.9, "writing the graph")
    return _document(path, frozen, _names(model, "output", len(frozen.outputs)))


def _load(tensorflow: Any, path: Path) -> Any:
    refuse_bomb(path)
    is_hdf5 = holds_hdf5(path)
    with _named(path, _SUFFIXES[0] if is_hdf5 else _SUFFIXES[1]) as place, _one_sentence(path, "cannot be loaded"):
        return tensorflow.keras.models.load_model(str(place), compile=False, safe_mode=True)


@contextmanager
def _named(path: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """The file under a name by which Keras knows its kind."""
    if path.suffix in suffixes:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="graphviewer-") as folder:
        yield Path(shutil.copy(path, Path(folder) / f"model{suffixes[0]}"))


@contextmanager
def _one_sentence(path: Path, what: str) -> Iterator[None]:
    """Whatever Keras raises, from anywhere inside it, becomes one sentence; its warnings are for those who train."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ReadError:
        raise
    except Exception as error:  # loading runs the code of any layer: there is no list of what that may raise
        raise ReadError(f"{path.name} {what}: {engine.explain(error)}.", _EXPORT) from error


def _freeze(tensorflow: Any, model: Any) -> Any:
    """The model's call as a ConcreteFunction without variables, its functions inlined, nothing else optimised."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    if not getattr(model, "inputs", None):
        raise ValueError("its inputs are not known, for it was saved before it was built")
    given = _structure(model)
    names = _names(model, "input", len(model.inputs))
    specs = [tensorflow.TensorSpec(one.shape, one.dtype, name) for one, name in zip(model.inputs, names, strict=True)]

    def forward(*tensors: Any) -> list[Any]:
        results = model(tensorflow.nest.pack_sequence_as(given, tensors), training=False)
        return tensorflow.nest.flatten(results)

    traced = tensorflow.function(forward, autograph=False).get_concrete_function(*specs)
    return convert_variables_to_constants_v2(traced, lower_control_flow=False)


def _structure(model: Any) -> Any:
    """The inputs as the model takes them: one, a list or a dictionary."""
    try:
        return model.input
    except (AttributeError, ValueError):  # a Sequential does not tell
        return model.inputs[0] if len(model.inputs) == 1 else model.inputs


def _names(model: Any, kind: str, count: int) -> list[str]:
    """A name that TensorFlow accepts for each input or output, no two equal."""
    found = list(getattr(model, f"{kind}_names", None) or [])
    if len(found) != count:
        found = [f"{kind}_{number}" if number else kind for number in range(count)]
    names: list[str] = []
    for number, text in enumerate(found):
        name = re.sub(r"[^A-Za-z0-9_.]", "_", text).lstrip("_") or kind
        names.append(name if name not in names else f"{name}_{number}")
    return names


def _document(path: Path, frozen: Any, output_names: Sequence[str]) -> Document:
    """A frozen ConcreteFunction as a document, without functions that nothing calls."""
    graph = protos.GraphDef.FromString(frozen.graph.as_graph_def().SerializeToString())
    meta = protos.MetaGraphDef()
    signature = meta.signature_def[_SIGNATURE]
    signature.method_name = _METHOD
    ends = [(signature.inputs, tensor.op.name, tensor) for tensor in frozen.inputs]
    ends += [(signature.outputs, name, tensor) for name, tensor in zip(output_names, frozen.outputs, strict=True)]
    for table, key, tensor in ends:
        table[key].name = tensor.name
        table[key].dtype = tensor.dtype.as_datatype_enum
        shape = protos.TensorShapeProto.FromString(tensor.shape.as_proto().SerializeToString())
        table[key].tensor_shape.CopyFrom(shape)
    document = Document("metagraph", graph, title=path.name, meta=meta)
    outputs = resolve_all([tensor.name for tensor in frozen.outputs], document.graph.index)
    result: Document = operations()["extract"].run(document, outputs=outputs).document
    return result
