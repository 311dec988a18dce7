"""Small graphs that train, for tests of roles."""

from graphs import FLOAT, INT32, GraphBuilder

from graphviewer.analysis.roles import classify
from graphviewer.model.names import Endpoint


def roles(builder, outputs=("y",)):
    document = builder.document()
    overlay = classify(document, [Endpoint(name) for name in outputs])
    return {name: overlay.category(number) for number, name in enumerate(document.graph.names)}


def regression():
    """``y = x * w`` with a squared error; ``dw`` is its gradient, and nothing applies it yet."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("wanted", "Placeholder", dtype=FLOAT)
    b.variable("w", [3, 1], role="")
    b.node("y", "MatMul", "x", "w/read", T=FLOAT)
    b.node("error", "SquaredDifference", "y", "wanted", T=FLOAT)
    b.const("axes", dtype=INT32)
    b.node("loss", "Sum", "error", "axes", T=FLOAT)
    seed(b, "one")
    b.node("form", "Shape", "error", T=FLOAT)
    b.node("tiled", "Tile", "one", "form", T=FLOAT)
    b.node("difference", "Sub", "y", "wanted", T=FLOAT)
    b.node("dy", "Mul", "tiled", "difference", T=FLOAT)
    b.node("dw", "MatMul", "x", "dy", T=FLOAT)
    return b


def seed(b, name):
    """What tf.gradients makes of a scalar: ``Fill([], 1.0)``."""
    b.const(f"{name}/form", dtype=INT32)
    tensor = b.graph_def.node[-1].attr["value"].tensor
    tensor.tensor_shape.dim.add(size=0)
    del tensor.int_val[:]
    b.const(f"{name}/one", 1.0)
    b.node(name, "Fill", f"{name}/form", f"{name}/one", T=FLOAT)


def descent(b, gradient="dw"):
    b.const("rate", 0.1)
    b.node("apply", "ApplyGradientDescent", "w", "rate", gradient, T=FLOAT)
