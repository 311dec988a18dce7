"""Paths that no result is written to, and paths that nothing is read from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import write_bundle
from cli_graphs import nodes, op, run, write

from graphviewer import protos
from graphviewer.errors import ReadError, WriteError
from graphviewer.formats import open_document, save_document
from graphviewer.formats.checkpoint import open_checkpoint
from graphviewer.formats.writing import write_atomically
from graphviewer.model.document import Document
from graphviewer.protos import DataType

has_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")


@pytest.fixture
def graph(tmp_path):
    return write(tmp_path / "graph.pb", *nodes())


@pytest.fixture
def run_folder(tmp_path):
    """What training leaves: a checkpoint, its .meta, and the state file."""
    folder = tmp_path / "run"
    folder.mkdir()
    write_bundle(folder / "model.ckpt-5", {"w": np.ones(2, np.float32)})
    variable = op("w", "VariableV2", dtype=DataType.FLOAT)
    variable.attr["shape"].shape.dim.add(size=2)
    meta = protos.MetaGraphDef()
    meta.meta_info_def.tags.append("train")
    meta.graph_def.node.extend([variable, op("prob", "Softmax", "w", T=DataType.FLOAT)])
    meta.graph_def.versions.producer = 1000
    (folder / "model.ckpt-5.meta").write_bytes(meta.SerializeToString())
    (folder / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"')
    return folder


@pytest.fixture
def saved_model(tmp_path):
    folder = tmp_path / "model"
    (folder / "variables").mkdir(parents=True)
    write_bundle(folder / "variables" / "variables", {"w": np.ones(2, np.float32)})
    saved = protos.SavedModel(saved_model_schema_version=1)
    saved.meta_graphs.add().graph_def.node.extend(nodes())
    saved.meta_graphs[0].meta_info_def.tags.append("serve")
    (folder / "saved_model.pb").write_bytes(saved.SerializeToString())
    return folder


def read_files(run_folder, saved_model):
    """(source, a file that reading it reads)."""
    for source in (run_folder, run_folder / "model.ckpt-5", run_folder / "model.ckpt-5.meta"):
        for name in ("model.ckpt-5.meta", "model.ckpt-5.index", "model.ckpt-5.data-00000-of-00001", "checkpoint"):
            yield source, run_folder / name
    for file in ("saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"):
        yield saved_model, saved_model / file


def test_that_no_verb_replaces_a_file_that_it_reads(run_folder, saved_model, graph, tmp_path):
    for source, file in read_files(run_folder, saved_model):
        before = file.read_bytes()
        for words in (
            ("freeze", source, "--output", "prob", "-o", file),
            ("strip", source, "--output", "prob", "-o", file),
            ("apply", "clear-devices", source, "-o", file),
            ("convert", source, file),
            ("render", source, "-o", file),
            ("render", graph, "--diff", source, "-o", file),
            ("diff", graph, source, "--html", file),
            ("open", source, "--screenshot", file),
        ):
            result = run(*words, "--force")
            assert (result.exit_code, "is the file that is read" in result.stderr) == (2, True), words
        assert file.read_bytes() == before


def test_that_a_checkpoint_that_was_given_and_a_link_to_the_source_are_not_replaced(run_folder, graph, tmp_path):
    index = run_folder / "model.ckpt-5.index"
    given = run("freeze", graph, "--checkpoint", run_folder / "model.ckpt-5", "-o", index, "--force")
    assert "is the file that is read" in given.stderr
    link = tmp_path / "link.pb"
    link.symlink_to(graph)
    assert "is the file that is read" in run("convert", graph, link, "--force").stderr


@has_pipes
@pytest.mark.parametrize("verb", [("info",), ("check",), ("open",), ("convert", "out.pb"), ("diff", "graph.pb")])
def test_that_a_pipe_is_refused_and_not_waited_for(verb, graph, tmp_path):
    os.mkfifo(tmp_path / "pipe.pb")
    result = run(verb[0], tmp_path / "pipe.pb", *(tmp_path / name for name in verb[1:]))
    assert result.exit_code == 2
    assert "pipe.pb is a named pipe, not a regular file." in result.stderr


@has_pipes
def test_that_a_pipe_beside_a_graph_is_not_waited_for(graph, tmp_path):
    os.mkfifo(tmp_path / "graph")
    os.mkfifo(tmp_path / "checkpoint")
    assert open_document(graph).kind == "graphdef"
    with pytest.raises(ReadError, match="is a named pipe"):
        open_document(graph, checkpoint=tmp_path / "graph")


@has_pipes
def test_that_a_pipe_and_a_device_are_never_replaced(graph, tmp_path):
    pipe = tmp_path / "pipe.pb"
    os.mkfifo(pipe)
    for target in (pipe, Path(os.devnull), Path("/dev/stdout"), Path("/dev/fd/1")):
        with pytest.raises(WriteError, match=r"is not a regular file\."):
            write_atomically(target, [b"x"], force=True)
    assert pipe.is_fifo()
    assert "is not a regular file" in run("convert", graph, pipe, "--force").stderr


@pytest.mark.parametrize("name", ["a\0.pb", "n" * 300 + ".pb", "\ud800.pb", "x/" * 3000 + "a.pb"])
def test_that_a_name_that_no_file_can_have_is_an_error_of_reading_or_writing(tmp_path, graph, name):
    with pytest.raises(ReadError):
        open_document(tmp_path / name)
    with pytest.raises(ReadError):
        open_document(graph, checkpoint=tmp_path / name)
    with pytest.raises(WriteError):
        save_document(Document("graphdef", protos.GraphDef(node=nodes())), tmp_path / name)
    assert os.listdir(tmp_path) == ["graph.pb"]


def test_that_a_name_to_which_no_suffix_fits_is_an_error_of_reading(tmp_path):
    with pytest.raises(ReadError):
        open_document(tmp_path / ("n" * 253))


@pytest.mark.skipif(not os.path.exists(os.devnull[:4]), reason="there is no /dev here")
def test_that_devices_are_no_suggestions():
    result = run("info", "/dev/nulll")
    assert result.exit_code == 2
    assert "Closest" not in result.stderr


def test_that_a_picture_of_the_window_replaces_nothing_without_force_and_needs_a_folder(graph, tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"mine")
    there = run("open", graph, "--quit", "--screenshot", picture)
    nowhere = run("open", graph, "--quit", "--screenshot", tmp_path / "absent" / "picture.png")
    assert (there.exit_code, nowhere.exit_code) == (2, 2)
    assert "picture.png exists." in there.stderr
    assert "there is no folder" in nowhere.stderr
    assert picture.read_bytes() == b"mine"


@pytest.mark.parametrize("option", ["--output", "--input"])
@pytest.mark.parametrize("text", ["", ",", " , "])
def test_that_an_option_that_names_nothing_is_not_one_that_is_left_out(graph, tmp_path, option, text):
    for verb in (("strip",), ("freeze",), ("apply", "extract")):
        result = run(*verb, graph, option, text, "-o", tmp_path / "out.pb")
        assert result.exit_code == 2
        assert f"'{text}' names nothing." in result.output


def test_that_check_tells_a_data_file_that_is_missing_or_cut_short(run_folder):
    data = run_folder / "model.ckpt-5.data-00000-of-00001"
    assert "data-00000-of-00001" not in run("check", run_folder).stdout
    data.write_bytes(data.read_bytes()[:-1])
    cut = [run("check", path) for path in (run_folder, run_folder / "model.ckpt-5")]
    assert [(one.exit_code, "is cut short: its values take 8 bytes" in one.stdout) for one in cut] == [(1, True)] * 2
    data.unlink()
    missing = [run("check", path) for path in (run_folder, run_folder / "model.ckpt-5")]
    assert [(one.exit_code, f"{data.name} is missing" in one.stdout) for one in missing] == [(1, True)] * 2
    assert len(open_checkpoint(run_folder / "model.ckpt-5").file_problems()) == 1


def test_that_a_missing_index_is_named(run_folder, tmp_path):
    (run_folder / "model.ckpt-5.index").unlink()
    reason = "model.ckpt-5.data-00000-of-00001 is there, but its index model.ckpt-5.index is missing."
    for words in (("info",), ("check",), ("freeze", "--output", "prob", "-o", tmp_path / "out.pb")):
        for path in (run_folder, run_folder / "model.ckpt-5", run_folder / "model.ckpt-5.meta"):
            assert reason in run(words[0], path, *words[1:]).output, (words[0], path.name)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without a word")
def test_that_a_writer_that_is_terminated_leaves_nothing_behind(tmp_path):
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom graphviewer.formats.writing import write_atomically\n"
        "def pieces():\n    yield b'x'\n    os.kill(os.getpid(), signal.SIGTERM)\n    yield b'y'\n"
        "write_atomically(Path(sys.argv[1]), pieces())"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out.pb")], check=False)
    assert ended.returncode == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []


def test_that_tables_in_messages_keep_their_lines_and_names_get_none(tmp_path):
    variable = op("evil\n  fake\x1b[2J", "VariableV2", dtype=DataType.FLOAT)
    variable.attr["shape"].shape.dim.add(size=2)
    write(tmp_path / "g.pb", variable, op("out", "Softmax", variable.name, T=DataType.FLOAT))
    write_bundle(tmp_path / "ckpt", {"other": np.ones(2, np.float32)})
    target = ("--output", "out", "-o", tmp_path / "o.pb")
    result = run("freeze", tmp_path / "g.pb", "--checkpoint", tmp_path / "ckpt", *target)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert len(lines) == 4  # the sentence, the table's head and row, the hint
    assert lines[2].startswith(r"  evil\n  fake\x1b[2J")
    unknown = run("strip", tmp_path / "g.pb", "--output", "a\nb\x1b[2J", "-o", tmp_path / "o.pb")
    assert len(unknown.stderr.splitlines()) <= 2
    assert "\x1b[2J" not in unknown.stderr


def test_that_info_stays_short_whatever_names_and_shapes_a_file_has(tmp_path):
    huge = op("v", "VariableV2", dtype=DataType.FLOAT)
    for _ in range(4):
        huge.attr["shape"].shape.dim.add(size=2**62)
    result = run("info", write(tmp_path / "g.pb", huge, op("x", "X" * 1300)))
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) < 120
