"""Statuses, matching and details of a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from diff_graphs import counts, document, dtype, matches, node, statuses

from graphviewer import protos
from graphviewer.analysis.diff import STATUSES, by_op, by_role, compare, rollup
from graphviewer.model.making import const_node
from graphviewer.model.overlay import Overlay
from graphviewer.model.provenance import Origin, Provenance, Removal
from graphviewer.protos import DataType


def chain():
    return [node("x", "Placeholder", dtype=dtype(1)), node("i", "Identity", "x"), node("relu", "Relu", "i", T=dtype(1))]


def test_that_a_graph_equals_itself_in_any_order_and_version():
    diff = compare(document(*chain(), producer=1), document(*reversed(chain()), producer=99))
    assert diff.same
    assert counts(diff) == {"unchanged": 3}
    assert diff.match.tolist() == [2, 1, 0]


def test_that_every_status_is_listed_in_the_contracts_order():
    diff = compare(document(*chain()), document(*chain()))
    assert tuple(diff.summary()) == STATUSES
    assert STATUSES == ("removed", "added", "converted", "spliced", "renamed", "changed", "rewired", "unchanged")


def test_that_nodes_of_one_side_are_removed_and_added():
    before = document(node("a", "Placeholder"), node("b", "Relu", "a"))
    after = document(node("a", "Placeholder"), node("c", "Softmax", "a"))
    diff = compare(before, after)
    assert statuses(diff) == {"b": "removed", "c": "added"}
    removed, added = diff.changes
    assert (removed.before, removed.after, removed.match) == ("b", None, "none")
    assert (added.before, added.after) == (None, "c")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("VariableV2", "Const", "variable → constant"),
        ("VarHandleOp", "Const", "variable → constant"),
        ("ReadVariableOp", "Identity", "ReadVariableOp → Identity"),
        ("IteratorGetNext", "Placeholder", "pipeline → placeholder"),
        ("QueueDequeueManyV2", "Placeholder", "pipeline → placeholder"),
        ("Relu", "Placeholder", "Relu → placeholder"),
        ("Merge", "Identity", "branch of a folded cond"),
        ("RefSwitch", "Switch", "RefSwitch → Switch"),
        ("Fill", "Const", "Fill → constant"),
        ("VarIsInitializedOp", "Const", "VarIsInitializedOp → constant"),
        ("StatefulPartitionedCall", "Identity", "call → body"),
        ("StatelessIf", "PartitionedCall", "branch of a folded cond"),
        ("Mul", "Identity", "Mul → Identity"),
    ],
)
def test_that_conversions_are_recognised_by_their_ops(old, new, says):
    diff = compare(document(node("n", old)), document(node("n", new)))
    assert statuses(diff) == {"n": "converted"}
    assert diff.changes[0].details["conversion"] == says
    assert diff.changes[0].details["op"] == [old, new]


def test_that_another_op_of_the_same_name_is_changed():
    (change,) = compare(document(node("n", "Relu", "x")), document(node("n", "Relu6", "x"))).changes
    assert change.status == "changed"
    assert "Relu → Relu6" in change.reason


def test_that_a_pass_through_node_is_spliced_when_its_consumers_read_its_input():
    after = document(node("x", "Placeholder", dtype=dtype(1)), node("relu", "Relu", "x", T=dtype(1)))
    diff = compare(document(*chain()), after)
    assert statuses(diff) == {"i": "spliced", "relu": "rewired"}
    assert diff.changes[0].before == "i"
    assert diff.changes[0].after is None
    assert "x" in diff.changes[0].reason


def test_that_chains_of_pass_through_nodes_are_spliced_with_their_port():
    before = document(
        node("s", "Split"), node("i", "Identity", "s:1"), node("j", "CheckNumerics", "i"), node("relu", "Relu", "j")
    )
    diff = compare(before, document(node("s", "Split"), node("relu", "Relu", "s:1")))
    assert statuses(diff) == {"i": "removed", "j": "spliced", "relu": "rewired"} or statuses(diff) == {
        "i": "spliced",
        "j": "spliced",
        "relu": "rewired",
    }
    assert "s:1" in next(change for change in diff.changes if change.before == "j").reason


def test_that_a_gone_identity_is_removed_when_its_consumer_reads_something_else():
    before = document(node("y", "Placeholder"), *chain())
    after = document(node("y", "Placeholder"), chain()[0], node("relu", "Relu", "y", T=dtype(1)))
    assert statuses(compare(before, after)) == {"i": "removed", "relu": "rewired"}


def test_that_rings_of_gone_identities_end():
    before = document(node("a", "Identity", "b"), node("b", "Identity", "a"), node("r", "Relu", "a"))
    assert statuses(compare(before, document(node("r", "Relu")))) == {"a": "removed", "b": "removed", "r": "rewired"}


def test_that_data_inputs_have_an_order_and_control_inputs_have_none():
    nodes = [node("a", "Const"), node("b", "Const")]
    before = document(*nodes, node("s", "Sub", "a", "b", "^a", "^b"))
    assert compare(before, document(*nodes, node("s", "Sub", "a:0", "b", "^b", "^a"))).same
    (change,) = compare(before, document(*nodes, node("s", "Sub", "b", "a", "^a", "^b"))).changes
    assert change.status == "rewired"
    assert change.details["inputs"] == [["a", "b", "^a", "^b"], ["b", "a", "^a", "^b"]]


def test_that_a_graph_imported_under_a_scope_is_renamed_throughout():
    colocated = protos.AttrValue()
    colocated.list.s.append(b"loc:@x")
    moved = protos.AttrValue()
    moved.list.s.append(b"loc:@import/x")
    before = document(node("x", "Placeholder"), node("y", "Relu", "x", _class=colocated), node("z", "Relu", "y", "^x"))
    after = document(
        node("import/x", "Placeholder"),
        node("import/y", "Relu", "import/x", _class=moved),
        node("import/z", "Relu", "import/y", "^import/x"),
    )
    diff = compare(before, after)
    assert counts(diff) == {"renamed": 3}
    assert set(matches(diff).values()) == {"prefix"}
    assert all(not change.details for change in diff.changes)


def test_that_renaming_one_scope_leaves_its_neighbours_unchanged():
    def build(scope):
        return document(
            node("x", "Placeholder"),
            node(f"{scope}/w", "Const"),
            node(f"{scope}/y", "Mul", "x", f"{scope}/w"),
            node("out", "Relu", f"{scope}/y"),
        )

    diff = compare(build("net"), build("tower/net"))
    assert statuses(diff) == {"tower/net/w": "renamed", "tower/net/y": "renamed"}


def test_that_a_renamed_node_that_also_changed_says_both():
    before = document(node("a/x", "Relu", T=dtype(1)), node("a/y", "Relu", "a/x", T=dtype(1)))
    after = document(node("b/x", "Relu", T=dtype(2)), node("b/y", "Relu", "b/x", T=dtype(1)))
    diff = compare(before, after)
    assert statuses(diff) == {"b/x": "renamed", "b/y": "renamed"}
    assert diff.changes[0].details["dtype"] == ["float32", "float64"]
    assert "float32 → float64" in diff.changes[0].reason


def test_that_a_single_renamed_node_is_found_by_its_place():
    def build(name):
        return document(node("x", "Placeholder"), node(name, "Relu", "x"), node("y", "Softmax", name))

    diff = compare(build("old"), build("fresh"))
    assert statuses(diff) == {"fresh": "renamed"}
    assert matches(diff) == {"fresh": "structure"}


def test_that_a_new_constant_of_another_value_is_not_taken_for_a_renamed_one():
    def build(name, value):
        constant = const_node(name, DataType.FLOAT, values=np.float32(value))
        return document(constant, node("y", "Relu", name))

    assert statuses(compare(build("a", 1), build("b", 1))) == {"b": "renamed"}
    assert statuses(compare(build("a", 1), build("b", 2))) == {"a": "removed", "b": "added", "y": "rewired"}


@pytest.mark.parametrize(
    ("change", "key", "pair"),
    [
        (lambda n: n.attr["T"].CopyFrom(dtype(2)), "dtype", ["float32", "float64"]),
        (lambda n: setattr(n, "device", "/gpu:0"), "device", ["", "/gpu:0"]),
        (lambda n: n.attr["shape"].shape.dim.add(size=-1), "shape", [None, [-1]]),
        (lambda n: n.attr.pop("T"), "dtype", ["float32", None]),
    ],
)
def test_that_changes_are_described_in_details(change, key, pair):
    edited = node("n", "Placeholder", T=dtype(1))
    change(edited)
    (found,) = compare(document(node("n", "Placeholder", T=dtype(1))), document(edited)).changes
    assert found.status == "changed"
    assert found.details[key] == pair


def test_that_other_attributes_are_described_by_name():
    before, after = node("n", "MaxPool"), node("n", "MaxPool")
    before.attr["padding"].s, after.attr["padding"].s = b"SAME", b"VALID"
    (found,) = compare(document(before), document(after)).changes
    assert found.details["attributes"] == {"padding": ["SAME", "VALID"]}


def test_that_an_attribute_at_its_default_may_be_left_out():
    written = node("n", "MatMul")
    written.attr["transpose_a"].b = False
    assert compare(document(written), document(node("n", "MatMul"))).same
    written.attr["transpose_a"].b = True
    assert statuses(compare(document(written), document(node("n", "MatMul")))) == {"n": "changed"}


def test_that_inferred_shapes_on_one_side_only_do_not_count():
    inferred, other = node("n", "MatMul"), node("n", "MatMul")
    inferred.attr["_output_shapes"].list.shape.add().dim.add(size=2)
    assert compare(document(inferred), document(other)).same
    other.attr["_output_shapes"].list.shape.add().dim.add(size=3)
    assert statuses(compare(document(inferred), document(other))) == {"n": "changed"}


def test_that_a_colocation_with_a_node_that_is_gone_does_not_count():
    def build(*places):
        colocated = node("n", "Relu")
        for place in places:
            colocated.attr["_class"].list.s.append(f"loc:@{place}".encode())
        return document(colocated, *(node(place, "NoOp") for place in places))

    assert statuses(compare(build("a", "b"), build("b"))) == {"a": "removed"}
    assert statuses(compare(build("a"), document(node("n", "Relu")))) == {"a": "removed"}
    assert statuses(compare(build("a"), document(node("n", "Relu"), node("a", "NoOp")))) == {"n": "changed"}


def test_that_alike_parts_of_two_networks_are_not_a_renamed_scope():
    def build(scope, parts, op):
        made = []
        for part in parts:
            w, y = f"{scope}/{part}/w", f"{scope}/{part}/y"
            made += [node(w, "Const"), node(y, "Relu", w), node(f"{scope}/{part}/z", op, y)]
        return document(*made)

    dense, conv = ([f"{name}{n}" for n in range(20)] for name in ("dense", "conv"))
    assert "renamed" not in counts(compare(build("a", dense, "MatMul"), build("b", conv, "Conv2D")))


def function(name, op, *, calls=None):
    made = protos.FunctionDef()
    made.signature.name = name
    inner = made.node_def.add(name="n", op=op)
    if calls:
        inner.attr["f"].func.name = calls
    return made


def call(name):
    return node("call", "PartitionedCall", f=protos.AttrValue(func=protos.NameAttrList(name=name)))


def test_that_what_differs_in_a_function_is_told_there_and_not_of_what_calls_it():
    before = document(call("f"), functions=[function("f", "PartitionedCall", calls="g"), function("g", "Relu")])
    after = document(call("f"), functions=[function("f", "PartitionedCall", calls="g"), function("g", "Tanh")])
    diff = compare(before, after)
    assert not diff.changes and not diff.same
    assert [(one.after, one.reason) for one in diff.functions] == [("g", "inside: 1 changed")]


def test_that_a_call_of_another_function_is_a_change():
    library = [function("f", "Relu"), function("g", "Tanh")]
    diff = compare(document(call("f"), functions=library), document(call("g"), functions=library))
    (change,) = diff.changes
    assert (change.status, change.reason) == ("changed", "f calls g in place of f")
    assert not diff.functions


def test_that_names_of_functions_do_not_count():
    before = document(
        call("f_12"), functions=[function("f_12", "PartitionedCall", calls="g_3"), function("g_3", "Relu")]
    )
    after = document(call("f_99"), functions=[function("h", "Relu"), function("f_99", "PartitionedCall", calls="h")])
    assert compare(before, after).same


def test_that_recursive_functions_end():
    library = [function("f", "PartitionedCall", calls="g"), function("g", "PartitionedCall", calls="f")]
    other = [function("g", "PartitionedCall", calls="f"), function("f", "PartitionedCall", calls="g")]
    assert compare(document(call("f"), functions=library), document(call("f"), functions=other)).same


def test_that_provenance_gives_links_and_reasons():
    before = document(
        node("v", "VariableV2"), node("id", "Identity", "v"), node("old", "Relu", "id"), node("loss", "Mean")
    )
    after = document(node("v", "Const"), node("fresh", "Relu", "v"), node("axis", "Const"))
    provenance = Provenance(
        {
            "v": Origin("v", "variable -> constant", "holds the value of the checkpoint"),
            "fresh": Origin("old", "renamed", ""),
            "axis": Origin(None, "made", "GatherV2 needs an axis"),
        },
        {"loss": Removal("removed", "not needed by fresh"), "id": Removal("spliced", "passes v on")},
    )
    diff = compare(before, after, provenance)
    assert statuses(diff) == {"loss": "removed", "axis": "added", "v": "converted", "id": "spliced", "fresh": "renamed"}
    assert set(matches(diff).values()) == {"provenance"}
    reasons = {change.name: change.reason for change in diff.changes}
    assert reasons["v"] == "holds the value of the checkpoint"
    assert reasons["loss"] == "not needed by fresh"
    assert diff.changes[0].details["op"] == ["Mean", None]
    converted = next(change for change in diff.changes if change.name == "v")
    assert converted.details["conversion"] == "variable → constant"


def test_that_one_node_may_become_several():
    before = document(node("next", "IteratorGetNext"), node("y", "Add", "next", "next:1"))
    after = document(node("next", "Placeholder"), node("next_1", "Placeholder"), node("y", "Add", "next", "next_1"))
    provenance = Provenance(
        {name: Origin("next", "pipeline -> placeholder", "fed now") for name in ("next", "next_1")}, {}
    )
    diff = compare(before, after, provenance)
    assert statuses(diff) == {"next": "converted", "next_1": "converted", "y": "rewired"}
    assert diff.match.tolist() == [0, 2]
    assert diff.origin.tolist() == [0, 0, 1]


def test_that_repeated_names_are_paired_equal_ones_first():
    twins = [node("n", "Relu", "x"), node("n", "Tanh", "x")]
    assert compare(document(*twins), document(*reversed(twins))).same
    assert counts(compare(document(*twins), document(twins[1]))) == {"removed": 1, "unchanged": 1}
    assert counts(compare(document(*twins), document(twins[1], node("n", "Exp", "x")))) == {
        "changed": 1,
        "unchanged": 1,
    }


def test_that_a_node_has_one_status_on_each_side():
    diff = compare(document(*chain()), document(chain()[0], node("relu", "Relu", "x", T=dtype(1)), node("new", "NoOp")))
    assert [STATUSES[code] for code in diff.status_before] == ["unchanged", "spliced", "rewired"]
    assert [STATUSES[code] for code in diff.status_after] == ["unchanged", "rewired", "added"]
    overlay = diff.overlay_after()
    assert overlay.kind == "diff"
    assert overlay.counts() == {"added": 1, "rewired": 1, "unchanged": 1}
    assert "in place of" in overlay.reasons[1]
    assert diff.change_before[1].status == "spliced"
    assert diff.change_after[2].status == "added"


def test_that_the_json_has_the_contracts_keys():
    data = compare(document(*chain()), document(*chain()[:2])).to_json()
    assert data["version"] == 1
    assert data["before"] == {"path": "test", "nodes": 3}
    assert data["after"]["nodes"] == 2
    assert set(data["changes"][0]) == {"status", "before", "after", "reason", "match", "details"}


def test_that_changes_roll_up_by_scope_op_and_role():
    before = document(node("a/x", "Relu"), node("a/y", "Relu", "a/x"), node("b/z", "Tanh", "a/y"))
    diff = compare(before, document(node("a/x", "Relu")))
    table = rollup(diff, before.scopes)
    assert table[before.scopes.by_path["a"]].tolist() == [1, 0, 0, 0, 0, 0, 0, 1]
    assert table[0].sum() == 3
    assert by_op(diff) == {"Relu": {"removed": 1}, "Tanh": {"removed": 1}}
    roles = Overlay("roles", ("inference", "loss"), np.array([0, 1, 1], np.int8), ["", "", ""])
    assert by_role(diff, roles) == {"loss": {"removed": 2}, "inference": {"unchanged": 1}}
    with pytest.raises(ValueError, match="neither side"):
        rollup(diff, document(node("q", "NoOp")).scopes)


def test_that_a_switch_is_spliced_when_its_consumers_read_its_input():
    before = document(node("x", "Placeholder"), node("s", "Switch", "x", "p"), node("y", "Relu", "s:1"))
    assert statuses(compare(before, document(before.node(0), node("y", "Relu", "x")))) == {
        "s": "spliced",
        "y": "rewired",
    }


def test_that_an_operation_and_a_file_tell_of_an_unread_identity_alike():
    before, after = document(node("v", "VariableV2"), node("id", "Identity", "v")), document(node("v", "VariableV2"))
    told = compare(before, after, Provenance({}, {"id": Removal("spliced", "passes v on")})).changes[0]
    assert told.status == compare(before, after).changes[0].status == "removed"
    assert told.reason == "this Identity passed its input on, and nothing that is left read it"


def test_that_values_in_place_of_handles_are_a_conversion():
    resource, value = (protos.AttrValue(type=number) for number in (protos.DataType.RESOURCE, protos.DataType.FLOAT))
    before, after = (document(node("v", "Placeholder"), node("e", "Enter", "v", T=one)) for one in (resource, value))
    (change,) = compare(before, after).changes
    assert (change.status, change.details["conversion"]) == ("converted", "handle → value")
    assert compare(after, before).changes[0].status == "changed"


def test_that_common_names_in_two_scopes_are_no_renamed_scope():
    names = [f"gradients/{name}" for name in ("Identity", "Switch", "Shape", "Sum", "Mul", "Neg", "Exp", "Abs")]
    others = ("bn/cond/Identity", "bn/cond/Switch", "bn/cond/pred_id")
    op = lambda name: name.rpartition("/")[2].replace("pred_id", "Relu")  # noqa: E731
    before = document(node("x", "Placeholder"), *(node(name, op(name), "x") for name in names))
    after = document(node("z", "Const"), *(node(name, op(name), "z") for name in others))
    assert "renamed" not in statuses(compare(before, after)).values()


def test_that_a_dropout_whose_input_is_read_now_is_spliced_and_its_parts_are_removed():
    before = document(
        node("x", "Placeholder"),
        node("random", "RandomUniform", "shape"),
        node("mask", "GreaterEqual", "random", "rate"),
        node("scaled", "Mul", "x", "scale"),
        node("drop", "SelectV2", "mask", "scaled", "zero"),
        node("y", "Relu", "drop"),
    )
    after = document(before.node(0), node("y", "Relu", "x"))
    removed = dict.fromkeys(("random", "mask", "scaled"), "removed")
    assert statuses(compare(before, after)) == {**removed, "drop": "spliced", "y": "rewired"}
    plain = document(
        *(one for one in before.graph_def.node if one.name != "random")
    )  # nothing says that it is a dropout
    assert statuses(compare(plain, after))["drop"] == "removed"
