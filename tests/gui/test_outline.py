"""The outline: a tree in a table, which looks at no more than is in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from canvas_graphs import document
from PySide6.QtCore import Qt
from test_canvas_odd import chain, nested

from graphviewer.gui.panels.outline_tree import OutlineModel, OutlineTree
from graphviewer.model.scopes import ROOT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

pytestmark = pytest.mark.screen

ROWS = [
    ("x", "Placeholder"),
    ("net/a/op", "Relu", "x"),
    ("net/a/other", "Relu", "x"),
    ("net/b/op", "Softmax", "x"),
    ("y", "Relu"),
]


def outline(rows: list[tuple[str, ...]]) -> OutlineModel:
    model = OutlineModel()
    model.set_scopes(document(rows).scopes)
    return model


def tree_of(model: OutlineModel, qtbot: QtBot) -> OutlineTree:
    tree = OutlineTree(model)
    qtbot.addWidget(tree)
    tree.resize(280, 300)
    tree.show()
    qtbot.waitExposed(tree)
    return tree


def paths(model: OutlineModel) -> list[str]:
    return [model.scopes.path(item) for item in model.rows.tolist()]


def test_that_a_scope_opens_and_closes_with_all_that_is_open_inside():
    model = outline(ROWS)
    closed = ["x", "net", "y"]
    assert paths(model) == closed
    model.open_at(model.index(1, 0))
    assert paths(model) == ["x", "net", "net/a", "net/b", "y"]
    model.open_at(model.index(2, 0))
    opened = ["x", "net", "net/a", "net/a/op", "net/a/other", "net/b", "y"]
    assert paths(model) == opened
    model.close_at(model.index(1, 0))
    assert paths(model) == closed
    model.open_at(model.index(1, 0))
    assert paths(model) == opened


def test_that_a_node_opens_only_what_is_not_there():
    model = outline(ROWS)
    model.open_at(model.index(0, 0))
    assert paths(model) == ["x", "net", "y"] and not model.is_open(model.index(0, 0))


def test_that_reaching_a_node_opens_the_scopes_around_it_and_no_others():
    model = outline(ROWS)
    index = model.reach(int(model.scopes.leaf[3]))
    assert model.scopes.path(model.item(index)) == "net/b/op"
    assert paths(model) == ["x", "net", "net/a", "net/b", "net/b/op", "y"]


def test_that_a_filter_shows_scopes_with_hits_open_and_what_it_hides_cannot_be_reached():
    model = outline(ROWS)
    model.set_scopes(model.scopes, "softmax")
    assert paths(model) == ["net", "net/b", "net/b/op"]
    assert not model.reach(int(model.scopes.leaf[0])).isValid()
    assert model.children_of(ROOT) == [model.scopes.by_path["net"]]


def test_that_arrow_keys_open_and_close_and_walk(qtbot: QtBot):
    model = outline(ROWS)
    tree = tree_of(model, qtbot)
    tree.setCurrentIndex(model.index_of(model.scopes.by_path["net"]))

    def at() -> str:
        return model.scopes.path(model.item(tree.currentIndex()))

    for key, is_open, where in (
        (Qt.Key.Key_Right, True, "net"),
        (Qt.Key.Key_Right, True, "net/a"),
        (Qt.Key.Key_Down, True, "net/b"),
        (Qt.Key.Key_Left, True, "net"),
        (Qt.Key.Key_Left, False, "net"),
        (Qt.Key.Key_Down, False, "y"),
    ):
        qtbot.keyClick(tree, key)
        assert at() == where
        assert model.is_open(model.index_of(model.scopes.by_path["net"])) is is_open


def test_that_a_click_on_the_arrow_opens_and_one_on_the_name_selects(qtbot: QtBot):
    model = outline(ROWS)
    tree = tree_of(model, qtbot)
    index = model.index_of(model.scopes.by_path["net"])
    branch = tree.branch(index)
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=branch.center())
    assert model.is_open(index) and not tree.currentIndex().isValid()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(index).center())
    assert model.is_open(index) and tree.currentIndex() == index
    qtbot.mouseDClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(index).center())
    assert not model.is_open(index)


@pytest.mark.parametrize("row", [0, 19_999])
def test_that_a_table_of_20_000_nodes_asks_only_about_rows_in_view(row: int, qtbot: QtBot, monkeypatch):
    asked: set[int] = set()
    data = OutlineModel.data

    def counted(self, index, role=Qt.ItemDataRole.DisplayRole):
        asked.add(index.row())
        return data(self, index, role)

    monkeypatch.setattr(OutlineModel, "data", counted)
    model = outline(chain())
    tree = tree_of(model, qtbot)
    asked.clear()
    tree.setCurrentIndex(model.reach(int(model.scopes.leaf[row])))
    tree.scrollTo(tree.currentIndex())
    tree.grab()
    assert row in asked and len(asked) < 100


def test_that_names_400_levels_deep_have_half_of_the_row(qtbot: QtBot):
    model = outline(nested())
    tree = tree_of(model, qtbot)
    for leaf in (400 - 1, 200, 3, 0):
        tree.setCurrentIndex(model.reach(int(model.scopes.leaf[leaf])))
        tree.scrollTo(tree.currentIndex())
        tree.grab()
        last = tree.rowAt(tree.viewport().height() - 1)
        seen = [model.index(row, 0) for row in range(tree.rowAt(0), last + 1 if last >= 0 else len(model.rows))]
        lefts = [tree.branch(index).left() for index in seen]
        assert min(lefts) == 0 and max(lefts) <= tree.columnWidth(0) / 2
        depths = [int(model.scopes.depth[model.item(index)]) for index in seen]
        order = sorted(zip(depths, lefts, strict=True))
        assert [left for _, left in order] == sorted(lefts)  # what is deeper is never further left


def test_that_labels_and_tips_of_endless_names_are_short():
    model = outline([("n" * 5_000, "Relu")])
    for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
        assert len(model.data(model.index(0, 0), role)) < 200
