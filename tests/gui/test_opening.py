"""Choosing among graphs and steps, the complete part of a damaged file, and Keras models that have to be run."""

from __future__ import annotations

import os
import signal
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QToolButton

from graphviewer import protos
from tests.gui.conftest import WAIT
from tests.gui.test_proof_words import SAME
from tests.unit.checkpoint_files import write_bundle
from tests.unit.format_files import events, graph, meta_graph, saved_model, write

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def opened(window: Window, qtbot: QtBot, path: Path) -> None:
    count = len(window.session.tabs)
    window.open_path(path)
    qtbot.waitUntil(lambda: len(window.session.tabs) > count, timeout=WAIT)


def buttons(window: Window) -> dict[str, QToolButton]:
    found = window.furniture.choices.findChildren(QToolButton)
    return {button.text(): button for button in found if not button.isHidden()}


def test_that_the_graphs_of_a_saved_model_can_be_chosen(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    model = saved_model(meta_graph(graph(3), "serve"), meta_graph(graph(5), "train"))
    write(tmp_path / "model" / "saved_model.pb", model)
    opened(window, qtbot, tmp_path / "model")
    assert not window.furniture.choices.isHidden()
    assert {text: button.isChecked() for text, button in buttons(window).items()} == {"serve": True, "train": False}
    buttons(window)["train"].click()
    qtbot.waitUntil(lambda: len(window.session.tabs) == 2, timeout=WAIT)
    version = window.session.version
    assert len(version.document.graph) == 5
    assert version.title == "model [train]"
    # The worker reads the graph that is shown, not the one it would find by the path alone.
    qtbot.waitUntil(lambda: bool(version.suggested_outputs), timeout=WAIT)
    assert version.suggested_outputs[0].name == "n4"
    buttons(window)["serve"].click()
    qtbot.waitUntil(lambda: len(window.session.version.document.graph) == 3, timeout=WAIT)
    buttons(window)["train"].click()
    assert window.session.version is version


def test_that_the_graphs_of_an_events_file_can_be_chosen(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    made = [protos.Event(step=step, graph_def=graph(step).SerializeToString()) for step in (3, 5)]
    path.write_bytes(events(*made))
    opened(window, qtbot, path)
    assert {text: button.isChecked() for text, button in buttons(window).items()} == {"graph@3": False, "graph@5": True}
    buttons(window)["graph@3"].click()
    qtbot.waitUntil(lambda: len(window.session.tabs) == 2, timeout=WAIT)
    version = window.session.version
    assert (len(version.document.graph), version.title) == (3, "events.out.tfevents.1 [graph@3]")
    qtbot.waitUntil(lambda: bool(version.suggested_outputs), timeout=WAIT)
    assert version.suggested_outputs[0].name == "n2"


def test_that_the_steps_of_a_run_can_be_chosen(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    for step in (100, 200):
        write_bundle(tmp_path / f"model.ckpt-{step}", {"w": np.full(2, step, np.float32)})
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-200"\n')
    opened(window, qtbot, tmp_path)
    assert {text: button.isChecked() for text, button in buttons(window).items()} == {
        "step 100": False,
        "step 200": True,
    }
    buttons(window)["step 100"].click()
    qtbot.waitUntil(lambda: len(window.session.tabs) == 2, timeout=WAIT)
    assert window.session.version.document.checkpoint == tmp_path / "model.ckpt-100"


def test_that_a_graph_keeps_its_shape_when_another_step_is_chosen(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    made = graph(3)
    made.node.add(name="w", op="VariableV2")
    write(tmp_path / "graph.pb", made)
    for step in range(7):
        write_bundle(tmp_path / f"model.ckpt-{step}", {"w": np.zeros(2, np.float32)})
    opened(window, qtbot, tmp_path / "graph.pb")
    box = window.furniture.choices.findChild(QComboBox)
    assert (box.count(), box.currentText()) == (7, "step 6")
    box.activated.emit(2)
    qtbot.waitUntil(lambda: len(window.session.tabs) == 2, timeout=WAIT)
    version = window.session.version
    assert version.document.checkpoint == tmp_path / "model.ckpt-2"
    assert len(version.document.graph) == 4
    assert version.title == "graph.pb · model.ckpt-2"


def test_that_a_file_with_one_graph_shows_no_choice(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    opened(window, qtbot, write(tmp_path / "graph.pb", graph(3)))
    assert window.furniture.choices.isHidden()


def test_that_the_complete_part_of_a_damaged_file_opens_by_a_button(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    path = write(tmp_path / "cut.pb", graph(6))
    path.write_bytes(path.read_bytes()[:-80])
    window.open_path(path)
    banner = window.furniture.banner
    qtbot.waitUntil(banner.isVisible, timeout=WAIT)
    assert banner.button.text() == "Open the complete part"
    banner.button.click()
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    version = window.session.version
    assert 0 < len(version.document.graph) < 6
    assert version.document.problems[0].kind == "truncated"
    assert not banner.isVisible()


def test_that_an_error_without_a_way_out_has_no_button(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "empty.pb").write_bytes(b"")
    window.open_path(tmp_path / "empty.pb")
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    assert window.furniture.banner.button.isHidden()


@pytest.fixture
def no_model(tmp_path: Path) -> Path:
    """An archive that looks like a Keras model and is none."""
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            archive.writestr(name, "{}")
    return tmp_path / "model.keras"


def test_that_a_keras_model_is_loaded_only_when_the_user_says_so(
    window: Window, qtbot: QtBot, no_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, dict]] = []
    window.open_path(no_model)
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    assert "runs code" in window.furniture.banner.text.text()

    answer = {"nodes": 4, "verification": SAME}

    def submit(name: str, params: dict, callbacks: object, **_more: object) -> int:
        asked.append((name, params))
        write(Path(params["out"]), meta_graph(graph(4)))
        QTimer.singleShot(0, lambda: callbacks.done(answer | {"output": params["out"]}))
        return 7

    assert not window.jobs.is_busy()
    with monkeypatch.context() as patched:
        patched.setattr(window.opener._jobs, "submit", submit)
        window.furniture.banner.button.click()
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    assert [name for name, _ in asked] == ["keras"]
    assert asked[0][1]["path"] == str(no_model)
    assert window.session.version.title == window.session.version.document.title == "model.keras"
    assert window.files.recent()[0] == str(no_model)


def test_that_loading_with_keras_is_a_job_that_can_be_cancelled(window: Window, qtbot: QtBot, no_model: Path) -> None:
    window.open_path(no_model)
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    window.client.start()
    qtbot.waitUntil(lambda: window.client.process_id > 0, timeout=WAIT)
    os.kill(window.client.process_id, signal.SIGSTOP)
    window.furniture.banner.button.click()
    (run,) = window.jobs.active()
    row = window.furniture.jobs._rows[run.number]
    assert row.title.text() == "Load with Keras — model.keras"
    assert not window.furniture.banner.isVisible()
    row.cancel.click()
    assert row.state.text() == "cancelled" and row.cancel.isHidden()
    assert not window.jobs.active() and window.session.tabs == []
