"""Graphs of any size: a real network copied under ``rep_0/``, ``rep_1/`` ... until there are enough nodes."""

from __future__ import annotations

from pathlib import Path

from graphviewer.protos import GraphDef

LARGEST_CONSTANT = 256


def write_copies(network: Path, target: Path, nodes: int) -> None:
    """Write a GraphDef of ``nodes`` nodes; the last copy may be cut short.

    Weights are left out, for 600 copies of them would be 8 GB that no viewer has to look at.

    Args:
        network: a binary GraphDef.
        target: the file to write.
        nodes: how many.
    """
    graph = GraphDef.FromString(network.read_bytes())
    for node in graph.node:
        content = node.attr["value"].tensor if "value" in node.attr else None
        if content is not None and len(content.tensor_content) > LARGEST_CONSTANT:
            content.ClearField("tensor_content")
    size = len(graph.node)
    with target.open("wb") as file:
        for copy in range(-(-nodes // size)):
            part = GraphDef()
            part.node.extend(graph.node[: min(size, nodes - copy * size)])
            for node in part.node:
                node.name = f"rep_{copy}/{node.name}"
                node.input[:] = [_prefixed(text, f"rep_{copy}") for text in node.input]
            # Parts of a message one after the other are the whole message.
            file.write(part.SerializeToString())


def write_renamed(network: Path, target: Path, prefix: str) -> None:
    """Write the same graph with every name, and whatever refers to it, under another scope.

    Args:
        network: a binary GraphDef.
        target: the file to write.
        prefix: the scope.
    """
    graph = GraphDef.FromString(network.read_bytes())
    for node in graph.node:
        node.name = f"{prefix}/{node.name}"
        node.input[:] = [_prefixed(text, prefix) for text in node.input]
        if "_class" in node.attr:
            places = node.attr["_class"].list
            places.s[:] = [place.replace(b"loc:@", f"loc:@{prefix}/".encode(), 1) for place in places.s]
    target.write_bytes(graph.SerializeToString())


def _prefixed(text: str, scope: str) -> str:
    return f"^{scope}/{text[1:]}" if text.startswith("^") else f"{scope}/{text}"
