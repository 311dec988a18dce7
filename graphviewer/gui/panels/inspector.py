"""All about the selected node or scope, as a page with links."""

from __future__ import annotations

from html import escape
from urllib.parse import unquote

from PySide6.QtCore import QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTextBrowser, QVBoxLayout, QWidget

from graphviewer.gui.panels.signatures import choose_signature
from graphviewer.gui.state.session import Selection, Session
from graphviewer.gui.state.versions import Comparison, Version
from graphviewer.gui.words.describe import describe_document, describe_node, describe_scope, link, problem_lines
from graphviewer.gui.words.describe_change import describe_change, describe_comparison
from graphviewer.gui.words.texts import elided
from graphviewer.model.bodies import extended

_WELCOME = "<p class='subtle'>Click a node or a scope to see what it is, what feeds it and what it feeds.</p>"
_SIGNATURE = "signature"


class Inspector(QWidget):
    """Shows the session's selection; links select other nodes."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: str | None = None
        self.page = QTextBrowser(openLinks=False, objectName="inspector")
        self.page.anchorClicked.connect(self._follow)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.page)
        signals = (
            session.selection_changed,
            session.current_changed,
            session.overlay_changed,
            session.endpoints_changed,
        )
        for signal in signals:
            signal.connect(self.refresh)
        self.refresh()

    def set_style(self, css: str) -> None:
        """Use another stylesheet for the page."""
        self.page.document().setDefaultStyleSheet(css)
        self._shown = None
        self.refresh()

    def refresh(self) -> None:
        """Describe the selection in the current version."""
        html = self._html()
        if html != self._shown:  # setting a long page takes 10 ms, and another overlay seldom changes what it says
            self._shown = html
            self.page.setHtml(html)

    def _html(self) -> str:
        version, selection, current = self._session.version, self._session.selection, self._session.current
        if version is None:
            return _WELCOME
        if selection is None:
            is_comparison = isinstance(current, Comparison)
            return describe_comparison(current) if is_comparison else describe_document(version.document) + _WELCOME
        if isinstance(current, Comparison):
            version, selection = current.inspected(selection)
        item = selection.item(version.document.unfolded.scopes)
        if selection.path in self._session.stacks:
            members = "".join(f"<p>{link('scope', path)}</p>" for path in self._session.stacks[selection.path])
            return f"<h3>{escape(elided(selection.path))}</h3><p>scopes that are equal inside</p>{members}"
        if item is None:
            return f"<h3>{escape(elided(selection.path))}</h3><p class='subtle'>Not in this version.</p>"
        is_change = isinstance(current, Comparison) and not selection.is_scope
        change = describe_change(current, self._session.selection) if is_change else ""
        problems = "" if selection.is_scope else problem_lines(version.problems or (), selection.path)
        return self._page(version, item, change) + problems

    @staticmethod
    def _page(version: Version, item: int, change: str) -> str:
        document = version.document.unfolded
        node = int(document.scopes.node[item])
        roles = None if version.roles is None else extended(version.roles, document)
        return describe_scope(document, item, roles) if node < 0 else describe_node(document, node, roles, change)

    def _follow(self, url: QUrl) -> None:
        kind, _, path = url.toString(QUrl.ComponentFormattingOption.FullyEncoded).partition(":")
        if kind == "copy":
            QGuiApplication.clipboard().setText(unquote(path))
            self._session.said.emit("The name is on the clipboard.")
        elif kind == _SIGNATURE:
            choose_signature(self._session, unquote(path))
        else:
            self._session.select(Selection(unquote(path), kind == "scope"), reveal=True)
