"""Which checkpoint a path means."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import write_bundle, write_v1

from graphviewer.errors import CheckpointError
from graphviewer.formats.checkpoint import checkpoint_steps, find_checkpoint, open_checkpoint


def bundle(prefix: Path) -> Path:
    prefix.parent.mkdir(parents=True, exist_ok=True)
    return write_bundle(prefix, {"v": np.zeros(2, "f4")})


def state(folder: Path, *names: str) -> None:
    lines = [f'model_checkpoint_path: "{names[0]}"', *(f'all_model_checkpoint_paths: "{name}"' for name in names)]
    (folder / "checkpoint").write_text("\n".join(lines))


def test_that_each_file_of_a_checkpoint_means_its_prefix(tmp_path):
    prefix = bundle(tmp_path / "model.ckpt-7")
    prefix.with_name("model.ckpt-7.meta").touch()
    for suffix in ("", ".index", ".data-00000-of-00001", ".meta"):
        assert find_checkpoint(f"{prefix}{suffix}") == prefix


def test_that_a_meta_file_without_its_checkpoint_means_none(tmp_path):
    bundle(tmp_path / "other")
    (tmp_path / "model.meta").touch()
    assert find_checkpoint(tmp_path / "model.meta") is None


def test_that_the_state_file_decides_not_the_highest_step(tmp_path):
    bundle(tmp_path / "model.ckpt-9")
    prefix = bundle(tmp_path / "model.ckpt-7")
    state(tmp_path, "model.ckpt-7", "model.ckpt-9")
    assert find_checkpoint(tmp_path) == prefix
    assert find_checkpoint(tmp_path / "checkpoint") == prefix


@pytest.mark.parametrize("named", ["/gone/train/model.ckpt-7", r"C:\\train\\model.ckpt-7", r"model.ckpt\0557"])
def test_that_a_moved_folder_and_escapes_in_its_state_file_do_not_matter(tmp_path, named):
    prefix = bundle(tmp_path / "model.ckpt-7")
    bundle(tmp_path / "model.ckpt-9")
    state(tmp_path, named)
    assert find_checkpoint(tmp_path) == prefix


def test_that_a_copied_folder_means_its_own_checkpoint_not_the_original(tmp_path):
    original = bundle(tmp_path / "original" / "model.ckpt-7")
    copy = bundle(tmp_path / "copy" / "model.ckpt-7")
    for folder in (original.parent, copy.parent):
        state(folder, str(original))
    assert find_checkpoint(copy.parent) == copy


def test_that_a_state_file_may_name_another_folder_and_deleted_checkpoints(tmp_path):
    elsewhere = bundle(tmp_path / "fast disk" / "model.ckpt-7")
    folder = tmp_path / "train"
    folder.mkdir()
    state(folder, "/gone/model.ckpt-8", str(elsewhere))
    assert find_checkpoint(folder) == elsewhere


def test_that_saved_model_variables_are_found_from_folder_and_file(tmp_path):
    prefix = bundle(tmp_path / "variables" / "variables")
    (tmp_path / "saved_model.pb").touch()
    for path in (tmp_path, tmp_path / "variables", tmp_path / "saved_model.pb"):
        assert find_checkpoint(path) == prefix


def test_that_steps_are_sorted_as_numbers_and_the_last_is_taken_without_a_state_file(tmp_path):
    for step in (9, 100, 20):
        bundle(tmp_path / f"model.ckpt-{step}")
    write_v1(tmp_path / "model.ckpt-50", {"v": [(((0, 2),), np.zeros(2))]}, (2,))
    (tmp_path / "notes-999").write_text("no table")
    assert [step.step for step in checkpoint_steps(tmp_path)] == [9, 20, 50, 100]
    assert find_checkpoint(tmp_path) == tmp_path / "model.ckpt-100"
    assert open_checkpoint(tmp_path / "model.ckpt-50").kind == "V1"


def test_that_prefixes_without_a_step_are_sorted_by_time(tmp_path):
    for age, name in enumerate(["young", "old"]):
        bundle(tmp_path / name)
        os.utime(tmp_path / f"{name}.index", (1000 - age, 1000 - age))
    assert [step.prefix.name for step in checkpoint_steps(tmp_path)] == ["old", "young"]


def test_that_a_graph_is_joined_by_a_checkpoint_of_its_name_or_the_only_one(tmp_path):
    graph = tmp_path / "graph.pbtxt"
    graph.touch()
    assert find_checkpoint(graph) is None
    bundle(tmp_path / "model.ckpt-1")
    prefix = bundle(tmp_path / "model.ckpt-2")
    assert find_checkpoint(graph) == prefix
    bundle(tmp_path / "another")
    assert find_checkpoint(graph) is None
    assert find_checkpoint(tmp_path / "absent.pb") is None
    own = bundle(tmp_path / "graph")
    assert find_checkpoint(graph) == own


def test_that_a_graph_is_never_opened_as_the_checkpoint_beside_it(tmp_path):
    bundle(tmp_path / "graph")
    (tmp_path / "graph.pb").write_bytes(b"\x0a\x09\x0a\x01x\x12\x04NoOp")
    with pytest.raises(
        CheckpointError, match=r"graph\.pb is not a checkpoint but a GraphDef.*Checkpoints there: graph"
    ):
        open_checkpoint(tmp_path / "graph.pb")


def test_that_nothing_is_found_where_nothing_is(tmp_path):
    assert find_checkpoint(tmp_path) is None
    assert find_checkpoint(tmp_path / "absent" / "model") is None
    assert checkpoint_steps(tmp_path / "absent") == []
    with pytest.raises(CheckpointError, match="no checkpoint in the folder"):
        open_checkpoint(tmp_path)
