"""Roles of updates that run in branches of conditionals, in called functions, or between copies of weights."""

import pytest
from graphs import BOOL, FLOAT, training_graph
from role_graphs import descent, regression, roles

from graphviewer import protos
from graphviewer.analysis.roles import Roles


def conditional(b, name, predicate):
    """TF1's frame of a conditional; what runs in its branch waits for ``name/switch_t``."""
    b.node(f"{name}/Switch", "Switch", predicate, predicate, T=BOOL)
    b.node(f"{name}/switch_t", "Identity", f"{name}/Switch:1", T=BOOL)
    b.node(f"{name}/switch_f", "Identity", f"{name}/Switch", T=BOOL)
    b.node(f"{name}/pred_id", "Identity", predicate, T=BOOL)


def ended(b, name, *effects):
    """The end of a conditional without a value: one branch waits for ``effects``, the other for nothing."""
    b.node(f"{name}/NoOp", "NoOp", f"^{name}/switch_f")
    b.node(f"{name}/done", "Identity", f"{name}/switch_t", *(f"^{effect}" for effect in effects), T=BOOL)
    b.node(f"{name}/skipped", "Identity", f"{name}/switch_f", f"^{name}/NoOp", T=BOOL)
    b.node(f"{name}/Merge", "Merge", f"{name}/done", f"{name}/skipped", N=2, T=BOOL)


def test_that_a_conditional_around_an_optimizer_belongs_to_it():
    b = regression()
    b.node("finite", "IsFinite", "dw", T=FLOAT)
    b.const("axis", 0)
    b.node("all", "All", "finite", "axis")
    conditional(b, "cond", "all")
    b.node("cond/w", "RefSwitch", "w", "cond/pred_id", T=FLOAT)
    b.node("cond/dw", "Switch", "dw", "cond/pred_id", T=FLOAT)
    b.const("rate", 0.1, control=["cond/switch_t"])
    b.node("apply", "ApplyGradientDescent", "cond/w:1", "rate", "cond/dw:1", T=FLOAT)
    ended(b, "cond", "apply")
    found = roles(b)
    wrong = {name: role for name, role in found.items() if name.startswith("cond/") and role != "optimizer"}
    assert wrong == {}
    assert (found["all"], found["finite"], found["dw"]) == ("gradient",) * 3
    assert (found["loss"], found["wanted"]) == ("loss", "loss")


def test_that_what_gradients_choose_between_is_no_gradient():
    """Loss scaling: the scale grows where gradients are finite, else it shrinks."""
    b = regression()
    descent(b)
    b.variable("scale", [], role="")
    b.node("finite", "IsFinite", "dw", T=FLOAT)
    conditional(b, "cond", "finite")
    b.node("cond/scale", "Switch", "scale/read", "cond/pred_id", T=FLOAT)
    b.const("two", 2.0, control=["cond/switch_t"])
    b.node("grown", "Mul", "cond/scale:1", "two", T=FLOAT)
    b.const("half", 0.5, control=["cond/switch_f"])
    b.node("shrunk", "Mul", "cond/scale", "half", T=FLOAT)
    b.node("new", "Merge", "shrunk", "grown", N=2, T=FLOAT)
    b.node("assign", "Assign", "scale", "new", T=FLOAT)
    found = roles(b)
    names = ("scale", "grown", "shrunk", "two", "half", "new", "assign", "cond/pred_id", "cond/Switch", "cond/switch_t")
    assert {name: found[name] for name in names} == dict.fromkeys(names, "optimizer")


def stepping(b, *, depth=1):
    """``If`` that runs ``ApplyGradientDescent`` in a function, ``depth`` calls deep; the other branch does nothing."""
    library = b.graph_def.library
    for level in range(depth):
        function = library.function.add()
        function.signature.name = f"step{level}"
        for name, dtype in (("v", protos.DataType.RESOURCE), ("g", FLOAT)):
            function.signature.input_arg.add(name=name, type=dtype)
        rate = function.node_def.add(name="rate", op="Const")
        rate.attr["dtype"].type = FLOAT
        inner = function.node_def.add(name="inner")
        if level:
            inner.op = "PartitionedCall"
            inner.attr["f"].func.name = f"step{level - 1}"
            inner.input.extend(["v", "g"])
        else:
            inner.op = "ResourceApplyGradientDescent"
            inner.attr["T"].type = FLOAT
            inner.input.extend(["v", "rate:output:0", "g"])
    nothing = library.function.add()
    nothing.signature.name = "nothing"
    for name, dtype in (("v", protos.DataType.RESOURCE), ("g", FLOAT)):
        nothing.signature.input_arg.add(name=name, type=dtype)
    b.node("finite", "IsFinite", "dw", T=FLOAT)
    b.node("step", "If", "finite", "weight", "dw", Tcond=BOOL)
    b.graph_def.node[-1].attr["then_branch"].func.name = f"step{depth - 1}"
    b.graph_def.node[-1].attr["else_branch"].func.name = "nothing"


@pytest.mark.parametrize("depth", [1, 3])
def test_that_an_optimizer_inside_the_branch_of_a_function_trains_the_variable_that_it_is_given(depth):
    b = regression()
    b.node("weight", "VarHandleOp", dtype=FLOAT, shape=[1])
    b.node("weight/read", "ReadVariableOp", "weight", dtype=FLOAT)
    stepping(b, depth=depth)
    document = b.document()
    overlay = Roles(document)
    trained = [document.graph.names[node] for one in overlay.training.optimizers for node in one.variables]
    assert trained == ["weight"]
    found = roles(b)
    assert (found["step"], found["dw"], found["one"]) == ("optimizer", "gradient", "gradient")


def test_that_the_target_of_a_remote_call_is_none_of_its_arguments():
    b = regression()
    b.node("weight", "VarHandleOp", dtype=FLOAT, shape=[1])
    b.node("weight/read", "ReadVariableOp", "weight", dtype=FLOAT)
    stepping(b)
    b.const("target", 0)
    b.node("remote", "RemoteCall", "target", "weight", "dw")
    b.graph_def.node[-1].attr["f"].func.name = "step0"
    document = b.document()
    uses = Roles(document).facts.called_uses[document.graph.index["remote"]]
    assert (uses.trained, uses.gradients) == ({1}, {2})


def test_that_slow_copies_of_weights_belong_to_the_optimizer_and_a_swap_of_averages_does_not():
    def lookahead(*, together):
        b = regression()
        descent(b)
        b.variable("slow", [3, 1], role="")
        b.node("mean", "Add", "slow/read", "w/read", T=FLOAT)
        b.node("keep", "Assign", "slow", "mean", T=FLOAT)
        b.node("back", "Assign", "w", "keep" if together else "slow/read", T=FLOAT)
        return roles(b)

    found = lookahead(together=True)
    assert (found["keep"], found["back"], found["slow"]) == ("optimizer",) * 3
    found = lookahead(together=False)
    assert (found["keep"], found["back"], found["slow"]) == ("moving_average",) * 3


def test_that_weights_from_other_processes_are_first_values():
    b = regression()
    descent(b)
    b.node("sent", "HorovodBroadcast", "w/read", T=FLOAT)
    b.node("assign", "Assign", "w", "sent", T=FLOAT)
    found = roles(b)
    assert (found["sent"], found["assign"]) == ("initializer", "initializer")


def test_that_counts_of_classes_are_averages_and_no_batch_norm():
    b = training_graph()
    b.variable("counts", [4], role="")
    b.const("axis", 0)
    b.node("hot", "OneHot", "batch", "axis", "axis", "axis", T=FLOAT)
    b.node("sum", "Sum", "hot", "axis", T=FLOAT)
    b.node("difference", "Sub", "counts/read", "sum", T=FLOAT)
    b.node("moved", "AssignSub", "counts", "difference", T=FLOAT)
    found = roles(b, ["valid/prob"])
    assert (found["moved"], found["counts"]) == ("moving_average", "moving_average")
    assert found["net/moving_mean/AssignSub"] == "batch_norm_update"


def test_that_what_an_assignment_of_a_gradient_returns_is_one_too():
    """With resource variables that is a read which waits for the assignment, and reads the same variable."""
    b = regression()
    descent(b)
    b.variable("other", [3, 1], role="")
    b.node("speed", "VarHandleOp", dtype=FLOAT, shape=[3, 1])
    b.node("assign", "AssignVariableOp", "speed", "dw", dtype=FLOAT)
    b.node("faster", "ReadVariableOp", "speed", "^assign", dtype=FLOAT)
    b.node("delta", "Mul", "faster", "rate", T=FLOAT)
    b.node("update", "AssignSub", "other", "delta", T=FLOAT)
    found = roles(b)
    names = ("speed", "assign", "delta", "update", "other")
    assert {name: found[name] for name in names} == dict.fromkeys(names, "optimizer")
    assert (found["w"], found["loss"], found["wanted"]) == ("inference", "loss", "loss")
