"""The breadcrumb: the scopes around what is selected, each a link."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from graphviewer.gui.words.texts import elided

LONGEST, FIRST, LAST = 40, 2, 6
"""Characters of a scope's name, and how many scopes are named at the beginning and the end of a path."""


def crumbs(title: str, path: str) -> str:
    """Rich text: links to the whole graph and to the scopes of a path; of hundreds the middle ones are left out.

    Args:
        title: what the graph is called; empty where none is shown.
        path: of the node or scope that is selected; empty for none.
    """
    parts = path.split("/") if path else []
    links = [_link(" ", title) if title else ""]
    for depth, part in enumerate(parts, 1):
        if FIRST < depth <= len(parts) - LAST:
            links += ["…"] if depth == FIRST + 1 else []
        else:
            name = elided(part, LONGEST)
            links.append(_link("/".join(parts[:depth]), name) if depth < len(parts) else escape(name))
    return " / ".join(links)


def _link(path: str, text: str) -> str:
    return f"<a style='text-decoration: none' href='{quote(path, safe=' ')}'>{escape(text)}</a>"
