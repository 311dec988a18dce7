"""A checkpoint: what both of TensorFlow's formats have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint.slices import WHOLE, Slice, overlap, resolve, volume
from graphviewer.formats.checkpoint.stable_file import COPY_AGAIN
from graphviewer.model.names import nearest
from graphviewer.model.problem import Problem
from graphviewer.model.progress import Progress, silent
from graphviewer.model.tensors import TensorError, fits_numpy, numpy_dtype, shape_list
from graphviewer.protos import DataType, dtype_name

__all__ = ["OBJECT_GRAPH_KEY", "Checkpoint", "MissingFileError", "Variable", "variable_of"]

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


class Variable(NamedTuple):
    """What a checkpoint's index says about one key.

    Attributes:
        name: the key's bytes, as stored.
        dtype: TensorFlow's number.
        shape: of the whole variable.
        slices: where it is stored in parts, the parts as written (WHOLE lengths included); empty when it is whole.
    """

    name: bytes
    dtype: int
    shape: tuple[int, ...]
    slices: tuple[Slice, ...]


def variable_of(name: bytes, dtype: int, shape: Any, slices: Sequence[Slice], file: str) -> Variable:
    """A Variable from an index entry; ``shape`` is a TensorShapeProto, ``file`` the name of the index for the message.

    Raises:
        CheckpointError: no saved variable has such a shape.
    """
    sizes = shape_list(shape)
    if sizes is None or any(size < 0 for size in sizes):
        raise CheckpointError(f"{file} is damaged: it gives '{_text(name)}' no complete shape.", COPY_AGAIN)
    return Variable(name, dtype, tuple(sizes), tuple(slices))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


class MissingFileError(CheckpointError):
    """A data file that the index names is not there."""


class Checkpoint(ABC):
    """The variables of a checkpoint by key. Only its index is in memory; values are read, and verified, on demand.

    Attributes:
        prefix: the path that all its files begin with.
        kind: ``V2`` (index and data files) or ``V1`` (one table, before TensorFlow 0.12).
    """

    kind: ClassVar[Literal["V1", "V2"]]

    def __init__(self, prefix: Path, variables: Sequence[Variable]) -> None:
        self.prefix = prefix
        self._variables: Mapping[str, Variable] = {_text(variable.name): variable for variable in variables}

    def __len__(self) -> int:
        return len(self._variables)

    def __contains__(self, key: object) -> bool:
        return key in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def keys(self) -> list[str]:
        """All keys in the order of the index, the object graph's included."""
        return list(self._variables)

    def shape(self, key: str) -> list[int]:
        """The shape of a whole variable."""
        return list(self._variable(key).shape)

    def dtype(self, key: str) -> int:
        """TensorFlow's dtype number: quantised dtypes keep their q, which numpy's lose."""
        return self._variable(key).dtype

    def slices(self, key: str) -> list[Slice]:
        """The parts in which a partitioned variable is stored; empty for one that is stored whole."""
        variable = self._variable(key)
        return [self._resolved(key, part) for part in variable.slices] if self._in_parts(key, variable) else []

    def nearest(self, key: str, count: int = 3) -> list[str]:
        """Keys that may be meant by ``key``."""
        return nearest(key, self._variables, count)

    @property
    def object_graph(self) -> bytes | None:
        """The serialized TrackableObjectGraph of a checkpoint written by ``tf.train.Checkpoint``."""
        if OBJECT_GRAPH_KEY not in self:
            return None
        value = self.read(OBJECT_GRAPH_KEY)
        return value.item() if value.size == 1 and value.dtype.hasobject else None

    def read(self, key: str, slice: Sequence[tuple[int, int]] | None = None) -> NDArray[Any]:  # noqa: A002 - TensorFlow's word
        """The values of a variable, in its shape; strings are bytes objects. The result may be read-only.

        Args:
            key: of the variable.
            slice: (start, length) per dimension, length WHOLE (-1) for all; reads only the stored parts it touches.

        Raises:
            CheckpointError: no such key, or its data is missing, cut short, damaged, or of a dtype without values.
        """
        variable = self._variable(key)
        if not fits_numpy(variable.shape):
            raise CheckpointError(
                f"'{key}' of {self.prefix.name} has a shape too large to read: {list(variable.shape)}."
            )
        wanted = self._resolved(key, slice if slice is not None else _whole(variable))
        if self._in_parts(key, variable):
            return self._joined(key, variable, wanted)
        whole = self._part(key, variable, variable.slices[0] if variable.slices else None)
        return whole if slice is None else whole[_index(wanted)]

    def _joined(self, key: str, variable: Variable, wanted: Slice) -> NDArray[Any]:
        """A slice of a variable that is stored in parts."""
        places = [(part, self._resolved(key, part)) for part in variable.slices]
        shared = [(part, place, both) for part, place in places if (both := overlap(place, wanted)) is not None]
        covered = sum(volume(both) for _, _, both in shared)
        if covered != volume(wanted):
            raise CheckpointError(
                f"'{key}' is incomplete in {self.prefix.name}: {covered:,} of {volume(wanted):,} elements are stored.",
                "The checkpoint was written by only some of the workers; look for the others' files.",
            )
        self._check_capacity(key, variable, covered)
        result = np.empty([length for _, length in wanted], self._numpy_dtype(key, variable))
        for part, place, both in shared:
            result[_index(both, wanted)] = self._part(key, variable, part)[_index(both, place)]
        return result

    def raw(self, key: str) -> bytes | None:
        """The verified bytes of a whole, dense variable: little-endian, C order, ready for ``tensor_content``.

        None where they are not stored like that (V1, partitioned, strings); ``read`` gives the values.

        Raises:
            CheckpointError: as for ``read``.
        """
        self._variable(key)
        return None

    def problems(self, progress: Progress = silent) -> list[Problem]:
        """Read everything, and say what cannot be read: one error for each missing file and each damaged variable.

        Args:
            progress: hears of every variable, and may raise Cancelled.
        """
        found = self.file_problems()
        for number, (key, variable) in enumerate(self._variables.items()):
            progress(number / len(self), f"Checking {key}")
            if variable.dtype in (DataType.VARIANT, DataType.RESOURCE):
                continue
            try:
                self.read(key)
            except MissingFileError:
                continue
            except CheckpointError as error:
                found.append(Problem("checkpoint", "error", error.message, error.hint, node=key))
        return found

    def file_problems(self) -> list[Problem]:
        """What the sizes of the files tell, without reading them: those that are missing or cut short."""
        missing = [
            Problem("checkpoint", "error", f"The data file {path.name} is missing.", f"Copy it to {path.parent}.")
            for path in self.missing_files()
        ]
        return [*missing, *self._short_files()]

    def _short_files(self) -> list[Problem]:
        """Data files that end before the last value in them."""
        return []

    def missing_files(self) -> list[Path]:
        """The data files that the index names and that are not there."""
        return []

    def _variable(self, key: str) -> Variable:
        variable = self._variables.get(key)
        if variable is None:
            close = self.nearest(key)
            hint = f"Closest: {', '.join(close)}." if close else f"It has {len(self):,} keys."
            raise CheckpointError(f"{self.prefix.name} has no variable '{key}'.", hint)
        return variable

    def _in_parts(self, key: str, variable: Variable) -> bool:
        """More than one part, or one that is not the whole."""
        if len(variable.slices) == 1:
            return self._resolved(key, variable.slices[0]) != self._resolved(key, _whole(variable))
        return bool(variable.slices)

    def _resolved(self, key: str, part: Sequence[tuple[int, int]]) -> Slice:
        try:
            return resolve(part, self._variable(key).shape)
        except CheckpointError as error:
            raise CheckpointError(f"'{key}' of {self.prefix.name}: {error.message}", error.hint) from None

    def _numpy_dtype(self, key: str, variable: Variable) -> np.dtype[Any]:
        try:
            return numpy_dtype(variable.dtype)
        except TensorError:
            name = dtype_name(variable.dtype)
            raise CheckpointError(
                f"'{key}' is a {name}, of which {self.prefix.name} holds no readable values."
            ) from None

    def _check_capacity(self, key: str, variable: Variable, count: int) -> None:
        """Refuse to allocate more than the files could ever hold."""
        needed = count * (1 if variable.dtype == DataType.STRING else self._numpy_dtype(key, variable).itemsize)
        if needed > self._capacity():
            raise CheckpointError(
                f"'{key}' of {self.prefix.name} claims {needed:,} bytes, more than its files hold.", COPY_AGAIN
            )

    @abstractmethod
    def _capacity(self) -> int:
        """Bytes that the data files could hold, unpacked."""

    @abstractmethod
    def _part(self, key: str, variable: Variable, part: Slice | None) -> NDArray[Any]:
        """A stored part, or with None the variable that is stored whole, verified."""


def _whole(variable: Variable) -> Slice:
    return ((0, WHOLE),) * len(variable.shape)


def _index(part: Slice, inside: Slice | None = None) -> tuple[slice, ...]:
    """A numpy index for ``part``, relative to the start of ``inside``."""
    origin = [start for start, _ in inside] if inside is not None else [0] * len(part)
    return tuple(slice(start - base, start - base + size) for (start, size), base in zip(part, origin, strict=True))


def part_shape(variable: Variable, part: Slice | None) -> list[int]:
    """The shape of a stored part."""
    return list(variable.shape) if part is None else [length for _, length in resolve(part, variable.shape)]


def element_count(shape: Sequence[int]) -> int:
    """Elements of a shape."""
    return math.prod(shape)
