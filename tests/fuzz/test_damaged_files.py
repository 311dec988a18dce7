"""Real files with bytes flipped, cut and spliced: whatever comes of it opens, or is an error for people.

Without a corpus, files made here are harmed. ``make fuzz`` tries 2,000 of them, and other ones each time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer.analysis.stats import statistics
from graphviewer.errors import GraphViewerError
from graphviewer.formats import open_document
from graphviewer.formats.checkpoint import open_checkpoint
from tests.fuzz.damage import edits, limits

CORPUS = Path(os.environ.get("GRAPHVIEWER_CORPUS") or Path(__file__).resolve().parents[3] / "shared" / "corpus")
EXAMPLES = max(200, settings.default.max_examples)
GRAPHS = (
    "tf2onnx_gru/frozen.pb",
    "tf2onnx_regression/checkpoint/model.meta",
    "rust_regression/regression_checkpoint/model.pb",
    "utensor/simple_graph.pb",
    "arm_kws/DS_CNN/DS_CNN_S.pb",
    "dl4j/case/cond_2/frozen_model.pb",
    "nv_tf_prof/ckpt.meta",
    "scisharp_graph/word2vec.meta",
    "tf2onnx_regression/saved_model/saved_model.pb",
    "modelexplorer/simple_add/saved_model.pb",
    "scisharp_keras/python_func_model/saved_model.pb",
    "serving_half2_mkl/saved_model.pb",
    "tfjs_node/int64_multiply/saved_model.pb",
    "nv_tf_grappler/function_functional_while.pbtxt",
    "nv_tf_grappler/loops_and_queues.pbtxt",
    "nv_tf_g2m/graph-function-defs.pbtxt",
    "deepmd/se_e2_a_tebd.pbtxt",
    "lingvo_events/events.out.tfevents.test",
)
CHECKPOINTS = (
    "tf2onnx_regression/checkpoint/model",
    "tfx_trainer/model.ckpt-1000",
    "nv_tf_prof/ckpt",
    "nv_tf_bundle/foo",
    "swift_minigo/minigo",
)


def _files() -> dict[str, bytes]:
    """The graphs to harm: of the corpus, or made here."""
    found = {name: (CORPUS / name).read_bytes() for name in GRAPHS if (CORPUS / name).is_file()}
    return found or _made()


def _made() -> dict[str, bytes]:
    from tests.unit.format_files import events, graph, meta_graph, saved_model

    big = graph(40, content=4096)
    return {
        "graph.pb": big.SerializeToString(),
        "graph.pbtxt": text_format.MessageToString(big).encode(),
        "model.meta": meta_graph(big).SerializeToString(),
        "saved_model.pb": saved_model(meta_graph(big, "serve"), meta_graph(graph(9), "train")).SerializeToString(),
        "events.out.tfevents.1": events(),
    }


def _checkpoints(folder: Path) -> list[list[Path]]:
    """The checkpoints to harm, as lists of their files."""
    known = [CORPUS / name for name in CHECKPOINTS]
    found = [sorted(one for one in prefix.parent.glob(prefix.name + "*") if _is_data(one, prefix)) for prefix in known]
    if any(found):
        return [files for files in found if files]
    import numpy as np

    from tests.unit.checkpoint_files import write_bundle, write_v1

    values = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "s": np.array([b"text", b""], object)}
    bundle = write_bundle(folder / "made", values)
    table = write_v1(folder / "old", {"w": [(((0, 3), (0, 4)), values["w"])]}, [3, 4])
    return [sorted(folder.glob(bundle.name + ".*")), [table]]


def _is_data(path: Path, prefix: Path) -> bool:
    return path.name[len(prefix.name) :].startswith((".index", ".data-")) or path == prefix


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("damaged")


FILES = _files()


@settings(max_examples=EXAMPLES)
@given(name=st.sampled_from(sorted(FILES)), changes=edits(list(FILES.values())), salvage=st.booleans())
def test_that_a_damaged_graph_opens_or_is_an_error_for_people(folder, name, changes, salvage):
    data = FILES[name]
    for change in changes:
        data = change(data)
    path = folder / Path(name).name
    path.write_bytes(data)
    with limits():
        try:
            document = open_document(path, salvage=salvage)
        except GraphViewerError as error:
            assert error.message.endswith((".", "…"))  # noqa: PT017 - either outcome is right
            return
    statistics(document)
    assert len(document.scopes) > len(document.graph)


@settings(max_examples=EXAMPLES // 2)
@given(data=st.data())
def test_that_a_damaged_checkpoint_opens_or_is_an_error_for_people(folder, data):
    place = folder / "checkpoint"
    place.mkdir(exist_ok=True)
    files = data.draw(st.sampled_from(_checkpoints(folder)))
    harmed = data.draw(st.sampled_from(files))
    for file in files:
        (place / file.name).write_bytes(file.read_bytes())
    content = harmed.read_bytes()
    for change in data.draw(edits([file.read_bytes() for file in files])):
        content = change(content)
    (place / harmed.name).write_bytes(content)
    try:
        with limits():
            _read_all(place / harmed.name)
    finally:
        for file in files:
            (place / file.name).unlink()


def _read_all(path: Path) -> None:
    try:
        document = open_document(path, alone=True)
        checkpoint = open_checkpoint(path)
    except GraphViewerError as error:
        assert error.message.endswith(".")  # noqa: PT017 - either outcome is right
        return
    assert document.kind == "checkpoint"
    checkpoint.problems()
