"""What a run gives, in the window: numbers, an image, a table, the largest values, a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QApplication

from graphviewer.gui.panels.picture import PictureView
from graphviewer.gui.state.selection import Selection
from graphviewer.gui.state.versions import Comparison
from tests.gui.conftest import WAIT
from tests.gui.test_main_job import freeze
from tests.gui.test_proof import SLOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from graphviewer.gui.panels.result import ResultView
    from graphviewer.gui.window import Window


@pytest.fixture
def show(window: Window, qtbot: QtBot, tmp_path: Path) -> Callable[..., ResultView]:
    """``show(array)`` shows it as if a run had given it; what is read in the background has been read."""
    from graphviewer.runtime.run import Output, _write

    def shown(value: Any) -> ResultView:
        array, file = np.asarray(value), tmp_path / "value.npy"
        _write(file, array, force=True)
        view = window.furniture.proof.result
        view.show_output(Output("net/value:0", array, str(file)).to_json())
        settle(window, qtbot)
        return view

    window.furniture.raise_panel("proof")
    return shown


def settle(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)


def titles(view: ResultView) -> list[str]:
    return [view.pages.tabText(at) for at in range(view.pages.count()) if view.pages.isTabVisible(at)]


def test_that_a_feature_map_is_an_image_channel_by_channel(show, window: Window, qtbot: QtBot) -> None:
    maps = np.zeros([2, 6, 8, 16], np.float32)
    maps[1, 2, 3, 5] = 7
    view = show(maps)
    assert titles(view) == ["Histogram", "Image", "Table"]
    assert view.pages.currentWidget() is view.image
    view.image.batch.setValue(1)
    view.image.channel.setValue(5)
    settle(window, qtbot)
    image = view.image.view.image
    assert (image.width(), image.height(), image.isGrayscale()) == (8, 6, True)
    assert (image.pixelColor(3, 2).red(), image.pixelColor(0, 0).red()) == (255, 0)
    assert view.image.note.text() == "black 0, white 7"
    assert view.image.rgb.isHidden()


def test_that_three_channels_are_colours_or_one_of_them_grey(show, window: Window, qtbot: QtBot) -> None:
    picture = np.zeros([1, 5, 6, 3], np.uint8)
    picture[0, 1, 2] = 0, 200, 100
    view = show(picture)
    assert view.image.view.image.pixelColor(2, 1).getRgb()[:3] == (0, 255, 128)
    view.image.rgb.setChecked(False)
    view.image.channel.setValue(2)
    settle(window, qtbot)
    assert view.image.view.image.isGrayscale() and view.image.view.image.pixelColor(2, 1).red() == 255


@pytest.mark.screen
def test_that_an_enlarged_image_has_squares_with_hard_edges(show, window: Window, qtbot: QtBot) -> None:
    checks = np.indices((4, 4)).sum(0) % 2
    view = show(checks[None, :, :, None].astype(np.float32))
    image, widget = view.image.view.image, PictureView(window.theme)
    qtbot.addWidget(widget)
    widget.image = image
    widget.resize(110, 110)
    assert widget.scale() == 25
    picture = widget.grab().toImage()
    ratio = picture.devicePixelRatio()
    greys = {picture.pixelColor(round(x * ratio), round(y * ratio)).red() for x in range(8, 103) for y in range(8, 103)}
    assert greys == {0, 255}


def test_that_a_slice_of_a_table_can_be_chosen(show, window: Window, qtbot: QtBot) -> None:
    values = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    view = show(values)
    assert [spin.maximum() for spin in view.table.spins] == [1, 2]
    for spin, value in zip(view.table.spins, (1, 2), strict=True):
        spin.setValue(value)
    settle(window, qtbot)
    assert view.table.model.rows == [[str(one) for one in row] for row in values[1, 2].tolist()]


def test_that_probabilities_open_with_the_largest(show) -> None:
    view = show(np.array([[0.1, 0.6, 0.05, 0.25]], np.float32))
    assert view.pages.currentWidget() is view.largest
    assert view.largest.model.rows[:2] == [("1", "0.6"), ("3", "0.25")]


def test_that_what_cannot_be_drawn_is_told(show) -> None:
    view = show(np.array([np.nan, np.inf, 1.0], np.float32))
    assert "1 NaN, 1 infinite" in view.numbers.text()
    assert titles(show(np.array([b"cat", b"dog"], object))) == ["Table"]
    assert titles(show(np.zeros([0, 3], np.float32))) == []
    assert "float32 [0, 3]" in view.numbers.text()
    assert titles(show(np.array(3.0, np.float32))) == ["Histogram", "Table"]


def test_that_a_node_is_run_from_its_menu_and_its_values_saved(opened: Window, qtbot: QtBot, tmp_path: Path) -> None:
    comparison = freeze(opened, qtbot)
    assert isinstance(comparison, Comparison)
    selection = Selection("net_1/probabilities")
    opened.session.select(selection)
    ran: list[Any] = []

    def choose() -> None:
        menu = QApplication.activePopupWidget()
        (action,) = [one for one in menu.actions() if one.text() == "Run to Here"]
        assert action.isEnabled()
        action.trigger()
        ran.append(action)
        menu.close()

    QTimer.singleShot(50, choose)
    opened.furniture.show_context_menu(selection, QPoint())
    panel = opened.furniture.proof
    qtbot.waitUntil(lambda: bool(ran) and not opened.prover.is_running and panel.table.rowCount() == 1, timeout=SLOW)
    assert panel.result.isVisible() and panel.table.isHidden()
    assert panel.result.name.text().replace("\u200b", "").startswith("net_1/probabilities")
    kept = Path(panel._ran[1]["outputs"][0]["file"])
    opened.prover.save(kept, tmp_path / "saved.npy")
    qtbot.waitUntil(lambda: (tmp_path / "saved.npy").is_file(), timeout=WAIT)
    found = np.load(tmp_path / "saved.npy")
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-5)
    opened.prover.save(kept, comparison.before.file)
    qtbot.waitUntil(opened.furniture.banner.isVisible, timeout=WAIT)
    assert "is open here" in opened.furniture.banner.text.text()
    opened.run_node()
    qtbot.waitUntil(lambda: not opened.prover.is_running and not kept.exists(), timeout=SLOW)
    assert Path(panel._ran[1]["outputs"][0]["file"]).is_file()


def test_that_a_cancelled_run_leaves_no_values(opened: Window, qtbot: QtBot) -> None:
    opened.session.select(Selection("net_1/probabilities"))
    opened.run_node()
    opened.prover.cancel()
    qtbot.waitUntil(lambda: not opened.prover.is_running and not opened.background.busy(), timeout=SLOW)
    assert not list(opened._folder.path.glob("run-*"))
    assert opened.furniture.proof.result.isHidden()
