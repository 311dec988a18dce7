"""What the window shows before a file is open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

_TEXT = """<h2>Open a TensorFlow graph</h2>
<p>Drop a file here: a <b>.pb</b> or <b>.pbtxt</b> graph, a training run's <b>.meta</b> or checkpoint, a SavedModel,
or the folder that holds them. Nothing in a file is run by opening it.</p>
<p>Then: pick the output by clicking it and pressing <b>O</b> · see what only training needs · freeze it in the
background · compare before and after.</p>"""


class Welcome(QWidget):
    """Open, sample, recent files."""

    open_clicked = Signal()
    sample_clicked = Signal()
    recent_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        text = QLabel(_TEXT, wordWrap=True, textFormat=Qt.TextFormat.RichText)
        text.setMaximumWidth(620)
        self.open_button = QPushButton("Open a file…", objectName="primary")
        self.sample_button = QPushButton("Open the sample")
        self.open_button.clicked.connect(self.open_clicked)
        self.sample_button.clicked.connect(self.sample_clicked)
        self.recent = QLabel(textFormat=Qt.TextFormat.RichText)
        self.recent.linkActivated.connect(self.recent_clicked)
        buttons = QHBoxLayout()
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.sample_button)
        buttons.addStretch(1)
        column = QVBoxLayout()
        column.addStretch(2)
        for part in (text, self.recent):
            column.addWidget(part)
            if part is text:
                column.addSpacing(8)
                column.addLayout(buttons)
                column.addSpacing(12)
        column.addStretch(3)
        row = QHBoxLayout(self)
        row.addStretch(1)
        row.addLayout(column, 4)
        row.addStretch(1)

    def set_recent(self, paths: list[str]) -> None:
        """List files opened before."""
        from html import escape

        links = "".join(
            f"<p><a href='{escape(path, quote=True)}'>{escape(Path(path).name)}</a> "
            f"<span>{escape(str(Path(path).parent))}</span></p>"
            for path in paths
        )
        self.recent.setText(f"<h4>Recent</h4>{links}" if links else "")
