"""The built wheel holds all that the program needs, resources included."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LINKED = """
import importlib.metadata, pathlib, sys
here = pathlib.Path(sys.prefix).resolve()
import graphviewer
assert here in pathlib.Path(graphviewer.__file__).resolve().parents, graphviewer.__file__
"""


def call(*command: object, cwd: Path) -> subprocess.CompletedProcess:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, REPOSITORY, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder of programs of a new environment that holds the wheel, and borrows the dependencies of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    (site,) = folder.glob("lib/python*/site-packages") if sys.platform != "win32" else [folder / "Lib/site-packages"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", programs / "python"]
    call(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    call(programs / "python", "-c", LINKED, cwd=folder)
    return programs


def test_that_the_wheel_packs_every_resource(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    kept = [path for path in (REPOSITORY / "resources").rglob("*") if path.is_file()]
    assert {f"graphviewer/{path.relative_to(REPOSITORY).as_posix()}" for path in kept} <= names
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "resources/"))]


def test_that_an_installed_wheel_draws_the_sample(installed, tmp_path):
    (sample,) = installed.parent.glob("[Ll]ib/**/graphviewer/resources/samples/digits/*.meta")
    call(installed / "graphviewer", "render", sample, "-o", tmp_path / "digits.png", cwd=tmp_path)
    picture = (tmp_path / "digits.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000
