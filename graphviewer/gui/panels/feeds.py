"""What a run is fed: for each input made-up values, a file, or a number."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.state.versions import Version
from graphviewer.gui.words.line import Line
from graphviewer.gui.words.texts import tip
from graphviewer.model.names import Endpoint, parse_input
from graphviewer.protos import dtype_name

MADE_UP, FILE, NUMBER = "made up", "from a file", "numbers"
_KINDS = {
    MADE_UP: "Random values of the right type and shape, the same in every run",
    FILE: "A .npy or .npz array, or an image",
    NUMBER: "One number for every element, or a row of them with commas between; true or false for a switch",
}
_FILES = "Arrays and images (*.npy *.npz *.png *.jpg *.jpeg *.bmp *.gif);;All files (*)"
_MOST_ARRAYS, _MOST_INPUTS = 500, 30


class Input(NamedTuple):
    """A tensor that can be fed, and its type and shape in words."""

    name: str
    text: str


def inputs_of(version: Version, outputs: Sequence[str]) -> list[Input]:
    """The chosen or else suggested inputs, and the placeholders that outputs need; all of them without outputs."""
    from graphviewer.analysis.ops import PLACEHOLDER_OPS
    from graphviewer.operations.tensor_types import output_dtype, output_shape

    document, graph = version.document, version.document.graph
    suggested = [one.endpoint for one in version.suggested_inputs]
    chosen = [one for one in version.family.inputs or suggested if one.node in graph.index]
    ends = [graph.index[name] for name in (parse_input(text)[0] for text in outputs) if name in graph.index]
    needed = graph.of_ops(PLACEHOLDER_OPS)
    if ends:
        needed &= graph.ancestors(ends, stop=[graph.index[one.node] for one in chosen])
    found = [*chosen, *(Endpoint(graph.names[number]) for number in np.flatnonzero(needed)[:_MOST_INPUTS].tolist())]
    made = []
    for one in dict.fromkeys(found):
        number = graph.index[one.node]
        dtype, shape = output_dtype(document, number, one.port), output_shape(document, number, one.port)
        made.append(Input(str(one), f"{dtype_name(dtype) if dtype else ''} {_sizes(shape)}".strip()))
    return made


def _sizes(shape: Sequence[int] | None) -> str:
    return "" if shape is None else "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"


class FeedRow:
    """The widgets of one input, in a row of a grid."""

    def __init__(self, one: Input, grid: QGridLayout, row: int) -> None:
        self.name = one.name
        self.kind = QComboBox()
        for at, (kind, doc) in enumerate(_KINDS.items()):
            self.kind.addItem(kind)
            self.kind.setItemData(at, doc, Qt.ItemDataRole.ToolTipRole)
        self.value = QLineEdit(clearButtonEnabled=True)
        self.pick = QToolButton(text="…")
        self.pick.setToolTip("Pick a file")
        self.pick.clicked.connect(lambda: self._pick())
        self.kind.currentTextChanged.connect(lambda _kind: self._show_kind())
        self.kind.activated.connect(lambda _at: self._begin())
        for column, widget in enumerate((_heading(one), self.kind, self.value, self.pick)):
            grid.addWidget(widget, row, column)
        self._show_kind()

    def given(self) -> str:
        """The file or number; empty for made-up values."""
        return "" if self.kind.currentText() == MADE_UP else self.value.text().strip()

    def take(self, kind: str, text: str) -> None:
        """Show what was given before."""
        self.kind.setCurrentText(kind)
        self.value.setText(text)

    def _begin(self) -> None:
        """A kind was chosen by hand: go on with its value."""
        self.value.clear()
        if self.kind.currentText() == FILE:
            self._pick()
        elif self.kind.currentText() == NUMBER:
            self.value.setFocus()

    def _show_kind(self) -> None:
        kind = self.kind.currentText()
        self.value.setVisible(kind != MADE_UP)
        self.value.setPlaceholderText(
            "path of a .npy, .npz or image file" if kind == FILE else "0.5 · true · 0.7, 0.7, 0.8"
        )
        self.pick.setVisible(kind == FILE)

    def _pick(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self.pick, f"Values for {self.name}", self.value.text(), _FILES)
        if path:
            self.value.setText(self._with_array(path))

    def _with_array(self, path: str) -> str:
        """The path, and which of its arrays where an archive has several."""
        names = arrays_of(Path(path)) if path.lower().endswith(".npz") else []
        if len(names) < 2:
            return path
        own = self.name.partition(":")[0].rpartition("/")[2]
        at = names.index(own) if own in names else 0
        name, is_chosen = QInputDialog.getItem(self.pick, "Which array?", f"{Path(path).name} holds:", names, at, False)
        return f"{path}:{name}" if is_chosen else path


def _heading(one: Input) -> QWidget:
    """Name above type and shape."""
    heading = QWidget(minimumWidth=90)
    heading.setToolTip(tip(f"{one.name}\n{one.text}"))
    column = QVBoxLayout(heading)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    name, kind = Line(elided=Qt.TextElideMode.ElideMiddle), QLabel(one.text, objectName="subtle", wordWrap=True)
    name.say(one.name)
    kind.setTextFormat(Qt.TextFormat.PlainText)
    kind.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    column.addWidget(name)
    column.addWidget(kind)
    return heading


def arrays_of(path: Path) -> list[str]:
    """The names of the arrays of an ``.npz``, the first hundreds of them; none where it is no such file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()[:_MOST_ARRAYS]]
    except (OSError, ValueError, zipfile.BadZipFile):
        return []


class FeedsForm(QScrollArea):
    """One row per input; what was given for a name comes back when the name does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows: list[FeedRow] = []
        self._inputs: Sequence[Input] = ()
        self._kept: dict[str, tuple[str, str]] = {}
        self.hide()

    def show_inputs(self, inputs: Sequence[Input]) -> None:
        """Show the inputs of another run."""
        if inputs == self._inputs:
            return
        self._keep()
        self._inputs, body = inputs, QWidget()
        outer = QVBoxLayout(body)
        outer.setContentsMargins(0, 0, 6, 0)
        outer.addWidget(QLabel("Fed with", objectName="subtle"))
        grid = QGridLayout()
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(2, 4)
        self.rows = [FeedRow(one, grid, row) for row, one in enumerate(inputs)]
        for row in self.rows:
            row.take(*self._kept.get(row.name, (MADE_UP, "")))
        outer.addLayout(grid)
        outer.addStretch(1)
        self.setWidget(body)
        self.setVisible(bool(inputs))

    def _keep(self) -> None:
        for row in self.rows:
            self._kept[row.name] = row.kind.currentText(), row.value.text()

    def given(self) -> Mapping[str, str]:
        """Files and numbers by the name of the tensor."""
        return {row.name: text for row in self.rows if (text := row.given())}
