"""Opening and saving files with graphs."""

from __future__ import annotations

import gzip

import pytest
from format_files import graph, meta_graph, saved_model, write
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from graphviewer import protos
from graphviewer.errors import Cancelled, GraphViewerError, ReadError, WriteError
from graphviewer.formats import open_document, save_document, source, text
from graphviewer.model.document import Document


def kinds(document):
    return [problem.kind for problem in document.problems]


@pytest.mark.parametrize(("suffix", "kind"), [(".pb", "graphdef"), (".pbtxt", "pbtxt"), (".meta", "metagraph")])
def test_that_a_saved_graph_opens_as_it_was(tmp_path, suffix, kind):
    path = tmp_path / f"graph{suffix}"
    save_document(Document("graphdef", graph()), path)
    opened = open_document(path)
    assert (opened.kind, opened.title, opened.path, opened.problems) == (kind, path.name, path, ())
    assert opened.graph_def == graph()


def test_that_a_metagraph_keeps_saver_collections_and_signatures(tmp_path):
    first = open_document(write(tmp_path / "a.meta", meta_graph()))
    save_document(first, tmp_path / "b.meta")
    assert (tmp_path / "b.meta").read_bytes() == (tmp_path / "a.meta").read_bytes()
    second = open_document(tmp_path / "b.meta")
    assert second.saver.filename_tensor_name == "save/Const:0"
    assert second.collections == {"train_op": ("n1",)}
    assert second.signatures["serve"].inputs["x"].name == "x:0"
    assert not second.meta.HasField("graph_def")


def test_that_the_content_decides_and_not_the_suffix(tmp_path):
    assert open_document(write(tmp_path / "binary.pbtxt", graph())).kind == "graphdef"
    assert open_document(write(tmp_path / "meta.pb", meta_graph())).kind == "metagraph"
    named = open_document(write(tmp_path / "saved_model.pb", graph()))
    assert (named.kind, named.path) == ("graphdef", tmp_path / "saved_model.pb")
    (tmp_path / "text.pb").write_text(text_format.MessageToString(graph()))
    assert open_document(tmp_path / "text.pb").kind == "pbtxt"


@pytest.mark.parametrize(
    ("message", "kind"), [(graph(), "pbtxt"), (meta_graph(), "metagraph"), (saved_model(meta_graph()), "savedmodel")]
)
@pytest.mark.parametrize("above", [0, 1 << 20])
def test_that_text_gives_the_same_graph_in_python_and_by_protoc(tmp_path, monkeypatch, message, kind, above):
    monkeypatch.setattr(text, "PROTOC_ABOVE", above)
    (tmp_path / "a.txt").write_text("# a comment\n" + text_format.MessageToString(message), encoding="utf-8-sig")
    opened = open_document(tmp_path / "a.txt")
    assert (opened.kind, opened.graph_def) == (kind, graph())


ESCAPES = {
    "plain": (r"\n\\C\303\x41B\"", b'\n\\C\303AB"'),
    "a question mark": (r"\?", b"?"),
    "more than a byte": (r"\400\777", b"\0\xff"),
    "surrogates": (r"\ud83d\ude00\U0001F600", "😀😀".encode()),
    "a capital X": (r"\X41", b"A"),
}


@pytest.mark.parametrize(("written", "means"), ESCAPES.values(), ids=ESCAPES)
@pytest.mark.parametrize("above", [0, 1 << 20])
def test_that_an_escape_means_the_same_in_small_and_in_big_texts(tmp_path, monkeypatch, above, written, means):
    monkeypatch.setattr(text, "PROTOC_ABOVE", above)
    (tmp_path / "a.pbtxt").write_text('node { name: "a" op: "Const" attr { key: "k" value { s: "' + written + '" } } }')
    assert open_document(tmp_path / "a.pbtxt").graph_def.node[0].attr["k"].s == means


@pytest.mark.parametrize("written", [r"\C", r"\\\C", r"\N{DIGIT ONE}", r"\8", r"\xz", r"\u00", "\\"])
@pytest.mark.parametrize("above", [0, 1 << 20])
def test_that_an_escape_that_is_none_is_reported_with_its_place(tmp_path, monkeypatch, above, written):
    """Bytes lost from a text leave such escapes: Python's reader only warns of them."""
    monkeypatch.setattr(text, "PROTOC_ABOVE", above)
    (tmp_path / "a.pbtxt").write_text('node {\n name: "' + written + '" op: "Const" }')
    with pytest.raises(ReadError, match=r"line 2, column \d+: "):
        open_document(tmp_path / "a.pbtxt")


def test_that_text_in_utf_16_opens(tmp_path):
    (tmp_path / "a.pbtxt").write_text(text_format.MessageToString(graph()), encoding="utf-16")
    assert open_document(tmp_path / "a.pbtxt").graph_def == graph()


@pytest.mark.parametrize("above", [0, 1 << 20])
def test_that_broken_text_is_reported_with_line_and_column(tmp_path, monkeypatch, above):
    monkeypatch.setattr(text, "PROTOC_ABOVE", above)
    (tmp_path / "a.pbtxt").write_text('node { name: "a" op: "NoOp" }\nnode { nmae: "b" }\n')
    with pytest.raises(ReadError, match=r"line 2, column \d+: .*nmae"):
        open_document(tmp_path / "a.pbtxt")


def test_that_deeply_nested_text_is_an_error_and_no_crash(tmp_path):
    (tmp_path / "a.pbtxt").write_text(
        'node { attr { value { list { func { attr { key: "a" ' + "value { func { attr { " * 2000
    )
    with pytest.raises(ReadError):
        open_document(tmp_path / "a.pbtxt")


def test_that_cut_text_gives_its_whole_nodes_on_request(tmp_path):
    whole = text_format.MessageToString(graph(5))
    (tmp_path / "a.pbtxt").write_text(whole[: whole.index("n3")])
    with pytest.raises(ReadError):
        open_document(tmp_path / "a.pbtxt")
    opened = open_document(tmp_path / "a.pbtxt", salvage=True)
    assert [node.name for node in opened.graph_def.node] == ["x", "n1", "n2"]
    assert kinds(opened) == ["truncated", "no-versions"]


def test_that_cancelling_ends_protoc(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "PROTOC_ABOVE", 0)
    monkeypatch.setattr(text, "_POLL_SECONDS", 0.001)
    (tmp_path / "a.pbtxt").write_text(text_format.MessageToString(graph()))

    def cancel(fraction, message):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):  # the watch over child processes in conftest sees one that stays
        open_document(tmp_path / "a.pbtxt", progress=cancel)


def test_that_a_cut_file_is_refused_with_the_byte_and_opens_in_part_on_request(tmp_path):
    raw = graph(4).SerializeToString()
    (tmp_path / "a.pb").write_bytes(raw[: raw.index(b"n3") + 6])
    with pytest.raises(ReadError, match=r"cut short: .* at byte \d+") as error:
        open_document(tmp_path / "a.pb")
    assert "3 complete nodes" in error.value.hint
    opened = open_document(tmp_path / "a.pb", salvage=True)
    assert [node.name for node in opened.graph_def.node] == ["x", "n1", "n2"]
    assert kinds(opened) == ["truncated", "no-versions"]


def test_that_a_file_cut_between_two_nodes_carries_a_warning(tmp_path):
    whole = graph(4)
    whole.ClearField("versions")
    whole.ClearField("library")
    assert kinds(open_document(write(tmp_path / "a.pb", whole))) == ["no-versions"]


@pytest.mark.parametrize("message", [graph(6), meta_graph(graph(6)), saved_model(meta_graph(graph(6), "serve"))])
def test_that_a_file_cut_anywhere_is_said_to_be_cut_or_opens_in_part(tmp_path, message):
    raw, path = message.SerializeToString(deterministic=True), tmp_path / "a.pb"
    rescued = 0
    for length in range(1, len(raw), 4):
        path.write_bytes(raw[:length])
        try:
            opened = open_document(path, salvage=True)
        except ReadError:
            continue
        rescued += 1
        assert opened.graph_def.node == graph(6).node[: len(opened.graph_def.node)]
        assert {"truncated", "no-versions"} & set(kinds(opened))
        assert kinds(opened).count("truncated") < 2
    assert rescued > len(raw) // 8


def test_that_a_node_which_does_not_parse_is_named(tmp_path):
    raw = graph(4).SerializeToString().replace(b"n2\x12\x08Identity", b"n2\x12\x08Id\xff\xfetity")
    (tmp_path / "a.pb").write_bytes(raw)
    with pytest.raises(ReadError, match=r"damaged: field 1 \(node 'n2'\) does not parse at byte"):
        open_document(tmp_path / "a.pb")
    opened = open_document(tmp_path / "a.pb", salvage=True)
    assert [node.name for node in opened.graph_def.node] == ["x", "n1", "n3"]
    assert opened.graph_def.versions.producer == 1000


def test_that_a_graph_without_nodes_is_refused(tmp_path):
    empty = protos.GraphDef()
    empty.versions.producer = 1
    with pytest.raises(ReadError, match="without nodes"):
        open_document(write(tmp_path / "a.pb", empty))


def test_that_gzip_is_unpacked_but_no_bomb_is(tmp_path, monkeypatch):
    (tmp_path / "a.pb.gz").write_bytes(gzip.compress(graph().SerializeToString()))
    assert open_document(tmp_path / "a.pb.gz").graph_def == graph()
    monkeypatch.setattr(source, "EXPANDED_LIMIT", 1 << 20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(8 << 20)))
    with pytest.raises(ReadError, match="unpacks to more than 1 MB"):
        open_document(tmp_path / "bomb.gz")
    (tmp_path / "cut.gz").write_bytes((tmp_path / "a.pb.gz").read_bytes()[:-12])
    with pytest.raises(ReadError, match="cut short"):
        open_document(tmp_path / "cut.gz")


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x0a\x10\x0a\x01x\x12\x04NoOp", b"node {", b"\x08\x01\x12"]))
def test_that_any_bytes_open_or_are_an_error_for_people(tmp_path_factory, data, start):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(start + data)
    for salvage in (False, True):
        try:
            open_document(path, salvage=salvage)
        except GraphViewerError as error:
            assert error.message.endswith(".")  # noqa: PT017 - either outcome is right


def test_that_the_tags_choose_among_the_graphs_of_a_saved_model(tmp_path):
    metas = [meta_graph(graph(nodes), *tags) for nodes, tags in ((2, ["train"]), (3, ["serve"]), (4, ["serve", "gpu"]))]
    path = write(tmp_path / "m" / "saved_model.pb", saved_model(*metas))
    served = open_document(path.parent)
    assert (len(served.graph_def.node), kinds(served), served.path) == (3, [], path.parent)
    found = [(info.tags, info.nodes, info.shown) for info in served.extra["metagraphs"]]
    assert found == [(("train",), 2, False), (("serve",), 3, True), (("gpu", "serve"), 4, False)]
    chosen = open_document(path, tags=["serve", "gpu"])
    assert (len(chosen.graph_def.node), kinds(chosen)) == (4, [])
    with pytest.raises(ReadError, match="no graph with the tags tpu") as error:
        open_document(path, tags=["tpu"])
    assert "train; serve; gpu, serve" in error.value.hint


def test_that_saving_refuses_to_overwrite_unless_told(tmp_path):
    path = write(tmp_path / "a.pb", graph())
    with pytest.raises(WriteError, match="exists"):
        save_document(Document("graphdef", graph(5)), path)
    assert open_document(path).graph_def == graph()
    save_document(Document("graphdef", graph(5)), path, force=True)
    assert open_document(path).graph_def == graph(5)


def test_that_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write(tmp_path / "a.pb", graph())

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteError, match="no space left on device"):
        save_document(Document("graphdef", graph(5)), path, force=True)
    assert open_document(path).graph_def == graph()
    assert [each.name for each in tmp_path.iterdir()] == ["a.pb"]


def test_that_saving_says_what_is_wrong_with_the_target(tmp_path):
    document = Document("graphdef", graph())
    with pytest.raises(WriteError, match=r"'\.xyz' is no format") as error:
        save_document(document, tmp_path / "a.xyz")
    assert ".pb (GraphDef, binary)" in error.value.hint
    with pytest.raises(WriteError, match="there is no folder"):
        save_document(document, tmp_path / "absent" / "a.pb")
    (tmp_path / "folder.pb").mkdir()
    with pytest.raises(WriteError, match="is a folder"):
        save_document(document, tmp_path / "folder.pb", force=True)


def test_that_a_saved_file_is_readable_as_others_are_and_a_link_stays_one(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    target, link = tmp_path / "target.pb", tmp_path / "link.pb"
    save_document(Document("graphdef", graph()), target)
    assert target.stat().st_mode == usual.stat().st_mode
    link.symlink_to(target)
    save_document(Document("graphdef", graph(5)), link, force=True)
    assert link.is_symlink()
    assert open_document(target).graph_def == graph(5)


def test_that_equal_graphs_give_equal_bytes(tmp_path):
    one, other = graph(), graph()
    node = other.node[1]
    attributes = {key: value.SerializeToString() for key, value in node.attr.items()}
    node.attr.clear()
    for key in ["z", *reversed(attributes)]:
        node.attr[key].ParseFromString(attributes.get(key, b""))
    one.node[1].attr["z"].SetInParent()
    for name, message in (("one", one), ("other", other)):
        save_document(Document("graphdef", message), tmp_path / f"{name}.pb")
    assert (tmp_path / "one.pb").read_bytes() == (tmp_path / "other.pb").read_bytes()


def test_that_a_name_beyond_ascii_and_a_chain_of_20000_survive(tmp_path):
    made = graph(20_000)
    made.node[0].name = "знак/名"
    opened = open_document(write(tmp_path / "a.pb", made))
    assert opened.graph_def == made


@pytest.mark.parametrize("depth", [33, 80, 3000])
@pytest.mark.parametrize("above", [0, 1 << 20])
def test_that_text_deeper_than_the_binary_form_allows_is_said_to_be_nested_too_deeply(
    tmp_path, monkeypatch, depth, above
):
    monkeypatch.setattr(text, "PROTOC_ABOVE", above)
    monkeypatch.setattr(text, "_PIECE", 1000)
    function = 'func { name: "g" attr { key: "f" value { '
    (tmp_path / "a.pbtxt").write_text(
        'node { name: "a" op: "Const" attr { key: "f" value { ' + function * depth + "i: 1 " + "}" * (3 * depth + 3)
    )
    with pytest.raises(ReadError, match="nested too deeply"):
        open_document(tmp_path / "a.pbtxt")


@pytest.mark.parametrize("above", [0, 1 << 20])
def test_that_braces_in_strings_are_no_nesting(tmp_path, monkeypatch, above):
    monkeypatch.setattr(text, "PROTOC_ABOVE", above)
    (tmp_path / "a.pbtxt").write_text('node { name: "%s" op: "NoOp" }' % ("{" * 200))
    assert open_document(tmp_path / "a.pbtxt").graph_def.node[0].name == "{" * 200


def test_that_tags_which_choose_nothing_are_told(tmp_path):
    path = tmp_path / "graph.pb"
    graph = protos.GraphDef()
    graph.node.add(name="x", op="Placeholder")
    path.write_bytes(graph.SerializeToString())

    told = [problem.reason for problem in open_document(path, tags=["a", "b"]).problems]

    assert "The file holds one graph and no tags: 'a,b' chose nothing." in told
    assert not any("tags" in problem.reason for problem in open_document(path).problems)
