"""Renaming: every place that names a node, and names that cannot be."""

import pytest
from operation_graphs import apply, by_name, document, identity, lines, placeholder, variable

from graphviewer import protos
from graphviewer.analysis.diff import compare
from graphviewer.errors import OperationError
from graphviewer.protos import DataType

INT = DataType.INT32
BOOL = DataType.BOOL


def placed(line, *beside):
    made = identity(line)
    made.attr["_class"].list.s.extend(b"loc:@" + name.encode() for name in beside)
    return made


def test_that_a_scope_is_renamed_wherever_it_is_named():
    meta = protos.MetaGraphDef()
    meta.collection_def["ends"].node_list.value.extend(["net/y:0", "x"])
    meta.signature_def["serve"].outputs["y"].name = "net/y:0"
    meta.saver_def.restore_op_name = "net/save/all"
    variable_def = protos.VariableDef(variable_name="net/w:0", snapshot_name="net/w/read:0")
    meta.collection_def["variables"].bytes_list.value.append(variable_def.SerializeToString())
    meta.collection_def["contexts"].bytes_list.value.append(b"\x0a\x03net")
    before = document(
        placeholder(),
        variable("net/w", [2]),
        identity("net/w/read = Identity net/w"),
        placed("net/y = Mul net/w/read:0 x ^net/w", "net/w", "x"),
        identity("network = Neg net/y"),
        "net/save/all = NoOp",
        meta=meta,
    )

    result = apply("rename", before, scopes="net=tower/0")

    assert lines(result.document) == [
        "x = Placeholder",
        "tower/0/w = VariableV2",
        "tower/0/w/read = Identity tower/0/w",
        "tower/0/y = Mul tower/0/w/read:0 x ^tower/0/w",
        "network = Neg tower/0/y",
        "tower/0/save/all = NoOp",
    ]
    assert list(by_name(result.document)["tower/0/y"].attr["_class"].list.s) == [b"loc:@tower/0/w", b"loc:@x"]
    after = result.document
    assert dict(after.collections) == {"ends": ("tower/0/y:0", "x")}
    assert after.signatures["serve"].outputs["y"].name == "tower/0/y:0"
    assert after.saver.restore_op_name == "tower/0/save/all"
    assert after.variable_defs["variables"][0].snapshot_name == "tower/0/w/read:0"
    assert "dropped: contexts" in result.warnings[0]
    assert result.provenance.origins["tower/0/w"].source == "net/w"
    statuses = {change.status for change in compare(before, after, result.provenance).changes}
    assert statuses == {"renamed"}


@pytest.mark.parametrize(
    ("scopes", "names"),
    [
        ("a=", ["b", "c/d", "e"]),
        ("=top", ["top/a/b", "top/a/c/d", "top/e"]),
        ("a/c/d=a/c, e=f", ["a/b", "a/c", "f"]),
        ("a/=x/", ["x/b", "x/c/d", "e"]),
        ("a/b=e,e=a/b", ["e", "a/c/d", "a/b"]),
    ],
)
def test_that_scopes_come_off_go_on_and_change_places(scopes, names):
    before = document("a/b = NoOp", "a/c/d = NoOp ^a/b", "e = NoOp ^a/c/d")
    assert apply("rename", before, scopes=scopes).document.graph.names == names


@pytest.mark.parametrize(
    ("scopes", "message"),
    [
        ("a/b=e", "Two nodes would be called 'e'"),
        ("a/x=y", "no scope or node 'a/x'"),
        ("a=a b", "does not allow the name"),
        ("e=", "does not allow the name ''"),
        ("a", "renames nothing"),
        ("a=a", "renames nothing"),
        ("=top,a/c=x", "'=top' comes first and renames all of 'a/c', so that 'a/c=x' renames nothing"),
        ("a=b,a/b=c", "'a=b' comes first and renames all of 'a/b'"),
        ("a=b,a=c", "'a=b' comes first and renames all of 'a', so that 'a=c' renames nothing"),
        (" , ", "No scope was named"),
    ],
)
def test_that_renames_that_cannot_be_are_refused(scopes, message):
    before = document("a/b = NoOp", "a/c/d = NoOp ^a/b", "e = NoOp ^a/c/d")
    with pytest.raises(OperationError) as error:
        apply("rename", before, scopes=scopes)
    assert message in str(error.value)


def test_that_renamed_variables_without_a_saver_bring_a_warning():
    assert "--rename" in apply("rename", document(variable("net/w", [2])), scopes="net=x").warnings[0]
