"""Which outputs count where nobody names one: those of a signature."""

import pytest
from operation_graphs import document, identity, node, placeholder

from graphviewer import protos
from graphviewer.analysis.endpoints import take_outputs
from graphviewer.errors import NoOutputError
from graphviewer.model.names import Endpoint
from graphviewer.operations.registry import operations
from graphviewer.worker.opening import chosen_outputs


def with_signatures(**signatures):
    """``a``, ``b``, ``c`` of one placeholder; by signature its outputs by key."""
    meta = protos.MetaGraphDef()
    for name, outputs in signatures.items():
        for key, tensor in outputs.items():
            meta.signature_def[name].outputs[key].name = tensor
    return document(placeholder(), *(identity(f"{name} = Relu x") for name in "abc"), node("init = NoOp"), meta=meta)


def names(taken):
    return [str(one) for one in taken.outputs]


def test_that_all_outputs_of_the_default_signature_are_taken_and_told():
    taken = take_outputs(with_signatures(serving_default={"two": "b:0", "one": "a:0"}, another={"x": "c:0"}))
    assert names(taken) == ["a", "b"]
    assert taken.text == (
        "No output was named; the 2 outputs of the signature serving_default were taken: 'a' (one), 'b' (two)."
    )


def test_that_the_only_signature_counts_whatever_its_name():
    taken = take_outputs(with_signatures(predict={"one": "b:0", "two": "c:0"}, __saved_model_init_op={"op": "init"}))
    assert names(taken) == ["b", "c"]
    assert "other signatures" not in taken.text


def test_that_other_signatures_are_told_where_none_is_the_default():
    taken = take_outputs(with_signatures(encode={"one": "a:0"}, decode={"one": "b:0", "two": "c:0"}))
    assert names(taken) in (["a"], ["b", "c"])
    other = "'decode'" if names(taken) == ["a"] else "'encode'"
    assert taken.text.endswith(f"The file has other signatures too: {other}; name outputs of these with --output.")


def test_that_a_signature_with_one_output_names_its_key():
    taken = take_outputs(with_signatures(serving_default={"scores": "b:0"}))
    assert taken.text == "No output was named; 'b' was taken: Output of the signature serving_default/scores."


def test_that_a_tensor_with_two_keys_is_taken_once():
    assert names(take_outputs(with_signatures(serving_default={"p": "b:0", "q": "b:0"}))) == ["b"]


def test_that_outputs_which_no_inference_graph_can_have_are_not_taken():
    taken = take_outputs(with_signatures(serving_default={"done": "init", "p": "b:0", "port": "a:7", "gone": "no:0"}))
    assert taken.outputs == (Endpoint("b"),)


def test_that_a_long_signature_is_told_in_short():
    chain = [identity(f"n{at:02} = Relu x") for at in range(14)]
    meta = protos.MetaGraphDef()
    for at in range(14):
        meta.signature_def["serving_default"].outputs[f"k{at:02}"].name = f"n{at:02}:0"
    taken = take_outputs(document(placeholder(), *chain, meta=meta))
    assert len(taken.outputs) == 14
    assert taken.text.endswith("'n09' (k09) and 4 more.")


def test_that_jobs_say_what_was_taken_only_where_nobody_chose():
    signed = with_signatures(serving_default={"one": "a:0", "two": "b:0"})
    assert chosen_outputs(signed, ["c"]) == ((Endpoint("c"),), "")
    assert chosen_outputs(signed, []) == take_outputs(signed)


def test_that_an_operation_takes_all_outputs_of_the_signature():
    result = operations()["extract"].run(with_signatures(serving_default={"one": "a:0", "two": "b:0"}))
    assert list(result.outputs) == ["a", "b"]
    assert "the 2 outputs of the signature serving_default were taken" in result.warnings[0]


def test_that_a_graph_without_outputs_says_so():
    with pytest.raises(NoOutputError):
        take_outputs(document(node("a = NoOp")))
