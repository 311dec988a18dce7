"""Settings, keys and about: dialogs that are generated from what they describe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from graphviewer import __version__
from graphviewer.gui.actions import ActionSpec
from graphviewer.gui.state.settings import Settings, choices

ABOUT = f"""<h2>graphviewer {__version__}</h2>
<p>See, strip, freeze and compare TensorFlow graphs.</p>
<p>Op table and message descriptors: TensorFlow, Apache License 2.0.<br>
Font: DejaVu Sans, Bitstream Vera licence.</p>"""


class SettingsDialog(QDialog):
    """A form made from the fields of ``Settings``."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._before = settings
        self._widgets: dict[str, QCheckBox | QComboBox] = {}
        form = QFormLayout()
        for one in fields(Settings):
            widget = self._widgets[one.name] = self._widget(one.name, getattr(settings, one.name))
            widget.setToolTip(one.metadata["doc"])
            form.addRow(one.metadata["label"], widget)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(form)
        layout.addWidget(buttons)

    @staticmethod
    def _widget(name: str, value: object) -> QCheckBox | QComboBox:
        if isinstance(value, bool):
            return QCheckBox(checked=value)
        box = QComboBox()
        box.addItems(choices(name))
        box.setCurrentText(str(value))
        return box

    def settings(self) -> Settings:
        """What the form says."""
        values = {
            name: widget.isChecked() if isinstance(widget, QCheckBox) else widget.currentText()
            for name, widget in self._widgets.items()
        }
        return self._before.but(**values)


def keys_table(actions: Iterable[ActionSpec]) -> str:
    """Every shortcut, by menu, as HTML."""
    rows, menu = [], ""
    for action in actions:
        if action.menu != menu:
            menu = action.menu
            rows.append(f"<tr><th align='left' colspan='2'><br>{menu}</th></tr>")
        if action.shortcut:
            keys = " or ".join(f"<b>{escape(key)}</b>" for key in action.shortcut.split("|"))
            rows.append(f"<tr><td>{escape(action.text)}&nbsp;&nbsp;</td><td>{keys}</td></tr>")
    rows.append("<tr><th align='left' colspan='2'><br>Canvas</th></tr>")
    mouse = (
        ("Walk along edges", "arrow keys"),
        ("Expand or collapse a scope", "double click or Enter"),
        ("Zoom", "wheel, or Ctrl+wheel"),
        ("Pan", "drag, or two fingers"),
    )
    rows += [f"<tr><td>{text}&nbsp;&nbsp;</td><td><b>{keys}</b></td></tr>" for text, keys in mouse]
    return f"<table>{''.join(rows)}</table>"


def text_dialog(title: str, html: str, parent: QWidget | None = None) -> QDialog:
    """A dialog that shows a page and can be closed."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    label = QLabel(html, textFormat=Qt.TextFormat.RichText, margin=12)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
    area = QScrollArea(widgetResizable=True)
    area.setWidget(label)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    layout = QVBoxLayout(dialog)
    layout.addWidget(area)
    layout.addWidget(buttons)
    dialog.resize(460, 560)
    return dialog
