"""From the layouts of single scopes to one drawing."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphviewer.layout.arrays import Floats, Ints, Mask
from graphviewer.layout.auxiliary import Tucks
from graphviewer.layout.drawing import PADDING, TITLE_HEIGHT, Drawing
from graphviewer.layout.layered import Placement
from graphviewer.model.scopes import Scopes, SiblingEdges


@dataclass(frozen=True, eq=False)
class Assembly:
    """The placements of all open scopes, about to become one drawing.

    Attributes:
        hub: bool [sibling edges], drawn as stubs.
        laid_out: bool [sibling edges], with points.
        tucks: the chips.
        visible: the open scopes, by depth.
        placements: the layout of each.
        w, h: float64 [items], sizes of all boxes.
    """

    scopes: Scopes
    hub: Mask
    laid_out: Mask
    tucks: Tucks
    visible: list[int]
    placements: list[Placement]
    w: Floats
    h: Floats

    def drawing(self) -> Drawing:
        """Boxes scope by scope, so outer ones come first, and the edges inside each scope."""
        scopes, edges = self.scopes, self.scopes.sibling_edges
        children = [self.tucks.drawn(scopes.children(item)) for item in self.visible]
        item = np.concatenate(children).astype(np.int64)
        box_of = np.full(len(scopes), -1, np.int64)
        box_of[item] = np.arange(len(item))
        owner = np.repeat(np.arange(len(self.visible)), [len(each) for each in children])
        parent = box_of[np.array(self.visible)[owner]]
        x, y, origin = self._absolute(item, parent, box_of)
        edge, edge_owner = self._edge_numbers(edges)
        count, points = self._lines(edge, edge_owner, origin)
        # An edge with points to or from a chip runs to or from the box that the chip is beside.
        source, target = (
            np.where(self.laid_out[edge], self.tucks.laid_out(ends), self.tucks.shown(ends))
            for ends in (edges.a[edge], edges.b[edge])
        )
        kept = source != target  # within one chip there is nothing to see
        edge, source, target, count = edge[kept], source[kept], target[kept], count[kept]
        hub, control, laid_out = self.hub[edge], edges.control[edge], self.laid_out[edge]
        behind, behind_box = self._behind(box_of)
        is_open = np.zeros(len(scopes), np.bool_)
        is_open[self.visible] = True
        return Drawing(
            item=item.astype(np.int32),
            x=x.astype(np.float32),
            y=y.astype(np.float32),
            w=self.w[item].astype(np.float32),
            h=self.h[item].astype(np.float32),
            depth=(scopes.depth[item] - 1).astype(np.int32),
            parent=parent.astype(np.int32),
            is_open=is_open[item],
            source=box_of[source].astype(np.int32),
            target=box_of[target].astype(np.int32),
            count=edges.count[edge],
            control=control,
            offsets=np.r_[0, np.cumsum(count)].astype(np.int32),
            points=points.astype(np.float32),
            # An edge beyond the layout's budget of bends is shown like one of a hub.
            hub=hub | (laid_out & (count == 0)),
            width=self.placements[0].width,
            height=self.placements[0].height,
            behind=behind,
            behind_box=behind_box,
        )

    def _behind(self, box_of: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The items for which chips stand, and the boxes of these chips."""
        items = np.flatnonzero(~self.tucks.is_drawn)
        box = box_of[self.tucks.stand_in[items]]
        return items[box >= 0].astype(np.int32), box[box >= 0].astype(np.int32)

    def _absolute(self, item: Ints, parent: Ints, box_of: Ints) -> tuple[Floats, Floats, Floats]:
        """Places of all boxes in the scene, and of the contents of each open scope [scopes, 2]."""
        x = np.concatenate([each.x for each in self.placements])
        y = np.concatenate([each.y for each in self.placements])
        depth = self.scopes.depth[item]
        bounds = np.searchsorted(depth, np.arange(1, int(depth[-1]) + 2 if len(depth) else 2)).tolist()
        for first, last in pairwise(bounds[1:]):
            x[first:last] += x[parent[first:last]] + PADDING
            y[first:last] += y[parent[first:last]] + PADDING + TITLE_HEIGHT
        origin = np.zeros((len(self.visible), 2))
        inner = box_of[np.array(self.visible[1:], np.int64)]
        origin[1:, 0], origin[1:, 1] = x[inner] + PADDING, y[inner] + PADDING + TITLE_HEIGHT
        return x, y, origin

    def _edge_numbers(self, edges: SiblingEdges) -> tuple[Ints, Ints]:
        """Sibling edges inside the open scopes, scope by scope, and the scope of each."""
        visible = np.array(self.visible)
        first, last = edges.start[visible], edges.start[visible + 1]
        owner = np.repeat(np.arange(len(visible)), last - first)
        begin = np.cumsum(last - first) - (last - first)
        return np.arange(len(owner)) - begin[owner] + first[owner], owner

    def _lines(self, edge: Ints, owner: Ints, origin: Floats) -> tuple[Ints, Floats]:
        """Number of points of each edge, and the points in the scene."""
        laid_out = self.laid_out[edge]
        count = np.zeros(len(edge), np.int64)
        count[laid_out] = np.concatenate([np.diff(each.offsets) for each in self.placements])
        points = np.concatenate([each.points for each in self.placements])
        return count, points + np.repeat(origin[owner], count, axis=0)
