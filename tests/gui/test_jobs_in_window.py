"""Jobs in the window: killed, cancelled, refused; the window lives, and nothing half-written stays."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from graphviewer.formats import save_document
from graphviewer.gui.state.versions import Comparison
from graphviewer.protos import DataType
from tests.gui.conftest import WAIT
from tests.gui.test_worker_client import wait_until_dead
from tests.unit.operation_graphs import F, const, document, node, placeholder

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window
    from graphviewer.gui.work.jobs import Run

OUTPUT = "net_1/probabilities"


def start_freeze(window: Window, qtbot: QtBot, *, stopped: bool = False) -> Run:
    """Start a freeze of the sample; ``stopped`` halts the worker before it can answer."""
    qtbot.waitUntil(lambda: not window.jobs.is_busy(), timeout=WAIT)
    if window.session.family.outputs == []:
        window.session.type_endpoints("outputs", OUTPUT)
        window.session.type_endpoints("inputs", "images")
        qtbot.waitUntil(lambda: not window.jobs.is_busy(), timeout=WAIT)
    card = window.furniture.operations.cards["freeze"]
    if stopped:
        # The freeze must be what the worker is at, not what waits for the answer to another question.
        qtbot.waitUntil(lambda: not window.jobs.is_busy() and not window.client.is_busy, timeout=WAIT)
        window.client.start()
        os.kill(window.client.process_id, signal.SIGSTOP)
    return window.operator.run("freeze", "Freeze", window.session.version, card.parameters())


def folder_of(window: Window) -> Path:
    return window._folder.path


def test_that_a_killed_worker_is_told_and_the_next_job_works(opened: Window, qtbot: QtBot) -> None:
    run = start_freeze(opened, qtbot, stopped=True)
    os.kill(opened.client.process_id, signal.SIGKILL)
    qtbot.waitUntil(lambda: not run.is_active, timeout=WAIT)
    assert "killed" in run.message
    assert opened.furniture.banner.isVisible()
    assert not list(folder_of(opened).glob("*freeze*"))
    start_freeze(opened, qtbot)
    qtbot.waitUntil(lambda: isinstance(opened.session.current, Comparison), timeout=WAIT)


def test_that_cancel_of_a_halted_worker_returns_at_once(opened: Window, qtbot: QtBot) -> None:
    run = start_freeze(opened, qtbot, stopped=True)
    begin = time.monotonic()
    opened.jobs.cancel(run.number)
    assert time.monotonic() - begin < 2.5  # a wait for a worker that does not answer takes 3 s
    qtbot.waitUntil(lambda: not run.is_active, timeout=WAIT)
    assert run.message == "cancelled"
    qtbot.waitUntil(lambda: not list(folder_of(opened).glob("*freeze*")), timeout=WAIT)
    assert len(opened.session.tabs) == 1


def test_that_a_refused_freeze_says_why_and_changes_nothing(opened: Window, qtbot: QtBot) -> None:
    opened.session.type_endpoints("outputs", "net/probabilities")
    run = start_freeze(opened, qtbot)
    qtbot.waitUntil(lambda: not run.is_active, timeout=WAIT)
    assert "compute as in training" in opened.furniture.banner.text.text()
    assert len(opened.session.tabs) == 1


def test_that_closing_the_window_in_the_middle_of_a_job_leaves_no_process_and_no_folder(
    opened: Window, qtbot: QtBot
) -> None:
    start_freeze(opened, qtbot, stopped=True)
    worker, folder = opened.client.process_id, folder_of(opened)
    opened.close()
    assert wait_until_dead(worker)
    assert not folder.exists()


def test_that_inference_mode_is_offered_where_a_freeze_is_refused_and_lets_it_pass(
    opened: Window, qtbot: QtBot
) -> None:
    opened.session.type_endpoints("outputs", "net/probabilities")
    opened.session.type_endpoints("inputs", "images")
    run = start_freeze(opened, qtbot)
    qtbot.waitUntil(lambda: not run.is_active, timeout=WAIT)
    assert opened.furniture.banner.button.text() == "Apply inference mode"
    opened.furniture.banner.button.click()
    qtbot.waitUntil(lambda: isinstance(opened.session.current, Comparison), timeout=WAIT)
    repaired = opened.session.current.after
    opened.session.show_tab(repaired)
    opened.run_operation("freeze")
    qtbot.waitUntil(
        lambda: isinstance(opened.session.current, Comparison) and opened.session.current.before is repaired,
        timeout=WAIT,
    )
    frozen = opened.session.current.after
    assert "net/probabilities" in frozen.document.graph.index
    assert not {"VariableV2", "RandomUniform"} & set(frozen.document.graph.ops)
    source, steps = frozen.history()
    assert [step.operation for step in steps] == ["inference-mode", "freeze"]
    assert source == opened.session.versions()[0].file


def test_that_inference_mode_is_offered_where_a_fed_value_decides_about_training(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    norm = node("bn = FusedBatchNormV3 switch:1 scale scale scale scale", T=F, U=F)
    norm.attr["is_training"].b = True
    phase = node("phase = Placeholder", dtype=DataType.BOOL, shape=[])
    switch = node("switch = Switch x phase", T=F)
    merge = node("y = Merge switch bn", T=F)
    merge.attr["N"].i = 2
    save_document(document(placeholder(), const("scale", [1.0]), phase, switch, norm, merge), tmp_path / "bn.pb")
    window.open_path(tmp_path / "bn.pb")
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: window.session.version.problems is not None, timeout=WAIT)
    assert "as in training" in window.furniture.problems.state.text()
    window.session.type_endpoints("outputs", "y")
    window.run_operation("freeze")
    qtbot.waitUntil(lambda: isinstance(window.session.current, Comparison), timeout=WAIT)
    banner = window.furniture.banner
    assert banner.objectName() == "notice" and "'phase' decides" in banner.text.text()
    banner.button.click()
    labels = lambda: {one.after.label for one in window.session.tabs if isinstance(one, Comparison)}  # noqa: E731
    qtbot.waitUntil(lambda: labels() == {"Frozen", "Inference mode"}, timeout=WAIT)
    assert "FusedBatchNormV3" not in window.session.current.after.document.graph.ops
    assert banner.isHidden()
