"""Extraction and cutting: exactly what the outputs need, and placeholders that fit."""

import pytest
from function_graphs import add_function, call
from operation_graphs import (
    PRODUCER,
    assert_every_node_accounted_for,
    by_name,
    const,
    document,
    lines,
    node,
    set_attribute,
    variable,
)

from graphviewer import protos
from graphviewer.analysis.variable_keys import NoKeys, variable_sources
from graphviewer.errors import OperationError
from graphviewer.model.document import Document, Payload, Payloads
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType


def extract(before, outputs, inputs=()):
    return operations()["extract"].run(before, outputs=outputs, inputs=inputs)


def cut(before, inputs, outputs=()):
    return operations()["cut-inputs"].run(before, outputs=outputs, inputs=inputs)


def test_that_removals_say_what_they_were_not_needed_by():
    before = document(const("x", 1.0), "y = Neg x", "loss = Square y", "train = NoOp ^loss")

    result = extract(before, ["y"])

    assert result.provenance.removals["train"] == ("removed", "not needed by y")
    assert set(result.provenance.removals) == {"loss", "train"}
    assert not result.provenance.origins


def test_that_versions_stay_and_the_library_is_pruned_to_what_is_called():
    functions = []
    for name, called in (("used", "inner"), ("inner", ""), ("unused", "inner")):
        function = protos.FunctionDef()
        function.signature.name = name
        if called:
            inner = function.node_def.add(name="call", op="PartitionedCall")
            inner.attr["f"].func.name = called
        functions.append(function)
    call = node("y = PartitionedCall x")
    call.attr["f"].func.name = "used"
    call.attr["Tout"].list.type.append(DataType.FLOAT)
    other = node("z = PartitionedCall x")
    other.attr["f"].func.name = "unused"
    before = document(const("x", 1.0), call, other, functions=functions)

    result = extract(before, ["y"]).document.graph_def

    assert [function.signature.name for function in result.library.function] == ["used", "inner"]
    assert result.versions.producer == PRODUCER


def test_that_colocation_with_removed_nodes_is_dropped_and_other_colocation_stays():
    both = node("y = Neg x", T=DataType.FLOAT)
    both.attr["_class"].list.s.extend([b"loc:@x", b"loc:@gone", b"other"])
    only_gone = node("z = Neg y", T=DataType.FLOAT)
    only_gone.attr["_class"].list.s.append(b"loc:@gone")
    before = document(const("x", 1.0), "gone = Neg x", both, only_gone)

    after = by_name(extract(before, ["z"]).document)

    assert list(after["y"].attr["_class"].list.s) == [b"loc:@x", b"other"]
    assert "_class" not in after["z"].attr


def test_that_constants_left_in_the_file_are_still_found_there(tmp_path):
    file = tmp_path / "big.pb"
    file.write_bytes(b"....12345678")
    status = file.stat()
    before = document(const("gone", 1.0), node("big = Const", dtype=DataType.FLOAT), "y = Neg big")
    payloads = Payloads(file, status.st_size, status.st_mtime_ns, {1: Payload(4, 8)})
    before = before.with_graph(before.graph_def, payloads=payloads)

    after = extract(before, ["y"]).document

    assert after.full_node(0).attr["value"].tensor.tensor_content == b"12345678"


def test_that_what_a_metagraph_says_about_removed_nodes_goes_with_them():
    meta = protos.MetaGraphDef()
    meta.saver_def.save_tensor_name = "save/control:0"
    meta.collection_def["losses"].node_list.value.append("loss:0")
    meta.collection_def["ends"].node_list.value.extend(["y:0", "loss:0"])
    meta.collection_def["while_context"].bytes_list.value.append(b"\n\x04loss")
    for name in ("v", "w"):
        definition = protos.VariableDef(variable_name=f"{name}:0", snapshot_name=f"{name}:0")
        meta.collection_def["variables"].bytes_list.value.append(definition.SerializeToString())
    meta.signature_def["serve"].inputs["a"].name = "x:0"
    meta.signature_def["serve"].inputs["b"].name = "loss:0"
    meta.signature_def["serve"].outputs["y"].name = "y:0"
    meta.signature_def["train"].outputs["l"].name = "loss:0"
    before = document(
        const("x", 1.0), variable("v", []), variable("w", []), "y = Add x v", "loss = Mul y w", "save/control = Neg w",
        meta=meta,
    )  # fmt: skip

    after = extract(before, ["y"]).document

    assert after.saver is None
    assert dict(after.collections) == {"ends": ("y:0",)}
    assert [one.variable_name for one in after.variable_defs["variables"]] == ["v:0"]
    assert set(after.signatures) == {"serve"}
    assert set(after.signatures["serve"].inputs) == {"a"}
    assert meta.HasField("saver_def")
    assert extract(before, ["y", "loss", "save/control"]).document.meta == meta


REFUSED = document(
    variable("v", []),
    const("initial", 0.0),
    "v/Assign = Assign v initial",
    "init = NoOp ^v/Assign",
    const("save/names", b"v", DataType.STRING),
    "save = SaveV2 save/names save/names save/names v",
    "y = Neg v",
    "y/summary = ScalarSummary save/names y",
    node("handle = VarHandleOp", dtype=DataType.FLOAT),
)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("init", "gives no value"),
        ("v/Assign", "changes a variable"),
        ("initial", "first values"),
        ("save", "checkpoint"),
        ("y/summary", "summary"),
        ("y:3", "has no output 3"),
    ],
)
@pytest.mark.parametrize("operation", ["extract", "freeze"])
def test_that_outputs_that_are_no_results_are_refused_with_the_reason(operation, output, reason):
    with pytest.raises(OperationError, match=reason):
        operations()[operation].run(REFUSED, outputs=["y", output])


def test_that_a_missing_node_stops_only_those_who_need_it():
    before = document(const("x", 1.0), "y = Neg x", "bad = Add x absent_x", "worse = Neg bad")

    assert lines(extract(before, ["y"]).document) == ["x = Const", "y = Neg x"]
    with pytest.raises(OperationError, match="'bad' is needed, but reads 'absent_x'"):
        extract(before, ["worse"])


def test_that_doubled_names_stop_only_those_who_need_them():
    before = document(const("x", 1.0), const("x", 2.0), const("z", 3.0), "y = Neg x", "w = Neg z")

    assert lines(extract(before, ["w"]).document) == ["z = Const", "w = Neg z"]
    with pytest.raises(OperationError, match="'x'"):
        extract(before, ["y"])


def pipeline(fixed_batch=False):
    """IteratorGetNext gives images and labels; a network reads the images, a loss both."""
    iterator = node("next = IteratorGetNext iterator")
    iterator.attr["output_types"].list.type.extend([DataType.FLOAT, DataType.INT64])
    for sizes in ([4 if fixed_batch else -1, 8, 8, 3], [4 if fixed_batch else -1]):
        shape = iterator.attr["output_shapes"].list.shape.add()
        for size in sizes:
            shape.dim.add(size=size)
    return document(
        "data = BatchDatasetV2",
        "iterator = IteratorV2 ^data" if not fixed_batch else "iterator = OneShotIterator ^data",
        iterator,
        node("images = Identity next", T=DataType.FLOAT),
        node("prob = Softmax images", T=DataType.FLOAT),
        node("label = Identity next:1 ^images", T=DataType.INT64),
        node("loss = Sum prob label", T=DataType.FLOAT),
    )


def placeholder_of(result, name):
    made = by_name(result.document)[name]
    shape = made.attr["shape"].shape
    return made.op, made.attr["dtype"].type, None if shape.unknown_rank else [dim.size for dim in shape.dim]


def test_that_the_input_keeps_its_name_and_takes_dtype_and_shape_from_the_pipeline():
    result = extract(pipeline(), ["prob"], ["images"])

    assert lines(result.document) == ["images = Placeholder", "prob = Softmax images"]
    assert placeholder_of(result, "images") == ("Placeholder", DataType.FLOAT, [-1, 8, 8, 3])
    assert result.provenance.origins["images"].rule == "pipeline -> placeholder"
    assert "only computes images" in result.provenance.removals["next"].reason
    assert "not needed" in result.provenance.removals["loss"].reason
    assert (result.inputs, result.outputs) == (("images",), ("prob",))
    assert_every_node_accounted_for(pipeline(), result)


def test_that_a_fixed_batch_is_freed():
    result = extract(pipeline(fixed_batch=True), ["prob"], ["images"])

    assert placeholder_of(result, "images")[2] == [-1, 8, 8, 3]


def test_that_a_node_with_two_outputs_becomes_a_placeholder_for_each_that_is_read():
    result = extract(pipeline(), ["loss"], ["next"])

    assert lines(result.document) == [
        "next = Placeholder",
        "next_1 = Placeholder",
        "images = Identity next",
        "prob = Softmax images",
        "label = Identity next_1 ^images",
        "loss = Sum prob label",
    ]
    assert placeholder_of(result, "next") == ("Placeholder", DataType.FLOAT, [-1, 8, 8, 3])
    assert placeholder_of(result, "next_1") == ("Placeholder", DataType.INT64, [-1])
    assert result.inputs == ("next", "next_1")
    assert_every_node_accounted_for(pipeline(), result)


def test_that_one_output_can_be_cut_while_the_node_stays_for_the_other():
    result = extract(pipeline(), ["loss"], ["next:1"])

    after = by_name(result.document)
    assert after["next"].op == "IteratorGetNext"
    assert list(after["label"].input) == ["next_1", "^images"]
    assert result.inputs == ("next_1",)
    assert_every_node_accounted_for(pipeline(), result)


def test_that_cutting_without_outputs_keeps_all_but_what_only_fed_the_inputs():
    before = document(
        "reader = WholeFileReaderV2",
        node("decoded = DecodeJpeg reader"),
        node("x = Cast decoded", SrcT=DataType.UINT8, DstT=DataType.FLOAT),
        node("y = Neg x", T=DataType.FLOAT),
        node("loss = Sum y", T=DataType.FLOAT),
        const("free", 1.0),
    )

    result = cut(before, ["x"])

    assert lines(result.document) == ["x = Placeholder", "y = Neg x", "loss = Sum y", "free = Const"]
    assert placeholder_of(result, "x") == ("Placeholder", DataType.FLOAT, [-1, -1, -1])
    assert_every_node_accounted_for(before, result)


def test_that_without_inputs_the_pipeline_is_cut_where_it_ends_and_that_is_said():
    result, whole = cut(pipeline(), [], ["prob"]), cut(pipeline(), [])

    assert result.inputs == ("next",)
    assert result.warnings[0] == "No input was named; 'next' was taken: Output of the input pipeline."
    assert result.document.graph_def == cut(pipeline(), ["next"], ["prob"]).document.graph_def
    assert whole.document.graph_def == cut(pipeline(), ["next"]).document.graph_def
    assert "'next', 'next:1' were taken" in whole.warnings[0]


def test_that_of_a_pipeline_behind_another_the_last_end_is_cut():
    before = document(
        node("reader = ReaderReadV2 source queue"),
        node("source = TFRecordReaderV2"),
        node("queue = FIFOQueueV2"),
        node("parsed = ParseSingleExampleV2 reader:1"),
        node("y = Neg parsed", T=DataType.FLOAT),
    )

    assert cut(before, [], ["y"]).inputs == ("parsed",)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("first = Placeholder", dtype=DataType.FLOAT)], "the outputs read no input pipeline"),
        (["first = IteratorGetNext it", "other = IteratorGetNext it"], "2 input pipelines are read: first, other"),
    ],
)
def test_that_without_inputs_and_one_pipeline_the_candidates_are_told(nodes, reason):
    last = "first" if len(nodes) == 1 else "other"
    before = document("it = IteratorV2", *nodes, node(f"y = AddV2 first {last}", T=DataType.FLOAT))

    with pytest.raises(OperationError) as caught:
        cut(before, [], ["y"])

    assert caught.value.message == f"No input was named, and {reason}."
    assert "Candidates: " in caught.value.hint
    assert "'first' (" in caught.value.hint
    assert "with --input" in caught.value.shell
    assert "--input" not in caught.value.hint


def test_that_an_input_that_the_outputs_do_not_depend_on_is_named_in_a_warning():
    result = extract(pipeline(), ["prob"], ["images", "label"])

    assert result.warnings == ("prob does not depend on the input 'label'.",)
    assert result.inputs == ("images",)


def test_that_a_placeholder_chosen_as_input_stays_as_it_is():
    before = document(node("x = Placeholder", dtype=DataType.HALF, shape=[-1, 2]), node("y = Neg x", T=DataType.HALF))

    result = extract(before, ["y"], ["x"])

    assert list(result.document.graph_def.node) == list(before.graph_def.node)
    assert result.inputs == ("x",)


def test_that_the_dtype_of_an_unknown_op_is_taken_from_what_reads_it():
    before = document("x = MyReader", node("y = Neg x", T=DataType.HALF))

    assert placeholder_of(extract(before, ["y"], ["x"]), "x") == ("Placeholder", DataType.HALF, None)


@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [("MyReader", {}, "dtype of 'x'"), ("TFRecordDataset", {}, "variant"), ("HashTableV2", {}, "resource")],
)
def test_that_what_cannot_be_fed_is_refused(op, attributes, reason):
    before = document(node(f"x = {op}", **attributes), "y = MyNet x")

    with pytest.raises(OperationError, match=reason):
        extract(before, ["y"], ["x"])


@pytest.mark.parametrize(
    ("op", "shape"),
    [("QueueDequeueV2", [3, 2]), ("QueueDequeueManyV2", [-1, 3, 2]), ("QueueDequeueUpToV2", [-1, 3, 2])],
)
def test_that_the_shape_of_a_queue_is_its_own_with_a_batch_in_front_of_many(op, shape):
    queue = node("queue = FIFOQueueV2")
    proto = queue.attr["shapes"].list.shape.add()
    for size in (3, 2):
        proto.dim.add(size=size)
    dequeue = node(f"x = {op} queue")
    dequeue.attr["component_types"].list.type.append(DataType.FLOAT)
    before = document(queue, dequeue, node("y = Neg x", T=DataType.FLOAT))

    assert placeholder_of(extract(before, ["y"], ["x"]), "x") == ("Placeholder", DataType.FLOAT, shape)


def test_that_the_shape_is_found_behind_plain_ops():
    source = node("source = Placeholder", dtype=DataType.UINT8, shape=[-1, 28, 28])
    cast = node("cast = Cast source", SrcT=DataType.UINT8, DstT=DataType.FLOAT)
    scaled = node("x = Mul cast scale", T=DataType.FLOAT)
    before = document(source, cast, const("scale", 0.5), scaled, node("y = Neg x", T=DataType.FLOAT))

    assert placeholder_of(extract(before, ["y"], ["x"]), "x")[2] == [-1, 28, 28]


def test_that_a_long_chain_takes_no_recursion():
    chain = [const("n0", 1.0), *(f"n{number} = Neg n{number - 1}" for number in range(1, 5_000))]
    set_attribute(chain[0].attr["shape"], [])

    result = extract(document(*chain, "end = Neg n0"), ["n4999"])

    assert len(result.document.graph_def.node) == 5_000


def split_network():
    made = node("sp = Split axis x", T=DataType.FLOAT)
    made.attr["num_split"].i = 2
    axis = const("axis", 0, DataType.INT32)
    unique = node("u = Unique x", T=DataType.FLOAT, out_idx=DataType.INT32)
    return document(
        node("x = Placeholder", dtype=DataType.FLOAT), axis, made, unique, node("y = AddV2 sp:1 u", T=DataType.FLOAT)
    )


@pytest.mark.parametrize("given", ["sp:2", "x:5", "u:2"])
def test_that_an_input_that_no_node_gives_is_refused(given):
    with pytest.raises(OperationError, match=f"there is no '{given}' to feed"):
        extract(split_network(), ["y"], [given])


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        ("u:1", "y does not depend on the input 'u:1'."),
        ("sp:0", "y does not depend on the input 'sp:0', but on 'sp:1': that is fed instead."),
        ("axis", ""),
        ("sp:1", ""),
        ("u", ""),
        ("x", ""),
    ],
)
def test_that_an_input_that_is_not_read_is_named_with_its_port(given, warning):
    assert " ".join(extract(split_network(), ["y"], [given]).warnings) == warning


def test_that_several_inputs_of_one_node_are_told_apart():
    assert extract(split_network(), ["y"], ["sp:1", "u:0", "u:1"]).warnings == (
        "y does not depend on the input 'u:1'.",
    )


def test_that_what_lies_in_a_loop_cannot_be_fed():
    before = document(
        node("x = Placeholder", dtype=DataType.FLOAT), node("enter = Enter x", T=DataType.FLOAT, frame_name="f"),
        node("again = Neg enter", T=DataType.FLOAT), node("y = Exit again", T=DataType.FLOAT),
    )  # fmt: skip
    with pytest.raises(OperationError, match="'again' lies inside a loop and cannot be fed"):
        extract(before, ["y"], ["again"])
    assert extract(before, ["y"], ["x"]).inputs == ("x",)


def exported():
    """``serve`` reads ``w``; ``save`` and ``restore`` know it as ``key``, and ``other`` besides."""
    graph_def = protos.GraphDef()
    for name in ("other", "w"):
        graph_def.node.add(name=name, op="VarHandleOp").attr["dtype"].type = DataType.FLOAT
    graph_def.node.add(name="file", op="Placeholder").attr["dtype"].type = DataType.STRING
    for name in ("save", "restore"):
        call(graph_def.node, name, "StatefulPartitionedCall", ["file", "other", "w"], f=f"{name}_all")
        graph_def.node[-1].attr["Tin"].list.type.extend([DataType.STRING, *[DataType.RESOURCE] * 2])
    call(graph_def.node, "y", "StatefulPartitionedCall", ["w"], f="serve")
    graph_def.node[-1].attr["Tin"].list.type.append(DataType.RESOURCE)
    graph_def.node[-1].attr["Tout"].list.type.append(DataType.FLOAT)
    add_function(graph_def, "serve", ["v"], [("read", "ReadVariableOp", ["v"])], {"r": "read:value:0"})
    add_function(graph_def, "save_all", ["file", "a", "b"], [("write", "SaveV2", ["file"])], {})
    nodes = [
        ("names", "Const", []),
        ("slices", "Const", []),
        ("read", "RestoreV2", ["file", "names:output:0", "slices:output:0"]),
        ("cast", "Identity", ["read:tensors:0"]),
        ("put_a", "AssignVariableOp", ["a", "cast:output:0"]),
        ("put_b", "AssignVariableOp", ["b", "read:tensors:1"]),
        ("done", "Identity", ["file", "^put_a", "^put_b"]),
    ]
    restore = add_function(graph_def, "restore_all", ["file", "a", "b"], nodes, {"r": "done:output:0"})
    for name in ("put_a", "put_b"):
        restore.control_ret[name] = name
        restore.signature.control_output.append(name)
    for at in range(3):
        restore.arg_attr[at].attr["_user_specified_name"].s = str(at).encode()
    for at, values in enumerate(([b"else", b"key"], [b"", b""])):
        tensor = restore.node_def[at].attr["value"].tensor
        tensor.dtype = DataType.STRING
        tensor.tensor_shape.dim.add(size=2)
        tensor.string_val.extend(values)
    return Document("savedmodel", graph_def)


def test_that_of_a_restore_function_the_part_for_what_stays_is_kept():
    before = exported()
    result = extract(before, ["y"])
    after = result.document
    assert [node.name for node in after.graph_def.node] == ["w", "file", "restore", "y"]
    assert set(after.functions) == {"serve", "restore_all"}
    function = after.functions["restore_all"]
    assert [node.name for node in function.node_def] == ["names", "slices", "read", "put_b", "done"]
    assert list(function.node_def[-1].input) == ["file", "^put_b"]
    assert [argument.name for argument in function.signature.input_arg] == ["file", "b"]
    assert (dict(function.control_ret), list(function.signature.control_output)) == ({"put_b": "put_b"}, ["put_b"])
    assert [function.arg_attr[at].attr["_user_specified_name"].s for at in sorted(function.arg_attr)] == [b"0", b"2"]
    node = after.node(after.graph.index["restore"])
    assert (list(node.input), list(node.attr["Tin"].list.type)) == (["file", "w"], [DataType.STRING, DataType.RESOURCE])
    assert {source.key for source in variable_sources(after, NoKeys()).values()} == {"key"}
    told = {rewrite.node: rewrite.rule for rewrite in result.rewrites}
    assert told == {"save_all": "function removed", "restore_all": "function shortened"}
    assert len(before.functions["restore_all"].node_def) == 7
    assert extract(after, ["y"]).document.graph_def == after.graph_def


def test_that_a_restore_function_whose_result_needs_what_goes_is_kept_whole():
    before = exported()
    before.functions["restore_all"].ret["r"] = "a"
    after = extract(before, ["y"]).document
    assert "other" in after.graph.index
    assert after.functions["restore_all"] == before.functions["restore_all"]


def test_that_gradients_of_called_functions_stay():
    before = exported()
    add_function(before.graph_def, "slope", ["v"], [], {})
    before.graph_def.library.gradient.add(function_name="serve", gradient_func="slope")
    after = extract(before, ["y"]).document
    assert "slope" in after.functions
    assert [one.gradient_func for one in after.graph_def.library.gradient] == ["slope"]
