"""Which checkpoint key is whose: the first part of the graph that speaks wins."""

import itertools

import numpy as np
import pytest
from operation_graphs import (
    WEIGHTS,
    F,
    Values,
    by_name,
    const,
    document,
    freeze,
    identity,
    lines,
    network,
    node,
    placeholder,
    value_of,
    variable,
)

from graphviewer import protos
from graphviewer.errors import OperationError
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType


def saver(scope, names, variables, slices=None):
    """Save and restore ops of a saver."""
    slices = slices or [""] * len(names)
    text = [name.encode() for name in names]
    return [
        const(f"{scope}/names", text, DataType.STRING),
        const(f"{scope}/slices", [one.encode() for one in slices], DataType.STRING),
        node(f"{scope}/SaveV2 = SaveV2 file {scope}/names {scope}/slices " + " ".join(variables)),
        node(f"{scope}/RestoreV2 = RestoreV2 file {scope}/names {scope}/slices"),
        *(
            node(f"{scope}/Assign_{port} = Assign {name} {scope}/RestoreV2:{port}", T=F)
            for port, name in enumerate(variables)
        ),
    ]


def with_savers(*savers, saver_def=""):
    meta = None
    if saver_def:
        meta = protos.MetaGraphDef()
        meta.saver_def.save_tensor_name = f"{saver_def}/control_dependency:0"
    plain = network(const("file", b"f", DataType.STRING), *itertools.chain(*savers))
    return document(*plain.graph_def.node, meta=meta)


AVERAGES = saver("averages", ["net/w/ExponentialMovingAverage"], ["net/w"])
PLAIN = saver("save", ["net/w"], ["net/w"])
BOTH = {"net/w": WEIGHTS, "net/w/ExponentialMovingAverage": WEIGHTS + 1}


@pytest.mark.parametrize(("chosen", "added"), [("save", 0), ("averages", 1)])
def test_that_the_saver_of_the_saver_def_says_which_key(chosen, added):
    result = freeze(with_savers(PLAIN, AVERAGES, saver_def=chosen), Values(BOTH))

    np.testing.assert_array_equal(value_of(result, "net/w"), WEIGHTS + added)


def test_that_savers_that_disagree_are_asked_about():
    before = with_savers(PLAIN, AVERAGES)

    with pytest.raises(OperationError, match="'save' and 'averages' read different values for 'net/w'") as error:
        freeze(before, Values(BOTH))
    assert "--saver" in error.value.shell and "--" not in error.value.hint
    np.testing.assert_array_equal(value_of(freeze(before, Values(BOTH), saver="averages"), "net/w"), WEIGHTS + 1)
    np.testing.assert_array_equal(value_of(freeze(before, Values(BOTH), saver="names"), "net/w"), WEIGHTS)
    with pytest.raises(OperationError, match="no saver 'other'"):
        freeze(before, Values(BOTH), saver="other")


def test_that_of_savers_that_disagree_the_one_that_fits_the_checkpoint_is_taken():
    key = "net/w/ExponentialMovingAverage"

    result = freeze(with_savers(PLAIN, AVERAGES), Values({key: BOTH[key]}))

    np.testing.assert_array_equal(value_of(result, "net/w"), WEIGHTS + 1)


def test_that_variables_that_no_saver_saves_are_told_from_those_of_another_checkpoint():
    before = document(
        *network(const("file", b"f", DataType.STRING), *PLAIN).graph_def.node,
        variable("state", [2, 2]),
        identity("z = MatMul y state"),
    )

    with pytest.raises(OperationError, match="1 variable that the outputs need has no value") as error:
        freeze(before, Values({"net/w": WEIGHTS}), ["z"])
    assert "own saver does not save them" in error.value.hint
    assert lines(freeze(before, Values({"net/w": WEIGHTS}), ["z"], inputs=["state"]).document).count(
        "state = Placeholder"
    )


def test_that_a_saver_with_slices_gives_each_part_its_piece():
    parts = [variable("p/part_0", [1, 2]), variable("p/part_1", [1, 2])]
    before = document(
        placeholder(),
        const("file", b"f", DataType.STRING),
        *parts,
        node("y = Concat x p/part_0 p/part_1"),
        *saver("save", ["p", "p"], ["p/part_0", "p/part_1"], ["2 2 0,1:0,2", "2 2 1,1:0,2"]),
    )

    result = freeze(before, Values({"p": WEIGHTS}))

    np.testing.assert_array_equal(value_of(result, "p/part_1"), WEIGHTS[1:])
    assert "[1:2, 0:2]" in result.provenance.origins["p/part_1"].reason


def test_that_without_a_saver_parts_follow_each_other_along_the_axis_that_differs():
    before = document(
        placeholder(),
        *(variable(f"p/part_{at}", [2, size]) for at, size in enumerate((2, 1))),
        "y = C x p/part_0 p/part_1",
    )
    whole = np.arange(6.0).reshape(2, 3)

    result = freeze(before, Values({"p": whole}))

    np.testing.assert_array_equal(value_of(result, "p/part_1"), whole[:, 2:])


def test_that_a_variable_def_tells_the_key_before_the_name_does():
    meta = protos.MetaGraphDef()
    definition = protos.VariableDef(variable_name="net/w:0")
    definition.save_slice_info_def.full_name = "whole"
    definition.save_slice_info_def.full_shape.extend([4, 2])
    definition.save_slice_info_def.var_offset.extend([2, 0])
    definition.save_slice_info_def.var_shape.extend([2, 2])
    meta.collection_def["variables"].bytes_list.value.append(definition.SerializeToString())
    before = document(*network().graph_def.node, meta=meta)
    whole = np.arange(8.0).reshape(4, 2)

    result = freeze(before, Values({"whole": whole, "net/w": WEIGHTS}))

    np.testing.assert_array_equal(value_of(result, "net/w"), whole[2:])


def test_that_the_shared_name_tells_the_key_before_the_node_name_does():
    handle = node("net/w = VarHandleOp", dtype=F, shape=[2, 2], shared_name="shared")
    read = node("net/w/read = ReadVariableOp net/w", dtype=F)
    before = document(placeholder(), handle, read, identity("y = MatMul x net/w/read"))

    result = freeze(before, Values({"shared": WEIGHTS + 5, "net/w": WEIGHTS}))

    np.testing.assert_array_equal(value_of(result, "net/w"), WEIGHTS + 5)
    assert by_name(result.document)["net/w/read"].op == "Identity"


def test_that_a_savedmodels_restore_function_tells_the_key():
    function = protos.FunctionDef()
    function.signature.name = "restore"
    for name in ("file", "first", "second"):
        function.signature.input_arg.add(name=name)
    function.node_def.extend(
        [
            const("names", [b"a/.VALUE", b"b/.VALUE"], DataType.STRING),
            const("slices", [b"", b""], DataType.STRING),
            node("RestoreV2 = RestoreV2 file names:output:0 slices:output:0"),
            node("Identity = Identity RestoreV2:tensors:0"),
            node("Identity_1 = Identity RestoreV2:tensors:1"),
            node("one = AssignVariableOp second Identity:output:0"),
            node("two = AssignVariableOp first Identity_1:output:0"),
        ]
    )
    restore = node("restore = StatefulPartitionedCall file net/w other")
    restore.attr["f"].func.name = "restore"
    before = document(
        placeholder(),
        const("file", b"f", DataType.STRING),
        node("net/w = VarHandleOp", dtype=F, shape=[2, 2]),
        node("other = VarHandleOp", dtype=F, shape=[2, 2]),
        node("net/w/read = ReadVariableOp net/w", dtype=F),
        identity("y = MatMul x net/w/read"),
        restore,
        functions=[function],
    )

    result = freeze(before, Values({"a/.VALUE": WEIGHTS, "b/.VALUE": WEIGHTS + 7}))

    np.testing.assert_array_equal(value_of(result, "net/w"), WEIGHTS + 7)


@pytest.mark.parametrize("first", ["extract", "cut-inputs"])
def test_that_freezing_after_another_operation_takes_the_values_that_the_saver_names(first):
    """Without its saver the graph would silently take the raw weights."""
    whole = with_savers(AVERAGES)
    smaller = operations()[first].run(whole, outputs=["y"], inputs=["x"]).document

    np.testing.assert_array_equal(value_of(freeze(smaller, Values(BOTH)), "net/w"), WEIGHTS + 1)


def test_that_extract_drops_a_saver_that_says_nothing_new():
    kept = operations()["extract"].run(with_savers(PLAIN), outputs=["y"]).document

    assert set(kept.graph.names) == {"x", "net/w", "net/w/read", "y"}
