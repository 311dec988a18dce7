"""Removing pass-through nodes: TensorFlow's rules, without its mistakes."""

from time import process_time

from operation_graphs import PRODUCER, assert_every_node_accounted_for, by_name, const, document, lines, node

from graphviewer import protos
from graphviewer.operations.registry import operations


def remove(before, outputs=()):
    result = operations()["remove-training-nodes"].run(before, outputs=outputs)
    assert_every_node_accounted_for(before, result)
    return result


def test_that_identities_are_spliced_and_the_training_graph_stays():
    before = document(const("x", 1.0), "i = Identity x", "j = StopGradient i", "y = Neg j", "train = ApplyAdam y")

    result = remove(before)

    assert lines(result.document) == ["x = Const", "y = Neg x", "train = ApplyAdam y"]
    assert result.provenance.removals["j"].rule == "spliced"
    assert "optimizer" in result.warnings[0]


def test_that_a_check_whose_value_is_used_passes_it_on():
    before = document(const("x", 1.0), "c = CheckNumerics x", "y = Neg c", "z = Neg x ^c")

    assert lines(remove(before).document) == ["x = Const", "y = Neg x", "z = Neg x"]


def test_that_inputs_with_a_written_port_follow_too():
    before = document("x = Split", "i = Identity x:1", "y = Add i:0 i")

    assert lines(remove(before).document) == ["x = Split", "y = Add x:1 x:1"]


def test_that_outputs_and_signature_tensors_stay():
    meta = protos.MetaGraphDef()
    meta.signature_def["serve"].outputs["y"].name = "signed:0"
    before = document(const("x", 1.0), "signed = Identity x", "y = Identity x", "gone = Identity x", meta=meta)

    assert lines(remove(before, ["y"]).document) == ["x = Const", "signed = Identity x", "y = Identity x"]


def test_that_identities_touched_by_control_edges_or_colocation_stay():
    colocated = node("d = Neg x")
    colocated.attr["_class"].list.s.append(b"loc:@c")
    before = document(
        const("x", 1.0), "a = Identity x ^x", "b = Identity x", "y = Neg a ^b", "c = Identity x", colocated, "e = Neg c"
    )

    assert lines(remove(before).document) == lines(before)


def test_that_versions_and_library_stay():
    function = protos.FunctionDef()
    function.signature.name = "f"
    before = document(const("x", 1.0), "i = Identity x", "y = f i", functions=[function])

    after = remove(before).document.graph_def

    assert after.versions.producer == PRODUCER
    assert [kept.signature.name for kept in after.library.function] == ["f"]


def test_that_a_ring_of_identities_in_a_damaged_file_ends():
    before = document("a = Identity b", "b = Identity a", "y = Neg a", const("x", 1.0), "i = Identity x", "z = Neg i")

    after = by_name(remove(before).document)

    assert set(after) == {"a", "b", "y", "x", "z"}
    assert list(after["z"].input) == ["x"]


def test_that_a_long_chain_of_identities_takes_one_walk():
    chain = [f"i{at} = Identity {f'i{at - 1}' if at else 'x'}" for at in reversed(range(20_000))]
    before = document(const("x", 1.0), *chain, "y = Neg i19999")

    started = process_time()
    after = remove(before).document

    assert process_time() - started < 2
    assert lines(after) == ["x = Const", "y = Neg x"]


def test_that_what_leads_into_a_ring_stays_with_it():
    before = document("a = Identity b", "b = Identity a", "c = Identity a", "y = Neg c")
    assert lines(remove(before).document) == ["a = Identity b", "b = Identity a", "c = Identity a", "y = Neg c"]


def test_that_a_check_stays_where_it_alone_keeps_a_constant_in_a_branch():
    waiting = const("c", 7.0)
    waiting.input.append("^check")
    before = document(
        const("x", 1.0), "p = Placeholder", "s = Switch x p", "check = CheckNumerics s:1", waiting, "y = Merge s c"
    )
    assert lines(remove(before).document) == lines(before)
