"""Names as people type them."""

import pytest

from graphviewer.errors import UnknownNameError
from graphviewer.model.names import CONTROL_PORT, Endpoint, nearest, parse_input, resolve, resolve_all

NAMES = ("net/prob", "net/logits", "concat", "images", "net/Weights", "a:b", "dup/x", "DUP/x")
INDEX = {name: number for number, name in enumerate(NAMES)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", ("x", 0)),
        ("x:1", ("x", 1)),
        ("^x", ("x", CONTROL_PORT)),
        ("^x:0", ("x:0", CONTROL_PORT)),
        ("a/b:12", ("a/b", 12)),
        ("x:", ("x:", 0)),
        ("x:y", ("x:y", 0)),
        ("x:99999999999", ("x:99999999999", 0)),
        ("x:²", ("x:²", 0)),
        ("", ("", 0)),
    ],
)
def test_that_inputs_are_split_as_tensorflow_splits_them(text: str, expected: tuple[str, int]) -> None:
    assert parse_input(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("net/prob", Endpoint("net/prob")),
        ("net/prob:0", Endpoint("net/prob")),
        ("net/prob:1", Endpoint("net/prob", 1)),
        ("net/prob:1:0", Endpoint("net/prob", 1)),
        ("net/prob:0:0", Endpoint("net/prob")),
        ("^net/prob", Endpoint("net/prob")),
        ("/net/prob", Endpoint("net/prob")),
        ("  net/prob ,", Endpoint("net/prob")),
        ("'net/prob:0'", Endpoint("net/prob")),
        ('graph.get_tensor_by_name("net/prob:0")', Endpoint("net/prob")),
        ("concat/(concat)", Endpoint("concat")),
        ("NET/PROB", Endpoint("net/prob")),
        ("net/weights:0", Endpoint("net/Weights")),
        ("a:b", Endpoint("a:b")),
    ],
)
def test_that_usual_spellings_mean_their_node(text: str, expected: Endpoint) -> None:
    assert resolve(text, INDEX) == expected


def test_that_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve("net/probs", INDEX)
    assert "no node 'net/probs'" in str(caught.value)
    assert "net/prob" in caught.value.hint


def test_that_a_name_which_differs_only_in_case_from_two_is_refused_with_both() -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve("Dup/X", INDEX)
    assert "dup/x" in caught.value.hint and "DUP/x" in caught.value.hint


def test_that_lists_are_split_at_commas_and_doubles_dropped() -> None:
    found = resolve_all(["net/prob,net/logits:0", "net/prob:0"], INDEX)
    assert found == [Endpoint("net/prob"), Endpoint("net/logits")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Tensor("net/prob:0", shape=(?, 10), dtype=float32)', ["net/prob"]),
        ('Tensor("net/prob:0", shape=(), dtype=float32, device=/device:GPU:0)', ["net/prob"]),
        ("<tf.Tensor 'net/prob:0' shape=(None, 10) dtype=float32>", ["net/prob"]),
        ("[<tf.Tensor 'net/prob:0' shape=(None, 8, 8) dtype=float32>, <tf.Tensor 'images:1' shape=() dtype=int32>]",
         ["net/prob", "images:1"]),
        ("<tf.Operation 'images' type=Placeholder>", ["images"]),
        ("sess.run(['net/prob:0', 'net/logits:0'])", ["net/prob", "net/logits"]),
        ('output_node_names = ["net/prob", "net/logits"]', ["net/prob", "net/logits"]),
    ],
)  # fmt: skip
def test_that_what_python_prints_or_takes_can_be_pasted(text: str, expected: list[str]) -> None:
    assert [str(found) for found in resolve_all([text], INDEX)] == expected


def test_that_a_name_with_a_comma_is_one_name() -> None:
    assert resolve_all(["a,b"], {"a,b": 0, "a": 1}) == [Endpoint("a,b")]


def test_that_nearest_prefers_the_same_last_part() -> None:
    assert nearest("tower/prob", NAMES)[0] == "net/prob"


def test_that_an_endpoint_is_written_without_port_zero() -> None:
    assert [str(Endpoint("x")), str(Endpoint("x", 2))] == ["x", "x:2"]
