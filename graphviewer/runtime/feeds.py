"""Values for what a graph is fed: made up where any will do, or read from files that the user names.

Made values are the same in every run: each depends on the name of its tensor alone.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.errors import GraphViewerError
from graphviewer.formats.paths import special_kind, status_of
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.tensors import numpy_dtype
from graphviewer.operations.tensor_types import output_dtype, output_shape
from graphviewer.protos import DataType, dtype_name
from graphviewer.runtime.array_files import require_whole, require_whole_member
from graphviewer.runtime.images import read_image

Array = NDArray[Any]

_UNKNOWN_SIZE = 2
_LARGEST_BATCH = 256
_IMAGE_SIZE = 64  # of images of any size: convolutions without padding need more than 2
_CHANNELS = (1, 3, 4)
_MOST_ELEMENTS = 1 << 28
_UNKNOWN_RANK_WAS_SCALAR = 24  # graphs of older producers write [] for unknown rank
_ARRAYS = (".npy", ".npz")
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif")
_MOST_LISTED = 1_000
GIVE_VALUES = "Give values: a .npy, .npz or image file, a number, true or false, or a short list such as 0.7,0.7,0.8."
_WORDS: Mapping[str, bool] = {"true": True, "false": False}


class FeedError(GraphViewerError):
    """There is no value for a tensor, or the one given does not fit it.

    Attributes:
        needs: names of the tensors that the user has to give values for.
    """

    def __init__(self, message: str, hint: str = "", needs: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.needs = tuple(needs)


class Wanted(NamedTuple):
    """A tensor that is fed.

    Attributes:
        name: of the tensor.
        dtype: TensorFlow's number; 0 where nothing tells.
        shape: sizes, -1 where any will do; None for unknown rank.
        usual_batch: the first size that the graph's own pipeline gives, where any will do; -1 where none is known.
    """

    name: str
    dtype: int
    shape: list[int] | None
    usual_batch: int = -1

    @property
    def usual_shape(self) -> list[int] | None:
        """The shape with the batch that the graph's own pipeline gives."""
        free = self.shape and self.shape[0] < 0
        return [self.usual_batch, *self.shape[1:]] if self.shape and free else self.shape

    def __str__(self) -> str:
        return f"'{self.name}' ({dtype_name(self.dtype) if self.dtype else 'dtype unknown'} {shape_text(self.shape)})"


def shape_text(shape: Sequence[int] | None) -> str:
    """``[?, 3]``."""
    if shape is None:
        return "of unknown rank"
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"


def wanted(document: Document, endpoint: Endpoint) -> Wanted:
    """What a tensor of a graph takes, as far as its nodes tell."""
    number = document.graph.index[endpoint.node]
    node, shape = document.node(number), output_shape(document, number, endpoint.port)
    old = document.graph_def.versions.producer < _UNKNOWN_RANK_WAS_SCALAR
    if shape == [] and node.op == "Placeholder" and old and "_output_shapes" not in node.attr:
        shape = None
    own = output_shape(document, number, endpoint.port, any_batch=False) if shape and shape[0] < 0 else None
    dtype = (output_dtype(document, number, endpoint.port) or 0) % 100
    return Wanted(str(endpoint), dtype, shape, own[0] if own else -1)


def narrowed(shape: Sequence[int] | None, other: Sequence[int] | None) -> list[int] | None:
    """A shape with its unknown sizes taken from another one of the same rank."""
    if shape is None:
        return list(other) if other is not None else None
    if other is None or len(other) != len(shape):
        return list(shape)
    return [known if size < 0 else size for size, known in zip(shape, other, strict=True)]


def batch_size(shapes: Iterable[Sequence[int] | None]) -> int:
    """What an unknown first size becomes: the one known first size of tensors fed together, where they agree."""
    known = {shape[0] for shape in shapes if shape and shape[0] >= 0}
    size = known.pop() if len(known) == 1 else _UNKNOWN_SIZE
    return size if size <= _LARGEST_BATCH else _UNKNOWN_SIZE


def guesses(batch: int) -> tuple[list[int], ...]:
    """Shapes to try, one after the other, where a graph does not tell the rank: a scalar, a vector, rows, images."""
    return [], [batch], [batch, _UNKNOWN_SIZE], [batch, _IMAGE_SIZE, _IMAGE_SIZE, 3]


def has_any_rank(want: Wanted) -> bool:
    """Nothing tells the rank: neither the graph, nor the name."""
    known = want.dtype and want.dtype not in (DataType.RESOURCE, DataType.VARIANT)
    return bool(want.shape is None and known and _usual(want.name, numpy_dtype(want.dtype)) is None)


def make_all(wants: Iterable[Wanted], seed: int, batch: int) -> list[Array]:
    """A made value for each tensor.

    Raises:
        FeedError: as ``make``; all tensors that no value can be made for are named at once.
    """
    found, refusals = [], []
    for want in wants:
        try:
            found.append(make(want, seed, batch))
        except FeedError as error:
            refusals.append((want, error))
    if len(refusals) == 1:
        raise refusals[0][1]
    if refusals:
        names = ", ".join(str(want) for want, _error in refusals)
        needs = [name for _want, error in refusals for name in error.needs]
        hints = " ".join(dict.fromkeys(error.hint for _want, error in refusals))
        raise FeedError(f"No values can be made for {len(refusals):,} tensors: {names}.", hints, needs)
    return found


def make(want: Wanted, seed: int = 0, batch: int = _UNKNOWN_SIZE) -> Array:
    """A value of the wanted dtype and shape: normal floats, integers of 0 and 1, bytes of all values, strings ``a``.

    Switches and probabilities told by name get what they have in inference, and are scalars if nothing else is known:
    ``is_training`` False, ``keep_prob`` 1, ``dropout_rate`` 0. Serialized examples are empty ones.

    Args:
        want: the tensor; the first of its sizes becomes ``batch`` where it is unknown, others 2, those of images 64.
        seed: another one gives other values.
        batch: see ``batch_size``.

    Raises:
        FeedError: unknown rank, too many elements, or a dtype that no value can be made for.
    """
    if not want.dtype or want.dtype in (DataType.RESOURCE, DataType.VARIANT):
        raise FeedError(f"No value can be made for {want}.", "Feed a tensor that is computed from it.")
    dtype = numpy_dtype(want.dtype)
    usual = _usual(want.name, dtype)
    if want.shape is None and usual is not None:
        want = want._replace(shape=[batch] if dtype.hasobject else [])
    shape = _sizes(want, batch)
    if usual is not None:
        return np.full(shape, usual, dtype)
    random = np.random.default_rng([seed, zlib.crc32(want.name.encode("utf-8", "surrogatepass"))])
    if dtype.hasobject:
        return np.full(shape, b"a", dtype)
    if want.dtype == DataType.UINT8:
        return random.integers(0, 256, shape).astype(dtype)
    if dtype.kind in "biu":
        return random.integers(0, 2, shape).astype(dtype)
    values = random.standard_normal(shape)
    return (values + 1j * random.standard_normal(shape)).astype(dtype) if dtype.kind == "c" else values.astype(dtype)


def _usual(name: str, dtype: np.dtype[Any]) -> float | bytes | None:
    """The value in inference of what a name tells is a switch, a probability, or a serialized example."""
    last = name.rpartition("/")[2].partition(":")[0].lower()
    if dtype.hasobject:
        return b"" if "example" in last else None  # the bytes of a message without fields
    if dtype == np.bool_:
        return 0.0 if "train" in last or "phase" in last else None
    if dtype.kind != "f":
        return None
    if "keep_prob" in last or "keep_rate" in last:
        return 1.0
    return 0.0 if "drop" in last else None


def _sizes(want: Wanted, batch: int) -> list[int]:
    if want.shape is None:
        raise FeedError(f"The shape of '{want.name}' is not known.", GIVE_VALUES, [want.name])
    image = len(want.shape) == 4 and want.shape[-1] in _CHANNELS
    fill = [_IMAGE_SIZE if image and axis in (1, 2) else _UNKNOWN_SIZE for axis in range(len(want.shape))]
    fill[:1] = [batch] if fill else []
    shape = [known if size < 0 else size for size, known in zip(want.shape, fill, strict=True)]
    if math.prod(shape) > _MOST_ELEMENTS:
        raise FeedError(f"{want} is too large to make up.", GIVE_VALUES, [want.name])
    return shape


def read(given: str, want: Wanted) -> Array:
    """The value that a user gives for a tensor: an array file, an image, any file for a string, or a number.

    Args:
        given: path of a ``.npy`` or ``.npz`` file (``file.npz:key`` picks one of its arrays), an image, a number,
            ``true`` or ``false``, or some of these with commas between (one row: ``0.7,0.7,0.8``); for a string tensor,
            words with commas between, and any other file gives its bytes.
        want: the tensor; the value is cast to its dtype, and gets a batch of one where that is all that is missing.

    Raises:
        FeedError: no such file, not readable, or it does not fit.
    """
    path, key = path_and_key(given)
    if not os.path.isfile(path):  # Path's own fails where a list is too long for a name
        if want.dtype == DataType.STRING and (words := _words(given)) is not None:
            return fit(words, want, f"'{given}'")
        scalar, listed = _scalar(given), _listed(given)
        if listed is not None:
            return fit(listed, want, f"'{given}'")
        if scalar is None:
            kind = _kind_of_place(path)
            what = f"{given} is {kind}, and not a value for" if kind else f"There is no file {given} to feed"
            strings = " For strings: a list such as a,b (of one: a,), a .npy file of them, or any file for its bytes."
            hint = GIVE_VALUES + (strings if want.dtype == DataType.STRING else "")
            raise FeedError(f"{what} '{want.name}'.", hint)
        return fit(np.full([1 if size < 0 else size for size in want.shape or ()], scalar), want, f"'{given}'")
    suffix = path.suffix.lower()
    if suffix in _ARRAYS:
        return fit(_load_array(path, key), want, path.name)
    if want.dtype == DataType.STRING:
        return fit(np.array(path.read_bytes(), object), want, path.name)
    if suffix in IMAGES:
        pixels = read_image(path, want.shape)
        return fit(np.rint(pixels) if want.dtype and numpy_dtype(want.dtype).kind in "iu" else pixels, want, path.name)
    raise FeedError(f"{path.name} is no array and no image.", f"Use one of {', '.join((*_ARRAYS, *IMAGES))}.")


def _kind_of_place(path: Path) -> str:
    """What is at a path where no file is: ``a folder``, ``a named pipe``; empty for nothing."""
    try:
        status = status_of(path)
    except OSError:  # too long for a name: the list of numbers that it was meant to be
        return ""
    return "a folder" if os.path.isdir(path) else special_kind(status) if status is not None else ""


def path_and_key(given: str) -> tuple[Path, str]:
    """The file that a feed names, and the array in it where the user says which."""
    whole = Path(given)
    name, colon, key = given.rpartition(":")
    return (Path(name), key) if colon and name.lower().endswith(".npz") and not os.path.isfile(whole) else (whole, "")


def _scalar(text: str) -> bool | int | float | None:
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return None


def _listed(text: str) -> Array | None:
    """Numbers with commas between as a vector; ``7,`` is one of a single number."""
    parts = text.removesuffix(",").split(",", _MOST_LISTED)
    if "," not in text or len(parts) > _MOST_LISTED:
        return None
    found = [_scalar(part) for part in parts]
    return None if None in found else np.array(found)


def _words(text: str) -> Array | None:
    """Strings with commas between as a vector of bytes; ``a,`` is one of a single string."""
    parts = text.removesuffix(",").split(",", _MOST_LISTED)
    if "," not in text or len(parts) > _MOST_LISTED:
        return None
    return np.array([os.fsencode(part) for part in parts], object)


def _load_array(path: Path, key: str) -> Array:
    try:
        require_whole(path)
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            if not key and len(loaded.files) == 1:
                key = loaded.files[0]
            if key not in loaded.files:
                which = f"and no '{key}'" if key else "and which one is not said"
                raise FeedError(
                    f"{path.name} holds {len(loaded.files)} arrays, {which}.",
                    f"Write {path.name}:KEY. Keys: {', '.join(loaded.files[:20])}.",
                )
            require_whole_member(path, key)
            return np.asarray(loaded[key])
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise FeedError(f"{path.name} is no array that can be read: {error}.", "Write it with numpy.save.") from error


def fit(values: Array, want: Wanted, source: str) -> Array:
    """Values in the dtype that a tensor has, a batch of one added where only that is missing.

    Raises:
        FeedError: they do not fit; the message says both shapes, or both dtypes.
    """
    shape = want.shape
    if shape is not None and values.ndim == len(shape) - 1 and shape[0] in (-1, 1):
        values = values[np.newaxis]
    if shape is not None and not _fits(values.shape, shape):
        raise FeedError(
            f"{source} has the shape {shape_text(values.shape)}, but '{want.name}' takes {shape_text(shape)}.",
            "Give an array of that shape.",
        )
    if not want.dtype:
        return values
    dtype = numpy_dtype(want.dtype)
    if dtype.hasobject:
        return _as_bytes(values, want, source)
    if values.dtype.kind == "V" and values.dtype.names is None and values.dtype.itemsize == dtype.itemsize:
        return values if values.dtype == dtype else values.view(dtype)  # numpy.save forgets the name of such dtypes
    if values.dtype.kind not in "biufc" or (values.dtype.kind == "c" and dtype.kind != "c"):
        raise FeedError(f"{source} holds {values.dtype} values, but '{want.name}' takes {dtype_name(want.dtype)}.")
    return _cast(values, dtype, want, source)


def _cast(values: Array, dtype: np.dtype[Any], want: Wanted, source: str) -> Array:
    """Values in another dtype, where that can hold them: floats may lose digits, nothing else is lost.

    Raises:
        FeedError: fractions for integers, numbers that are too large, anything but 0 and 1 for bool.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        cast = values.astype(dtype)
    if dtype.kind in "biu":
        lost = cast.astype(values.dtype) != values if values.dtype.kind != "b" else np.zeros(values.shape, bool)
        if dtype.kind != "b" and values.dtype.kind in "iu":
            lost |= (cast < 0) != (values < 0)
    else:
        lost = np.isfinite(values) & ~np.isfinite(cast.astype(np.complex128))
    if lost.any():
        first = values[lost].ravel()[0]
        place = "" if source.startswith("'") else f", which {source} holds"
        raise FeedError(
            f"'{want.name}' ({dtype_name(want.dtype)}) cannot take {first}{place}.",
            f"Give values that {dtype_name(want.dtype)} can hold.",
        )
    return cast


def _fits(found: Sequence[int], shape: Sequence[int]) -> bool:
    return len(found) == len(shape) and all(size in (-1, has) for size, has in zip(shape, found, strict=True))


def _as_bytes(values: Array, want: Wanted, source: str) -> Array:
    if values.dtype.kind not in "OSU":
        raise FeedError(f"{source} holds {values.dtype} values, but '{want.name}' takes strings.")
    flat = [value.encode() if isinstance(value, str) else bytes(value) for value in values.ravel().tolist()]
    strings = np.empty(len(flat), object)
    strings[:] = flat
    return strings.reshape(values.shape)
