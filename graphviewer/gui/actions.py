"""Every action of the window, once: menus, toolbar, palette and the shortcut sheet come from this tuple."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphviewer.gui.window import Window


def _always(_window: Window) -> bool:
    return True


def _has_graph(window: Window) -> bool:
    return window.session.version is not None


def _has_node(window: Window) -> bool:
    selection, version = window.session.selection, window.session.version
    if selection is None or selection.is_scope or version is None:
        return False
    return selection.path in version.document.unfolded.graph.index


def _has_selection(window: Window) -> bool:
    return _has_graph(window) and window.session.selection is not None


def _has_ends(window: Window) -> bool:
    return _has_graph(window) and window.exploration.ends is not None


def _has_levels(window: Window) -> bool:
    return window.exploration.has_levels


def _can_isolate(window: Window) -> bool:
    return not window.stage.is_comparing and (_has_selection(window) or bool(window.lenses.kind))


def _is_isolated(window: Window) -> bool:
    return window.exploration.is_isolated


def _has_hits(window: Window) -> bool:
    return window.furniture.search.has_hits


def _has_result(window: Window) -> bool:
    version = window.session.version
    return window.stage.is_comparing or (version is not None and version.parent is not None)


def _has_comparison(window: Window) -> bool:
    return window.stage.is_comparing


def _can_go_back(window: Window) -> bool:
    return window.session.can_go_back


def _can_go_forward(window: Window) -> bool:
    return window.session.can_go_forward


@dataclass(frozen=True)
class ActionSpec:
    """One action.

    Attributes:
        id: stable name, also of its icon in resources/icons where ``icon`` is true.
        shortcut: keys, several separated by ``|``.
        menu: the menu it stands in; the order of this file is the order in the menu.
        in_toolbar: it has a button.
        enabled: asked whenever the state of the window changes.
        words: what people who look for it type, beside words of its text.
    """

    id: str
    text: str
    menu: str
    run: Callable[[Window], None]
    shortcut: str = ""
    icon: str = ""
    in_toolbar: bool = False
    enabled: Callable[[Window], bool] = _always
    words: str = ""


EXPLORATION: tuple[ActionSpec, ...] = (
    ActionSpec(
        "ancestors",
        "Light Up Ancestors",
        "Graph",
        lambda w: w.exploration.trace("ancestors"),
        "A",
        "",
        False,
        _has_selection,
    ),
    ActionSpec(
        "descendants",
        "Light Up Descendants",
        "Graph",
        lambda w: w.exploration.trace("descendants"),
        "D",
        "",
        False,
        _has_selection,
    ),
    ActionSpec("both", "Light Up Both", "Graph", lambda w: w.exploration.trace("both"), "B", "", False, _has_selection),
    ActionSpec("more", "One Level More", "Graph", lambda w: w.exploration.more(), "]", enabled=_has_levels),
    ActionSpec("fewer", "One Level Less", "Graph", lambda w: w.exploration.fewer(), "[", enabled=_has_levels),
    ActionSpec("path", "Light Up Path Between", "Graph", lambda w: w.exploration.find_path(), "P", enabled=_has_ends),
    ActionSpec("isolate", "Isolate", "Graph", lambda w: w.exploration.isolate(), "Shift+I", enabled=_can_isolate),
    ActionSpec("show-all", "Show All", "Graph", lambda w: w.exploration.show_all(), "Shift+A", enabled=_is_isolated),
)

BOOKMARKS: tuple[ActionSpec, ...] = tuple(
    ActionSpec(
        f"bookmark-{number}",
        f"Bookmark {number}",
        "Graph/Bookmarks",
        lambda w, number=number: w.exploration.go_to_bookmark(number),
        str(number),
        enabled=lambda w, number=number: w.exploration.bookmark(number) is not None,
    )
    for number in range(1, 10)
) + tuple(
    ActionSpec(
        f"set-bookmark-{number}",
        f"Set Bookmark {number}",
        "Graph/Bookmarks",
        lambda w, number=number: w.exploration.set_bookmark(number),
        f"Ctrl+{number}",
        enabled=_has_selection,
    )
    for number in range(1, 10)
)

ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("open", "Open…", "File", lambda w: w.files.ask_open(), "Ctrl+O", "open", True),
    ActionSpec("open-folder", "Open Folder…", "File", lambda w: w.files.ask_open_folder(), "Ctrl+Shift+O"),
    ActionSpec("sample", "Open Sample", "File", lambda w: w.open_sample()),
    ActionSpec("save", "Save As…", "File", lambda w: w.files.ask_save(), "Ctrl+S", "save", True, _has_graph),
    ActionSpec(
        "picture",
        "Save Picture of the Whole Graph…",
        "File",
        lambda w: w.files.ask_picture(),
        enabled=_has_graph,
        words="image png svg screenshot export",
    ),
    ActionSpec(
        "picture-view",
        "Save Picture of the View…",
        "File",
        lambda w: w.files.ask_picture_of_view(),
        enabled=_has_graph,
        words="image png svg screenshot export",
    ),
    ActionSpec("close", "Close Tab", "File", lambda w: w.close_tab(), "Ctrl+W", enabled=_has_graph),
    ActionSpec("quit", "Quit", "File", lambda w: w.close(), "Ctrl+Q"),
    ActionSpec("copy-name", "Copy Name", "Edit", lambda w: w.copy_name(), "Ctrl+C", enabled=_has_selection),
    ActionSpec("copy-shell", "Copy as Shell Commands", "Edit", lambda w: w.copy_history("shell"), enabled=_has_result),
    ActionSpec("copy-python", "Copy as Python", "Edit", lambda w: w.copy_history("python"), enabled=_has_result),
    ActionSpec("search", "Search", "Edit", lambda w: w.focus_search(), "Ctrl+F|/", "search", enabled=_has_graph),
    ActionSpec("next-hit", "Next Hit", "Edit", lambda w: w.furniture.search.step(1), "F3", enabled=_has_hits),
    ActionSpec(
        "previous-hit", "Previous Hit", "Edit", lambda w: w.furniture.search.step(-1), "Shift+F3", enabled=_has_hits
    ),
    ActionSpec("palette", "Actions and Nodes…", "Edit", lambda w: w.show_palette(), "Ctrl+K|Ctrl+Shift+P"),
    ActionSpec(
        "settings", "Settings…", "Edit", lambda w: w.show_settings(), "Ctrl+,", words="preferences options theme"
    ),
    ActionSpec("back", "Back", "View", lambda w: w.session.go_back(), "Alt+Left", "back", True, _can_go_back),
    ActionSpec(
        "forward", "Forward", "View", lambda w: w.session.go_forward(), "Alt+Right", "forward", True, _can_go_forward
    ),
    ActionSpec("fit", "Fit", "View", lambda w: w.stage.fit(), "F", "fit", True, _has_graph),
    ActionSpec("expand", "Expand", "View", lambda w: w.expand(), "E", "expand", True, _has_selection),
    ActionSpec("collapse", "Collapse", "View", lambda w: w.collapse(), "C", "collapse", True, _has_selection),
    ActionSpec("expand-all", "Expand All Below", "View", lambda w: w.expand_below(), "Shift+E", enabled=_has_graph),
    ActionSpec(
        "collapse-all", "Collapse All", "View", lambda w: w.session.collapse_all(), "Shift+C", enabled=_has_graph
    ),
    ActionSpec(
        "theme", "Switch Light / Dark", "View", lambda w: w.switch_theme(), "Ctrl+T", words="theme dark mode colours"
    ),
    ActionSpec("escape", "Back Out", "View", lambda w: w.back_out(), "Esc"),
    ActionSpec("output", "Mark as Output", "Graph", lambda w: w.mark("outputs"), "O", "output", False, _has_node),
    ActionSpec("input", "Mark as Input", "Graph", lambda w: w.mark("inputs"), "I", "input", False, _has_node),
    ActionSpec("pick-outputs", "Pick Outputs", "Graph", lambda w: w.pick("outputs"), "", "output", True, _has_graph),
    ActionSpec("pick-inputs", "Pick Inputs", "Graph", lambda w: w.pick("inputs"), "", "input", True, _has_graph),
    ActionSpec("hide", "Hide Category Under Pointer", "Graph", lambda w: w.hide_category(), "H", enabled=_has_graph),
    ActionSpec(
        "show-hidden", "Show All Categories", "Graph", lambda w: w.show_categories(), "Shift+H", enabled=_has_graph
    ),
    *EXPLORATION,
    *BOOKMARKS,
    ActionSpec(
        "freeze",
        "Freeze",
        "Operations",
        lambda w: w.run_operation("freeze"),
        "Ctrl+R",
        "freeze",
        True,
        _has_graph,
        "freeze graph variables to constants convert",
    ),
    ActionSpec(
        "extract",
        "Extract Inference Graph",
        "Operations",
        lambda w: w.run_operation("extract"),
        enabled=_has_graph,
        words="strip unused prune extract sub graph",
    ),
    ActionSpec(
        "cut", "Cut Inputs to Placeholders", "Operations", lambda w: w.run_operation("cut-inputs"), enabled=_has_graph
    ),
    ActionSpec(
        "remove-training",
        "Remove Pass-through Nodes",
        "Operations",
        lambda w: w.run_operation("remove-training-nodes"),
        enabled=_has_graph,
        words="remove training nodes strip identity checknumerics",
    ),
    ActionSpec(
        "inference-mode",
        "Apply Inference Mode",
        "Operations",
        lambda w: w.run_operation("inference-mode"),
        enabled=_has_graph,
        words="is training keep prob phase dropout batch norm flags",
    ),
    ActionSpec(
        "verify",
        "Verify Result",
        "Operations",
        lambda w: w.verify(),
        "Ctrl+Shift+V",
        "",
        False,
        _has_result,
        "prove proof same test equal",
    ),
    ActionSpec("run", "Run Node", "Operations", lambda w: w.run_node(), "Ctrl+Shift+R", enabled=_has_graph),
    ActionSpec(
        "compare",
        "Compare With…",
        "Compare",
        lambda w: w.files.ask_compare(),
        "Ctrl+D",
        enabled=_has_graph,
        words="diff difference changes",
    ),
    ActionSpec("merged", "Merged View", "Compare", lambda w: w.stage.toggle_merged(), "M", enabled=_has_comparison),
    ActionSpec(
        "changes-only",
        "Changes Only",
        "Compare",
        lambda w: w.stage.changes_button.toggle(),
        "Shift+M",
        enabled=_has_comparison,
    ),
    ActionSpec("next-change", "Next Change", "Compare", lambda w: w.step_change(1), "N", enabled=_has_comparison),
    ActionSpec(
        "previous-change", "Previous Change", "Compare", lambda w: w.step_change(-1), "Shift+N", enabled=_has_comparison
    ),
    ActionSpec("pin", "Same as…", "Compare", lambda w: w.comparing.pin(), "S", enabled=lambda w: w.comparing.can_pin()),
    ActionSpec("report", "Save Report…", "Compare", lambda w: w.comparing.ask_report(), enabled=_has_comparison),
    ActionSpec("keys", "Keyboard Shortcuts", "Help", lambda w: w.show_keys(), "?|F1"),
    ActionSpec("about", "About graphviewer", "Help", lambda w: w.show_about()),
)
