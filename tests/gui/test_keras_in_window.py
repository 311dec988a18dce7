"""Job 3 of the articles in the window: a Keras model becomes a static graph that equals it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from graphviewer.formats import open_document
from tests.gui.conftest import WAIT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from graphviewer.gui.window import Window

pytestmark = pytest.mark.slow

SLOW = 4 * WAIT  # TensorFlow is imported in the worker

TRAIN = """
import sys
import numpy as np
import tensorflow as tf
folder = sys.argv[1]
tf.keras.utils.set_random_seed(3)
layers = tf.keras.layers
dense = [layers.Dense(128, activation="relu"), layers.Dropout(0.2), layers.Dense(10, activation="softmax")]
model = tf.keras.Sequential([layers.Input((784,)), *dense])
model.compile("adam", "sparse_categorical_crossentropy")
data = np.random.default_rng(0).random((16, 784), np.float32)
model.fit(data, np.arange(16) % 10, verbose=0)
model.save(folder + "/model.keras")
np.save(folder + "/data.npy", data)
np.save(folder + "/predictions.npy", model.predict(data, verbose=0))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model, data, and what the model makes of them; made elsewhere: TensorFlow stays out of the window."""
    pytest.importorskip("tensorflow")
    place = tmp_path_factory.mktemp("keras")
    subprocess.run([sys.executable, "-c", TRAIN, str(place)], check=True, capture_output=True)
    return place


def test_that_a_keras_model_becomes_a_static_graph_that_gives_what_the_model_gives(
    window: Window, qtbot: QtBot, folder: Path, tmp_path: Path
) -> None:
    window.open_path(folder / "model.keras")
    qtbot.waitUntil(window.furniture.banner.isVisible, timeout=WAIT)
    assert "runs code" in window.furniture.banner.text.text()
    window.furniture.banner.button.click()
    qtbot.waitUntil(lambda: window.session.version is not None, timeout=SLOW)
    qtbot.waitUntil(lambda: bool(window.session.version.suggested_outputs), timeout=WAIT)

    version = window.session.version
    assert version.origin_verdict["verdict"] == "same"
    assert "verified: difference" in version.summary
    proof = window.furniture.proof
    assert "The same" in proof.words.text()
    assert proof.table.rowCount() == 1
    assert not proof.verify_button.isEnabled()
    assert "what it was made from" in proof.verify_button.toolTip()
    assert not {"VariableV2", "VarHandleOp", "ReadVariableOp"} & set(version.document.graph.ops)
    output = version.suggested_outputs[0].name
    (given,) = [
        name
        for name, op in zip(version.document.graph.names, version.document.graph.ops, strict=True)
        if op == "Placeholder"
    ]
    for suffix in (".pb", ".pbtxt"):
        target = tmp_path / f"static{suffix}"
        window.files.save(version, target)
        qtbot.waitUntil(target.exists, timeout=WAIT)
        qtbot.waitUntil(lambda: not window.background.busy(), timeout=WAIT)
        assert list(open_document(target).graph.names) == list(version.document.graph.names)

    request = {
        "path": str(tmp_path / "static.pb"),
        "outputs": [output],
        "feeds": {given: str(folder / "data.npy")},
        "folder": str(tmp_path / "made"),
    }
    with qtbot.waitSignal(window.client.done, timeout=SLOW) as blocker:
        window.client.submit("run", request)
    made = np.load(blocker.args[1]["outputs"][0]["file"])
    np.testing.assert_allclose(made, np.load(folder / "predictions.npy"), rtol=1e-6, atol=1e-7)
