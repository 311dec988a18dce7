"""Small graphs for tests, built node by node, with the role of every node known by construction."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from graphviewer import protos
from graphviewer.model.document import Document
from graphviewer.model.names import parse_input
from graphviewer.protos import DataType

FLOAT, INT32, INT64, STRING, BOOL = DataType.FLOAT, DataType.INT32, DataType.INT64, DataType.STRING, DataType.BOOL
RESOURCE = DataType.RESOURCE


class GraphBuilder:
    """Collects nodes; ``with builder.role("loss"):`` says what the nodes made inside are for."""

    def __init__(self) -> None:
        self.graph_def = protos.GraphDef()
        self.graph_def.versions.producer = 1000
        self.truth: dict[str, str] = {}
        self._role = ""

    @contextmanager
    def role(self, role: str) -> Iterator[None]:
        before, self._role = self._role, role
        yield
        self._role = before

    def node(self, name: str, op: str, *inputs: str, role: str = "", **attributes: object) -> str:
        """Add a node and give its name back. An int attribute called like a dtype (T, dtype ...) is a dtype."""
        node = self.graph_def.node.add(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            set_attribute(node.attr[key], key, value)
        self.truth[name] = role or self._role
        return name

    def const(
        self, name: str, value: float = 0.0, *, dtype: int = FLOAT, role: str = "", control: Sequence[str] = ()
    ) -> str:
        node = self.graph_def.node.add(name=name, op="Const", input=[f"^{one}" for one in control])
        node.attr["dtype"].type = dtype
        tensor = node.attr["value"].tensor
        tensor.dtype = dtype
        if dtype == FLOAT:
            tensor.float_val.append(value)
        elif dtype == STRING:
            tensor.string_val.append(b"text")
        else:
            tensor.int_val.append(int(value))
        self.truth[name] = role or self._role
        return name

    def variable(self, name: str, shape: Sequence[int], *, role: str, read_role: str = "", dtype: int = FLOAT) -> str:
        """A reference variable with its initializer; gives the name of its read."""
        self.node(name, "VariableV2", dtype=dtype, shape=list(shape), role=role)
        with self.role("initializer"):
            self.const(f"{name}/Initializer/value", 0.5, dtype=dtype)
            self.node(f"{name}/Assign", "Assign", name, f"{name}/Initializer/value", T=dtype)
        return self.node(f"{name}/read", "Identity", name, T=dtype, role=read_role or role)

    def document(self, meta: object | None = None) -> Document:
        return Document("graphdef", self.graph_def, title="test", meta=meta)


DTYPES = frozenset({"T", "Tin", "Tout", "Tidx", "dtype", "dtypes", "out_type", "component_types"})


def set_attribute(attribute: object, key: str, value: object) -> None:
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        setattr(attribute, "type" if key in DTYPES else "i", value)
    elif isinstance(value, float):
        attribute.f = value
    elif isinstance(value, str):
        attribute.s = value.encode()
    elif key == "shape":
        attribute.shape.SetInParent()
        for size in value:
            attribute.shape.dim.add(size=size)
    elif key in DTYPES:
        attribute.list.type.extend(value)
    else:
        attribute.CopyFrom(value)


def training_graph() -> GraphBuilder:
    """A TF1 training graph: queues, a training and a validation tower, batch norm, dropout, loss, metric, Adam, saver.

    ``valid/prob`` is the right output and ``images`` the right input.
    """
    b = GraphBuilder()
    _pipeline(b)
    weights = b.variable("net/w", [4, 3], role="inference")
    offset = b.variable("net/beta", [3], role="inference")
    scale = b.variable("net/gamma", [3], role="inference")
    mean = b.variable("net/moving_mean", [3], role="inference")
    spread = b.variable("net/moving_variance", [3], role="inference")
    last = b.variable("net/fc", [3, 2], role="inference")
    statistics = (mean, spread)
    with b.role("training_forward"):
        b.const("net/Const")
        b.const("net/Const_1")
        b.node("net/MatMul", "MatMul", "images", weights, T=FLOAT)
        b.node("net/bn", "FusedBatchNormV3", "net/MatMul", scale, offset, "net/Const", "net/Const_1", is_training=True)
        b.node("net/Relu", "Relu", "net/bn", T=FLOAT)
        _dropout(b, "net/Relu")
        b.node("net/logits", "MatMul", "net/drop/mul_1", last, T=FLOAT)
        b.node("net/prob", "Softmax", "net/logits", T=FLOAT)
    with b.role("batch_norm_update"):
        for port, (name, read) in enumerate(
            zip(("net/moving_mean", "net/moving_variance"), statistics, strict=True), 1
        ):
            b.node(f"{name}/sub", "Sub", read, f"net/bn:{port}", T=FLOAT)
            b.const(f"{name}/decay", 0.01)
            b.node(f"{name}/mul", "Mul", f"{name}/sub", f"{name}/decay", T=FLOAT)
            b.node(f"{name}/AssignSub", "AssignSub", name, f"{name}/mul", T=FLOAT)
    with b.role("inference"):
        b.node("valid/MatMul", "MatMul", "images", weights, T=FLOAT)
        b.node("valid/bn", "FusedBatchNormV3", "valid/MatMul", scale, offset, mean, spread, is_training=False)
        b.node("valid/Relu", "Relu", "valid/bn", T=FLOAT)
        b.node("valid/logits", "MatMul", "valid/Relu", last, T=FLOAT)
        b.node("valid/prob", "Softmax", "valid/logits", T=FLOAT)
    _loss(b)
    _metric(b)
    _backward(b)
    _adam(b, ("net/w", "net/beta", "net/gamma", "net/fc"))
    _average(b)
    _saver(b)
    with b.role("initializer"):
        b.node("init", "NoOp", "^net/w/Assign", "^net/fc/Assign", "^net/beta/Assign")
    return b


def _pipeline(b: GraphBuilder) -> None:
    with b.role("input_pipeline"):
        b.const("files", dtype=STRING)
        b.node("reader", "TFRecordReaderV2")
        b.node("file_queue", "FIFOQueueV2", component_types=[STRING])
        b.node("enqueue_file", "QueueEnqueueV2", "file_queue", "files")
        b.node("read", "ReaderReadV2", "reader", "file_queue")
        b.node("decode", "DecodeRaw", "read:1", out_type=FLOAT)
        b.const("label_of", 1, dtype=INT32)
        b.node("queue", "FIFOQueueV2", component_types=[FLOAT, INT32])
        b.node("enqueue", "QueueEnqueueV2", "queue", "decode", "label_of")
        b.node("close", "QueueCloseV2", "queue")
        b.const("count", 8, dtype=INT32)
        b.node("batch", "QueueDequeueManyV2", "queue", "count", component_types=[FLOAT, INT32])
    b.node("images", "Identity", "batch", T=FLOAT, role="inference")


def _dropout(b: GraphBuilder, source: str) -> None:
    b.node("net/drop/Shape", "Shape", source, T=FLOAT)
    b.node("net/drop/uniform", "RandomUniform", "net/drop/Shape", T=INT32, dtype=FLOAT)
    b.const("net/drop/rate", 0.5)
    b.node("net/drop/GreaterEqual", "GreaterEqual", "net/drop/uniform", "net/drop/rate", T=FLOAT)
    b.node("net/drop/Cast", "Cast", "net/drop/GreaterEqual")
    b.const("net/drop/keep", 2.0)
    b.node("net/drop/mul", "Mul", source, "net/drop/keep", T=FLOAT)
    b.node("net/drop/mul_1", "Mul", "net/drop/mul", "net/drop/Cast", T=FLOAT)


def _loss(b: GraphBuilder) -> None:
    with b.role("loss"):
        b.node("xent", "SparseSoftmaxCrossEntropyWithLogits", "net/logits", "batch:1", T=FLOAT, Tlabels=INT32)
        b.const("axes", dtype=INT32)
        b.node("data_loss", "Mean", "xent", "axes", T=FLOAT)
        b.node("decay/L2Loss", "L2Loss", "net/w/read", T=FLOAT)
        b.const("decay/scale", 0.001)
        b.node("decay", "Mul", "decay/L2Loss", "decay/scale", T=FLOAT)
        b.node("loss", "Add", "data_loss", "decay", T=FLOAT)
    with b.role("summary"):
        b.const("tag", dtype=STRING)
        b.node("summary", "ScalarSummary", "tag", "loss", T=FLOAT)
        b.node("merged", "MergeSummary", "summary", N=1)
    with b.role("check"):
        b.const("message", dtype=STRING)
        b.node("finite", "IsFinite", "loss", T=FLOAT)
        b.node("check", "Assert", "finite", "message")


def _metric(b: GraphBuilder) -> None:
    with b.role("metric"):
        b.const("accuracy/axis", 1, dtype=INT32)
        b.node("accuracy/ArgMax", "ArgMax", "net/logits", "accuracy/axis", T=FLOAT)
        b.node("accuracy/Equal", "Equal", "accuracy/ArgMax", "batch:1", T=INT32)
        b.node("accuracy/Cast", "Cast", "accuracy/Equal")
        b.node("accuracy/Mean", "Mean", "accuracy/Cast", "accuracy/axes", T=FLOAT)
        b.const("accuracy/axes", dtype=INT32)
        b.variable("accuracy/total", [], role="metric")
        b.node("accuracy/AssignAdd", "AssignAdd", "accuracy/total", "accuracy/Cast", T=FLOAT)


def _backward(b: GraphBuilder) -> None:
    waits = ("net/moving_mean/AssignSub", "net/moving_variance/AssignSub")
    with b.role("gradient"):
        b.const("grad/Shape", dtype=INT32, control=waits)
        b.const("grad/one", 1.0, control=waits)
        b.node("grad/Fill", "Fill", "grad/Shape", "grad/one", T=FLOAT)
        b.node("grad/tile_shape", "Shape", "xent", T=FLOAT)
        b.node("grad/Tile", "Tile", "grad/Fill", "grad/tile_shape", T=FLOAT)
        b.const("grad/dim", -1, dtype=INT32)
        b.node("grad/ExpandDims", "ExpandDims", "grad/Tile", "grad/dim", T=FLOAT)
        b.node("grad/logits", "Mul", "grad/ExpandDims", "xent:1", T=FLOAT)
        b.node("grad/zeros", "ZerosLike", "xent:1", T=FLOAT)
        b.node("grad/fc", "MatMul", "net/drop/mul_1", "grad/logits", T=FLOAT)
        b.node("grad/drop", "MatMul", "grad/logits", "net/fc/read", T=FLOAT)
        b.node("grad/mask", "Mul", "grad/drop", "net/drop/Cast", T=FLOAT)
        b.node("grad/keep", "Mul", "grad/mask", "net/drop/keep", T=FLOAT)
        b.node("grad/relu", "ReluGrad", "grad/keep", "net/Relu", T=FLOAT)
        b.node(
            "grad/bn",
            "FusedBatchNormGradV3",
            "grad/relu",
            "net/MatMul",
            "net/gamma/read",
            *(f"net/bn:{p}" for p in (3, 4, 5)),
        )
        b.node("grad/w_data", "MatMul", "images", "grad/bn", T=FLOAT)
        b.node("grad/decay", "Mul", "grad/Fill", "decay/scale", T=FLOAT)
        b.node("grad/l2", "Mul", "grad/decay", "net/w/read", T=FLOAT)
        b.node("grad/w", "AddN", "grad/w_data", "grad/l2", N=2, T=FLOAT)
        b.node("grad/group", "NoOp", "^grad/fc", "^grad/drop", f"^{waits[0]}")


GRADIENTS = {"net/w": "grad/w", "net/beta": "grad/bn:2", "net/gamma": "grad/bn:1", "net/fc": "grad/fc"}


def _adam(b: GraphBuilder, trained: Sequence[str]) -> None:
    step = "global_step"
    b.variable(step, [], role="global_step", dtype=INT64)
    powers = [b.variable(f"beta{n}_power", [], role="optimizer") for n in (1, 2)]
    slots = {
        name: [b.variable(f"{name}/{slot}", [1], role="optimizer") for slot in ("Adam", "Adam_1")] for name in trained
    }
    with b.role("optimizer"):
        rates = [b.const(f"Adam/{name}", 0.9) for name in ("learning_rate", "beta1", "beta2", "epsilon")]
        for name in slots:
            own = [name, f"{name}/Adam", f"{name}/Adam_1"]
            b.node(f"Adam/update_{name}", "ApplyAdam", *own, *powers, *rates, GRADIENTS[name], T=FLOAT)
        applied = [f"^Adam/update_{name}" for name in trained]
        for n, power in enumerate(powers, 1):
            b.node(f"Adam/mul_{n}", "Mul", power, f"Adam/beta{n}", *applied, T=FLOAT)
            b.node(f"Adam/Assign_{n}", "Assign", f"beta{n}_power", f"Adam/mul_{n}", T=FLOAT)
        b.node("Adam/update", "NoOp", *applied, "^Adam/Assign_1", "^Adam/Assign_2")
        b.const("Adam/value", 1, dtype=INT64, control=["Adam/update"])
        b.node("Adam", "AssignAdd", step, "Adam/value", T=INT64)


def _average(b: GraphBuilder) -> None:
    average = b.variable("net/w/ExponentialMovingAverage", [4, 3], role="moving_average")
    with b.role("moving_average"):
        b.node("ema/sub", "Sub", average, "net/w/read", T=FLOAT)
        b.const("ema/decay", 0.01)
        b.node("ema/mul", "Mul", "ema/sub", "ema/decay", T=FLOAT)
        b.node("ema/AssignSub", "AssignSub", "net/w/ExponentialMovingAverage", "ema/mul", T=FLOAT)


def _saver(b: GraphBuilder) -> None:
    with b.role("save_restore"):
        b.const("save/Const", dtype=STRING)
        b.const("save/names", dtype=STRING)
        b.const("save/slices", dtype=STRING)
        saved = [name for name, op in [(n.name, n.op) for n in b.graph_def.node] if op == "VariableV2"]
        b.node("save/SaveV2", "SaveV2", "save/Const", "save/names", "save/slices", *saved, dtypes=[FLOAT] * len(saved))
        b.node("save/control", "Identity", "save/Const", "^save/SaveV2", T=STRING)
        b.node("save/RestoreV2", "RestoreV2", "save/Const", "save/names", "save/slices", dtypes=[FLOAT] * len(saved))
        for port, name in enumerate(saved):
            b.node(f"save/Assign_{port}", "Assign", name, f"save/RestoreV2:{port}", T=FLOAT)
        b.node("save/restore_all", "NoOp", *(f"^save/Assign_{port}" for port in range(len(saved))))


def shuffled(graph_def: object, seed: int) -> tuple[object, dict[str, str]]:
    """The same graph with meaningless names and in another order, and the new name of every node."""
    order = random.Random(seed)
    names = [node.name for node in graph_def.node]
    codes = [f"n{number}" for number in range(len(names))]
    order.shuffle(codes)
    renamed = dict(zip(names, codes, strict=True))
    nodes = [protos.NodeDef.FromString(node.SerializeToString()) for node in graph_def.node]
    for node in nodes:
        node.name = renamed[node.name]
        node.attr.pop("_class", None)
        inputs = [parse_input(text) for text in node.input]
        del node.input[:]
        node.input.extend(f"^{renamed[name]}" if port < 0 else f"{renamed[name]}:{port}" for name, port in inputs)
    order.shuffle(nodes)
    return protos.GraphDef(node=nodes, library=graph_def.library, versions=graph_def.versions), renamed
