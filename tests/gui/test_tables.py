"""Tables of the panels: what Qt expects of a model, headings, and on which side texts stand."""

import pytest
from PySide6.QtCore import Qt

from graphviewer.gui.panels.change_groups import Group, GroupsModel
from graphviewer.gui.panels.tables import RIGHT, TableModel, as_lines

ALIGNMENT = Qt.ItemDataRole.TextAlignmentRole


class Fruit(TableModel):
    HEADINGS = ("Name", "Weight")
    NUMBERS = frozenset({1})


@pytest.fixture
def fruit(qapp):
    model = Fruit()
    model.show_rows([("apple", 150), ("pear", 170)])
    return model


def test_that_rows_stand_under_their_headings_with_numbers_to_the_right(fruit, qtmodeltester):
    qtmodeltester.check(fruit)
    across = Qt.Orientation.Horizontal
    assert [fruit.headerData(at, across) for at in range(fruit.columnCount())] == ["Name", "Weight"]
    assert [fruit.index(1, at).data() for at in (0, 1)] == ["pear", "170"]
    assert [fruit.index(1, at).data(ALIGNMENT) for at in (0, 1)] == [None, RIGHT]


def test_that_a_view_hears_of_other_rows_and_of_other_texts(fruit, qtbot):
    with qtbot.waitSignal(fruit.modelReset):
        fruit.show_rows([("plum", 40)])
    assert fruit.rowCount() == 1 and fruit.rowCount(fruit.index(0, 0)) == 0
    with qtbot.waitSignal(fruit.dataChanged) as heard:
        fruit.refresh_columns(1, 1)
    first, last = heard.args[:2]
    assert (first.row(), first.column(), last.row(), last.column()) == (0, 1, 0, 1)


def test_that_nothing_is_said_of_the_texts_of_no_rows(fruit, qtbot):
    fruit.show_rows(())
    with qtbot.assertNotEmitted(fruit.dataChanged):
        fruit.refresh_columns(0, 1)


def test_that_groups_are_copied_with_headings_and_plain_numbers(qapp, qtmodeltester):
    model = GroupsModel()
    model.show_rows([Group("MatMul", 1_500, 1_498, {"removed": 2})])
    qtmodeltester.check(model)
    assert [model.index(0, at).data() for at in range(4)] == ["MatMul", "1,500", "1,498", "-2"]
    assert model.as_text().split("\n")[1] == "MatMul\t1500\t1498\t-2\t2 removed"


def test_that_lines_have_tabs_between_columns():
    assert as_lines(("a", "b"), [("1", "2")]) == "a\tb\n1\t2"
