"""Metrics, confusion matrices and summaries around a network: neither outputs themselves, nor in the way of these."""

from graphs import FLOAT, INT32, INT64, GraphBuilder
from role_graphs import descent, regression, roles, seed
from test_output_choices import choose, classifier, ranking


def no_axes(b, name):
    """What ``reduce_sum`` of a scalar sums over."""
    b.const(name, dtype=INT32)
    tensor = b.graph_def.node[-1].attr["value"].tensor
    tensor.tensor_shape.dim.add(size=0)
    del tensor.int_val[:]
    return name


def count_pairs(b, chosen):
    """``tf.math.confusion_matrix``: its arguments are handed on behind asserts."""
    for name, given in (("truths", "labels"), ("guesses", chosen)):
        b.const(f"{name}/least", dtype=INT64)
        b.node(f"{name}/fits", "GreaterEqual", given, f"{name}/least", T=INT64)
        b.node(f"{name}/all", "All", f"{name}/fits", "axes")
        b.node(f"{name}/assert", "Assert", f"{name}/all", given)
        b.node(name, "Identity", given, f"^{name}/assert", T=INT64)
    b.node("pairs", "Pack", "truths", "guesses", T=INT64)
    b.node("form", "Shape", "guesses", T=INT64)
    b.const("1")
    b.node("ones", "Fill", "form", "1", T=FLOAT)
    b.const("sizes", 5, dtype=INT64)
    return b.node("matrix", "ScatterNd", "pairs", "ones", "sizes", T=FLOAT)


def record(b, chosen, expanded="expanded"):
    """An image summary of classes."""
    b.const("place", 3, dtype=INT32)
    b.node(expanded, "ExpandDims", chosen, "place", T=INT64)
    b.node("pixels", "Cast", expanded, SrcT=INT64, DstT=FLOAT)
    b.const("tag")
    b.node("recorded", "ImageSummary", "tag", "pixels", T=FLOAT)


def streaming_mean(b, value):
    """``tf.compat.v1.metrics.mean`` of a number."""
    for name in ("total", "count"):
        b.variable(name, [], role="")
    b.node("total/value", "Sum", value, no_axes(b, "none"), T=FLOAT)
    b.node("total/add", "AssignAdd", "total", "total/value", T=FLOAT)
    b.const("count/1", 1.0)
    b.node("count/add", "AssignAdd", "count", "count/1", T=FLOAT)
    b.const("zero")
    b.node("count/most", "Maximum", "count/read", "zero", T=FLOAT)
    b.node("mean", "DivNoNan", "total/read", "count/most", T=FLOAT)


def test_that_a_guarded_confusion_matrix_does_not_hide_the_probabilities_and_classes():
    b = classifier()
    count_pairs(b, choose(b, "p"))
    found = ranking(b)
    assert found[:3] == ["p", "chosen", "z"]
    assert not {"matrix", "guesses", "pairs", "ones"} & set(found)


def test_that_classes_which_are_reshaped_for_a_metric_only_are_no_output():
    b = classifier()
    b.const("flat", -1, dtype=INT32)
    count_pairs(b, b.node("reshaped", "Reshape", choose(b, "p"), "flat", T=INT64))
    found = ranking(b)
    assert found[:2] == ["p", "chosen"]
    assert "reshaped" not in found


def test_that_a_confusion_matrix_of_a_graph_that_does_not_train_is_a_metric():
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 3])
    b.node("labels", "Placeholder", dtype=INT64, shape=[-1])
    b.variable("w", [3, 5], role="")
    b.node("z", "MatMul", "x", "w/read", T=FLOAT)
    b.const("axes", dtype=INT32)
    count_pairs(b, choose(b, "z"))
    assert roles(b, ["chosen"])["matrix"] == "metric"
    assert set(ranking(b)[:2]) == {"z", "chosen"}
    assert "matrix" not in ranking(b)


def test_that_counts_which_a_layer_reads_are_no_metric():
    """How many points lie in each cell of a plane."""
    b = classifier()
    b.node("rounded", "Cast", "x", SrcT=FLOAT, DstT=INT64)
    b.node("end", "Relu", count_pairs(b, "rounded"), T=FLOAT)
    assert roles(b, ["p"])["end"] != "metric"
    assert roles(b, ["end"])["matrix"] == "inference"


def test_that_what_an_image_summary_wants_is_no_output_but_what_it_shows_is():
    b = classifier(probabilities=False)
    record(b, choose(b, "z"))
    assert ranking(b)[:2] == ["chosen", "z"]
    assert not {"pixels", "expanded"} & set(ranking(b))
    assert {roles(b, ["chosen"])[name] for name in ("pixels", "expanded", "place")} == {"summary"}


def test_that_an_expansion_with_the_name_of_an_output_is_one_though_a_summary_shows_it():
    b = classifier(probabilities=False)
    chosen = choose(b, "z")
    record(b, chosen, "prediction_map")
    count_pairs(b, chosen)
    assert ranking(b)[:3] == ["prediction_map", "z", "chosen"]


def test_that_a_streaming_mean_of_the_loss_takes_nothing_away_from_it():
    b = regression()
    descent(b)
    streaming_mean(b, "loss")
    found = roles(b)
    assert [found[name] for name in ("loss", "error", "wanted")] == ["loss"] * 3
    assert {found[name] for name in ("total", "total/value", "total/add", "count", "count/add", "mean")} == {"metric"}


def test_that_a_recorded_loss_stays_the_loss_beside_a_streaming_mean():
    b = regression()
    descent(b)
    streaming_mean(b, "loss")
    b.const("tag")
    b.node("recorded", "ScalarSummary", "tag", "loss", T=FLOAT)
    assert roles(b)["loss"] == "loss"


def test_that_the_loss_behind_a_transposed_convolution_is_found():
    """The gradient to its filter reads the gradient where that of a convolution reads the input."""
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT)
    b.node("wanted", "Placeholder", dtype=FLOAT)
    b.const("sizes", dtype=INT32)
    for name in ("v", "w"):
        b.variable(name, [3, 3, 1, 1], role="")
    b.node("up", "Conv2DBackpropInput", "sizes", "v/read", "x", T=FLOAT)
    b.node("y", "Conv2D", "up", "w/read", T=FLOAT)
    b.node("error", "SquaredDifference", "y", "wanted", T=FLOAT)
    b.const("axes", dtype=INT32)
    b.node("loss", "Mean", "error", "axes", T=FLOAT)
    b.const("tag")
    b.node("recorded", "ScalarSummary", "tag", "loss", T=FLOAT)
    seed(b, "one")
    b.node("form", "Shape", "error", T=FLOAT)
    b.node("tiled", "Tile", "one", "form", T=FLOAT)
    b.node("difference", "Sub", "y", "wanted", T=FLOAT)
    b.node("dy", "Mul", "tiled", "difference", T=FLOAT)
    b.node("dup", "Conv2DBackpropInput", "sizes", "w/read", "dy", T=FLOAT)
    b.node("dw", "Conv2DBackpropFilter", "up", "sizes", "dy", T=FLOAT)
    b.node("dv", "Conv2DBackpropFilter", "dup", "sizes", "x", T=FLOAT)
    b.const("rate", 0.1)
    for name in ("v", "w"):
        b.node(f"{name}/apply", "ApplyGradientDescent", name, "rate", f"d{name}", T=FLOAT)
    found = roles(b)
    assert [found[name] for name in ("loss", "error", "wanted")] == ["loss"] * 3
    assert {found[name] for name in ("one", "tiled", "dy", "dup", "dw", "dv")} == {"gradient"}
