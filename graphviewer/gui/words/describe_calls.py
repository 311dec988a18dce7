"""Calls and functions in words: what a call runs, and where a node of a function belongs."""

from __future__ import annotations

from collections.abc import Iterator

from graphviewer.gui.words.texts import escaped, link
from graphviewer.model.bodies import Opened, Unfolded
from graphviewer.model.document import Document
from graphviewer.model.function_body import ARGUMENT_OP, RESULT_OP
from graphviewer.model.names import Endpoint

_MOST = 20


def call_lines(document: Document, number: int) -> Iterator[str]:
    """What a node has to do with functions; nothing for most nodes."""
    if not isinstance(document, Unfolded):
        return
    yield from _runs(document, number)
    around = document.around(number)
    if around is None:
        return
    if around.call >= 0:
        call = document.graph.names[around.call]
        yield f"<p>In function <b>{escaped(around.function)}</b>, called by {link('node', call)}</p>"
        yield from _end_line(document, around, number)
    else:
        yield f"<p>In function <b>{escaped(around.function)}</b>, which nothing calls</p>"


def _runs(document: Unfolded, call: int) -> Iterator[str]:
    for one in document.calls.get(call, ())[:_MOST]:
        place = link("scope", one.path, f"ƒ {one.function}")
        yield f"<p>Runs {place} ({escaped(one.attribute)}, {len(one.body):,} nodes)</p>"
    for closed in document.closed.get(call, ())[:_MOST]:
        elsewhere = document.shown(closed.function)
        place = f" Opened in {link('scope', elsewhere.path)}." if elsewhere is not None else ""
        name, attribute = escaped(closed.function), escaped(closed.attribute)
        yield f"<p>Runs ƒ {name} ({attribute}); not opened here: {escaped(closed.reason)}.{place}</p>"


def _end_line(document: Unfolded, around: Opened, number: int) -> Iterator[str]:
    """Where an argument comes from, and where a result goes."""
    graph, node = document.graph, document.node(number)
    if node.op not in (ARGUMENT_OP, RESULT_OP) or "index" not in node.attr:
        return
    at = node.attr["index"].i
    if node.op == RESULT_OP:
        yield f"<p>Result {at} of the function</p>"
        return
    edge = document.passed(around, at)
    given = ""
    if edge is not None:
        source = graph.names[graph.src[edge]]
        given = f", given as {link('node', source, str(Endpoint(source, int(graph.port[edge]))))}"
    yield f"<p>Argument {at} of the function{given}</p>"


def body_lines(document: Document, path: str) -> Iterator[str]:
    """The function whose nodes a scope holds."""
    if isinstance(document, Unfolded):
        for one in document.opened_at.get(path, ())[:_MOST]:
            yield f"<p>Body of function <b>{escaped(one.function)}</b></p>"
