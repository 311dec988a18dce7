"""Nodes and scopes in words, as HTML fragments. Every text from a file is escaped here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from graphviewer import protos
from graphviewer.gui.canvas.signs import title
from graphviewer.gui.words.describe_calls import body_lines, call_lines
from graphviewer.gui.words.signatures import describe_signatures
from graphviewer.gui.words.texts import elided, escaped, link, shape_text
from graphviewer.model.document import Document
from graphviewer.model.function_body import ARGUMENT_OP
from graphviewer.model.names import Endpoint
from graphviewer.model.overlay import Overlay, role_label
from graphviewer.model.problem import Problem
from graphviewer.model.scopes import Scopes
from graphviewer.model.tensors import TensorError, describe_tensor

if TYPE_CHECKING:
    from graphviewer.gui.style.theme import Theme

_MOST = 40  # rows of a list before "and N more": a hub has thousands of consumers
_HIDDEN = {"_output_shapes", "_class"}
_MARKERS = {
    "training_mode": "works in training mode: its result depends on the other examples of the batch, or on chance",
    "random": "random: the same input gives another result each time",
    "unregistered": "this op is not registered in the TensorFlow that the program knows",
    "stateful": "keeps state between runs",
}


def page_style(theme: Theme) -> str:
    """The stylesheet of these pages in the colours of a theme."""
    text, muted, accent, warning = (theme.color(f"window.{key}").name() for key in ("text", "muted", "link", "warning"))
    return f"""
        body, td, p {{ color: {text}; }}
        h3 {{ margin: 2px 0 2px 0; font-size: 15px; }}
        h4 {{ margin: 12px 0 2px 0; color: {muted}; font-weight: normal; }}
        p {{ margin: 3px 0; }}
        a {{ color: {accent}; text-decoration: none; }}
        td {{ padding: 1px 10px 1px 0; }}
        .key, .subtle {{ color: {muted}; }}
        .warning {{ color: {warning}; }}
        .op {{ color: {muted}; }}
    """


def output_shapes(node: Any) -> list[str]:
    """The shapes of a node's outputs where the file says them."""
    if "_output_shapes" in node.attr:
        return [shape_text(shape) for shape in node.attr["_output_shapes"].list.shape]
    if "shape" in node.attr and node.attr["shape"].HasField("shape"):
        return [shape_text(node.attr["shape"].shape)]
    if node.op == "Const" and "value" in node.attr:
        return [shape_text(node.attr["value"].tensor.tensor_shape)]
    return []


def attribute_text(value: Any, limit: int = 300) -> str:
    """One attribute value in words, never longer than ``limit``."""
    kind = value.WhichOneof("value")
    if kind == "type":
        return protos.dtype_name(value.type)
    if kind == "shape":
        return shape_text(value.shape)
    if kind == "tensor":
        return _tensor_text(value.tensor)
    if kind == "s":
        return repr(value.s[:limit].decode("utf-8", "backslashreplace"))
    if kind == "func":
        return f"ƒ {value.func.name}"
    if kind == "list":
        return _list_text(value.list, limit)
    return str(getattr(value, kind))[:limit] if kind else ""


def _tensor_text(tensor: Any) -> str:
    try:
        return describe_tensor(tensor)
    except TensorError as error:
        return f"damaged: {error}"


def _list_text(values: Any, limit: int) -> str:
    parts: list[str] = [protos.dtype_name(one) for one in values.type[:_MOST]]
    parts += [repr(one[:80].decode("utf-8", "backslashreplace")) for one in values.s[:_MOST]]
    parts += [shape_text(one) for one in values.shape[:_MOST]] + [f"ƒ {one.name}" for one in values.func[:_MOST]]
    parts += [str(one) for field in (values.i, values.f, values.b) for one in field[:_MOST]]
    text = "[" + ", ".join(parts) + "]"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def describe_contents(document: Document) -> str:
    """How much a document holds, in a few words."""
    if document.kind == "checkpoint":
        return f"{len(document.extra.get('variables', ())):,} variables"
    return f"{node_count(document)}, {len(document.graph.src):,} edges"


def node_count(document: Document) -> str:
    """``16,500 nodes``; with the nodes that the opened functions add to the drawing: ``… and 23 in functions``."""
    own, drawn = len(document.graph), len(document.unfolded.graph)
    inside = f" and {drawn - own:,} in functions" if drawn > own else ""
    return f"{own:,} node{'s' if own != 1 else ''}{inside}"


def describe_document(document: Document) -> str:
    """What is known of the whole of a document: how much it holds, its checkpoint, its signatures."""
    parts = [f"<h3>{escaped(document.title)}</h3><p>{escaped(describe_contents(document))}</p>"]
    if document.checkpoint is not None and document.kind != "checkpoint":
        parts.append(f"<p>Values: {escaped(document.checkpoint.name)}</p>")
    return "".join([*parts, describe_signatures(document)])


def describe_node(document: Document, number: int, roles: Overlay | None, change: str = "") -> str:
    """Everything about one node; ``change`` is the section of what a comparison says of it."""
    graph, node = document.graph, document.node(number)
    name = graph.names[number]
    parts = [
        f"<h3>{escaped(elided(name) or '(no name)')}</h3>",
        f"<p><span class='op'>{escaped(node.op or '(no op)')}</span>",
    ]
    parts.append(f" <a href='copy:{quote(name, safe='')}'>copy name</a></p>")
    parts += call_lines(document, number)
    parts += _role_lines(number, roles)
    parts.append(change)
    shapes = output_shapes(node)
    if shapes:
        parts.append(f"<p>Output shape: {escaped(', '.join(shapes[:8]))}</p>")
    parts.append(_input_rows(document, number))
    parts.append(_consumer_rows(document, number))
    attributes = [(key, node.attr[key]) for key in sorted(node.attr) if key not in _HIDDEN]
    if node.device:
        parts.append(f"<p>Device: {escaped(node.device)}</p>")
    if attributes:
        rows = "".join(
            f"<tr><td class='key'>{escaped(k)}</td><td>{escape(attribute_text(v))}</td></tr>" for k, v in attributes
        )
        parts.append(f"<h4>Attributes</h4><table>{rows}</table>")
    summary = protos.op_def(node.op)
    if summary is None and node.op not in document.functions and document.kind != "checkpoint":
        parts.append("<p class='warning'>This op is not registered in the TensorFlow that the program knows.</p>")
    absent = [one.text for one in graph.dangling if one.node == number]
    parts += [f"<p class='warning'>Input '{escaped(text)}' is not in the graph.</p>" for text in absent]
    return "".join(parts)


def problem_lines(problems: Iterable[Problem], name: str) -> str:
    """What was found wrong with a node, but for what ``describe_node`` says itself."""
    known = ("dangling", "unknown-op")
    found = [one for one in problems if one.node == name and not one.function and one.kind not in known]
    return "".join(f"<p class='warning'>{escaped(f'{one.reason} {one.hint}'.strip())}</p>" for one in found[:_MOST])


def _role_lines(number: int, roles: Overlay | None) -> Iterable[str]:
    if roles is None:
        return
    role = roles.category(number)
    if role:
        yield f"<p>Role: <b>{escaped(role_label(role))}</b> — {escaped(roles.reasons[number])}</p>"
    for marker in sorted(roles.markers.get(number, ())):
        if marker in _MARKERS:
            yield f"<p class='warning'>⚠ {_MARKERS[marker]}</p>"


def _input_rows(document: Document, number: int) -> str:
    graph = document.graph
    edges = graph.edges_into(number).tolist()
    rows = []
    for edge in edges[:_MOST]:
        source, port = int(graph.src[edge]), int(graph.port[edge])
        name = graph.names[source]
        shown = f"^{name}" if port < 0 else str(Endpoint(name, port))
        rows.append(f"<tr><td>{link('node', name, shown)}</td><td class='key'>{escaped(graph.ops[source])}</td></tr>")
    return _table("Inputs", len(edges), rows)


def _consumer_rows(document: Document, number: int) -> str:
    graph = document.graph
    edges = [edge for edge in graph.edges_out_of(number).tolist() if graph.ops[graph.dst[edge]] != ARGUMENT_OP]
    rows = []
    for edge in sorted(edges, key=lambda edge: int(graph.port[edge]) < 0)[:_MOST]:
        target, port = int(graph.dst[edge]), int(graph.port[edge])
        note = "control" if port < 0 else f"from :{port}" if port else ""
        rows.append(
            f"<tr><td>{link('node', graph.names[target])}</td>"
            f"<td class='key'>{escaped(graph.ops[target])} {note}</td></tr>"
        )
    return _table("Consumers", len(edges), rows)


def _table(title: str, total: int, rows: list[str]) -> str:
    if not total:
        return f"<h4>{title}</h4><p class='subtle'>none</p>"
    more = f"<tr><td class='subtle'>and {total - len(rows):,} more</td></tr>" if total > len(rows) else ""
    return f"<h4>{title} ({total:,})</h4><table>{''.join(rows)}{more}</table>"


def describe_scope(document: Document, item: int, roles: Overlay | None) -> str:
    """A scope: how much is in it, of what kinds and roles."""
    scopes, graph = document.scopes, document.graph
    nodes = scopes.nodes_inside(item)
    ops = Counter(graph.ops[node] for node in nodes).most_common(20)
    parts = [f"<h3>{escaped(elided(scopes.path(item)))}/</h3><p>scope of {len(nodes):,} nodes</p>"]
    parts += body_lines(document, scopes.path(item))
    if roles is not None:
        found = Counter(role for node in nodes if (role := roles.category(node)))
        rows = "".join(f"<tr><td>{escaped(role_label(k))}</td><td>{v:,}</td></tr>" for k, v in found.most_common())
        parts.append(f"<h4>Roles</h4><table>{rows}</table>")
    rows = "".join(f"<tr><td>{escaped(op)}</td><td>{count:,}</td></tr>" for op, count in ops)
    parts.append(f"<h4>Ops</h4><table>{rows}</table>")
    return "".join(parts)


def describe_briefly(document: Document, item: int, overlay: Overlay | None) -> str:
    """The tooltip of a box: name, op, shapes, and why it has its colour."""
    scopes = document.scopes
    node = int(scopes.node[item])
    if node < 0:
        return f"<b>{escaped(elided(scopes.path(item)))}</b><br>{int(scopes.size[item]):,} nodes"
    message = document.node(node)
    shapes = escaped(", ".join(output_shapes(message)[:4]))
    lines = [f"<b>{escaped(elided(scopes.path(item)))}</b>", f"{escaped(message.op)}&nbsp; {shapes}"]
    if overlay is not None and (category := overlay.category(node)):
        lines.append(f"{escaped(title(overlay.kind, category))}: {escaped(overlay.reasons[node])}")
        lines += [f"⚠ {_MARKERS[one]}" for one in sorted(overlay.markers.get(node, ())) if one in _MARKERS]
    return "<br>".join(lines)


def describe_chip(more: int) -> str:
    """What the tooltip of a chip adds: for how many nodes beside its own it stands; nothing for other boxes."""
    if not more:
        return ""
    nodes = f"{more:,} more nodes, which serve" if more > 1 else "1 more node, which serves"
    return f"<br>Stands for {nodes} the same box; a click on the count lists {'them' if more > 1 else 'it'}."


def describe_stack(scopes: Scopes, item: int) -> str:
    """The tooltip of a stack."""
    members, nodes = len(scopes.children(item)), int(scopes.size[item])
    counts = f"{members:,} equal scopes, {nodes:,} nodes; a double click opens them"
    return f"<b>{escaped(elided(scopes.path(item)))}</b><br>{counts}"
