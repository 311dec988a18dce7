"""The Qt stylesheet: flat, quiet, one accent; colours come from the theme, shapes and spacing from here."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from graphviewer.resources import resource

if TYPE_CHECKING:
    from graphviewer.gui.style.theme import Theme

_TEMPLATE = Template("""
QWidget { color: $text; }
QMainWindow, QDialog { background: $background; }
QMainWindow::separator { background: $border; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QSplitter::handle:hover { background: $accent; }

QMenuBar { background: $background; padding: 2px 4px; }
QMenuBar::item { padding: 4px 9px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $surface; border: 1px solid $border; border-radius: 8px; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 10px; border-radius: 5px; }
QMenu::item:selected { background: $accent_soft; color: $text; }
QMenu::item:disabled { color: $border_strong; }
QMenu::separator { height: 1px; background: $border; margin: 5px 8px; }
QMenu::icon { padding-left: 8px; }

QToolBar { background: $background; border: none; border-bottom: 1px solid $border; spacing: 2px; padding: 4px 6px; }
QToolBar::separator { background: $border; width: 1px; margin: 5px 5px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px 6px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed { background: $pressed; }
QToolButton:checked { background: $accent_soft; border-color: $accent; }
QToolButton:disabled { color: $border_strong; }
QToolButton#chip { background: $surface; border: 1px solid $border; border-radius: 10px; padding: 1px 4px;
    font-size: 12px; }
QToolButton#chip:hover { border-color: $border_strong; }
QToolButton#chip:!checked { background: transparent; color: $muted; border-style: dashed; }
QToolButton#chip:checked { background: $surface; border-color: $border; }

QPushButton { background: $surface; border: 1px solid $border; border-radius: 6px; padding: 5px 14px; }
QPushButton:hover { border-color: $border_strong; background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:default, QPushButton#primary { background: $accent; color: $accent_text; border-color: $accent; }
QPushButton:disabled, QPushButton#primary:disabled {
    color: $border_strong; background: $background; border-color: $border; }
QPushButton:focus, QToolButton:focus { border-color: $accent; }

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {
    background: $surface; border: 1px solid $border; border-radius: 6px; padding: 4px 7px;
    selection-background-color: $accent; selection-color: $accent_text; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border-color: $accent; }
QLineEdit:disabled, QComboBox:disabled, QSpinBox:disabled { color: $border_strong; background: $background; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url("$icons/chevron-down.svg"); width: 12px; height: 12px; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
    border: none; background: transparent; width: 18px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("$icons/chevron-up.svg"); width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("$icons/chevron-down.svg"); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $border; outline: none; }

QTreeView, QListView, QTableView, QTreeWidget, QListWidget, QTableWidget {
    background: $surface; alternate-background-color: $raised; border: none; outline: none;
    selection-background-color: $accent_soft; selection-color: $text; gridline-color: $border; }
QTreeView::item, QListView::item, #outline::item { padding: 3px 4px; border-radius: 4px; }
QTreeView::item:hover, QListView::item:hover, #outline::item:hover { background: $hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected {
    background: $accent_soft; color: $text; }
QHeaderView { background: $surface; }
QHeaderView::section { background: $surface; color: $muted; border: none; border-bottom: 1px solid $border;
    padding: 5px 8px; }

QTabWidget::pane { border: none; border-top: 1px solid $border; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 6px 12px; border: none;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tear { width: 0; }
QTabBar QToolButton { padding: 0; }
QTabBar QToolButton#closeTab { padding: 4px 6px; }

QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; }
QDockWidget::title { background: $background; color: $muted; padding: 6px 8px; text-align: left; }
QGroupBox { border: 1px solid $border; border-radius: 8px; margin-top: 9px; padding: 10px 8px 8px 8px; }
QGroupBox::title { subcontrol-origin: margin; left: 10px; padding: 0 4px; color: $muted; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: $border_strong; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QProgressBar { background: $hover; border: none; border-radius: 3px; max-height: 6px; text-align: center; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QStatusBar { background: $background; border-top: 1px solid $border; color: $muted; }
QStatusBar::item { border: none; }
QToolTip { background: $tooltip; color: $tooltip_text; border: 1px solid $tooltip; padding: 5px 7px; }

QToolButton#cardHeading { font-weight: bold; text-align: left; }
QPushButton#find { color: $muted; text-align: left; padding: 5px 12px; }
QCheckBox { spacing: 7px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid $border_strong; border-radius: 4px;
    background: $surface; }
QCheckBox::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url("$icons/tick.svg"); }
QLabel#subtle, QLabel#hint { color: $muted; }
QLabel#problem, QLabel#error { color: $error; }
QLabel#warning { color: $warning; }
QLabel#success { color: $success; }
QLabel#heading { font-size: 15px; }
QLabel#title { font-size: 22px; }
QLabel#breadcrumb, QLabel#totals { color: $muted; }
QLabel#paneTitle { color: $muted; padding: 4px 10px; background: $background; border-bottom: 1px solid $border; }
QWidget#welcome { background: $surface; }
QFrame#banner { background: $error_soft; border: none; border-bottom: 1px solid $error; }
QFrame#notice { background: $accent_soft; border: none; border-bottom: 1px solid $accent; }
QFrame#choiceBar { background: $background; border: none; border-bottom: 1px solid $border; }
QToolButton#choice { background: $surface; border: 1px solid $border; padding: 2px 9px; }
QToolButton#choice:checked { background: $accent_soft; border-color: $accent; }
QFrame#banner QLabel { color: $error; }
QTextBrowser#inspector, QTextBrowser#searchHelp { border: none; border-radius: 0; padding: 6px; }
QDialog#palette { background: $surface; border: 1px solid $border_strong; border-radius: 10px; }
QFrame#card { background: $surface; border: 1px solid $border; border-radius: 10px; }
""")


def stylesheet(theme: Theme) -> str:
    """The window's stylesheet in the colours of a theme."""
    prefix = "window."
    colors = {token.removeprefix(prefix): c.name() for token, c in theme.tokens.items() if token.startswith(prefix)}
    return _TEMPLATE.substitute(colors, icons=resource("icons").as_posix())
