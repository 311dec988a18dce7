"""What is looked at in a Keras file before anything in it runs."""

from __future__ import annotations

import zipfile

import pytest

from graphviewer.errors import ReadError, RunsCodeError
from graphviewer.formats import open_document
from graphviewer.runtime import keras


def archive(path, size):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("metadata.json", "{}")
        made.writestr("model.weights.h5", bytes(size))
    return path


def test_that_a_keras_file_is_told_from_others_that_do_not_open(tmp_path):
    with pytest.raises(RunsCodeError, match="Keras model"):
        open_document(archive(tmp_path / "model.keras", 10))
    (tmp_path / "model.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(20))
    with pytest.raises(RunsCodeError, match="HDF5"):
        open_document(tmp_path / "model.h5")


def test_that_an_archive_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "bomb.keras", 4 << 20)
    keras._refuse_bomb(path)
    monkeypatch.setattr(keras, "EXPANDED_LIMIT", 1 << 20)
    with pytest.raises(ReadError, match="unpacks to 4,194,306 bytes"):
        keras._refuse_bomb(path)


def test_that_a_cut_archive_is_called_damaged(tmp_path):
    path = archive(tmp_path / "cut.keras", 100)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ReadError, match="damaged Keras file"):
        keras._refuse_bomb(path)
