"""Two documents of one name are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviewer import protos
from graphviewer.analysis.diff.titles import titles
from graphviewer.model.document import Document


def named(path, title=None):
    return Document(
        "graphdef", protos.GraphDef(), path=path and Path(path), title=Path(path).name if title is None else title
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("/a/f.pb", "/b/g.pb", ("f.pb", "g.pb")),
        ("/runs/1/f.pb", "/runs/2/f.pb", ("1/f.pb", "2/f.pb")),
        ("/runs/f.pb", "/runs/2/f.pb", ("runs/f.pb", "2/f.pb")),
        ("/f.pb", "/runs/f.pb", ("/f.pb", "runs/f.pb")),
        ("/1/x/f.pb", "/2/x/f.pb", ("1/x/f.pb", "2/x/f.pb")),
        ("/1/x/y/z/f.pb", "/2/x/y/z/f.pb", ("1/…/f.pb", "2/…/f.pb")),
        ("/a/../1/f.pb", "/2/f.pb", ("1/f.pb", "2/f.pb")),
        ("/runs/f.pb", "/runs/../runs/f.pb", ("f.pb (before)", "f.pb (after)")),
    ],
)
def test_that_files_of_one_name_are_told_apart_by_what_differs_in_their_paths(before, after, told):
    assert titles(named(before), named(after)) == told


def test_that_documents_without_a_file_are_told_apart_by_their_side():
    assert titles(named(None, "x"), named("/a/x")) == ("x (before)", "x (after)")


def test_that_a_title_that_is_no_file_name_keeps_what_differs():
    assert titles(named("/a/f.pb", "step 2"), named("/a/g.pb", "step 2")) == ("step 2 (f.pb)", "step 2 (g.pb)")


def test_that_documents_without_a_name_are_told_apart_in_words():
    assert titles(named(None, ""), named(None, "")) == ("the first graph", "the second graph")
