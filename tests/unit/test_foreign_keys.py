"""Which key of a checkpoint holds a SavedModel's variable, where the checkpoint is another one's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviewer import protos
from graphviewer.analysis.foreign_keys import ForeignKeys, full_names
from graphviewer.errors import CheckpointError
from graphviewer.model.document import Document

END = "/.ATTRIBUTES/VARIABLE_VALUE"


class Held:
    """A checkpoint of some keys with their full names, as objects tell them."""

    def __init__(self, names, *, raw=None, prefix=None):
        self._keys, self._raw = [path + END for path in names], raw
        self.prefix = prefix
        if raw is None:
            saved = protos.TrackableObjectGraph()
            for path, name in names.items():
                attribute = saved.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name=name)
                attribute.checkpoint_key = path + END
            self._raw = saved.SerializeToString()

    def keys(self):
        return self._keys

    @property
    def object_graph(self):
        if isinstance(self._raw, Exception):
            raise self._raw
        return self._raw or None


def model(names, path=None):
    """A SavedModel whose variables have these full names by their paths."""
    meta = protos.MetaGraphDef()
    nodes = meta.object_graph_def.nodes
    nodes.add()
    made = {"": 0}
    for where, name in names.items():
        parts = where.split("/")
        for depth, part in enumerate(parts):
            up, here = "/".join(parts[:depth]), "/".join(parts[: depth + 1])
            if here not in made:
                made[here] = len(nodes)
                nodes[made[up]].children.add(local_name=part.replace(".S", "/"), node_id=len(nodes))
                nodes.add()
        nodes[made[where]].variable.name = name
    return Document("savedmodel", protos.GraphDef(), meta=meta, path=path)


def key_of(own, held, told, **options):
    found = ForeignKeys(model(own), Held(held, **options)).by_key(told + END)
    return found.removesuffix(END) if found is not None else None


OWN = {"all/0": "d/kernel", "all/1": "d/bias", "other/0": "d/kernel", "other/1": "d/bias"}


def test_that_the_full_name_wins_over_the_place_and_a_list_stays_a_list():
    moved = {"all/0": "d/bias", "all/1": "d/kernel", "other/0": "d/kernel", "other/1": "d/bias"}
    assert [key_of(OWN, moved, told) for told in OWN] == ["all/1", "all/0", "other/0", "other/1"]


def test_that_the_two_copies_of_an_export_are_one_value_and_two_attributes_are_not():
    held = {"_all_variables/3": "w", "variables/0": "w"}
    assert key_of({"layer/w": "w"}, held, "layer/w") == "_all_variables/3"
    assert key_of({"all/0": "w"}, {"first": "w", "all/0": "v", "second": "w"}, "all/0") is None


def test_that_a_place_of_another_variable_is_not_taken():
    held = {"all/0": "e/kernel", "all/1": "d/bias"}
    assert [key_of(OWN, held, told) for told in ("all/0", "all/1")] == [None, "all/1"]


def test_that_a_name_that_several_have_decides_nothing_in_a_list():
    twice = {"all/0": "w", "all/1": "w", "all/2": "b"}
    held = {"all/0": "w", "all/1": "b"}
    assert [key_of(twice, held, told) for told in twice] == [None, None, "all/1"]
    assert key_of({"all/0": "w", "all/1": "b"}, {"all/0": "w", "all/1": "w"}, "all/0") is None


def test_that_attributes_of_one_name_are_told_apart_by_what_they_are_called():
    own = {"first": "w", "second": "w", "all/0": "b"}
    held = {"second": "w", "first": "w", "all/1": "b"}
    assert [key_of(own, held, told) for told in own] == ["first", "second", "all/1"]


def test_that_an_attribute_whose_full_name_differs_is_not_trusted():
    assert key_of({"first": "w"}, {"first": "v"}, "first") is None
    assert key_of({"layer_with_weights-0/kernel": "d/kernel"}, {"layer_with_weights-0/kernel": ""}, "first") == "first"


@pytest.mark.parametrize("raw", [b"", b"\xff\xff", CheckpointError("cut short")])
def test_that_without_objects_only_a_place_in_a_list_is_doubted(raw):
    own = {"first": "w", "all/0": "b", "layers-0/kernel": "c"}
    assert [key_of(own, own, told, raw=raw) for told in own] == ["first", None, None]


def test_that_a_checkpoint_that_was_saved_by_name_is_read_by_full_name():
    class Named:
        object_graph = None

        def keys(self):
            return ["d/kernel", "d/bias"]

    assert full_names(Named()) == {"d/kernel": "d/kernel", "d/bias": "d/bias"}
    assert ForeignKeys(model(OWN), Named()).by_key("all/1" + END) == "d/bias"


def test_that_the_own_checkpoint_is_taken_at_its_word(tmp_path):
    document, own = model(OWN, path=tmp_path), tmp_path / "variables" / "variables"
    held = {"all/0": "e", "all/1": "f"}
    assert ForeignKeys(document, Held(held, prefix=own)).by_key("all/0" + END) == "all/0" + END
    assert ForeignKeys(document, Held(held, prefix=tmp_path / "other")).by_key("all/0" + END) is None
    file = replace(document, path=tmp_path / "saved_model.pb")
    assert not ForeignKeys(file, Held(held, prefix=own)).foreign


def test_that_a_result_that_is_not_saved_knows_its_checkpoint_by_all_the_names():
    twice = {"all/0": "w", "all/1": "w"}
    assert key_of(twice, twice, "all/1") == "all/1"
    assert key_of(twice, {"all/0": "w", "all/1": "v"}, "all/0") is None


def test_that_objects_that_hold_each_other_or_nothing_end():
    document = model(OWN)
    document.meta.object_graph_def.nodes[0].children.add(local_name="self", node_id=0)
    document.meta.object_graph_def.nodes[0].children.add(local_name="astray", node_id=-7)
    chosen = ForeignKeys(document, Held({"all/0": "d/bias"}))
    assert chosen.by_key("self/self/all/1" + END) == "all/0" + END
    assert chosen.by_key("astray/1" + END) == "astray/1" + END
    assert chosen.by_object(99, None) is None


def test_that_a_graph_without_objects_contradicts_a_key_of_another_name():
    document = Document("graphdef", protos.GraphDef())
    chosen = ForeignKeys(document, Held({"all/0": "d/kernel", "all/1": ""}))
    told = "all/0" + END
    for names in (
        {"d/kernel"},
        {"d/kernel_1"},
        {"import/d/kernel_2"},
        {"Variable_3"},
        {"Variable", "d/kernel"},
        {"kernel"},
    ):
        assert not chosen.contradicted(told, names)
    assert chosen.contradicted(told, {"e/kernel_1", "Variable_3"})
    assert chosen.contradicted(told, {"d/bias"})
    assert not chosen.contradicted("all/1" + END, {"e/kernel"})
    assert not ForeignKeys(model(OWN), Held({"all/0": "d/kernel"})).contradicted(told, {"e/kernel"})
