"""Folding: what becomes of every node, and what is left alone."""

import time

import numpy as np
import pytest
from operation_graphs import F, apply, by_name, const, document, identity, lines, node, placeholder, value_of, variable

from graphviewer.analysis.diff import compare
from graphviewer.errors import OperationError
from graphviewer.model.document import Payload, Payloads
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType

INT = DataType.INT32
BOOL = DataType.BOOL


def integer(line):
    return node(line, T=INT)


def fold(before, *outputs):
    return apply("fold-constants", before, outputs=outputs)


def test_that_a_known_value_takes_the_place_of_its_node_and_what_only_it_read_goes():
    before = document(
        const("a", 2, INT),
        const("b", [3, 4], INT),
        integer("sum = AddV2 a b"),
        integer("y = Mul sum p"),
        node("p = Placeholder", dtype=INT, shape=[2]),
    )

    result = fold(before)

    assert lines(result.document) == ["sum = Const", "y = Mul sum p", "p = Placeholder"]
    np.testing.assert_array_equal(value_of(result, "sum"), [5, 6])
    assert "only what is a constant now" in result.provenance.removals["a"].reason
    changes = {change.after: change for change in compare(before, result.document, result.provenance).changes}
    assert changes["sum"].status == "converted"
    assert "int32 [2]: 5, 6" in changes["sum"].reason


def test_that_a_folded_constant_waits_for_what_its_node_waited_for():
    waiting = const("a", 2, INT)
    waiting.input.append("^p")
    before = document(
        node("p = Placeholder", dtype=INT),
        waiting,
        const("b", 3, INT),
        integer("s = AddV2 a b ^q"),
        integer("y = Neg s"),
        node("q = Placeholder", dtype=INT),
    )

    assert "y = Const ^q ^p" in lines(fold(before, "y").document)


def test_that_identities_of_constants_are_spliced_unless_they_are_outputs():
    before = document(
        const("w", np.ones([2000])),
        identity("a = Identity w"),
        identity("b = Identity a"),
        identity("y = Neg b ^a"),
        identity("kept = Identity w"),
        identity("z = Neg kept"),
    )

    result = fold(before, "kept")

    assert lines(result.document) == ["w = Const", "y = Neg w ^w", "kept = Identity w", "z = Neg kept"]
    assert result.provenance.removals["b"].rule == "spliced"


def test_that_a_shape_known_only_inside_a_conditional_stays_inside_it():
    before = document(
        node("p = Placeholder", dtype=BOOL, shape=[]),
        node("x = Placeholder", dtype=F, shape=[2, 3]),
        identity("s = Switch x p"),
        identity("i = Identity s:1"),
        node("r = Relu x", T=F),
        node("shape = Shape r", T=F, out_type=INT),
        integer("y = Neg shape"),
        const("c", np.ones([4])),
        identity("cs = Switch c p"),
        identity("z = ZerosLike cs:1"),
    )

    result = fold(before, "y", "i", "z")

    assert value_of(result, "y").tolist() == [-2, -3]
    assert "z = ZerosLike cs:1" in lines(result.document)


def test_that_nothing_is_assumed_of_variables_that_may_change_their_shape():
    assign = node("assign = Assign v x", T=F)
    assign.attr["validate_shape"].b = False
    before = document(
        variable("v", [2]),
        variable("w", [3, 4]),
        node("x = Placeholder", dtype=F),
        assign,
        node("a = Shape v", T=F, out_type=INT),
        node("b = Shape w", T=F, out_type=INT),
        integer("y = Neg a"),
        integer("z = Neg b"),
    )

    after = by_name(fold(before, "y", "z").document)

    assert (after["a"].op, after["z"].op) == ("Shape", "Const")


@pytest.mark.parametrize(
    ("shape", "producer", "folded"), [([], 24, True), ([], 20, False), ([-1, 2], 24, False), ([3, 2], 20, True)]
)
def test_that_the_shape_of_a_placeholder_counts_where_it_is_known(shape, producer, folded):
    before = document(
        node("x = Placeholder", dtype=F, shape=shape), node("s = Shape x", T=F, out_type=INT), integer("y = Neg s")
    )
    before.graph_def.versions.producer = producer

    assert (by_name(fold(before, "y").document)["y"].op == "Const") == folded


def test_that_constants_left_in_the_file_stay_there(tmp_path):
    weights = np.arange(4, dtype="<f4")
    path = tmp_path / "graph.pb"
    path.write_bytes(weights.tobytes())
    big = const("w", weights)
    big.attr["value"].tensor.ClearField("tensor_content")
    status = path.stat()
    payloads = Payloads(path, status.st_size, status.st_mtime_ns, {2: Payload(0, 16)})
    before = document(
        const("a", 1, INT),
        const("b", 1, INT),
        big,
        integer("s = AddV2 a b"),
        identity("y = Neg w"),
        integer("z = Neg s"),
    )
    before = before.with_graph(before.graph_def, payloads=payloads)

    after = fold(before, "y", "z").document

    np.testing.assert_array_equal(np.frombuffer(after.payloads.read(after.graph.index["w"]), "<f4"), weights)


def test_that_a_damaged_or_hostile_graph_takes_no_time_and_no_memory():
    tall, wide = const("tall", np.arange(1000).reshape(1000, 1), INT), const("wide", np.arange(1000), INT)
    huge = const("huge", [1 << 30, 1 << 30], INT)
    ring = [integer("r0 = Neg r1"), integer("r1 = Neg r0")]
    blown = [integer(f"b{number} = AddV2 tall wide") for number in range(300)]
    chain = [integer("n0 = Neg wide"), *(integer(f"n{number} = Neg n{number - 1}") for number in range(1, 1000))]
    before = document(
        tall,
        wide,
        huge,
        node("fill = Fill huge one", T=INT),
        const("one", 1, INT),
        *ring,
        *blown,
        *chain,
        node("bad = StridedSlice wide one"),
        integer("worse = Pack"),
    )

    start = time.process_time()
    result = operations()["fold-constants"].run(before)

    assert time.process_time() - start < 2
    assert by_name(result.document)["fill"].op == "Fill"
    assert by_name(result.document)["b7"].op == "AddV2"


def test_that_a_graph_without_constants_says_so():
    assert fold(document(placeholder(), identity("y = Neg x"))).warnings == ("There was nothing to fold.",)


def test_that_a_merge_whose_index_counts_dead_inputs_is_refused():
    merge = identity("m = Merge s s:1 x")
    merge.attr["N"].i = 3
    before = document(
        placeholder(), const("p", True, BOOL), identity("s = Switch x p"), merge, node("y = Cast m:1", SrcT=INT, DstT=F)
    )

    with pytest.raises(OperationError, match="'m' \\(Merge\\) would lose"):
        fold(before)
