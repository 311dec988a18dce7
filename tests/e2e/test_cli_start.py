"""The program as a process: what it imports, where it runs, how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from graphviewer import protos

HEAVY = ("tensorflow", "keras", "PySide6", "pyqtgraph", "scipy", "networkx", "rich")


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.pb"
    made = protos.GraphDef()
    made.node.add(name="x", op="Placeholder")
    made.node.add(name="y", op="Relu", input=["x"])
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.parametrize("verb", ["info", "diff"])
def test_that_looking_at_a_small_file_imports_nothing_heavy(graph, verb):
    script = textwrap.dedent(
        f"""
        import sys
        from graphviewer.cli import main
        main({[verb, *([str(graph)] * (2 if verb == "diff" else 1))]!r}, standalone_mode=False)
        print(sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)
        """
    ).replace(f"{HEAVY!r} &", f"set({HEAVY!r}) &")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "graph.pb" in done.stdout
    assert done.stderr.strip() == "[]"


def test_that_verbs_work_beside_a_tensorflow_that_cannot_be_imported(graph, tmp_path):
    package = tmp_path / "path" / "tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('tensorflow must not be imported')")
    out = tmp_path / "out.pb"
    script = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r}); from graphviewer.cli import main; main(sys.argv[1:])"
    )
    for args in (
        ["outputs", graph],
        ["roles", graph],
        ["freeze", graph, "--output", "y", "-o", out],
        ["diff", graph, out],
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_that_a_reader_who_has_enough_ends_the_program_quietly(tmp_path):
    path = tmp_path / "long.pb"
    made = protos.GraphDef()
    for number in range(3000):
        made.node.add(name=f"a_name_that_is_long_enough_to_fill_the_pipe_{number}", op="NoOp")
    path.write_bytes(made.SerializeToString())
    words = [sys.executable, "-m", "graphviewer", "diff", "--full", path, tmp_path / "short.pb"]
    (tmp_path / "short.pb").write_bytes(protos.GraphDef(node=made.node[:1]).SerializeToString())
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait(timeout=120)
    assert (process.returncode, complaints) == (0, "")


def test_that_render_draws_without_a_screen(graph, tmp_path):
    script = "from graphviewer.cli import main; main()"
    words = ["render", graph, "--diff", graph, "--size", "400x300", "-o", tmp_path / "out.png"]
    plain = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "QT_QPA_PLATFORM")}
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True, env=plain, check=False
    )
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "out.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(header[16:20]), int.from_bytes(header[20:24])) == (400, 300)
