"""Every package has its place in the layers that import-linter checks."""

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import graphviewer

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = Path(graphviewer.__file__).parent


CONFIG = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def contracts() -> list[dict]:
    return CONFIG["tool"]["importlinter"]["contracts"]


def imported(path: Path) -> set[str]:
    """Top-level names of all that a module imports, lazily or not."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return found


def may_import(path: Path) -> set[str]:
    """Top-level names of what looks like an import, in a text too."""
    return set(re.findall(r"^\s*(?:from|import)\s+(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def provided(distribution: str) -> set[str]:
    """Top-level names that a distribution installs."""
    record = metadata.distribution(distribution).read_text("RECORD") or ""
    return {re.split(r"[/.,]", line, maxsplit=1)[0] for line in record.splitlines()}


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


def test_that_every_imported_package_is_a_declared_dependency():
    declared = {re.match(r"[\w.-]+", each)[0] for each in CONFIG["project"]["dependencies"]}
    known = {"graphviewer", *sys.stdlib_module_names}.union(*map(provided, declared))
    foreign = {
        module
        for path in PACKAGE.rglob("*.py")
        if may_import(path) - known  # parsing all of them takes a second
        for module in imported(path)
        if module.partition(".")[0] not in known
    }
    assert foreign == set()
