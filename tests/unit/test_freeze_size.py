"""How large a frozen graph will be is known before a value is read."""

import numpy as np
import pytest
from operation_graphs import WEIGHTS, F, Values, const, document, freeze, identity, network, node, variable

from graphviewer.formats import open_document, save_document
from graphviewer.model.names import Endpoint
from graphviewer.operations import freeze as module
from graphviewer.operations.freeze import freeze_size, size_warnings
from graphviewer.protos import DataType
from graphviewer.worker.jobs import run_job

BIG = np.arange(40_000, dtype=np.float32).reshape(200, 200)
VALUES = {"net/w": WEIGHTS, "big": BIG, "scalar": np.float32(3.0), "none": np.zeros([0, 3])}


def with_constants():
    """A variable, a scalar, an empty one, and a constant that is already in the graph."""
    more = [variable("big", [200, 200]), variable("scalar", []), variable("none", [0, 3]), const("held", BIG + 1)]
    ends = node("sum = AddN big held scalar none", T=F)
    return network(*more, ends, identity("z = Pack y sum"))


@pytest.mark.parametrize(("outputs", "inputs"), [(["y"], []), (["z"], []), (["sum"], ["scalar"]), (["held"], [])])
def test_that_the_size_is_that_of_the_result(outputs, inputs, tmp_path):
    values = Values(VALUES)
    ends = {"outputs": [Endpoint(name) for name in outputs], "inputs": [Endpoint(name) for name in inputs]}

    predicted = freeze_size(with_constants(), **ends, checkpoint=values)
    assert not values.seen
    save_document(freeze(with_constants(), Values(VALUES), outputs, inputs=inputs).document, tmp_path / "frozen.pb")

    assert predicted == (tmp_path / "frozen.pb").stat().st_size


def test_that_constants_left_in_a_large_file_count(tmp_path, monkeypatch):
    from graphviewer.formats import decode

    monkeypatch.setattr(decode, "LAZY_ABOVE", 1)
    save_document(with_constants(), tmp_path / "graph.pb")
    before = open_document(tmp_path / "graph.pb")
    ends = [Endpoint("z")]
    assert before.payloads is not None

    predicted = freeze_size(before, outputs=ends, checkpoint=Values(VALUES))

    assert predicted > 2 * BIG.nbytes
    save_document(freeze(before, Values(VALUES), ["z"]).document, tmp_path / "frozen.pb")
    assert predicted == (tmp_path / "frozen.pb").stat().st_size


def test_that_a_variable_of_strings_is_guessed():
    before = document(variable("words", [3], DataType.STRING), identity("y = Identity words"))
    values = Values({"words": np.zeros(3)}, {"words": DataType.STRING})

    assert 60 < freeze_size(before, outputs=[Endpoint("y")], checkpoint=values) < 400


@pytest.mark.parametrize(("size", "count"), [(2**31 - 1, 0), (2**31, 1)])
def test_that_what_tensorflow_cannot_read_is_told(size, count):
    found = size_warnings(size)

    assert len(found) == count
    assert all("2.0 GiB; TensorFlow cannot read a GraphDef over 2 GiB" in warning for warning in found)


def test_that_constants_that_were_there_already_make_a_freeze_warn(monkeypatch):
    """The variables alone are small."""
    monkeypatch.setattr(module, "TWO_GIB", BIG.nbytes)

    assert any("TensorFlow cannot read" in one for one in freeze(with_constants(), Values(VALUES), ["held"]).warnings)
    assert not freeze(with_constants(), Values(VALUES), ["y"]).warnings


def test_that_the_worker_tells_the_size_of_a_file(tmp_path):
    save_document(with_constants(), tmp_path / "graph.pb")

    found = run_job("predict", {"path": str(tmp_path / "graph.pb"), "parameters": {"outputs": ["held"]}})

    assert found["bytes"] > BIG.nbytes
    assert found["warnings"] == []
