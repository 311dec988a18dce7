"""The lines that restore what fits and initialise the rest, and the offer of another scope."""

from __future__ import annotations

import ast
from dataclasses import replace

from test_coverage import FakeCheckpoint, document

from graphviewer import protos
from graphviewer.analysis.coverage import Coverage, VariableRow, coverage
from graphviewer.analysis.restoring import lines_to_paste, offer_prefix, restoring_lines

CHECKPOINT = FakeCheckpoint(net__w=[2, 3], net__b=[4], old__v=[1], old__u=[7], old__step=[])


def test_that_what_matches_is_restored_and_the_rest_initialised():
    found = coverage(document(net__w=[2, 3], net__b=[3], head=[5]), CHECKPOINT)
    text = "\n".join(restoring_lines(found, "/runs/model.ckpt-1"))
    ast.parse(text)
    saver, _, rest = text.partition("initializer = ")
    assert "'net/w': variables['net/w']," in saver
    assert "variables['net/b'],  # the checkpoint has float32 [4]" in rest
    assert "variables['head']," in rest
    assert rest.index("session.run(initializer)") < rest.index("saver.restore(session, '/runs/model.ckpt-1')")


def test_that_nothing_is_initialised_where_all_fits_and_nothing_restored_where_nothing_does():
    full = "\n".join(restoring_lines(coverage(document(net__w=[2, 3]), CHECKPOINT), "c"))
    assert "initializer" not in full
    none = "\n".join(restoring_lines(coverage(document(zzz=[9]), CHECKPOINT), "c"))
    assert "saver" not in none
    assert "session.run(initializer)" in none
    assert restoring_lines(coverage(document(), CHECKPOINT), "c") == []


def test_that_a_change_of_scope_is_offered_and_not_applied():
    found = coverage(document(new__v=[1], new__u=[7], new__w=[9]), CHECKPOINT)
    offer = offer_prefix(found, CHECKPOINT)
    assert offer.pairs == (("new/v", "old/v"), ("new/u", "old/u"))
    assert "'new/' in the graph is 'old/' in the checkpoint" in offer.text
    lines = restoring_lines(found, "c", offer)
    assert "    # 'old/v': variables['new/v']," in lines
    assert "    variables['new/v']," in lines
    ast.parse("\n".join(lines))
    assert offer_prefix(coverage(document(other=[8]), CHECKPOINT), CHECKPOINT) is None


def test_that_parts_of_one_variable_share_their_key():
    rows = [VariableRow(f"w/part_{at}", "w", [2], "float32", "both") for at in (0, 1)]
    lines = restoring_lines(Coverage(tuple(rows), 1.0), "c")
    assert "    'w': [variables['w/part_0'], variables['w/part_1']]," in lines


def test_that_hostile_names_cannot_break_out_of_their_literal():
    name = "a'\n\"\\'];import os\u202e\ud800"
    rows = (
        VariableRow(name, name, [1], "float32", "both"),
        VariableRow(name + "2", None, [1], "float32", "only_graph"),
    )
    text = "\n".join(restoring_lines(Coverage(rows, 0.5), "model'\n"))
    assert text.isascii()
    tree = ast.parse(text)
    assert len(tree.body) == 6
    assert name in {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_that_a_saved_model_is_loaded_with_its_own_values(tmp_path):
    model = replace(document(w=[2]), kind="savedmodel", path=tmp_path, meta=protos.MetaGraphDef())
    model.meta.meta_info_def.tags.append("serve")
    found = coverage(model, FakeCheckpoint(w=[2]))
    lines = lines_to_paste(model, found, tmp_path / "variables" / "variables")
    assert lines[-1] == f"model = tf.saved_model.load({str(tmp_path)!r})"
    assert not any("Saver" in line for line in lines)
    model.meta.meta_info_def.tags.append("gpu")
    assert "tags=['gpu', 'serve'])" in lines_to_paste(model, found, tmp_path / "variables" / "variables")[-1]
    assert "assign(session, 'w', read('w'))" in "\n".join(lines_to_paste(model, found, tmp_path / "other"))


def test_that_a_saver_is_for_graphs_whose_variables_tensorflow_lists(tmp_path):
    graph = document(w=[2])
    found = coverage(graph, FakeCheckpoint(w=[2]))
    assert "tf.train.Saver" not in "\n".join(lines_to_paste(graph, found, tmp_path / "c"))
    meta = protos.MetaGraphDef()
    meta.collection_def["variables"].bytes_list.value.append(
        protos.VariableDef(variable_name="w:0").SerializeToString()
    )
    assert "tf.train.Saver" in "\n".join(lines_to_paste(replace(graph, meta=meta), found, tmp_path / "c"))


def test_that_hostile_names_cannot_break_out_of_the_lines_that_assign(tmp_path):
    name = "a'\n\"\\'];import os\u202e"
    graph = document(**{name: [1], name + "2": [1]})
    found = coverage(graph, FakeCheckpoint(**{name: [1]}))
    text = "\n".join(lines_to_paste(graph, found, tmp_path / "c'\n"))
    assert text.isascii()
    assert len(ast.parse(text).body) == 4
