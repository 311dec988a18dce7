"""Graphs as TensorFlow makes them, small, for pictures that people look at."""

from __future__ import annotations

from collections.abc import Iterator

Row = tuple[str, ...]


def unit(path: str, feed: str, *, shortcut: bool) -> Iterator[Row]:
    """A residual unit: two convolutions with batch normalisation, and the way around them."""
    at = feed
    for number in (1, 2):
        conv, bn = f"{path}/conv{number}", f"{path}/bn{number}"
        yield f"{conv}/kernel", "VariableV2"
        yield f"{conv}/kernel/read", "Identity", f"{conv}/kernel"
        yield conv, "Conv2D", at, f"{conv}/kernel/read"
        for name in ("scale", "offset", "mean", "variance"):
            yield f"{bn}/{name}", "Const"
        yield bn, "FusedBatchNormV3", conv, *(f"{bn}/{name}" for name in ("scale", "offset", "mean", "variance"))
        at = bn
        if number == 1:
            yield f"{path}/relu", "Relu", bn
            at = f"{path}/relu"
    around = feed
    if shortcut:
        yield f"{path}/shortcut", "Conv2D", feed
        around = f"{path}/shortcut"
    yield f"{path}/add", "AddV2", at, around
    yield f"{path}/out", "Relu", f"{path}/add"


def training() -> list[Row]:
    """A residual network of two stages with its gradients, its optimizer and its saver."""
    rows: list[Row] = [("images", "Placeholder"), ("labels", "Placeholder"), ("net/stem", "Conv2D", "images")]
    feed, variables = "net/stem", []
    for stage in (1, 2):
        for number in range(1, 6):
            path = f"net/stage{stage}/unit{number}"
            rows += unit(path, feed, shortcut=number == 1)
            variables += [f"{path}/conv{conv}/kernel" for conv in (1, 2)]
            feed = f"{path}/out"
    rows += [
        ("net/pool/axes", "Const"),
        ("net/pool", "Mean", feed, "net/pool/axes"),
        ("net/logits", "MatMul", "net/pool"),
        ("net/prob", "Softmax", "net/logits"),
        ("loss/xent", "SoftmaxCrossEntropyWithLogits", "net/logits", "labels"),
        ("loss/mean", "Mean", "loss/xent"),
    ]
    for name in reversed(variables):
        rows.append((f"gradients/{name}_grad", "Conv2DBackpropFilter", "loss/mean", name))
        rows.append((f"train/update_{name}", "ApplyMomentum", name, f"gradients/{name}_grad"))
        rows.append((f"init/{name}", "Assign", name))
    rows.append(("train/step", "NoOp", *(f"^train/update_{name}" for name in variables)))
    return rows + saver(variables)


def saver(variables: list[str]) -> list[Row]:
    """What tf.train.Saver adds."""
    rows: list[Row] = [("save/Const", "Const"), ("save/names", "Const"), ("save/slices", "Const")]
    rows += [("save/SaveV2", "SaveV2", "save/Const", "save/names", "save/slices", *variables)]
    rows += [("save/control", "Identity", "save/Const", "^save/SaveV2")]
    rows += [("save/RestoreV2", "RestoreV2", "save/Const", "save/names", "save/slices")]
    for number, name in enumerate(variables):
        rows.append((f"save/Assign_{number}", "Assign", name, f"save/RestoreV2:{number}"))
    rows.append(("save/restore_all", "NoOp", *(f"^save/Assign_{number}" for number in range(len(variables)))))
    return rows


def large_saver(children: int = 1_720) -> list[Row]:
    """A scope ``save`` of very many children, as that of ResNet-152."""
    variables = [f"net/v{number}" for number in range(children - 6)]
    return [(name, "VariableV2") for name in variables] + saver(variables)


def nasnet_cell() -> list[Row]:
    """A normal cell: five blocks that add two branches each, joined at the end."""
    rows: list[Row] = [("p", "Placeholder"), ("h", "Placeholder"), ("cell/adjust_p", "Conv2D", "p")]
    rows += [("cell/adjust_h", "Conv2D", "h")]
    p, h = "cell/adjust_p", "cell/adjust_h"
    blocks = []
    for number, (left, right) in enumerate(((h, p), (p, p), (h, ""), (p, p), (h, "")), 1):
        ends = []
        for side, feed in (("left", left), ("right", right)):
            at = f"cell/block_{number}/{side}"
            if not feed:
                rows.append((f"{at}/identity", "Identity", h))
                ends.append(f"{at}/identity")
            elif number in (1, 2, 5):
                rows += [(f"{at}/relu", "Relu", feed), (f"{at}/depthwise", "DepthwiseConv2dNative", f"{at}/relu")]
                rows += [
                    (f"{at}/pointwise", "Conv2D", f"{at}/depthwise"),
                    (f"{at}/bn", "FusedBatchNormV3", f"{at}/pointwise"),
                ]
                ends.append(f"{at}/bn")
            else:
                rows.append((f"{at}/pool", "AvgPool", feed))
                ends.append(f"{at}/pool")
        rows.append((f"cell/block_{number}/add", "AddV2", *ends))
        blocks.append(f"cell/block_{number}/add")
    return [
        *rows,
        ("cell/axis", "Const"),
        ("cell/concat", "ConcatV2", p, *blocks, "cell/axis"),
        ("next", "Relu", "cell/concat"),
    ]


def while_loop() -> list[Row]:
    """A TF1 loop: two variables go round through Merge, Switch and NextIteration."""
    rows: list[Row] = [("start", "Const"), ("limit", "Const"), ("x", "Placeholder")]
    for name, feed in (("", "start"), ("_1", "x")):
        rows += [
            (f"while/Enter{name}", "Enter", feed),
            (f"while/Merge{name}", "Merge", f"while/Enter{name}", f"while/NextIteration{name}"),
            (f"while/Switch{name}", "Switch", f"while/Merge{name}", "while/LoopCond"),
            (f"while/Exit{name}", "Exit", f"while/Switch{name}"),
            (f"while/Identity{name}", "Identity", f"while/Switch{name}:1"),
        ]
    rows += [
        ("while/Less/Enter", "Enter", "limit"),
        ("while/Less", "Less", "while/Merge", "while/Less/Enter"),
        ("while/LoopCond", "LoopCond", "while/Less"),
        ("while/add/y", "Const", "^while/Identity"),
        ("while/add", "AddV2", "while/Identity", "while/add/y"),
        ("while/mul", "Mul", "while/Identity_1", "while/Identity_1"),
        ("while/NextIteration", "NextIteration", "while/add"),
        ("while/NextIteration_1", "NextIteration", "while/mul"),
        ("result", "Identity", "while/Exit_1"),
    ]
    return rows
