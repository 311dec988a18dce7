"""Keras models as graphs: loading them is Keras's work, and runs code that the file may bring along."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import endpoints_named
from graphviewer.model.names import Endpoint, parse_input
from graphviewer.model.progress import Progress, silent
from graphviewer.operations.registry import operations
from graphviewer.runtime import engine
from graphviewer.runtime.keras_bombs import holds_hdf5, refuse_bomb

_SIGNATURE = "serving_default"
_MADE = re.compile(r"((keras_tensor|input_layer)(_\d+)?)?")
"""Names that Keras gives where nobody does; they change from one run to the next."""

_METHOD = "tensorflow/serving/predict"
_IDLE = frozenset({"Identity", "NoOp"})
_SUFFIXES = ((".h5", ".hdf5"), (".keras",))
_EXPORT = "Where the model was made, model.export('folder') writes a SavedModel, which opens without running code."


@dataclass(frozen=True)
class KerasModel:
    """A loaded model, and its graph.

    Attributes:
        document: the graph of its forward pass, weights as constants, inputs and outputs as a signature.
        inputs: in the order in which ``call`` takes their values; those that no output needs are not in the graph.
        outputs: in the order in which ``call`` gives their values.
        call: the model itself, run by Keras in inference.
    """

    document: Document
    inputs: tuple[Endpoint, ...]
    outputs: tuple[Endpoint, ...]
    call: Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]]


def read_keras(path: Path, progress: Progress = silent) -> KerasModel:
    """Load a model, and trace its graph.

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
    document, outputs = _document(path, frozen, _names(model, "output", model.outputs))
    inputs = (Endpoint.parse(tensor.name) for tensor in frozen.inputs)
    return KerasModel(document, tuple(inputs), tuple(outputs), partial(_call, tensorflow, model, path))


def _call(tensorflow: Any, model: Any, path: Path, values: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    tensors = [tensorflow.convert_to_tensor(value) for value in values]
    with _one_sentence(path, "cannot be run"):
        results = model(tensorflow.nest.pack_sequence_as(_structure(model), tensors), training=False)
    return [result.numpy() for result in tensorflow.nest.flatten(results)]


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
    names = _names(model, "input", model.inputs)
    specs = [tensorflow.TensorSpec(one.shape, one.dtype, name) for one, name in zip(model.inputs, names, strict=True)]

    def forward(*tensors: Any) -> list[Any]:
        results: list[Any] = tensorflow.nest.flatten(
            model(tensorflow.nest.pack_sequence_as(given, tensors), training=False)
        )
        return results

    traced = tensorflow.function(forward, autograph=False).get_concrete_function(*specs)
    return convert_variables_to_constants_v2(traced, lower_control_flow=False)


def _structure(model: Any) -> Any:
    """The inputs as the model takes them: one, a list or a dictionary."""
    try:
        return model.input
    except (AttributeError, ValueError):  # a Sequential does not tell
        return model.inputs[0] if len(model.inputs) == 1 else model.inputs


def _names(model: Any, kind: str, tensors: Sequence[Any]) -> list[str]:
    """A name that TensorFlow accepts for each input or output, no two equal: the one that its author gave, if any."""
    found = list(getattr(model, f"{kind}_names", None) or [])
    if len(found) != len(tensors):
        usual = [f"{kind}_{number}" if number else kind for number in range(len(tensors))]
        own = [tensor.name or "" for tensor in tensors]
        made = [kind == "output" or _MADE.fullmatch(name) for name in own]
        found = [one if is_made else name for one, name, is_made in zip(usual, own, made, strict=True)]
    names: list[str] = []
    for number, text in enumerate(found):
        name = re.sub(r"[^A-Za-z0-9_.]", "_", text).lstrip("_") or kind
        names.append(name if name not in names else f"{name}_{number}")
    return names


def _document(path: Path, frozen: Any, output_names: Sequence[str]) -> tuple[Document, list[Endpoint]]:
    """A frozen ConcreteFunction as a document of what its outputs need, and these."""
    graph = protos.GraphDef.FromString(frozen.graph.as_graph_def().SerializeToString())
    _drop_idle_waits(graph)
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
    outputs = endpoints_named(document, [tensor.name for tensor in frozen.outputs], "outputs")
    return operations()["extract"].run(document, outputs=outputs).document, outputs


def _drop_idle_waits(graph: Any) -> None:
    """Take out control inputs from what has nothing left to do: reads of variables that are constants now."""
    idle: set[str] = set()
    found = {node.name for node in graph.node if node.op == "Const" and not node.input}
    while found:  # few rounds: a read, and the group of all reads
        idle |= found
        waiting = (node for node in graph.node if node.op in _IDLE and node.name not in idle)
        found = {node.name for node in waiting if all(parse_input(text)[0] in idle for text in node.input)}
    for node in graph.node:
        kept = [text for text in node.input if not (text.startswith("^") and text[1:] in idle)]
        if len(kept) < len(node.input):
            node.input[:] = kept
