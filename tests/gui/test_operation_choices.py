"""What a document leaves to choose stands in the operation's form, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt

from graphviewer.formats import save_document
from graphviewer.gui.panels.fields import ChoiceField
from graphviewer.gui.panels.operations import OperationCard
from graphviewer.gui.state.versions import Comparison
from graphviewer.model.tensors import tensor_value
from graphviewer.protos import DataType
from tests.gui.conftest import WAIT
from tests.unit.checkpoint_files import write_bundle
from tests.unit.operation_graphs import WEIGHTS, F, const, network, node

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

AVERAGE = "net/w/ExponentialMovingAverage"


def saver(scope: str, key: str) -> Sequence[Any]:
    return [
        const(f"{scope}/names", [key.encode()], DataType.STRING),
        const(f"{scope}/slices", [b""], DataType.STRING),
        node(f"{scope}/RestoreV2 = RestoreV2 file {scope}/names {scope}/slices"),
        node(f"{scope}/Assign = Assign net/w {scope}/RestoreV2", T=F),
    ]


def opened_card(window: Window, qtbot: QtBot, folder: Path, *nodes: Any, average: bool = True) -> OperationCard:
    """The card of freeze for a graph of one variable whose checkpoint has an average of it."""
    held = {"net/w": WEIGHTS.astype(np.float32)}
    write_bundle(folder / "model", {**held, AVERAGE: held["net/w"] + 1} if average else held)
    save_document(network(const("file", b"f", DataType.STRING), *nodes), folder / "model.pb")
    window.open_path(folder / "model.pb")
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    window.session.type_endpoints("outputs", "y")
    card = window.furniture.operations.cards["freeze"]
    qtbot.waitUntil(lambda: card._answered is not None and not window.jobs.is_busy(), timeout=WAIT)
    return card


def field(card: OperationCard) -> ChoiceField:
    return card._choices["saver"][1]


def frozen_value(window: Window, qtbot: QtBot) -> np.ndarray:
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    document = window.session.current.after.document
    return tensor_value(document.full_node(document.graph.index["net/w"]).attr["value"].tensor)


def test_that_without_a_choice_there_is_no_field(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    card = opened_card(window, qtbot, tmp_path, average=False)
    assert field(card).isHidden()
    card.run()
    np.testing.assert_array_equal(frozen_value(window, qtbot), WEIGHTS)


def test_that_moving_averages_are_offered_and_taken_when_chosen(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    card = opened_card(window, qtbot, tmp_path)
    box = field(card).box
    assert not field(card).isHidden()
    assert [box.itemText(at) for at in range(box.count())] == ["As the graph says", "Moving averages"]
    assert box.currentIndex() == 0
    box.setCurrentIndex(1)
    assert AVERAGE in field(card).reason.text()
    window.run_operation("freeze")
    np.testing.assert_array_equal(frozen_value(window, qtbot), WEIGHTS + 1)


def test_that_savers_that_disagree_are_asked_about_before_anything_runs(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    card = opened_card(window, qtbot, tmp_path, *saver("save", "net/w"), *saver("averages", AVERAGE))
    assert field(card).is_missing
    window.run_operation("freeze")
    assert window.furniture.banner.isVisible()
    assert "needs a choice" in window.furniture.banner.text.text()
    assert card.isVisible() and not window.jobs.is_busy()
    field(card).box.setCurrentIndex([choice.id for choice in field(card)._choices].index("averages"))
    qtbot.mouseClick(card.run_button, Qt.MouseButton.LeftButton)
    np.testing.assert_array_equal(frozen_value(window, qtbot), WEIGHTS + 1)


def test_that_a_run_at_once_waits_for_the_answer_and_then_runs(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    write_bundle(tmp_path / "model", {"net/w": WEIGHTS.astype(np.float32)})
    save_document(network(), tmp_path / "model.pb")
    window.open_path(tmp_path / "model.pb")
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    window.session.type_endpoints("outputs", "y")
    window.run_operation("freeze")
    assert not window.jobs.active()
    np.testing.assert_array_equal(frozen_value(window, qtbot), WEIGHTS)


def test_that_what_was_chosen_stays_chosen_while_it_is_among_the_choices(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    card = opened_card(window, qtbot, tmp_path)
    field(card).box.setCurrentIndex(1)
    asked = card._asked
    window.session.type_endpoints("outputs", "net/w")
    qtbot.waitUntil(lambda: card._answered not in (None, asked), timeout=WAIT)
    assert field(card).value() == "moving-averages"
