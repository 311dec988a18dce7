"""The signatures of a file: listed where one looks for endpoints, and chosen by a click."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt, QUrl

from graphviewer.gui.words.signatures import signatures_of
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.protos import DataType
from tests.gui.conftest import WAIT
from tests.unit.format_files import graph, meta_graph, saved_model, write

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window


def signed(**signatures: tuple[dict[str, str], dict[str, str]]) -> Any:
    """A MetaGraphDef of four nodes with signatures: by key, the tensors of inputs and of outputs by name."""
    meta = meta_graph(graph(4), "serve")
    meta.signature_def.clear()
    for key, sides in signatures.items():
        signature = meta.signature_def[key]
        for side, tensors in zip((signature.inputs, signature.outputs), sides, strict=True):
            for name, tensor in tensors.items():
                side[name].name = tensor
                side[name].dtype = DataType.FLOAT
                side[name].tensor_shape.dim.add(size=-1)
    return meta


def opened(window: Window, qtbot: QtBot, folder: Path, meta: Any) -> None:
    write(folder / "model" / "saved_model.pb", saved_model(meta))
    window.open_path(folder / "model")
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)


@pytest.mark.screen
def test_that_a_click_chooses_inputs_and_outputs_of_a_signature(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    meta = signed(
        classify=({"x": "x:0"}, {"y": "n2:0"}),
        serving_default=({"x": "n1:0", "more": "x:0"}, {"y": "n3:0"}),
        __saved_model_init_op=({}, {"init": "n1"}),
    )
    opened(window, qtbot, tmp_path, meta)
    rows = window.furniture.endpoints.signatures.list
    assert [rows.item(at).text() for at in range(rows.count())] == ["serving_default\nmore, x → y", "classify\nx → y"]
    window.session.type_endpoints("outputs", "n1")
    at = rows.visualItemRect(rows.item(1)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert window.session.family.inputs == [Endpoint("x")]
    assert window.session.family.outputs == [Endpoint("n2")]
    assert rows.item(1).text().startswith("✓ classify") and rows.item(0).text().startswith("serving_default")


def test_that_the_inspector_lists_signatures_while_nothing_is_selected(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(window, qtbot, tmp_path, signed(**{"a/b <x>": ({"images": "x:0"}, {"scores": "n3:0"})}))
    page = window.furniture.inspector.page
    text = page.toPlainText()
    assert "a/b <x>" in text and "images" in text and "float32 [?]" in text
    page.anchorClicked.emit(QUrl("signature:a%2Fb%20%3Cx%3E"))
    assert window.session.family.outputs == [Endpoint("n3")]


def test_that_a_signature_of_nodes_that_are_gone_is_refused_in_words(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(window, qtbot, tmp_path, signed(serving_default=({"x": "x:0"}, {"y": "gone:0"})))
    window.session.type_endpoints("outputs", "n1")
    rows = window.furniture.endpoints.signatures.list
    rows.itemClicked.emit(rows.item(0))
    assert "no output" in window.furniture.banner.text.text()
    assert window.session.family.outputs == [Endpoint("n1")]


def test_that_tensors_that_are_gone_are_told(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    opened(window, qtbot, tmp_path, signed(f=({"x": "x:0", "rate": "gone:0"}, {"y": "n3:0"})))
    window.furniture.endpoints.signatures.list.itemClicked.emit(window.furniture.endpoints.signatures.list.item(0))
    assert window.session.family.inputs == [Endpoint("x")]
    assert "not in this version: rate" in window.furniture.state.text()


def test_that_a_signature_is_one_change_of_the_endpoints(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    opened(window, qtbot, tmp_path, signed(f=({"x": "x:0"}, {"y": "n3:0"})))
    changes: list[tuple[list[Endpoint], list[Endpoint]]] = []
    family, rows = window.session.family, window.furniture.endpoints.signatures.list
    window.session.endpoints_changed.connect(lambda: changes.append((list(family.inputs), list(family.outputs))))
    for _ in range(2):  # the second time nothing is another
        rows.itemClicked.emit(rows.item(0))
    assert changes == [([Endpoint("x")], [Endpoint("n3")])]


def test_that_a_file_without_signatures_shows_no_list(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    window.open_path(write(tmp_path / "graph.pb", graph(3)))
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=WAIT)
    assert window.furniture.endpoints.signatures.isHidden()


def test_that_sparse_and_composite_tensors_are_all_their_parts() -> None:
    meta = signed(f=({"x": ""}, {"y": ""}))
    sparse = meta.signature_def["f"].inputs["x"].coo_sparse
    sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name = "v:0", "i:1", "s:2"
    parts = meta.signature_def["f"].outputs["y"].composite_tensor.components
    parts.add(name="a:0")
    parts.add(name="b:3")
    (found,) = signatures_of(Document("metagraph", meta.graph_def, meta=meta))
    assert [str(one.endpoint) for one in found.inputs] == ["v", "i:1", "s:2"]
    assert [str(one.endpoint) for one in found.outputs] == ["a", "b:3"]
