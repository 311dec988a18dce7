"""Variables as rows: what graph and checkpoint say about each, and its values as far as they were asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from graphviewer.gui.panels.tables import Index, TableModel
from graphviewer.gui.style.theme import Theme
from graphviewer.gui.words.texts import tip

STATUSES = {
    "only_graph": "✕ only graph",
    "differs": "≠ differs",
    "only_checkpoint": "+ only checkpoint",
    "both": "✓ in both",
}
_TOKENS = {"both": "success", "only_graph": "error", "only_checkpoint": "muted", "differs": "warning"}
COLUMNS = ("Status", "Variable", "Checkpoint", "dtype", "Shape", "Bytes", "Parts", "Min", "Max", "Mean")
_BYTES, _PARTS = COLUMNS.index("Bytes"), COLUMNS.index("Parts")
_VALUES = {COLUMNS.index("Min"): "least", COLUMNS.index("Max"): "most", COLUMNS.index("Mean"): "mean"}
_SORT = Qt.ItemDataRole.UserRole
_NUMBER = re.compile(r"[0-9]+")
STATUS = Qt.ItemDataRole.UserRole + 1


class VariablesModel(TableModel):
    """The rows of the ``variables`` job."""

    HEADINGS = COLUMNS
    NUMBERS = frozenset({_BYTES, _PARTS, *_VALUES})

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.values: dict[str, Mapping[str, Any]] = {}
        self._names: Mapping[str, str] = {}

    def set_rows(
        self,
        rows: Sequence[Mapping[str, Any]],
        values: dict[str, Mapping[str, Any]],
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Show other variables.

        Args:
            rows: of the job.
            values: by key, what the job ``values`` said; grows while the rows are shown.
            names: by key, what to call a variable that no graph has a name for.
        """
        self.values, self._names = values, names
        self.show_rows(rows)

    def add_values(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Fill in values that have arrived."""
        self.values.update(values)
        self.refresh_columns(min(_VALUES), max(_VALUES))

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.InitialSortOrderRole and section in self.NUMBERS:
            return Qt.SortOrder.DescendingOrder  # the largest are what one looks for
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role == _SORT:
            return self._sort_key(row, column)
        if role == STATUS:
            return row["status"]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip((row["key"] if column == 1 else None) or self.text(row, column))
        if role == Qt.ItemDataRole.ForegroundRole and column == 0:
            return self.theme.color(f"window.{_TOKENS[row['status']]}")
        return super().data(index, role)

    def text(self, row: Mapping[str, Any], column: int) -> str:
        if column in _VALUES:
            number = self.values.get(row["key"] or "", {}).get(_VALUES[column])
            return "" if number is None else f"{number:.5g}"
        texts = (
            lambda: STATUSES[row["status"]],
            lambda: row["name"] or self._names.get(row["key"], row["key"]),
            lambda: note(row),
            lambda: row["dtype"],
            lambda: "unknown" if row["shape"] is None else str(row["shape"]).replace("-1", "?"),
            lambda: "" if row["bytes"] is None else f"{row['bytes']:,}",
            lambda: str(len(row["slices"]) or ""),
        )
        return texts[column]()

    def _sort_key(self, row: Mapping[str, Any], column: int) -> Any:
        if column in _VALUES:
            number = self.values.get(row["key"] or "", {}).get(_VALUES[column])
            return float("-inf") if number is None else number
        if column == _BYTES:
            return -1.0 if row["bytes"] is None else float(row["bytes"])
        if column == _PARTS:
            return float(len(row["slices"]))
        return _NUMBER.sub(lambda found: found[0].zfill(9), self.text(row, column))  # 9 before 10


def note(row: Mapping[str, Any]) -> str:
    """What the checkpoint has in its place: another key, another shape, or names that are near."""
    if row["held"]:
        return f"has {row['held']}" + (f" as {row['key']}" if row["key"] != row["name"] else "")
    if row["nearest"]:
        return f"nearest: {', '.join(row['nearest'])}"
    return row["key"] if row["key"] and row["name"] and row["key"] != row["name"] else ""
