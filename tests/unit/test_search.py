"""The query language of the search, what it finds, and in which order."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviewer.analysis.search import LANGUAGE, Hits, QueryError, SearchIndex, parse_query, search_overlay
from graphviewer.analysis.search.index import TOO_LONG, TOO_SLOW, UNREAD
from graphviewer.model.document import Document
from graphviewer.model.overlay import Overlay
from tests.graphs import FLOAT, GraphBuilder


def network() -> Document:
    b = GraphBuilder()
    b.node("x", "Placeholder", dtype=FLOAT, shape=[-1, 28, 28, 1])
    b.const("net/block1/conv/weights", 0.5)
    b.node("net/block1/conv/Conv2D", "Conv2D", "x", "net/block1/conv/weights", T=FLOAT, padding="SAME")
    b.node("net/block1/add", "Add", "net/block1/conv/Conv2D", T=FLOAT)
    b.node("net/block12/add", "AddN", "net/block1/add", T=FLOAT)
    b.node("net/prob", "Softmax", "net/block12/add", T=FLOAT)
    b.node("gradients/conv_grad", "Conv2DBackpropInput", "net/prob", T=FLOAT, padding="VALID")
    b.graph_def.node[-1].device = "/device:GPU:0"
    b.node("table", "VarHandleOp", dtype=FLOAT, shape=[128, 10])
    return Document("graphdef", b.graph_def)


def search(text: str, document: Document | None = None, roles: Overlay | None = None) -> Hits:
    index = SearchIndex(document or network())
    index.complete()
    return index.search(parse_query(text), roles)


def found(text: str, document: Document | None = None, roles: Overlay | None = None) -> list[str]:
    document = document or network()
    return [document.scopes.path(item) for item in search(text, document, roles).items.tolist()]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("op:Conv2D", {"net/block1/conv/Conv2D"}),
        ("op:conv*", {"net/block1/conv/Conv2D", "gradients/conv_grad"}),
        ("op:Add", {"net/block1/add"}),
        ("op:Ad", {"net/block1/add", "net/block12/add"}),
        ("padding=SAME", {"net/block1/conv/Conv2D"}),
        ("padding=", {"net/block1/conv/Conv2D", "gradients/conv_grad"}),
        ("attr:padding=v", {"gradients/conv_grad"}),
        ("dtype:float32 -T= -op:Const", {"x", "table"}),
        ("dtype:DT_FLOAT op:Softmax", {"net/prob"}),
        ("shape:[?,10]", {"table"}),
        ("shape:[?, 28, 28, 1]", {"x"}),
        ("shape:[…,1]", {"x"}),
        ("shape:[128,...]", {"table"}),
        ("shape:28", {"x"}),
        ("device:gpu", {"gradients/conv_grad"}),
        ("value:0.5", {"net/block1/conv/weights"}),
        ("/BLOCK[12]+.*add$/", {"net/block1/add", "net/block12/add"}),
        ("/conv.*D", {"net/block1/conv/Conv2D", "gradients/conv_grad"}),
        ("name:prob", {"net/prob"}),
        ("net/block1/add:0", {"net/block1/add"}),
        ("^net/block1/add", {"net/block1/add"}),
        ("block12 -add", {"net/block12"}),
        ('"conv_grad"', {"gradients/conv_grad"}),
        ("nothing like that", set()),
        ("role:gradient", set()),
    ],
)
def test_that_a_query_finds_exactly_what_it_says(text: str, names: set[str]) -> None:
    assert set(found(text)) == names


def test_that_all_words_must_hold_and_a_scopes_name_counts_for_all_inside() -> None:
    assert found("block1 conv2d") == ["net/block1/conv/Conv2D"]
    assert found("conv block1")[0] == "net/block1/conv"


def test_that_names_come_before_ops_and_ops_before_attributes() -> None:
    assert found("add")[0] == "net/block1/add"
    assert found("softmax") == ["net/prob"]
    assert found("same") == ["net/block1/conv/Conv2D"]
    b = GraphBuilder()
    for name, op, text in (("a", "Op", "conv"), ("b", "Conv", ""), ("conv", "Op", "")):
        b.node(name, op, kind=text)
    assert found("conv", Document("graphdef", b.graph_def)) == ["conv", "b", "a"]


def test_that_whole_names_come_before_beginnings_and_those_before_the_rest() -> None:
    b = GraphBuilder()
    for name in ("myconv", "my_conv", "conv_1", "conv", "conv_dir/x"):
        b.node(name, "NoOp")
    assert found("conv", Document("graphdef", b.graph_def)) == [
        "conv",
        "conv_1",
        "conv_dir",
        "my_conv",
        "myconv",
        "conv_dir/x",
    ]


@pytest.mark.parametrize("misspelt", ["sofmax", "sotfmax", "softtmax", "sxftmax"])
def test_that_a_misspelt_word_finds_what_comes_near_and_says_so(misspelt: str) -> None:
    hits = search(misspelt)
    assert hits.similar == (misspelt,)
    assert found(misspelt) == ["net/prob"]
    assert search("softmax").similar == ()


def test_that_inference_nodes_come_first_among_equals_and_roles_can_be_asked_for() -> None:
    document = network()
    codes = np.array([0, 1, 1, 1, 0, 0, 1, -1], np.int8)
    roles = Overlay("roles", ("inference", "gradient"), codes, [""] * 8)
    assert found("op:Add*", document) == ["net/block1/add", "net/block12/add"]
    assert found("op:Add*", document, roles) == ["net/block12/add", "net/block1/add"]
    assert set(found("role:inf", document, roles)) == {"x", "net/block12/add", "net/prob"}


def test_that_a_hit_tells_what_matched() -> None:
    hits = search("conv padding=same")
    (item,) = hits.items.tolist()
    assert {(match.field, match.text) for match in hits.matches(item)} == {
        ("op", "Conv2D"),
        ("attribute", "padding=SAME"),
    }


def test_that_names_and_ops_answer_before_attributes_are_read() -> None:
    index = SearchIndex(network())
    early = index.search(parse_query("conv"))
    assert early.note == UNREAD and len(early) > 0
    assert len(index.search(parse_query("padding=SAME"))) == 0
    index.complete()
    assert not index.search(parse_query("conv")).note
    assert len(index.search(parse_query("padding=SAME"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "/(a+)+/",
        "/(a*b?)*c/",
        "/((a|b)+c){2,}/",
        "/[/",
        "/a{99999999999999}/",
        "/(?P<x/",
        "/.*.*.*.*.*/",
        "a*b*c*d*e*f",
    ],
)
def test_that_an_expression_that_is_none_or_may_never_end_is_refused(text: str) -> None:
    with pytest.raises(QueryError) as refused:
        parse_query(text)
    assert refused.value.hint


@pytest.mark.parametrize("text", ["/(ab)+/", r"/\(a+\)+/", "/[(a+)]+/", "/a+b*/", "/(a+)b/"])
def test_that_harmless_repeats_are_allowed(text: str) -> None:
    assert parse_query(text)


def test_that_a_slow_expression_ends_in_time() -> None:
    b = GraphBuilder()
    for number in range(3_000):
        b.node(f"{'a' * 150}{number}", "NoOp")
    index = SearchIndex(Document("graphdef", b.graph_def))
    index.complete()
    begin = time.process_time()
    hits = index.search(parse_query("/a*a*a*=/"), seconds=0.05)
    assert time.process_time() - begin < 5
    assert hits.note == TOO_SLOW and len(hits) == 0


def test_that_of_a_name_of_thousands_of_letters_an_expression_sees_the_end() -> None:
    b = GraphBuilder()
    b.node("start" + "x" * 5_000 + "end", "NoOp")
    document = Document("graphdef", b.graph_def)
    assert len(search("/x.*e.*d$/", document)) == 1
    assert search("/start.*e.*d/", document).note == TOO_LONG


@given(st.text(alphabet='ab:/[]()?*+-="\\ .,\N{HORIZONTAL ELLIPSIS}shapeop0', max_size=25))
def test_that_whatever_is_typed_gives_hits_or_a_refusal(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError:
        return
    hits = SearchIndex(network()).search(query)
    assert len(set(hits.items.tolist())) == len(hits)
    assert all(isinstance(hits.matches(item), list) for item in hits.items.tolist())


@given(st.sampled_from(["add", "conv", "net", "block1", "o", "prob", "2d"]))
def test_that_a_word_without_field_is_found_in_every_name_that_holds_it(word: str) -> None:
    document = network()
    holding = {name for name in document.graph.names if word in name.lower()}
    assert holding <= set(found(word, document))


def test_that_the_examples_of_the_help_are_queries() -> None:
    assert all(parse_query(example) for example, _ in LANGUAGE)
    assert not parse_query("   ")


def test_that_the_overlay_tells_hits_from_others() -> None:
    document = network()
    overlay = search_overlay(document, search("op:Softmax", document))
    assert overlay.counts() == {"hit": 1, "other": 7}
    assert overlay.category(document.graph.index["net/prob"]) == "hit"


def test_that_a_large_constant_is_not_read_and_a_damaged_one_does_no_harm() -> None:
    b = GraphBuilder()
    b.const("large")
    large = b.graph_def.node[-1].attr["value"].tensor
    large.tensor_shape.dim.add(size=1 << 40)
    b.const("damaged")
    b.graph_def.node[-1].attr["value"].tensor.tensor_content = b"xyz"
    document = Document("graphdef", b.graph_def)
    assert found("shape:[1099511627776]", document) == ["large"]
    assert found("value:0", document) == []


def test_that_nodes_inside_functions_are_found() -> None:
    b = GraphBuilder()
    b.node("call", "PartitionedCall")
    b.graph_def.node[-1].attr["f"].func.name = "body"
    function = b.graph_def.library.function.add()
    function.signature.name = "body"
    function.node_def.add(name="inner", op="Relu")
    document = Document("graphdef", b.graph_def).unfolded
    assert found("op:Relu", document) == ["call/inner"]
