"""What is looked at in a Keras file before anything in it runs."""

from __future__ import annotations

import io
import zipfile

import h5py
import numpy as np
import pytest

from graphviewer.errors import ReadError, RunsCodeError
from graphviewer.formats import open_document
from graphviewer.runtime import keras_bombs

MB = 1 << 20


@pytest.fixture
def limit(monkeypatch):
    """No more than 1 MB, so that bombs can be small."""
    monkeypatch.setattr(keras_bombs, "EXPANDED_LIMIT", MB)


def hdf5(shape=(4, 100), *, written=True, **how):
    """An HDF5 file in a group of which lies a dataset of float32; by default a small sound one."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        weights = file.create_group("layers/dense").create_dataset("kernel", shape, np.float32, **how)
        if written:
            weights[...] = 0
        file["again"] = weights  # a second link to it, which makes it no larger
    return buffer.getvalue()


def archive(path, weights=None, how=zipfile.ZIP_DEFLATED, name="model.weights.h5"):
    with zipfile.ZipFile(path, "w", how) as made:
        made.writestr("metadata.json", "{}")
        made.writestr(name, hdf5() if weights is None else weights)
    return path


def written(path, raw):
    path.write_bytes(raw)
    return path


def arrays(size):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, kernel=np.zeros(size // 4, np.float32))
    return buffer.getvalue()


def test_that_a_keras_file_is_told_from_others_that_do_not_open(tmp_path):
    with pytest.raises(RunsCodeError, match="Keras model"):
        open_document(archive(tmp_path / "model.keras"))
    with pytest.raises(RunsCodeError, match="HDF5"):
        open_document(written(tmp_path / "model.h5", hdf5()))


PACKED = {"chunks": (1 << 16,), "compression": "gzip"}
BOMBS = {
    "an archive": lambda place: archive(place, bytes(4 * MB), name="assets/table"),
    "HDF5 that is packed inside": lambda place: written(place, hdf5((MB,), **PACKED)),
    "HDF5 of which nothing was written": lambda place: written(place, hdf5((1 << 50,), written=False, chunks=(4,))),
    "packed HDF5 in an archive": lambda place: archive(place, hdf5((MB,), **PACKED), zipfile.ZIP_STORED),
    "packed HDF5 behind a block in an archive": lambda place: archive(
        place, bytes(512) + hdf5((MB,), **PACKED), zipfile.ZIP_STORED
    ),
    "packed arrays in an archive": lambda place: archive(
        place, arrays(4 * MB), zipfile.ZIP_STORED, "model.weights.npz"
    ),
}


@pytest.mark.parametrize("what", BOMBS)
def test_that_a_file_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path, limit, what):
    path = BOMBS[what](tmp_path / "bomb")
    assert path.stat().st_size < MB / 4
    with pytest.raises(ReadError, match=r"unpacks to [\d,]+ bytes: no model does"):
        keras_bombs.refuse_bomb(path)


def test_that_weights_that_are_about_as_large_as_their_file_are_not(tmp_path, limit):
    raw = np.random.default_rng(0).random(300_000, np.float32)
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["kernel"] = raw
        file["bias"] = h5py.Empty("f")
    keras_bombs.refuse_bomb(written(tmp_path / "a.h5", buffer.getvalue()))
    keras_bombs.refuse_bomb(archive(tmp_path / "a.keras", buffer.getvalue(), zipfile.ZIP_STORED))
    keras_bombs.refuse_bomb(archive(tmp_path / "small.keras"))


def test_that_damaged_files_are_called_so(tmp_path):
    whole = archive(tmp_path / "cut.keras").read_bytes()
    for raw in (whole[:-30], hdf5()[:300], whole.replace(b"model.weights.h5", b"model.weights.h6", 1)):
        with pytest.raises(ReadError, match="damaged"):
            keras_bombs.refuse_bomb(written(tmp_path / "cut", raw))
    with pytest.raises(ReadError, match="damaged HDF5"):
        keras_bombs.refuse_bomb(archive(tmp_path / "a.keras", b"no HDF5"))
