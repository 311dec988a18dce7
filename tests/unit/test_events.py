"""Events files: all the graphs in them, chosen by name, without walking over the file twice."""

from __future__ import annotations

import os

import pytest
from cli_graphs import loaded, run
from format_files import events, graph, meta_graph

from graphviewer import protos
from graphviewer.errors import ReadError
from graphviewer.formats import event_graphs, open_document


def graph_event(nodes, step=0):
    return protos.Event(step=step, graph_def=graph(nodes).SerializeToString())


def meta_event(nodes, step=0):
    return protos.Event(step=step, meta_graph_def=meta_graph(graph(nodes)).SerializeToString())


def run_metadata(*sizes):
    made = protos.RunMetadata()
    for nodes in sizes:
        made.function_graphs.add().pre_optimization_graph.CopyFrom(graph(nodes))
    return made.SerializeToString()


def traced_event(how, *sizes, tag="step", step=0):
    if how == "tagged":
        return protos.Event(step=step, tagged_run_metadata={"tag": tag, "run_metadata": run_metadata(*sizes)})
    event = protos.Event(step=step)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name = "graph_run_metadata_graph"
    value.tensor.string_val.append(run_metadata(*sizes))
    return event


def scalar_event(step):
    event = protos.Event(step=step)
    event.summary.value.add(tag="loss", simple_value=1.0)
    return event


@pytest.fixture
def log(tmp_path):
    """A file of six graphs: two with a MetaGraphDef of the same graph, one MetaGraphDef alone, three traced."""
    path = tmp_path / "events.out.tfevents.1"
    scalars = [scalar_event(step) for step in range(5)]
    path.write_bytes(
        events(
            graph_event(3),
            meta_event(3),
            *scalars,
            graph_event(4, step=100),
            meta_event(7, step=100),
            traced_event("tagged", 5, 6, tag="train, fast", step=100),
            traced_event("summary", 8, tag="eval", step=200),
            graph_event(2, step=-1),
        )
    )
    return path


SIZES = {
    "graph@0": 3,
    "graph@100": 4,
    "metagraph@100": 7,
    "train, fast@100:1": 5,
    "train, fast@100:2": 6,
    "eval@200": 8,
    "graph@-1": 2,
}


@pytest.mark.parametrize("how", ["tagged", "summary"])
def test_that_the_largest_traced_graph_opens_where_there_is_no_other(tmp_path, how):
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(events(traced_event(how, 3, 6, 4)))
    document = open_document(path)
    assert (document.kind, document.graph_def) == ("tfevents", graph(6))


def test_that_every_graph_is_listed_and_opens_by_its_name(log):
    newest = open_document(log)
    assert newest.graph_def == graph(2)
    assert [one.name for one in newest.extra["graphs"]] == list(SIZES)
    assert [one.name for one in newest.extra["graphs"] if one.shown] == ["graph@-1"]
    for name, nodes in SIZES.items():
        document = open_document(log, tags=tuple(name.split(",")))
        assert document.graph_def == graph(nodes)
        assert [one.name for one in document.extra["graphs"] if one.shown] == [name]


def test_that_a_graph_comes_with_the_collections_written_after_it_and_no_others(log):
    collections = {name: bool(open_document(log, tags=name.split(",")).collections) for name in SIZES}
    assert [name for name, found in collections.items() if found] == ["graph@0", "metagraph@100"]


def test_that_a_name_that_is_not_there_is_refused_with_those_that_are(log):
    with pytest.raises(ReadError, match="no graph 'graph@7'") as error:
        open_document(log, tags=("graph@7",))
    assert "graph@0, graph@100, metagraph@100" in error.value.hint
    log.write_bytes(events(scalar_event(1)))
    with pytest.raises(ReadError, match="no graph 'graph@7'"):
        open_document(log, tags=("graph@7",))


def test_that_a_file_is_walked_once_for_all_its_graphs_and_again_when_it_grew(log, monkeypatch):
    walked = []
    scan = event_graphs._scan
    monkeypatch.setattr(event_graphs, "_scan", lambda source: walked.append(source.size) or scan(source))
    for name in (None, "graph@0", "graph@100"):
        open_document(log, tags=None if name is None else (name,))
    assert len(walked) == 1
    grown = log.stat().st_mtime_ns + 1_000_000_000
    with log.open("ab") as file:
        file.write(events(graph_event(9, step=300)))
    os.utime(log, ns=(grown, grown))
    assert len(open_document(log).graph) == 9
    assert len(walked) == 2


def test_that_only_the_chosen_graph_has_to_be_sound(log):
    log.write_bytes(log.read_bytes().replace(b"Identity", b"Identitz", 1))
    assert len(open_document(log, tags=("graph@100",)).graph) == 4
    with pytest.raises(ReadError, match="does not fit its checksum"):
        open_document(log, tags=("graph@0",))


def test_that_info_lists_them_and_verbs_take_one(log, tmp_path):
    text = run("info", log).stdout
    assert "7 graphs (--tags chooses):" in text
    assert "graph@-1" in text and "(this one)" in text
    found = loaded(run("info", log, "--json"))
    assert found["nodes"] == 2
    assert [(one["name"], one["step"], one["shown"]) for one in found["graphs"]][1:3] == [
        ("graph@100", 100, False),
        ("metagraph@100", 100, False),
    ]
    assert loaded(run("info", log, "--tags", "train, fast@100:2", "--json"))["nodes"] == 6
    assert run("convert", log, tmp_path / "out.pb", "--tags", "eval@200").exit_code == 0
    assert len(open_document(tmp_path / "out.pb").graph) == 8


def test_that_the_nodes_of_a_graph_are_counted_once_however_many_metagraphs_of_others_follow(tmp_path, monkeypatch):
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(events(graph_event(3), *(meta_event(1, step=step) for step in range(40)), meta_event(3, step=40)))
    counted = []
    count = event_graphs.count_nodes
    monkeypatch.setattr(event_graphs, "count_nodes", lambda *asked: counted.append(asked[1:]) or count(*asked))

    found = open_document(path).extra["graphs"]

    assert [one.name for one in found if one.meta is not None] == ["graph@0"]
    assert len(found) == 41
    assert counted.count(tuple(found[0].place[:2])) == 1
