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
                node.input[:] = [_prefixed(text, copy) for text in node.input]
            # Parts of a message one after the other are the whole message.
            file.write(part.SerializeToString())


def _prefixed(text: str, copy: int) -> str:
    return f"^rep_{copy}/{text[1:]}" if text.startswith("^") else f"rep_{copy}/{text}"
