"""TensorFlow as the oracle: what it wrote, and what it reads, is what the reader gives."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from graphviewer import protos
from graphviewer.formats.checkpoint import Checkpoint, checkpoint_steps, find_checkpoint, open_checkpoint

tf1 = tf.compat.v1
KERNEL = np.arange(60, dtype=np.float32).reshape(10, 6)
TWO_CPUS = tf1.ConfigProto(device_count={"CPU": 2})


def initial_values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    numeric = [
        tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
        tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128, tf.qint8, tf.quint8, tf.qint32,
    ]  # fmt: skip
    values = {dtype.name: rng.integers(0, 2, (3, 5)).astype(dtype.as_numpy_dtype) for dtype in numeric}
    values["string"] = np.array([b"", b"a\0\xff", b"x" * 200], object)
    values["scalar"], values["empty"] = np.float32(0.5), np.zeros((0, 3), np.float32)
    values["no_strings"] = np.zeros(0, object)
    return values


def write_dtypes(folder: Path) -> Path:
    path = str(folder / "dtypes")
    values = initial_values()
    with tf.Graph().as_default(), tf1.Session() as session:
        session.run(tf.raw_ops.SaveV2(
            prefix=path, tensor_names=list(values), shape_and_slices=[""] * len(values),
            tensors=[tf.constant(value, tf.string if value.dtype == object else None) for value in values.values()],
        ))  # fmt: skip
    return Path(path)


def write_with_saver(folder: Path, *, resource: bool, sharded: bool, version: int, partitions: int) -> Path:
    with tf.Graph().as_default():
        for cpu in (0, 1):
            with tf.device(f"/cpu:{cpu}"), tf1.variable_scope(f"net{cpu}", use_resource=resource):
                split = tf1.fixed_size_partitioner(partitions, axis=cpu)
                tf1.get_variable("kernel", initializer=tf.constant(KERNEL + cpu), partitioner=split)
                tf1.get_variable("bias", initializer=np.float64([1, 2, cpu]))
        saver = tf1.train.Saver(sharded=sharded, write_version=version)
        with tf1.Session(config=TWO_CPUS) as session:
            session.run(tf1.global_variables_initializer())
            return Path(saver.save(session, str(folder / "model.ckpt"), 3).split("-?????")[0])


def write_objects(folder: Path) -> Path:
    model = tf.Module()
    model.w, model.table = tf.Variable(KERNEL), tf.Variable([b"a", b"bc"])
    return Path(tf.train.Checkpoint(model=model).save(str(folder / "ckpt")))


def saver(**options: object) -> Callable[[Path], Path]:
    return lambda folder: write_with_saver(
        folder, **{"resource": False, "sharded": False, "version": 2, "partitions": 1, **options}
    )


WRITERS = {
    "dtypes": write_dtypes,
    "ref": saver(),
    "resource": saver(resource=True),
    "partitioned": saver(partitions=3),
    "sharded": saver(sharded=True),
    "sharded-partitioned-resource": saver(sharded=True, partitions=4, resource=True),
    "objects": write_objects,
    "v1": saver(version=1),
    "v1-sharded": saver(version=1, sharded=True),
}


def assert_equals_tensorflow(checkpoint: Checkpoint, prefix: Path) -> int:
    """Compare all that TensorFlow can read; the number of variables compared."""
    reader = tf.train.load_checkpoint(str(prefix))
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert sorted(checkpoint.keys()) == sorted(shapes)
    compared = 0
    for key, shape in shapes.items():
        assert checkpoint.shape(key) == shape
        assert checkpoint.dtype(key) == dtypes[key].as_datatype_enum
        try:
            expected = reader.get_tensor(key)
        except (tf.errors.OpError, ValueError, RuntimeError):  # data file absent, damaged ...
            continue
        value = checkpoint.read(key)
        expected = np.array(expected, object if value.dtype.hasobject else None).astype(value.dtype)
        assert np.array_equal(value, expected, equal_nan=value.dtype.kind == "f"), key
        raw = checkpoint.raw(key)
        assert raw is None or raw == expected.tobytes()
        compared += 1
    return compared


@pytest.mark.parametrize("kind", WRITERS)
def test_that_names_shapes_dtypes_and_values_equal_tensorflows(tmp_path, kind):
    prefix = WRITERS[kind](tmp_path)
    checkpoint = open_checkpoint(prefix)
    assert checkpoint.kind == ("V1" if kind.startswith("v1") else "V2")
    pattern = prefix.with_name(prefix.name + "-?????-of-00002") if kind == "v1-sharded" else prefix
    assert assert_equals_tensorflow(checkpoint, pattern) == len(checkpoint) > 0
    assert checkpoint.problems() == []
    assert find_checkpoint(tmp_path) == prefix


@pytest.mark.parametrize("version", [1, 2])
def test_that_partitioned_variables_are_whole_and_their_parts_readable(tmp_path, version):
    checkpoint = open_checkpoint(saver(partitions=3, version=version)(tmp_path))
    for cpu, key in enumerate(["net0/kernel", "net1/kernel"]):
        assert np.array_equal(checkpoint.read(key), KERNEL + cpu)
        parts = checkpoint.slices(key)
        assert len(parts) == 3
        for part in parts:
            inside = tuple(slice(start, start + length) for start, length in part)
            assert np.array_equal(checkpoint.read(key, part), (KERNEL + cpu)[inside])


def test_that_the_dtypes_of_v1_checkpoints_are_read(tmp_path):
    values = {name: value for name, value in initial_values().items() if name not in ("uint32", "uint64", "bfloat16")}
    with tf.Graph().as_default(), tf1.Session() as session:
        tensors = [tf.constant(value, tf.string if value.dtype == object else None) for value in values.values()]
        session.run(tf.raw_ops.Save(filename=str(tmp_path / "old"), tensor_names=list(values), data=tensors))
    checkpoint = open_checkpoint(tmp_path / "old")
    assert sorted(checkpoint) == sorted(values)
    for name, value in values.items():
        assert np.array_equal(checkpoint.read(name), value.astype(checkpoint.read(name).dtype)), name


def test_that_the_object_graph_is_that_of_the_checkpoint(tmp_path):
    found = open_checkpoint(write_objects(tmp_path)).object_graph
    graph = protos.TrackableObjectGraph.FromString(found)
    keys = [attribute.checkpoint_key for node in graph.nodes for attribute in node.attributes]
    assert "model/w/.ATTRIBUTES/VARIABLE_VALUE" in keys


def test_that_the_newest_of_tensorflows_steps_is_found_after_the_folder_moved(tmp_path):
    train = tmp_path / "train"
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), str(train), max_to_keep=3)
    for step in (8, 9, 10):
        manager.save(step)
    moved = Path(shutil.move(train, tmp_path / "moved"))
    assert find_checkpoint(moved) == moved / "ckpt-10"
    assert [step.step for step in checkpoint_steps(moved)] == [8, 9, 10]


def test_that_saved_models_variables_are_read(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(KERNEL)
    tf.saved_model.save(module, str(tmp_path / "model"))
    checkpoint = open_checkpoint(tmp_path / "model")
    assert np.array_equal(checkpoint.read("v/.ATTRIBUTES/VARIABLE_VALUE"), KERNEL)


def test_that_reading_a_checkpoint_imports_no_tensorflow(tmp_path):
    prefix = write_objects(tmp_path)
    code = (
        "import sys; from graphviewer.formats.checkpoint import open_checkpoint;"
        "assert len(open_checkpoint(sys.argv[1])) == 4; assert 'tensorflow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code, str(prefix)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_that_all_checkpoints_of_the_corpus_equal_tensorflows(corpus):
    compared = 0
    for index in sorted(corpus.rglob("*.index")):
        prefix = index.with_suffix("")
        try:
            tf.train.load_checkpoint(str(prefix))
        except (tf.errors.OpError, ValueError):
            continue
        compared += assert_equals_tensorflow(open_checkpoint(prefix), prefix)
    assert compared > 0
