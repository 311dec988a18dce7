"""The window, and every shell verb but verify and run, work where importing TensorFlow fails."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import graphviewer
from graphviewer.resources import resource

PACKAGE = Path(graphviewer.__file__).parent
WITHOUT_TENSORFLOW = ("model", "formats", "analysis", "operations", "layout", "export", "worker", "cli", "gui")
SLOW = ("scipy", "networkx", "tensorflow", "keras", "h5py", "grpc_tools")


def modules_below(package: str) -> list[str]:
    """The package and all modules in it, as import names."""
    root = PACKAGE / package
    if not root.is_dir():
        return [f"graphviewer.{package}"]
    found = pkgutil.walk_packages([str(root)], f"graphviewer.{package}.")
    return [f"graphviewer.{package}", *(each.name for each in found if not each.name.endswith("__main__"))]


@pytest.fixture(scope="module")
def broken_tensorflow(tmp_path_factory) -> Path:
    """A folder that holds a ``tensorflow`` and a ``keras`` which raise when they are imported."""
    folder = tmp_path_factory.mktemp("path")
    for name in ("tensorflow", "keras"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise RuntimeError('{name} was imported')\n")
    return folder


def run(code: str, first_on_path: Path, *arguments: str) -> subprocess.CompletedProcess:
    start = f"import sys; sys.path[:0] = [{str(first_on_path)!r}, {str(PACKAGE.parent)!r}]\n"
    command = [sys.executable, "-c", start + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_that_all_packages_but_the_runtime_load_without_tensorflow(broken_tensorflow):
    names = [name for package in WITHOUT_TENSORFLOW for name in modules_below(package)]
    loads = f"import importlib\nfor name in {names!r}: importlib.import_module(name)"
    done = run(loads, broken_tensorflow)
    assert done.returncode == 0, done.stderr


def test_that_importing_the_window_loads_nothing_slow(broken_tensorflow):
    code = f"import graphviewer.gui.app\nprint([name for name in {SLOW!r} if name in sys.modules])"
    done = run(code, broken_tensorflow)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "verb",
    [
        "info",
        "check",
        "outputs",
        "roles --output net_1/probabilities",
        "variables",
        "freeze --output net_1/probabilities -o {out}/frozen.pb",
        "strip --output net_1/probabilities -o {out}/stripped.pb",
        "convert {out}/copy.pbtxt",
        "diff SAMPLE",
        "render -o {out}/picture.png",
    ],
)
def test_that_shell_verbs_work_without_tensorflow(verb, broken_tensorflow, tmp_path):
    sample = str(next(resource("samples/digits").glob("*.meta")))
    name, *arguments = verb.replace("SAMPLE", sample).format(out=tmp_path).split()
    done = run("from graphviewer.cli import main; main()", broken_tensorflow, name, sample, *arguments)
    assert done.returncode in ((0, 1) if name == "check" else (0,)), done.stderr
