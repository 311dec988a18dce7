"""What a path means: checkpoints beside graphs, folders, events."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoint_files import write_bundle
from format_files import events, graph, meta_graph, saved_model, write
from google.protobuf import text_format

from graphviewer import protos
from graphviewer.errors import CheckpointError, ReadError
from graphviewer.formats import open_document
from graphviewer.protos import DataType


def variable_graph():
    made = graph()
    node = made.node.add(name="v", op="VariableV2")
    node.attr["dtype"].type = DataType.FLOAT
    node.attr["shape"].shape.dim.add(size=2)
    return made


def bundle(prefix):
    prefix.parent.mkdir(parents=True, exist_ok=True)
    return write_bundle(prefix, {"v": np.zeros(2, "f4"), "w": np.zeros((2, 3), "f4")})


def opened(path, **options):
    document = open_document(path, **options)
    return document.kind, document.path, document.checkpoint


def test_that_a_checkpoint_alone_is_a_document_without_nodes(tmp_path):
    prefix = bundle(tmp_path / "model.ckpt-7")
    document = open_document(prefix)
    assert (document.kind, len(document.graph_def.node), document.checkpoint) == ("checkpoint", 0, prefix)
    assert document.extra["variables"] == {"v": (2,), "w": (2, 3)}
    for suffix in (".index", ".data-00000-of-00001"):
        assert opened(f"{prefix}{suffix}") == ("checkpoint", prefix, prefix)


def test_that_a_checkpoint_beside_its_meta_opens_the_meta(tmp_path):
    prefix = bundle(tmp_path / "model.ckpt-7")
    meta = write(tmp_path / "model.ckpt-7.meta", meta_graph(variable_graph()))
    for path in (prefix, f"{prefix}.index", f"{prefix}.data-00000-of-00001", meta, tmp_path):
        assert opened(path) == ("metagraph", meta, prefix)
    assert opened(prefix, alone=True) == ("checkpoint", prefix, prefix)
    assert opened(meta, alone=True) == ("metagraph", meta, None)


def test_that_a_meta_of_something_else_is_left_alone(tmp_path):
    prefix = bundle(tmp_path / "Scripts")
    (tmp_path / "Scripts.meta").write_text("fileFormatVersion: 2\nguid: 1\n")
    assert opened(prefix) == ("checkpoint", prefix, prefix)


@pytest.mark.parametrize("name", ["graph.pbtxt", "graph.pb"])
def test_that_a_training_folder_gives_its_graph_with_its_checkpoint(tmp_path, name):
    prefix = bundle(tmp_path / "model.ckpt-7")
    if name.endswith(".pb"):
        write(tmp_path / name, variable_graph())
    else:
        (tmp_path / name).write_text(text_format.MessageToString(variable_graph()))
    kind = "graphdef" if name.endswith(".pb") else "pbtxt"
    for path in (tmp_path, tmp_path / name, prefix):
        assert opened(path) == (kind, tmp_path / name, prefix)


def test_that_a_graph_without_variables_gets_no_checkpoint_unless_asked(tmp_path):
    prefix = bundle(tmp_path / "model.ckpt-7")
    frozen = write(tmp_path / "frozen.pb", graph())
    assert opened(frozen)[2] is None
    assert opened(frozen, checkpoint=prefix)[2] == prefix
    with pytest.raises(CheckpointError, match="no checkpoint"):
        open_document(frozen, checkpoint=tmp_path / "absent")


def test_that_a_saved_model_opens_as_a_folder_with_its_variables(tmp_path):
    model = tmp_path / "model"
    write(model / "saved_model.pb", saved_model(meta_graph(variable_graph(), "serve")))
    prefix = bundle(model / "variables" / "variables")
    for path in (model, model / "saved_model.pb", prefix):
        assert opened(path) == ("savedmodel", model, prefix)
    assert open_document(model / "saved_model.pb").title == "model"


def test_that_the_newest_version_folder_of_serving_opens(tmp_path):
    for version in ("2", "10"):
        write(tmp_path / version / "saved_model.pb", saved_model(meta_graph()))
    assert opened(tmp_path)[1] == tmp_path / "10"


def test_that_a_folder_says_what_it_lacks(tmp_path):
    with pytest.raises(ReadError, match="holds nothing that can be opened"):
        open_document(tmp_path)
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "variables").mkdir()
    with pytest.raises(ReadError, match=r"a SavedModel without its saved_model\.pb"):
        open_document(tmp_path / "saved")
    for name in ("a.pb", "b.pb"):
        write(tmp_path / name, graph())
    with pytest.raises(ReadError, match="several graphs") as error:
        open_document(tmp_path)
    assert "a.pb, b.pb" in error.value.hint


def test_that_a_path_to_nothing_names_what_is_near(tmp_path):
    write(tmp_path / "frozen_graph.pb", graph())
    with pytest.raises(ReadError, match="no file, folder or checkpoint") as error:
        open_document(tmp_path / "frozen_grph.pb")
    assert "frozen_graph.pb" in error.value.hint
    with pytest.raises(ReadError, match="no folder"):
        open_document(tmp_path / "absent" / "a.pb")


def test_that_the_newest_graph_of_an_events_file_opens_with_its_collections(tmp_path):
    path = tmp_path / "events.out.tfevents.1"
    newest = graph(5)
    path.write_bytes(
        events(
            protos.Event(graph_def=graph(2).SerializeToString()),
            protos.Event(graph_def=newest.SerializeToString()),
            protos.Event(meta_graph_def=meta_graph(newest).SerializeToString()),
        )
    )
    document = open_document(path)
    assert (document.kind, document.graph_def, document.problems) == ("tfevents", newest, ())
    assert document.collections == {"train_op": ("n1",)}


def test_that_an_events_file_without_graphs_is_an_empty_document_with_a_problem(tmp_path):
    path = tmp_path / "events.out.tfevents.1"
    event = protos.Event()
    event.summary.value.add(tag="loss", simple_value=1.0)
    path.write_bytes(events(event))
    document = open_document(path)
    assert (document.kind, len(document.graph_def.node)) == ("tfevents", 0)
    assert [problem.kind for problem in document.problems] == ["no-graph"]


def test_that_events_which_are_still_written_open_and_damaged_ones_do_not(tmp_path):
    path = tmp_path / "events.out.tfevents.1"
    raw = events(protos.Event(graph_def=graph().SerializeToString()), protos.Event(step=5))
    path.write_bytes(raw[:-3])
    document = open_document(path)
    assert document.graph_def == graph()
    assert [problem.kind for problem in document.problems] == ["truncated"]
    path.write_bytes(raw.replace(b"Identity", b"Identitz", 1))
    with pytest.raises(ReadError, match="does not fit its checksum"):
        open_document(path)
