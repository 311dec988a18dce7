"""The values of a tensor as an image, as a table, and the largest of them. Files are read in the background."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from graphviewer.errors import GraphViewerError
from graphviewer.gui.panels import tensor_parts
from graphviewer.gui.panels.picture import PictureView
from graphviewer.gui.panels.tables import RIGHT, Index, TableModel
from graphviewer.gui.panels.tensor_parts import Axes, Cells, Picture, image_axes
from graphviewer.gui.state.background import Background
from graphviewer.gui.style.theme import Theme

TOP = 10
_MOST_SPIN = 2**31 - 1
_COLUMN, _ROW = 84, 22


class Page(QWidget):
    """A line of choices above a view of part of the values."""

    def __init__(self, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._file = Path()
        self.choices = QHBoxLayout()
        self.choices.setSpacing(6)
        self.note = QLabel(objectName="subtle", textFormat=Qt.TextFormat.PlainText)
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(4, 4, 4, 4)
        self.column.setSpacing(4)
        self.column.addLayout(self.choices)

    def _read(self, look: Callable[[Any], Any], show: Callable[[Any], None]) -> None:
        """Look at the array in a background thread; the newest question of a page wins."""
        file = self._file

        def failed(error: GraphViewerError) -> None:
            self.note.setText(str(error))

        self._background.submit("values", f"values-{id(self)}", lambda: look(tensor_parts.read(file)), show, failed)


class ImagePage(Page):
    """One image, its channels in grey or the first three as colours."""

    def __init__(self, background: Background, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(background, parent)
        self._axes: Sequence[Axes] = ()
        self._shape: Sequence[int] = ()
        self.axes, self.rgb = QComboBox(), QCheckBox("RGB")
        self.axes.setToolTip("What the axes are: N images, height, width, channels")
        self.rgb.setToolTip("The first three channels as red, green and blue, on one scale")
        self.batch, self.channel = _spin("image "), _spin("channel ")
        self.view = PictureView(theme)
        self.note.setWordWrap(True)
        beside = QVBoxLayout()
        for widget in (self.axes, self.batch, self.channel, self.rgb, self.note):
            beside.addWidget(widget)
        beside.addStretch(1)
        line = QHBoxLayout()
        line.addLayout(beside)
        line.addWidget(self.view, 1)
        self.column.addLayout(line, 1)
        self.axes.activated.connect(lambda _at: self._choose_axes())
        self.rgb.toggled.connect(lambda _on: self._ask())
        for spin in (self.batch, self.channel):
            spin.valueChanged.connect(lambda _value: self._ask())

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.view.set_theme(theme)

    def show_output(self, output: Mapping[str, Any]) -> bool:
        """Show a result; whether it can be an image."""
        self._shape, self._file = output["shape"], Path(output["file"] or "")
        self._axes = image_axes(self._shape) if output["dtype"] != "string" and output["file"] else ()
        self.view.show_picture(None)
        self.axes.clear()
        for one in self._axes:
            self.axes.addItem(one.name)
        self.axes.setVisible(len(self._axes) > 1)
        if self._axes:
            self._choose_axes()
        return bool(self._axes)

    def _choose_axes(self) -> None:
        axes = self._axes[self.axes.currentIndex()]
        channels = 1 if axes.channel is None else self._shape[axes.channel]
        _limit(self.batch, 1 if axes.batch is None else self._shape[axes.batch])
        _limit(self.channel, channels)
        self.rgb.blockSignals(True)
        self.rgb.setVisible(channels in (3, 4))
        self.rgb.setChecked(channels in (3, 4))
        self.rgb.blockSignals(False)
        self._ask()

    def _ask(self) -> None:
        is_colour = self.rgb.isChecked()
        self.channel.setEnabled(not is_colour)
        axes, channel = self._axes[self.axes.currentIndex()], None if is_colour else self.channel.value()
        self._read(partial(tensor_parts.picture, axes=axes, batch=self.batch.value(), channel=channel), self._show)

    def _show(self, found: Picture) -> None:
        self.view.show_picture(found)
        parts = [f"black {found.least:.4g}, white {found.most:.4g}"]
        if found.odd:
            parts.append(f"⚠ {found.odd:,} NaN or infinite, black")
        if found.step > 1:
            parts.append(f"every {found.step}th row and column")
        self.note.setText("; ".join(parts))


class _Cells(TableModel):
    """Texts in rows and columns, both counted from 0."""

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or not self.rows else len(self.rows[0])

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return str(section) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return RIGHT if role == Qt.ItemDataRole.TextAlignmentRole else super().data(index, role)


class _Largest(TableModel):
    """Places in a vector, and what is there."""

    HEADINGS = ("Index", "Value")
    NUMBERS = frozenset({0, 1})


class TablePage(Page):
    """The first rows and columns of a two-dimensional slice."""

    def __init__(self, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(background, parent)
        self.model = _Cells(self)
        self.table = _table(self.model)
        self.spins: list[QSpinBox] = []
        self.choices.addWidget(self.note, 1)
        self.column.addWidget(self.table, 1)

    def show_output(self, output: Mapping[str, Any]) -> bool:
        """Show a result; whether it has cells."""
        self._file = Path(output["file"] or "")
        self.model.show_rows(())
        while self.spins:
            spin = self.spins.pop()
            self.choices.removeWidget(spin)
            spin.hide()  # it lives until the next turn of the event loop
            spin.deleteLater()
        if not output["file"] or 0 in output["shape"]:
            return False
        for at, size in enumerate(tensor_parts.leading_axes(output["shape"])):
            spin = _spin(f"axis {at}: ")
            self.choices.insertWidget(at, spin)
            _limit(spin, size)
            spin.valueChanged.connect(lambda _value: self._ask())
            self.spins.append(spin)
        self._ask()
        return True

    def _ask(self) -> None:
        self._read(partial(tensor_parts.cells, slice_=[spin.value() for spin in self.spins]), self._show)

    def _show(self, found: Cells) -> None:
        self.model.show_rows(found.rows)
        kinds = (("rows", tensor_parts.MOST_ROWS, found.height), ("columns", tensor_parts.MOST_COLUMNS, found.width))
        parts = [f"first {most:,} of {count:,} {kind}" for kind, most, count in kinds if count > most]
        self.note.setText(", ".join(parts))


class LargestPage(Page):
    """The largest values of a vector with their index: what a classifier says."""

    def __init__(self, background: Background, parent: QWidget | None = None) -> None:
        super().__init__(background, parent)
        self.model = _Largest(self)
        self.table = _table(self.model)
        self.row = _spin("row ")
        self.choices.addWidget(self.row)
        self.choices.addWidget(self.note, 1)
        self.column.addWidget(self.table, 1)
        self.row.valueChanged.connect(lambda _value: self._ask())

    def show_output(self, output: Mapping[str, Any]) -> bool:
        """Show a result; whether it is one vector or several."""
        shape, self._file = output["shape"], Path(output["file"] or "")
        self.model.show_rows(())
        is_vector = bool(output["file"]) and 1 <= len(shape) <= 2 and 0 not in shape and shape[-1] > 1
        if not is_vector or output["min"] is None:
            return False
        _limit(self.row, math.prod(shape[:-1]))
        self._ask()
        return True

    def _ask(self) -> None:
        self._read(partial(tensor_parts.largest, row=self.row.value(), count=TOP), self._show)

    def _show(self, found: Sequence[tuple[int, str]]) -> None:
        self.model.show_rows([(f"{at:,}", value) for at, value in found])
        self.note.setText("")


def _spin(prefix: str) -> QSpinBox:
    return QSpinBox(prefix=prefix, keyboardTracking=False, visible=False)


def _limit(spin: QSpinBox, count: int) -> None:
    """Let a spin box choose one of ``count``; begin with the first, and hide it where there is but one."""
    spin.blockSignals(True)
    spin.setRange(0, min(count - 1, _MOST_SPIN))
    spin.setValue(0)
    spin.setSuffix(f" of {count:,}")
    spin.setToolTip(f"0 to {count - 1:,}")
    spin.setVisible(count > 1)
    spin.blockSignals(False)


def _table(model: TableModel) -> QTableView:
    table = QTableView(wordWrap=False)
    table.setModel(model)
    table.verticalHeader().setDefaultSectionSize(_ROW)
    table.horizontalHeader().setDefaultSectionSize(_COLUMN)
    table.horizontalHeader().setHighlightSections(False)
    table.verticalHeader().setHighlightSections(False)
    return table
