"""What the background worker does, did, and why it failed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from graphviewer.gui.words.texts import tip
from graphviewer.gui.work.jobs import Jobs, Run


class JobRow(QWidget):
    """One job: its name, how far it is, Cancel."""

    def __init__(self, run: Run, jobs: Jobs) -> None:
        super().__init__()
        self.title = QLabel(run.title, textFormat=Qt.TextFormat.PlainText)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.state = QLabel("waiting", objectName="subtle", textFormat=Qt.TextFormat.PlainText)
        self.state.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar(maximum=1000, textVisible=False)
        self.bar.setFixedWidth(160)
        self.cancel = QPushButton("Cancel")
        number = run.number
        self.cancel.clicked.connect(lambda: jobs.cancel(number))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 2, 6, 2)
        layout.addWidget(self.title, 2)
        layout.addWidget(self.state, 3)
        layout.addWidget(self.bar)
        layout.addWidget(self.cancel)

    def refresh(self, run: Run) -> None:
        """Show the state of the job."""
        self.state.setText(run.message)
        self.state.setToolTip(tip(run.message))
        self.bar.setValue(int(run.fraction * 1000))
        self.bar.setVisible(run.is_active)
        self.cancel.setVisible(run.is_active)


class JobsPanel(QWidget):
    """The jobs of this session, newest first."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._rows: dict[int, JobRow] = {}
        self.list = QListWidget(objectName="jobs")
        self.empty = QLabel("No jobs yet. What takes long runs here, in the background.", objectName="subtle")
        self.empty.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 4, 6, 4)
        layout.addWidget(self.empty)
        layout.addWidget(self.list)
        self.list.hide()
        jobs.run_changed.connect(self._show)

    def _show(self, run: Run) -> None:
        if run.number not in self._rows:
            row = self._rows[run.number] = JobRow(run, self._jobs)
            item = QListWidgetItem()
            self.list.insertItem(0, item)
            item.setSizeHint(row.sizeHint())
            self.list.setItemWidget(item, row)
            self.list.show()
            self.empty.hide()
        self._rows[run.number].refresh(run)
