"""V1 checkpoints (written before TensorFlow 0.12, and with ``Saver(write_version=V1)``): tables of SavedTensorSlices.

Each table (one, or one per shard) holds under the empty key what it stores, and under a slice's key its values.
Source: tensorflow/core/util/{saved_tensor_slice.proto,tensor_slice_writer.cc,tensor_slice_reader.cc}
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from graphviewer import protos
from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint.checkpoint import Checkpoint, Variable, element_count, part_shape, variable_of
from graphviewer.formats.checkpoint.find import missing_v1_shards
from graphviewer.formats.checkpoint.slices import Slice, extents, slice_key
from graphviewer.formats.checkpoint.sstable import SNAPPY_RATIO, Table
from graphviewer.formats.checkpoint.stable_file import COPY_AGAIN
from graphviewer.model.tensors import TensorError, listed_values

__all__ = ["TableCheckpoint"]

_VARINT_RATIO = 8  # an int64 in one byte


class TableCheckpoint(Checkpoint):
    """A V1 checkpoint. TensorFlow itself no longer reads those with partitioned variables."""

    kind = "V1"

    def __init__(self, prefix: Path, files: Sequence[Path]) -> None:
        """Read what each file says it holds.

        Raises:
            CheckpointError: a file is damaged, or its table is of something else.
        """
        _check_shards(files)
        self._tables = [Table(path) for path in files]
        self._where: dict[bytes, Table] = {}
        found: dict[str, Variable] = {}
        for table in self._tables:
            for entry in _meta(table).tensor:
                name, parts = entry.name.encode(), [extents(part, len(entry.shape.dim)) for part in entry.slice]
                earlier = found[entry.name].slices if entry.name in found else ()
                found[entry.name] = variable_of(name, entry.type, entry.shape, [*earlier, *parts], table.file.name)
                self._where.update((slice_key(name, part), table) for part in parts)
        super().__init__(prefix, list(found.values()))

    def _capacity(self) -> int:
        return sum(SNAPPY_RATIO * _VARINT_RATIO * table.file.size for table in self._tables)

    def _part(self, key: str, variable: Variable, part: Slice | None) -> NDArray[Any]:
        place = slice_key(variable.name, part) if part is not None else b""
        table = self._where.get(place, self._tables[0])
        value = table.get(place) if place else None
        if value is None:
            raise CheckpointError(f"'{key}' cannot be read: {table.file.name} lacks its values.", COPY_AGAIN)
        shape = part_shape(variable, part)
        dtype = self._numpy_dtype(key, variable)
        try:
            proto = protos.SavedTensorSlices.FromString(value).data.data
            proto.dtype = variable.dtype
            values = listed_values(proto, dtype)
        except (DecodeError, TensorError, ValueError) as error:
            raise CheckpointError(f"'{key}' cannot be read: {table.file.name} is damaged.", COPY_AGAIN) from error
        if len(values) != element_count(shape):
            raise CheckpointError(
                f"'{key}' cannot be read: {table.file.name} holds {len(values):,} values for the shape {shape}.",
                COPY_AGAIN,
            )
        return values.reshape(shape)


def _check_shards(files: Sequence[Path]) -> None:
    missing = missing_v1_shards(files)
    if missing:
        raise CheckpointError(
            f"The checkpoint is incomplete: {missing[0].name} is missing ({len(files)} of its files are there).",
            f"Copy it to {missing[0].parent} from where the checkpoint was made.",
        )


def _meta(table: Table) -> Any:
    """SavedTensorSliceMeta: the variables and slices of a table."""
    value = table.get(b"")
    try:
        found = protos.SavedTensorSlices.FromString(value or b"")
    except DecodeError:
        found = protos.SavedTensorSlices()
    if not found.HasField("meta"):
        raise CheckpointError(
            f"{table.file.name} is a table, but not of a V1 checkpoint.",
            "If it is the index of a V2 checkpoint, give it back its name: it must end in .index.",
        )
    return found.meta
