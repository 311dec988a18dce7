"""The numbers of ``info``."""

from __future__ import annotations

import numpy as np
from checkpoint_files import write_bundle
from format_files import const, graph, meta_graph, saved_model, write

from graphviewer.analysis.stats import statistics, totals
from graphviewer.formats import open_document
from graphviewer.model.document import Document
from graphviewer.protos import DataType


def variable(made, name, *sizes, op="VarHandleOp"):
    node = made.node.add(name=name, op=op)
    node.attr["dtype"].type = DataType.FLOAT
    for size in sizes:
        node.attr["shape"].shape.dim.add(size=size)


def test_that_a_graph_is_counted_without_function_bodies(tmp_path):
    made = graph(4)
    made.versions.min_consumer = 12
    made.library.function[0].node_def.add(name="inner", op="NoOp")
    path = write(tmp_path / "a.pb", made)
    found = statistics(open_document(path))
    assert (found.nodes, found.edges, found.functions, found.ops) == (4, 3, 1, {"Identity": 3, "Placeholder": 1})
    assert (found.producer, found.min_consumer, found.signatures) == (1000, 12, ())
    assert (found.bytes, found.problems) == (path.stat().st_size, 0)
    unsaved = statistics(Document("graphdef", made))
    assert unsaved.bytes == len(made.SerializeToString())


def test_that_parameters_are_elements_of_variables_and_constants_do_not_count_beside_them():
    made = graph(2)
    variable(made, "a", 3, 4)
    variable(made, "b", 5, op="VariableV2")
    variable(made, "unknown", -1, 5)
    made.node.append(const("c", b"12345678"))
    found = statistics(Document("graphdef", made))
    assert (found.variables, found.parameters) == (3, 17)


def test_that_parameters_of_a_frozen_graph_are_its_float_constants_of_some_rank():
    made = graph(2)
    made.node.append(const("weights", b"12345678"))
    scalar, integer = const("scalar", b"1234"), const("integer", b"1234")
    del scalar.attr["value"].tensor.tensor_shape.dim[:]
    integer.attr["value"].tensor.dtype = integer.attr["dtype"].type = DataType.INT32
    made.node.extend([scalar, integer])
    found = statistics(Document("graphdef", made))
    assert (found.variables, found.parameters) == (0, 2)


def test_that_the_graphs_of_a_saved_model_are_summed(tmp_path):
    write(tmp_path / "m" / "saved_model.pb", saved_model(meta_graph(graph(3), "serve"), meta_graph(graph(5), "train")))
    (tmp_path / "m" / "assets").mkdir()
    (tmp_path / "m" / "assets" / "words").write_bytes(b"12345")
    found = statistics(open_document(tmp_path / "m"))
    assert (found.nodes, found.edges, found.functions) == (8, 6, 2)
    assert (found.ops, found.signatures) == ({"Identity": 6, "Placeholder": 2}, ("serve",))
    assert found.bytes == (tmp_path / "m" / "saved_model.pb").stat().st_size + 5


def test_that_a_checkpoint_has_variables_and_no_nodes(tmp_path):
    prefix = write_bundle(tmp_path / "model.ckpt-7", {"v": np.zeros(2, "f4"), "w": np.zeros((2, 3), "f4")})
    found = statistics(open_document(prefix))
    assert (found.nodes, found.variables, found.parameters) == (0, 2, 8)
    assert found.bytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_that_the_totals_of_a_comparison_are_those_of_the_whole_count():
    made = graph(4)
    variable(made, "v", 3, 4)
    document = Document("graphdef", made)
    found, whole = totals(document), statistics(document)
    assert found == (whole.nodes, whole.parameters, whole.bytes, whole.ops)
    assert list(found.ops) == list(whole.ops)
