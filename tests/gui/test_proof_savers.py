"""The window proves a result with the values that it was made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.gui.test_main_job import freeze

if TYPE_CHECKING:
    import pytest
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def test_that_the_saver_of_a_freeze_on_the_way_is_that_of_its_proof(
    opened: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = freeze(opened, qtbot)
    before, frozen = comparison.before, comparison.after
    frozen.provenance = replace(
        frozen.provenance, parameters=dict(frozen.provenance.parameters) | {"saver": "save_1", "rename": ""}
    )
    later = replace(frozen, parent=frozen, provenance=None)
    asked: list = []
    monkeypatch.setattr(opened.jobs, "submit", lambda name, request, *_a, **_k: asked.append(request) or len(asked))

    for one, other in ((before, frozen), (before, later), (frozen, later)):
        opened.prover.verify(one, other)

    assert [request.get("saver") for request in asked] == ["save_1", "save_1", None]
    assert not any("rename" in request for request in asked)
