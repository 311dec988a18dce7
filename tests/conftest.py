"""What all tests share: a private home, a bundled font, golden pictures, and a watch over what tests leave behind."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

TESTS = Path(__file__).resolve().parent
GOLDEN = TESTS / "golden"
_PATIENCE = 10  # seconds

# Before anything imports Qt: no window on the developer's screen, no trace in the developer's settings.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
_home = tempfile.mkdtemp(prefix="graphviewer-tests-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
for _variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
    os.environ[_variable] = os.path.join(_home, _variable.lower())
for _variable in ("QT_SCALE_FACTOR", "QT_FONT_DPI", "QT_STYLE_OVERRIDE", "QT_QPA_PLATFORMTHEME"):
    os.environ.pop(_variable, None)
os.environ["LC_ALL"] = "C.UTF-8"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
# Tests start hundreds of processes: what those import is compiled once, and so is what pytest rewrites.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile(
    "graphviewer", deadline=None, max_examples=50, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", settings.get_profile("graphviewer"), max_examples=2_000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "graphviewer")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden pictures anew instead of comparing")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files, named by GRAPHVIEWER_CORPUS or lying beside the checkout."""
    place = Path(os.environ.get("GRAPHVIEWER_CORPUS") or TESTS.parents[1] / "shared" / "corpus")
    if not place.is_dir():
        pytest.skip("no corpus of real files: set GRAPHVIEWER_CORPUS to its folder")
    return place


@pytest.fixture(scope="session")
def qapp(qapp_args: list[str], qapp_cls: type) -> Iterator[object]:
    """The application in Fusion style and the bundled font, so that pictures are equal on all machines."""
    from PySide6.QtWidgets import QApplication

    from graphviewer.gui.style.theme import load_font

    app = QApplication.instance() or qapp_cls(qapp_args)
    app.setApplicationName("graphviewer-tests")
    app.setStyle("Fusion")
    app.setFont(load_font())
    yield app
    app.processEvents()


@pytest.fixture
def golden(request: pytest.FixtureRequest, qapp: object) -> Callable[[QImage, str], None]:
    """``golden(image, name)`` compares with tests/golden/NAME.png, pixel by pixel; ``--update-golden`` writes it."""
    return lambda image, name: _compare(image, name, request.config.getoption("--update-golden"))


def _compare(image: QImage, name: str, update: bool) -> None:
    import numpy as np
    from PySide6.QtGui import QImage

    kept = GOLDEN / f"{name}.png"
    if update:
        image.save(str(kept))
        return
    assert kept.exists(), f"there is no {kept.name}: look at the picture, then run pytest --update-golden"
    expected, found = _pixels(QImage(str(kept))), _pixels(image)
    if expected.shape == found.shape and np.array_equal(expected, found):
        return
    out = TESTS.parent / "out" / "golden"
    out.mkdir(parents=True, exist_ok=True)
    image.save(str(out / f"{name}.png"))
    where = (
        "sizes differ" if expected.shape != found.shape else f"{np.any(expected != found, axis=2).sum()} pixels differ"
    )
    pytest.fail(f"{name}: {where}; the new picture is {out / name}.png")


def _pixels(image: QImage) -> object:
    import numpy as np
    from PySide6.QtGui import QImage

    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    raw = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return raw[:, : 4 * image.width()].reshape(image.height(), image.width(), 4).copy()  # the image is freed here


@pytest.fixture(autouse=True)
def _no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a window, a running QThread, a child process or a thread that keeps Python alive."""
    threads, children = set(threading.enumerate()), _children()
    yield
    if "qapp" in request.fixturenames:
        _close_windows()
    left = _after_a_while(lambda: [each.name for each in set(threading.enumerate()) - threads if not each.daemon])
    assert not left, f"threads left running: {left}"
    orphans = _after_a_while(lambda: [_command(process) for process in _children() - children])
    assert not orphans, f"processes left running: {orphans}"


def _after_a_while(find: Callable[[], list[str]]) -> list[str]:
    """What is found and does not go away by itself: on a busy machine, ending takes time after it was asked for."""
    end = time.monotonic() + _PATIENCE
    while (found := find()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def _close_windows() -> None:
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [str(widget) for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    for widget in QApplication.topLevelWidgets():
        widget.close()
    assert not left, f"windows left open: {left}"


def _children() -> set[int]:
    """Process numbers of our children, zombies left out; empty where the system cannot tell."""
    tasks = Path("/proc/self/task")
    listings = (_listing(task / "children") for task in (tasks.iterdir() if tasks.exists() else ()))
    return {int(process) for listing in listings for process in listing if _command(int(process))}


def _listing(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:  # a thread that ended between the look and the read, or a kernel without the file
        return []


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
