"""The lines that restore what fits and initialise the rest, and the offer of another scope."""

from __future__ import annotations

import ast

from test_coverage import FakeCheckpoint, document

from graphviewer.analysis.coverage import Coverage, VariableRow, coverage
from graphviewer.analysis.restoring import offer_prefix, restoring_lines

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
    assert len(tree.body) == 5
    assert name in {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
