"""TensorFlow is what these tests measure with; its own objects need not be looked through again and again."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def _tensorflow_is_no_garbage() -> None:
    """Keep what is alive already out of later collections: a proof ends with two, of 0.2 s each with all TensorFlow."""
    gc.collect()
    gc.freeze()
