"""The comparison as a page, and a graph as text for git."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from diff_graphs import document, dtype, node
from test_diff_functions import NODES, SERVE, call, exported, function, with_signatures

from graphviewer import protos
from graphviewer.analysis.diff import STATUSES, compare
from graphviewer.analysis.diff.purposes import roles_of_before
from graphviewer.export.listing import listing
from graphviewer.export.report import report
from graphviewer.model.document import Document
from graphviewer.model.making import const_node
from graphviewer.protos import DataType

HOSTILE = "</script><img src=x onerror=alert(1)>/\"'&amp;"
PNG = b"\x89PNG of the comparison"


class Page(HTMLParser):
    """Elements and the text of those with an id."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.data, self._inside = [], [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))
        self._inside = dict(attrs).get("id", "")

    def handle_data(self, data):
        self.data[self._inside] = self.data.get(self._inside, "") + data


def page(before, after, themes=None):
    diff = compare(before, after)

    def draw(theme):
        if themes is not None:
            themes.append(theme)
        return PNG

    return report(diff, roles_of_before(diff), draw)


def hostile():
    return document(node(HOSTILE, "Relu"), node("x", "NoOp"), node("gone", "NoOp")), document(node(HOSTILE, "Relu6"))


def test_that_names_from_files_stay_text():
    text = page(*hostile())
    found = Page(text)
    assert "img" in found.tags
    assert [one for one in found.attributes if "onerror" in one] == []
    assert all(one.get("src", "data:").startswith("data:") for one in found.attributes)
    rows = json.loads(found.data["changes"])["rows"]
    assert HOSTILE in {row[1] for row in rows}
    before = Document("graphdef", hostile()[0].graph_def, title="<b>title</b>")
    assert "<b>title" not in page(before, hostile()[1])


def test_that_the_page_needs_nothing_else():
    text = page(*hostile())
    assert not re.search(r"""(src|href|srcset)=["'](?!data:)""", text)
    assert "http" not in text.replace("http-equiv", "")
    assert "default-src 'none'" in text


def test_that_every_change_is_a_row_with_its_reason():
    diff = compare(*hostile())
    data = json.loads(Page(page(*hostile())).data["changes"])
    told = {(data["statuses"][row[0]], row[1], row[2], data["reasons"][row[4]]) for row in data["rows"]}
    assert told == {(one.status, one.before, one.after, one.reason) for one in diff.changes}
    assert data["ops"][data["rows"][-1][3]] == "Relu → Relu6"


def test_that_both_themes_are_drawn_and_have_a_colour_for_every_status():
    themes = []
    text = page(*hostile(), themes)
    assert themes == ["light", "dark"]
    assert "prefers-color-scheme: dark" in text
    for status in STATUSES:
        assert text.count(f"--{status}-mark: #") == 2


def test_that_equal_graphs_make_a_short_page():
    text = page(document(node("x", "NoOp")), document(node("x", "NoOp")))
    assert "The same: 1 nodes" in text
    assert "<input" not in text


def test_that_a_page_says_that_only_generated_names_differ():
    before, after = (document(call(name), functions=[function(name)]) for name in ("f_1", "f_2"))
    assert "Only generated names of functions differ: 1 function." in page(before, after)
    assert "generated" not in page(before, before)


def test_that_the_page_tells_graphs_of_one_name_apart():
    graph = hostile()[0].graph_def
    one, other = (Document("graphdef", graph, path=Path(f"/{at}/m.pb"), title="m.pb") for at in (1, 2))
    assert "<title>1/m.pb → 2/m.pb</title>" in page(one, other)


def test_that_functions_and_signatures_are_told():
    before = with_signatures(*NODES, call("f"), serve=SERVE)
    after = with_signatures(*NODES, call("f"))
    for side, op in ((before, "Relu"), (after, "Tanh")):
        side.graph_def.library.function.append(function("f", op))
    text = page(before, after)
    assert "<h2>Functions</h2>" in text and "inside: 1 changed" in text
    assert "<h2>Signatures</h2>" in text


def lines(*nodes, functions=()):
    return list(listing(document(*nodes, functions=functions)))


def test_that_equal_graphs_have_equal_listings():
    a, b = node("a", "MatMul", "x", "^c", "^b", T=dtype(1)), node("b", "NoOp", device="/cpu:0")
    other = node("a", "MatMul", "x", "^b", "^c", T=dtype(1))
    other.attr["transpose_a"].b = False
    other.attr["_output_shapes"].list.shape.add()
    assert lines(a, b) == lines(b, other)
    assert lines(a, b) == ["a = MatMul(x, ^b, ^c)", "    T: float32", "b = NoOp()", "    device: /cpu:0"]


def test_that_one_changed_value_is_one_changed_line():
    old, new = (np.arange(1000, dtype=np.float32) for _ in range(2))
    new[500] += 1e-3
    before, after = (lines(const_node("w", DataType.FLOAT, values=values)) for values in (old, new))
    different = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert len(different) == 1
    assert all("value: float32 [1000]" in line and "sha256:" in line for line in different[0])
    assert "sha256" not in lines(const_node("c", DataType.INT32, values=np.int32(3)))[-1]


def test_that_signatures_and_functions_are_listed():
    graph = with_signatures(*NODES, serve=SERVE)
    graph.graph_def.library.function.append(function("f"))
    text = "\n".join(listing(graph))
    assert "signature serve predict\n    input x: x:0 float32 []" in text
    wanted = ["function f", "  argument x: float32", "  result y: float32", "  first = Relu(x)"]
    assert "\n".join([*wanted, "  return y = first:activations:0"]) in text


def test_that_two_exports_of_one_model_have_equal_listings():
    def graph(at):
        library = [exported(at, f"g_{at + 9}"), exported(at + 1, f"g_{at + 8}"), function(f"g_{at + 9}")]
        library += [function(f"g_{at + 8}", "Tanh"), function(f"train_{at + 3}"), function(f"train_{at + 4}", "Exp")]
        order = library if at == 5 else library[::-1]
        return lines(call(f"__inference_f_{at + 1}"), call(f"__inference_f_{at}", "other"), functions=order)

    assert graph(5) == graph(95)  # 95 + 5 has a digit more
    heads = [line for line in graph(5) if line.startswith("function")]
    assert heads == [
        "function __inference_f", "function __inference_f#2", "function g", "function g#2", "function train",
        "function train#2",
    ]  # fmt: skip
    assert graph(5)[:2] == ["call = PartitionedCall()", "    f: __inference_f()"]
    assert "      f: g()" in graph(5)


def test_that_attributes_of_functions_are_listed():
    made = function("f")
    made.attr["_XlaMustCompile"].b = True
    assert "  _XlaMustCompile: True" in lines(functions=[made])


def test_that_long_lines_are_broken_one_input_or_item_a_line():
    names = [f"input/number/{at}" for at in range(20)]
    many = node("n", "Pack", *names, "^after", axes=protos.AttrValue(list=protos.AttrValue.ListValue(i=range(40, 90))))
    text = lines(many)
    assert max(map(len, text)) < 100
    assert text[:2] == ["n = Pack", "    reads input/number/0"] and "    reads ^after" in text
    assert text[text.index("    axes: 50 items") + 1] == "        40"


def test_that_long_lists_of_texts_are_broken_too():
    keys = [f"layer_{at}/.ATTRIBUTES/VARIABLE_VALUE".encode() for at in range(5)]
    text = lines(const_node("names", DataType.STRING, values=np.array(keys, object)))
    assert text[-6:] == ["    value: string [5]", *(f"        {key.decode()!r}" for key in keys)]


def test_that_names_break_between_their_words_only():
    before = document(node("dense/ExponentialMovingAverage_1", "Relu"), node("dense/x", "NoOp"))
    text = page(before, document(node("y", "NoOp")))
    assert '<td class="name">Relu</td>' in text and '<td class="name">No<wbr>Op</td>' in text
    assert "min-width: 62px" in report(compare(before, document()), None, lambda _theme: PNG[:1] * 16 + b"\0\0\0\x64")
