"""What a node gives when the graph runs: numbers, how they are spread, an image, a table, the largest values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QTabWidget, QVBoxLayout, QWidget

from graphviewer.gui.panels.histogram import Histogram
from graphviewer.gui.panels.result_pages import ImagePage, LargestPage, TablePage
from graphviewer.gui.state.background import Background
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import tip

_PROBABILITIES = 1e-3
"""How far from 1 the sum of probabilities may be."""


class ResultView(QWidget):
    """Numbers beside pages; pages that say nothing about a result are hidden."""

    save_requested = Signal(object)  # the JSON of an output

    def __init__(self, background: Background, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._output: Mapping[str, Any] | None = None
        self.name, self.numbers = (QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText) for _ in range(2))
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.numbers.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.numbers.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.save_button = QPushButton("Save as .npy…")
        self.save_button.setToolTip("Write the values to a file that numpy reads")
        self.save_button.clicked.connect(self._save)
        self.histogram, self.image = Histogram(theme), ImagePage(background, theme)
        self.table, self.largest = TablePage(background), LargestPage(background)
        self.pages = QTabWidget()
        for page, title in (
            (self.histogram, "Histogram"),
            (self.image, "Image"),
            (self.table, "Table"),
            (self.largest, "Largest"),
        ):
            self.pages.addTab(page, title)
        self._lay_out()

    def _lay_out(self) -> None:
        left = QWidget(minimumWidth=170, maximumWidth=260)
        column = QVBoxLayout(left)
        column.setContentsMargins(4, 2, 4, 2)
        column.addWidget(self.name)
        column.addWidget(self.numbers, 1)
        self.pages.setCornerWidget(self.save_button)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(left, 2)
        line.addWidget(self.pages, 5)

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self.histogram.set_theme(theme)
        self.image.set_theme(theme)

    def show_output(self, output: Mapping[str, Any]) -> None:
        """Show one output of a run."""
        if output is self._output:
            return
        self._output = output
        self.name.setText(output["name"].replace("/", "/\u200b"))  # where a line may end
        self.name.setToolTip(tip(output["name"]))
        self.numbers.setText(numbers_text(output))
        self.save_button.setEnabled(output["file"] is not None)
        self.histogram.show_bars(output["bars"], output["min"] or 0.0, output["max"] or 0.0)
        fits = {
            self.histogram: bool(output["bars"]),
            self.image: self.image.show_output(output),
            self.table: self.table.show_output(output),
            self.largest: self.largest.show_output(output),
        }
        for page, is_fit in fits.items():
            self.pages.setTabVisible(self.pages.indexOf(page), is_fit)
        if fits[self.image] and len(output["shape"]) > 2:
            self.pages.setCurrentWidget(self.image)
        elif fits[self.largest] and is_probability(output):
            self.pages.setCurrentWidget(self.largest)
        else:
            self.pages.setCurrentWidget(self.histogram if fits[self.histogram] else self.table)

    def _save(self) -> None:
        if self._output is not None:
            self.save_requested.emit(self._output)


def is_probability(output: Mapping[str, Any]) -> bool:
    """Whether the last axis of a result can be probabilities: none is negative, and they sum to 1 on average."""
    shape, mean = output["shape"], output["mean"]
    if not shape or mean is None or output["not_finite"] or not output["dtype"].startswith(("float", "bfloat")):
        return False
    return output["min"] >= 0 and abs(mean * shape[-1] - 1) <= _PROBABILITIES


def numbers_text(output: Mapping[str, Any]) -> str:
    """What is known of a result, a line each."""
    shape = ", ".join(f"{size:,}" for size in output["shape"])
    lines = [f"{output['dtype']} [{shape}]"]
    if output["min"] is not None:
        lines += [f"{key} {output[key]:.6g}" for key in ("min", "max")]
        mean, std = (f"{one:.5g}" if one is not None else "too large" for one in (output["mean"], output["std"]))
        odd = "" if output["not_finite"] else ", no NaN or inf"
        lines += [f"mean {mean}", f"std {std}", f"{output['zeros']:,} zeros{odd}"]
    if output["not_finite"]:
        lines.append(f"⚠ {output['nan']:,} NaN, {output['infinite']:,} infinite")
    return "\n".join(lines)
