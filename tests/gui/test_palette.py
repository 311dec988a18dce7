"""The palette, and how long names are shortened in it and in the hits of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphviewer.gui.dialogs.palette import Palette
from graphviewer.gui.words.texts import shortened
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

PATH = "net/stage1/unit2/conv1/weights"


@pytest.mark.parametrize(
    ("room", "text"),
    [
        (40, PATH),
        (30, PATH),
        (29, "net/…/unit2/conv1/weights"),
        (24, "net/…/conv1/weights"),
        (15, "net/…/weights"),
        (3, "net/…/weights"),
    ],
)
def test_that_scopes_in_the_middle_of_a_path_are_left_out_first(room: int, text: str) -> None:
    assert shortened(PATH, lambda shown: len(shown) <= room) == text


@pytest.mark.parametrize("path", ["", "a", "a/b", "/".join("x" * 1_000)])
def test_that_any_path_is_shortened_to_something_of_its_own(path: str) -> None:
    assert shortened(path, lambda _shown: True) == path
    assert shortened(path, lambda _shown: False).startswith(path[:1])


def test_that_nodes_stand_beside_their_op_and_actions_beside_their_keys(opened: Window, qtbot: QtBot) -> None:
    opened.show_palette()
    palette = opened.findChild(Palette)
    qtbot.waitUntil(palette.isVisible, timeout=WAIT)

    def first(text: str) -> tuple[str, str, str]:
        palette.entry.setText(text)
        item = palette.list.item(0)
        entry = item.data(256)  # Qt.ItemDataRole.UserRole
        return entry.text, entry.note, item.toolTip()

    text, note, tooltip = first("net_1/probabilities")
    assert (text, note) == ("net_1/probabilities", "Softmax")
    assert "net_1/probabilities" in tooltip and "Softmax" in tooltip
    assert first("save picture")[0] == "Save Picture of the View"
    assert first("fit")[:2] == ("Fit", "F")
    palette.close()


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("remove_training_nodes", "Remove Pass-through Nodes"),
        ("remove_training", "Remove Pass-through Nodes"),
        ("dark", "Switch Light / Dark"),
        ("theme", "Switch Light / Dark"),
        ("dropout", "Apply Inference Mode"),
        ("strip", "Extract Inference Graph"),
        ("diff", "Compare With"),
    ],
)
def test_that_an_action_is_found_by_other_words_for_it(opened: Window, typed: str, action: str) -> None:
    opened.show_palette()
    palette = opened.findChild(Palette)
    palette.entry.setText(typed)
    listed = [palette.list.item(at).data(256).text for at in range(palette.list.count())]
    assert action in listed
    palette.close()


def test_that_the_palette_says_when_nothing_is_found(opened: Window) -> None:
    opened.show_palette()
    palette = opened.findChild(Palette)
    palette.entry.setText("xyzzy")
    assert palette.list.isHidden() and "Nothing found" in palette.empty.text()
    palette.entry.setText("fit")
    assert palette.empty.isHidden() and palette.list.count()
    palette.close()


def test_that_a_node_that_is_looked_up_is_shown_in_the_inspector(opened: Window, qtbot: QtBot) -> None:
    opened.furniture.raise_panel("operations")
    qtbot.waitUntil(lambda: opened.furniture.inspector.visibleRegion().isEmpty(), timeout=WAIT)
    opened.show_palette()
    palette = opened.findChild(Palette)
    palette.entry.setText("net_1/probabilities")
    palette.entry.returnPressed.emit()
    qtbot.waitUntil(lambda: not opened.furniture.inspector.visibleRegion().isEmpty(), timeout=WAIT)
    assert opened.session.selection.path == "net_1/probabilities"
