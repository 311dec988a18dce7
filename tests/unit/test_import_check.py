"""What TensorFlow would refuse is found before a result is handed out."""

import time

import pytest
from operation_graphs import F, const, document, identity, node, placeholder, variable

from graphviewer import protos
from graphviewer.analysis.import_check import import_faults, new_faults
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.provenance import Provenance
from graphviewer.operations.registry import Operation, Result
from graphviewer.protos import DataType


def sound():
    return document(
        placeholder(),
        variable("v", [2]),
        const("i", 1, DataType.INT32),
        identity("v/read = Identity v"),
        identity("assign = Assign v x"),
        node("cast = Cast i", SrcT=DataType.INT32, DstT=F),
        identity("y = Mul v/read cast ^assign"),
        "group = NoOp ^y",
        "z = Custom y",
    )


FAULTS = {
    "missing node": ("dangling", "y", lambda n: n["y"].input.__setitem__(1, "absent")),
    "order of inputs": ("input-order", "y", lambda n: n["y"].input.insert(0, "^x")),
    "port": ("bad-port", "y", lambda n: n["y"].input.__setitem__(0, "x:1")),
    "dtype": ("edge-dtype", "y", lambda n: n["y"].input.__setitem__(1, "i")),
    "value as a reference": ("edge-dtype", "assign", lambda n: n["assign"].input.__setitem__(0, "x")),
    "attribute": ("missing-attr", "cast", lambda n: n["cast"].attr.__delitem__("DstT")),
    "colocation": ("colocation", "y", lambda n: n["y"].attr["_class"].list.s.append(b"loc:@absent")),
    "function": (
        "no-function",
        "call",
        lambda n: (
            n["z"].__setattr__("op", "PartitionedCall"),
            n["z"].__setattr__("name", "call"),
            n["z"].attr["f"].func.__setattr__("name", "f"),
        ),
    ),
}


def test_that_a_sound_graph_has_no_faults():
    assert import_faults(sound()) == []


@pytest.mark.parametrize(("kind", "name", "change"), FAULTS.values(), ids=FAULTS)
def test_that_each_fault_is_found_with_its_node(kind, name, change):
    broken = sound()
    change({made.name: made for made in broken.graph_def.node})

    found = import_faults(Document("graphdef", broken.graph_def))

    assert (kind, name) in [(fault.kind, fault.node) for fault in found]
    assert all(name in fault.reason for fault in found if fault.kind == kind)


def test_that_the_reason_names_both_ends_of_an_edge():
    broken = sound()
    broken.graph_def.node[6].input[1] = "i"
    (fault,) = import_faults(broken)
    assert fault.reason == "'y' takes float32 as input 1, but 'i' gives int32."


def test_that_defaults_of_dtypes_count():
    before = document(placeholder(), node("shape = Shape x", T=F), node("y = Neg shape", T=DataType.INT32))
    assert import_faults(before) == []


def test_that_faults_that_were_there_before_are_told_apart():
    before = sound()
    before.graph_def.node[6].input[1] = "i"
    after = protos.GraphDef()
    after.CopyFrom(before.graph_def)
    after.node[0].attr["_class"].list.s.append(b"loc:@absent")

    new, inherited = new_faults(before, before.with_graph(after))

    assert [fault.kind for fault in new] == ["colocation"]
    assert [fault.kind for fault in inherited] == ["edge-dtype"]


def operation_that(change):
    def work(given, *, progress):
        graph_def = protos.GraphDef()
        graph_def.CopyFrom(given.graph_def)
        change(graph_def)
        return Result(given.with_graph(graph_def), Provenance())

    return Operation("test", "Test", "", (), work)


def test_that_a_result_that_would_not_import_is_not_handed_out():
    ruin = operation_that(lambda graph_def: graph_def.node[6].input.__setitem__(1, "i"))

    with pytest.raises(OperationError, match="'y' takes float32 as input 1, but 'i' gives int32") as error:
        ruin.run(sound())
    assert "Nothing was written" in error.value.hint


def test_that_damage_that_was_there_is_handed_on_with_a_warning():
    before = sound()
    before.graph_def.node[6].input[1] = "i"

    result = operation_that(lambda graph_def: None).run(before)

    assert result.warnings[-1].startswith("TensorFlow would refuse the result, as it would the graph before: 'y' takes")


def test_that_the_check_of_a_network_takes_no_time():
    made = [placeholder(), const("w", 1.0)]
    for number in range(1000):
        source = f"relu{number - 1}" if number else "x"
        made += [identity(f"mul{number} = Mul {source} w"), identity(f"relu{number} = Relu mul{number}")]
    given = document(*made)

    start = time.process_time()
    assert import_faults(given) == []
    assert time.process_time() - start < 2
