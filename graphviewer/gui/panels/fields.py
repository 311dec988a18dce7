"""Fields of an operation's form that are more than one of Qt's widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.words.texts import tip

if TYPE_CHECKING:
    from graphviewer.model.document import Document
    from graphviewer.operations.registry import Choice


class CheckpointField(QWidget):
    """The path of a checkpoint, typed or picked; empty means the one beside the graph."""

    changed = Signal()  # to a path that is typed to its end, or picked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = QLineEdit(clearButtonEnabled=True)
        pick = QToolButton(text="…")
        pick.setToolTip("Pick a checkpoint's .index file")
        pick.clicked.connect(self._pick)
        self.path.editingFinished.connect(self.changed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.path)
        layout.addWidget(pick)

    def show_default(self, document: Document | None) -> None:
        """Say which checkpoint is taken where none is typed."""
        found = document.checkpoint if document is not None else None
        if found is None:
            text, told = "none found", "No checkpoint lies beside the graph: type the prefix of one, or pick it."
        elif document is not None and document.kind == "savedmodel":
            text, told = "the SavedModel's", f"The values that the SavedModel holds: {found}"
        else:
            text, told = found.name, str(found)
        self.path.setPlaceholderText(text)
        self.path.setToolTip(tip(told))

    def _pick(self) -> None:
        kinds = "Checkpoints (*.index *.ckpt checkpoint);;All files (*)"
        chosen, _ = QFileDialog.getOpenFileName(self, "Checkpoint", self.path.text(), kinds)
        if chosen:
            self.path.setText(chosen)
            self.changed.emit()


class ChoiceField(QWidget):
    """One of a few values that the document tells, each with what choosing it would mean."""

    def __init__(self, default: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._default = default
        self._choices: Sequence[Choice] = ()
        self.box = QComboBox()
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(8)
        self.box.setPlaceholderText("Choose one")
        self.reason = QLabel(wordWrap=True, objectName="subtle", textFormat=Qt.TextFormat.PlainText)
        self.reason.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.MinimumExpanding)
        self.box.currentIndexChanged.connect(self._explain)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.box)
        layout.addWidget(self.reason)

    @property
    def is_needed(self) -> bool:
        """Whether there is something to choose."""
        return len(self._choices) > 1

    @property
    def is_missing(self) -> bool:
        """Whether the user must choose and has not."""
        return self.is_needed and self.box.currentIndex() < 0

    def value(self) -> str:
        """The chosen value; the default where there is nothing to choose."""
        at = self.box.currentIndex()
        return self._choices[at].id if self.is_needed and at >= 0 else self._default

    def offer(self, choices: Sequence[Choice]) -> None:
        """Offer other values; what was chosen stays chosen where it is among them."""
        ids = [choice.id for choice in choices]
        chosen = self.value()
        self._choices = choices
        self.box.blockSignals(True)
        self.box.clear()
        for at, choice in enumerate(choices):
            self.box.addItem(choice.label)
            self.box.setItemData(at, tip(choice.reason), Qt.ItemDataRole.ToolTipRole)
        self.box.setCurrentIndex(ids.index(chosen) if chosen in ids else -1)
        self.box.blockSignals(False)
        self._explain()

    def _explain(self) -> None:
        at = self.box.currentIndex()
        missing = "They give different values: choose whose to take." if self._choices else ""
        reason = self._choices[at].reason if at >= 0 else ""
        self.reason.setText(f"{reason[:1].upper()}{reason[1:]}." if reason else missing)
        self.reason.setObjectName("subtle" if reason else "warning")
        self.reason.style().polish(self.reason)
