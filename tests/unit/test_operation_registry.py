"""Operations are found by looking, explain themselves, and check what they are asked."""

import pytest
from operation_graphs import const, document, lines, node

from graphviewer.errors import Cancelled, OperationError, UnknownNameError
from graphviewer.operations.registry import operations
from graphviewer.protos import DataType

GRAPH = document(
    node("x = Placeholder", dtype=DataType.FLOAT, shape=[-1, 2]),
    const("two", 2.0),
    node("y = Mul x two", T=DataType.FLOAT),
    node("unused = Neg x", T=DataType.FLOAT),
)


def test_that_every_operation_of_the_contract_is_found():
    assert {"freeze", "extract", "cut-inputs", "remove-training-nodes"} <= set(operations())


@pytest.mark.parametrize("operation", operations().values(), ids=lambda one: one.id)
def test_that_an_operation_explains_itself_and_its_parameters(operation):
    assert operation.label
    assert len(operation.doc) > 100
    assert all(parameter.label and parameter.doc.endswith(".") for parameter in operation.parameters)


@pytest.mark.parametrize("typed", ["y:0", "^y", "/y", "y:0:0", "Y", 'graph.get_tensor_by_name("y:0")'])
def test_that_names_are_taken_as_people_type_them(typed):
    result = operations()["extract"].run(GRAPH, outputs=[typed])

    assert lines(result.document) == ["x = Placeholder", "two = Const", "y = Mul x two"]
    assert result.provenance.parameters["outputs"] == ["y"]


def test_that_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="unused"):
        operations()["extract"].run(GRAPH, outputs=["unsued"])


def test_that_without_an_output_the_best_suggestion_is_taken_and_said():
    result = operations()["extract"].run(GRAPH)

    assert result.outputs[0] in ("y", "unused")
    assert f"'{result.outputs[0]}' was taken" in result.warnings[0]


def test_that_an_unknown_parameter_is_refused_with_the_known_ones():
    with pytest.raises(OperationError, match="allow_training_mode"):
        operations()["freeze"].run(GRAPH, outputs=["y"], allow_training=True)


def test_that_inputs_are_refused_where_they_mean_nothing():
    with pytest.raises(OperationError, match="takes no inputs"):
        operations()["remove-training-nodes"].run(GRAPH, inputs=["x"])


@pytest.mark.parametrize("name", ["extract", "freeze", "remove-training-nodes", "cut-inputs"])
def test_that_an_operation_can_be_cancelled(name):
    def stop(fraction, message):
        assert 0 <= fraction <= 1
        assert message
        raise Cancelled("Stopped.")

    given = {"inputs": ["y"]} if name == "cut-inputs" else {"outputs": ["y"]}
    with pytest.raises(Cancelled):
        operations()[name].run(GRAPH, **given, progress=stop)


@pytest.mark.parametrize("name", ["extract", "freeze", "remove-training-nodes", "cut-inputs"])
def test_that_the_document_given_stays_as_it_is(name):
    before = GRAPH.graph_def.SerializeToString(deterministic=True)
    operations()[name].run(GRAPH, outputs=["y"], **({"inputs": ["x"]} if name == "cut-inputs" else {}))
    assert GRAPH.graph_def.SerializeToString(deterministic=True) == before
