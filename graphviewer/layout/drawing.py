"""What a layout is: arrays that a canvas can paint, nothing about how they came about."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]

TITLE_HEIGHT = 24.0
"""Height of the title at the top of an open scope."""
PADDING = 16.0
"""Free room between the frame of an open scope and what is in it."""
LEAF_HEIGHT, SCOPE_HEIGHT = 34.0, 42.0
"""Heights of a node's box and of a closed scope's."""
CHIP_HEIGHT = 15.0
"""Height of a chip: what is tucked beside the box that it serves."""
LEAST_WIDTH, MOST_WIDTH = 40.0, 220.0
"""Limits for the width of a closed box; longer labels are elided."""


def _no_numbers() -> Ints:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class Drawing:
    """Visible boxes and the edges between them, in scene units (y grows downwards).

    Boxes come outer before inner, so painting them in order is right. An edge connects two boxes inside the same scope.

    Attributes:
        item: int32 [boxes], item of the scope tree.
        x, y, w, h: float32 [boxes], left, top, width, height.
        depth: int32 [boxes], how many open scopes are around the box.
        parent: int32 [boxes], the box of the open scope around it, -1 at the top.
        is_open: bool [boxes], an expanded scope: a frame with a title of ``TITLE_HEIGHT`` at its top.
        source, target: int32 [edges], boxes.
        count: int32 [edges], graph edges behind this one.
        control: bool [edges], all of them are control edges; they take no part in layering and have no points.
        offsets: int32 [edges+1]; edge e runs along ``points[offsets[e]:offsets[e+1]]``, from source to target.
        points: float32 [points, 2].
        hub: bool [edges], taken out of layering because an end has too many neighbours; it has no points
            and is shown as a stub with a count beside each end. An edge that is neither this nor control and has no
            points joins a chip to the box that it is beside.
        width, height: extent of the whole drawing; its top left corner is (0, 0).
        behind: int32 [n], items that are not drawn because a chip stands for them.
        behind_box: int32 [n], the box of that chip.
    """

    item: Ints
    x: Floats
    y: Floats
    w: Floats
    h: Floats
    depth: Ints
    parent: Ints
    is_open: Mask
    source: Ints
    target: Ints
    count: Ints
    control: Mask
    offsets: Ints
    points: Floats
    hub: Mask
    width: float
    height: float
    behind: Ints = field(default_factory=_no_numbers)
    behind_box: Ints = field(default_factory=_no_numbers)

    def __len__(self) -> int:
        return len(self.item)


def empty_drawing() -> Drawing:
    """A drawing without boxes."""
    ints, floats, mask = _no_numbers(), np.zeros(0, np.float32), np.zeros(0, np.bool_)
    return Drawing(
        item=ints,
        x=floats,
        y=floats,
        w=floats,
        h=floats,
        depth=ints,
        parent=ints,
        is_open=mask,
        source=ints,
        target=ints,
        count=ints,
        control=mask,
        offsets=np.zeros(1, np.int32),
        points=np.zeros((0, 2), np.float32),
        hub=mask,
        width=0.0,
        height=0.0,
    )
