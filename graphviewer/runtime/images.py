"""Images as feeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviewer.errors import GraphViewerError
from graphviewer.runtime.engine import explain, load, run_errors

_CHANNELS = (1, 3, 4)


def read_image(path: Path, shape: Sequence[int] | None) -> NDArray[Any]:
    """The pixels of an image, 0 to 255, as float32 [1, height, width, channels], without the 1 for a tensor of rank 3.

    Args:
        path: PNG, JPEG, BMP or GIF.
        shape: of the tensor that takes them: a known height and width is resized to, ``[?, 3, h, w]`` is understood.

    Raises:
        GraphViewerError: TensorFlow cannot decode it.
    """
    tensorflow = load()
    sizes = [-1, *shape] if shape is not None and len(shape) == 3 else list(shape or ())
    first = len(sizes) == 4 and sizes[1] in _CHANNELS and sizes[3] not in _CHANNELS
    channels, height, width = (1, 2, 3) if first else (3, 1, 2)
    known = sizes if len(sizes) == 4 else [-1] * 4
    try:
        wanted = known[channels] if known[channels] in _CHANNELS else 3
        pixels = tensorflow.io.decode_image(path.read_bytes(), channels=wanted, expand_animations=False)[None]
        if known[height] > 0 and known[width] > 0:
            pixels = tensorflow.image.resize(pixels, (known[height], known[width]))
        found: NDArray[Any] = np.asarray(pixels.numpy(), np.float32)
    except run_errors() as error:
        raise GraphViewerError(f"{path.name} is no image that can be read: {explain(error)}.") from error
    found = found.transpose(0, 3, 1, 2) if first else found
    return found[0] if shape is not None and len(shape) == 3 else found
