"""The article's Keras model, trained a little, for tests of every way that leads from it to a static graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def article_model(tf: Any, *, seed: int, rows: int, epochs: int) -> tuple[Any, NDArray[np.float32]]:
    """The model after a few steps, and the float32 [rows, 784] that it was trained on."""
    tf.keras.utils.set_random_seed(seed)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((784,)),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    data = np.random.default_rng(0).random((rows, 784), np.float32)
    model.fit(data, np.arange(rows) % 10, batch_size=16, epochs=epochs, verbose=0)
    return model, data
