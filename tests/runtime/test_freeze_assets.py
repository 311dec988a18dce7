"""Frozen SavedModels find the files that their loader would have told them of."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from test_freeze import exact_session, freeze

from graphviewer.errors import OperationError
from graphviewer.formats import open_document, save_document
from graphviewer.model.tensors import tensor_value
from graphviewer.operations.registry import FileUse, TableUse
from graphviewer.runtime.verify import verify

v1 = tf.compat.v1
WORDS = np.array([b"b", b"c", b"nowhere"])


def lines_of(path, default=-1):
    """A table from the lines of a file to their numbers."""
    line, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    return v1.lookup.StaticHashTable(tf.lookup.TextFileInitializer(path, tf.string, line, tf.int64, number), default)


@pytest.fixture(params=["ref", "resource"])
def old_model(request, tmp_path):
    """A SavedModel of TF1 whose table is filled from an asset; what was exported from is gone."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "words.txt").write_text("a\nb\nc\n")
    with tf.Graph().as_default(), exact_session(None) as session:
        name = tf.constant(str(tmp_path / "source" / "words.txt"), name="file")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, name)
        words = v1.placeholder(tf.string, [None], "words")
        weights = v1.get_variable("w", [4, 2], use_resource=request.param == "resource")
        rows = tf.gather(weights, lines_of(name).lookup(words) + 1, name="y")
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        before = session.run(rows, {words: WORDS})
        v1.saved_model.simple_save(
            session, str(tmp_path / "model"), {"words": words}, {"y": rows}, legacy_init_op=v1.tables_initializer()
        )
    shutil.rmtree(tmp_path / "source")
    return tmp_path / "model", before


class Model(tf.Module):
    """Two tables filled from files, one from constants, and a file that is read by itself."""

    def __init__(self, folder):
        (folder / "words.txt").write_text("a\nb\nc\n")
        (folder / "labels.txt").write_text("c\nx\n")
        self.words, self.labels = (lines_of(str(folder / name)) for name in ("words.txt", "labels.txt"))
        self.pairs = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([5, 6], tf.int64)), 0
        )
        self.weights = tf.Variable(tf.random.stateless_normal([12, 2], [1, 2]))
        self.asset = tf.saved_model.Asset(str(folder / "labels.txt"))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def serve(self, words):
        at = self.words.lookup(words) + self.labels.lookup(words) + self.pairs.lookup(words) + 2
        return {"rows": tf.gather(self.weights, at), "text": tf.io.read_file(self.asset.asset_path)}


@pytest.fixture
def new_model(tmp_path):
    """A SavedModel of TF2; what was exported from is gone."""
    (tmp_path / "source").mkdir()
    model = Model(tmp_path / "source")
    before = {name: value.numpy() for name, value in model.serve(tf.constant(WORDS)).items()}
    tf.saved_model.save(model, str(tmp_path / "model"), signatures=model.serve)
    shutil.rmtree(tmp_path / "source")
    return tmp_path / "model", before


def run_frozen(result, fetches, feed):
    """Fill the tables as the result says, then run."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(result.document.graph_def.SerializeToString()), name="")
        with exact_session(graph) as session:
            session.run([name for table in result.tables for name in table.initializers])
            return session.run(fetches, feed)


def text_of(result, name):
    return tensor_value(next(n for n in result.document.graph_def.node if n.name == name).attr["value"].tensor).item()


def test_that_a_table_of_an_old_model_is_filled_from_its_assets(old_model):
    path, before = old_model

    result = freeze(open_document(path))

    asset = path / "assets" / "words.txt"
    assert result.files == (FileUse("file", str(asset)),)
    assert result.tables == (TableUse("hash_table", ("text_file_init/InitializeTableFromTextFileV2",)),)
    assert any(f"'{asset}', which must stay there" in warning for warning in result.warnings)
    assert ("file", "path") in {(rewrite.node, rewrite.rule) for rewrite in result.rewrites}
    np.testing.assert_array_equal(run_frozen(result, "y:0", {"words:0": WORDS}), before)


def test_that_a_new_models_paths_are_known_without_a_checkpoint_having_them(new_model):
    path, before = new_model
    document = open_document(path)
    ends = {name: tensor.name for name, tensor in document.signatures["serving_default"].outputs.items()}

    result = freeze(document, list(ends.values()))

    assert {use.path for use in result.files} == {str(path / "assets" / name) for name in ("words.txt", "labels.txt")}
    assert len(result.tables) == 3
    assert all(table.initializers for table in result.tables)
    assert result.frozen == 4
    feed = {document.signatures["serving_default"].inputs["words"].name: WORDS}
    found = run_frozen(result, ends, feed)
    np.testing.assert_array_equal(found["rows"], before["rows"])
    assert found["text"] == before["text"]


def agree_about_the_files(path, tmp_path):
    document = open_document(path)
    ends = [tensor.name for tensor in document.signatures["serving_default"].outputs.values()]
    save_document(freeze(document, ends).document, tmp_path / "frozen.pb")

    found = verify(document, open_document(tmp_path / "frozen.pb"), ends, allow=True)

    assert (found.verdict, found.reason) == ("same", "difference 0")


def test_that_both_sides_of_an_old_model_agree_about_the_files(old_model, tmp_path):
    agree_about_the_files(old_model[0], tmp_path)


def test_that_both_sides_of_a_new_model_agree_about_the_files(new_model, tmp_path):
    agree_about_the_files(new_model[0], tmp_path)


def test_that_a_result_for_another_place_reads_its_files_there(old_model, tmp_path):
    path, before = old_model

    result = freeze(open_document(path), assets="shipped/files")
    missing = verify(open_document(path), replace(result.document, kind="graphdef", meta=None), ["y"], allow=True)

    assert text_of(result, "file") == b"shipped/files/words.txt"
    assert any("put it there" in warning for warning in result.warnings)
    assert missing.verdict == "cannot"
    assert "shipped/files/words.txt" in missing.reason
    (tmp_path / "there").mkdir()
    shutil.copy(path / "assets" / "words.txt", tmp_path / "there")
    moved = freeze(open_document(path), assets=str(tmp_path / "there"))
    shutil.rmtree(path / "assets")
    np.testing.assert_array_equal(run_frozen(moved, "y:0", {"words:0": WORDS}), before)


def test_that_a_frozen_graph_is_frozen_again_for_another_place(old_model, tmp_path):
    first = freeze(open_document(old_model[0]))
    save_document(first.document, tmp_path / "frozen.pb")

    again = freeze(open_document(tmp_path / "frozen.pb"))
    moved = freeze(open_document(tmp_path / "frozen.pb"), assets="/srv")

    assert again.files == first.files
    assert text_of(moved, "file") == b"/srv/words.txt"


def test_that_assets_that_are_gone_are_told(old_model):
    path, _ = old_model
    shutil.rmtree(path / "assets")

    result = freeze(open_document(path))

    assert f"The result reads files that are not there: '{path / 'assets' / 'words.txt'}'." in result.warnings


def test_that_paths_that_nobody_knows_are_asked_for(new_model):
    document = replace(open_document(new_model[0]), path=None, checkpoint=None)
    output = document.signatures["serving_default"].outputs["rows"].name

    with pytest.raises(OperationError, match=r"holds the path of the asset '\w+.txt', and it is not known") as error:
        freeze(document, [output], checkpoint=new_model[0] / "variables" / "variables")
    assert "--assets" in error.value.shell and "--" not in error.value.hint
    assert freeze(document, [output], checkpoint=new_model[0] / "variables" / "variables", assets="x").files


def test_that_a_result_on_the_way_still_knows_the_assets(new_model):
    from graphviewer.operations.registry import operations

    document = open_document(new_model[0])
    output = document.signatures["serving_default"].outputs["rows"].name
    between = operations()["clear-devices"].run(document).document

    assert freeze(between, [output]).files == freeze(document, [output]).files


def two_named_files(first, second):
    """A graph with two tables filled from named files."""
    with tf.Graph().as_default() as graph:
        words = v1.placeholder(tf.string, [None], "words")
        both = [lines_of(tf.constant(path)).lookup(words) for path in (first, second)]
        tf.add(*both, name="y")
        return graph.as_graph_def().SerializeToString()


def test_that_named_files_that_are_no_assets_are_told_and_moved_only_when_asked(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "graph.pb").write_bytes(two_named_files(str(tmp_path / "a.txt"), "/nowhere/b.txt"))
    document = open_document(tmp_path / "graph.pb")

    kept, moved = freeze(document), freeze(document, assets="x")

    assert [use.path for use in kept.files] == [str(tmp_path / "a.txt"), "/nowhere/b.txt"]
    assert "The result reads files that are not there: '/nowhere/b.txt'." in kept.warnings
    assert not kept.rewrites
    assert [use.path for use in moved.files] == ["x/a.txt", "x/b.txt"]


def test_that_two_files_never_become_one(tmp_path):
    (tmp_path / "graph.pb").write_bytes(two_named_files("/a/words.txt", "/b/words.txt"))

    with pytest.raises(OperationError, match="'/a/words.txt' and '/b/words.txt' would be one file"):
        freeze(open_document(tmp_path / "graph.pb"), assets="x")
