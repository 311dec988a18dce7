"""Every package has its place in the layers that import-linter checks."""

import tomllib
from pathlib import Path

import graphviewer

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = Path(graphviewer.__file__).parent


def contracts() -> list[dict]:
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return config["tool"]["importlinter"]["contracts"]


def packages() -> set[str]:
    code = (path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
    return {path.stem for path in code} - {"__init__", "__main__"}


def test_that_import_linter_knows_every_package():
    known = {name.strip(" ()") for layer in contracts()[0]["layers"] for name in layer.split("|")}
    assert packages() <= known


def test_that_the_window_is_kept_from_jobs_and_from_the_runtime():
    (kept,) = [each for each in contracts() if each.get("source_modules") == ["graphviewer.gui"]]
    must = {"graphviewer.worker.jobs"} | ({"graphviewer.runtime"} if "runtime" in packages() else set())
    assert must <= set(kept["forbidden_modules"])
