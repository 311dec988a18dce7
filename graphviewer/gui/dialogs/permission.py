"""Before a graph runs: what it could touch, and whether it may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

_SHOWN = 12


def ask_permission(touches: Sequence[Mapping[str, str]], parent: QWidget | None = None) -> bool:
    """List what a graph could touch outside itself when it runs, and ask; the answer by default is no."""
    lines = [f"{one['kind']}: {one['node']} ({one['op']})" for one in touches[:_SHOWN]]
    if len(touches) > _SHOWN:
        lines.append(f"and {len(touches) - _SHOWN:,} more")
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle("Run this graph?")
    box.setText("Running this graph could touch more than the graph itself. Run it only if you trust the file.")
    box.setInformativeText("\n".join(lines))
    run = box.addButton("Run It", QMessageBox.ButtonRole.AcceptRole)
    stay = box.addButton("Don't Run", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.exec()
    return box.clickedButton() is run
