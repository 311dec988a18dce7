"""resources/tensorflow is what scripts/build_tensorflow_data.py extracts from the pinned TensorFlow."""

import importlib.util
import zlib
from pathlib import Path

import pytest

from graphviewer.analysis.versions import GRAPH_VERSION
from graphviewer.resources import resource

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "build_tensorflow_data.py"


@pytest.fixture(scope="module")
def extract():
    spec = importlib.util.spec_from_file_location("build_tensorflow_data", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tensorflow = pytest.importorskip("tensorflow")
    # The pin allows bug-fix releases, whose op tables may differ in details.
    if f"TensorFlow {tensorflow.__version__}," not in resource("tensorflow/NOTICE").read_text():
        pytest.skip(f"the data is not that of TensorFlow {tensorflow.__version__}")
    return {"protos.fds": module.descriptor_set, "ops": module.op_table}


@pytest.mark.parametrize("name", ["protos.fds", "ops"])
def test_that_rebuilding_gives_the_checked_in_data(extract, name):
    assert extract[name]() == zlib.decompress(resource(f"tensorflow/{name}").read_bytes())


def test_that_the_known_graph_version_is_tensorflows():
    tensorflow = pytest.importorskip("tensorflow")
    assert tensorflow.version.GRAPH_DEF_VERSION == GRAPH_VERSION
