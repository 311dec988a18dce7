"""TensorFlow as the oracle for constants."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from graphviewer import protos
from graphviewer.model.making import make_tensor
from graphviewer.model.tensors import numpy_dtype, tensor_value

DTYPES = [*range(1, 20), *range(22, 26), *range(29, 34)]  # TensorFlow's Python writes no float8 with 'fnuz'


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_that_constants_are_read_and_written_as_tensorflow_does(dtype, shape):
    kind = numpy_dtype(dtype)
    values = np.random.default_rng(dtype).integers(0, 2, shape)
    values = np.array([b"%d" % value for value in values.ravel()], object).reshape(shape) if kind.hasobject else values
    values = np.asarray(values).astype(kind)
    theirs = tf.as_dtype(dtype)
    given = values if kind == theirs.as_numpy_dtype else values.view(theirs.as_numpy_dtype)
    written = tf.make_tensor_proto(given, dtype=theirs, shape=shape).SerializeToString()
    assert np.array_equal(tensor_value(protos.TensorProto.FromString(written)), values)
    assert make_tensor(values, dtype).SerializeToString() == written


@pytest.mark.parametrize("listed", [[], [7.0], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
def test_that_missing_and_surplus_values_are_taken_as_tensorflows_runtime_does(listed):
    tensor = protos.TensorProto(dtype=1, float_val=listed)
    tensor.tensor_shape.dim.add(size=3)
    node = tf.compat.v1.NodeDef(name="c", op="Const")
    node.attr["dtype"].type = 1
    node.attr["value"].tensor.ParseFromString(tensor.SerializeToString())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(tf.compat.v1.GraphDef(node=[node]), name="")
        assert np.array_equal(tensor_value(tensor), session.run("c:0"))
