"""How each edge of a scene is drawn: by what it carries, what is laid over the scene, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphviewer.gui.canvas.kinds import is_reference
from graphviewer.model.overlay import ADDED, REMOVED

if TYPE_CHECKING:
    from graphviewer.gui.canvas.scene import Scene

EDGE_CLASSES = ("data", "strong", "faint", "control", "reference", "added", "removed")


def edge_classes(scene: Scene) -> NDArray[np.int8]:
    """int8 [edges]: index into ``EDGE_CLASSES``."""
    drawing = scene.drawing
    names = {name: at for at, name in enumerate(EDGE_CLASSES)}
    found = np.full(len(drawing.source), names["data"], np.int8)
    if scene.overlay is not None and (scene.overlay.kind == "roles" or "other" in scene.overlay.categories):
        strong = scene.stands_out[drawing.source] & scene.stands_out[drawing.target]
        found = np.where(strong, names["strong"], names["faint"]).astype(np.int8)
    found[drawing.control] = names["control"]
    found[_references(scene)] = names["reference"]
    if scene.edge_status is not None:
        found = _with_status(scene, found, names)
    return found


def _references(scene: Scene) -> list[int]:
    ops, drawing = scene.scopes.graph.ops, scene.drawing
    source, target = scene.node[drawing.source], scene.node[drawing.target]
    both = np.flatnonzero((source >= 0) & (target >= 0) & ~drawing.control)
    pairs = zip(both.tolist(), source[both].tolist(), target[both].tolist(), strict=True)
    return [edge for edge, a, b in pairs if is_reference(ops[a], ops[b])]


def _with_status(scene: Scene, found: NDArray[np.int8], names: dict[str, int]) -> NDArray[np.int8]:
    codes, edges = scene.edge_status, scene.edge_of_graph_edge[: len(scene.edge_status)]
    for code, name in ((REMOVED, "removed"), (ADDED, "added")):
        # A bundle is marked only where all its edges agree: one that also holds unchanged edges stays plain.
        of_code = np.bincount(edges[(codes == code) & (edges >= 0)], minlength=len(found))
        found[(of_code > 0) & (of_code >= scene.drawing.count)] = names[name]
    return found
