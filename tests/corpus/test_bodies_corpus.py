"""Every function of the corpus can be looked at inside its calls."""

from __future__ import annotations

import time

import numpy as np
import pytest

from graphviewer.formats import open_document
from graphviewer.layout.nested import NestedLayout
from graphviewer.layout.opening import first_open
from graphviewer.model.bodies import Unfolded
from tests.corpus.test_formats_corpus import CORPUS, MODELS

WITH_FUNCTIONS = [row["path"] for row in MODELS if row["functions"].isdigit() and int(row["functions"])]


@pytest.mark.parametrize("path", WITH_FUNCTIONS)
def test_that_functions_unfold_whole_and_quickly(path: str) -> None:
    document = open_document(CORPUS / path)
    assert document.functions
    begin = time.process_time()
    shown = document.unfolded
    assert time.process_time() - begin < 2
    assert isinstance(shown, Unfolded)
    # No function of a real file is too much, and every body has all its nodes and ends.
    assert {one.function for one in shown.opened} == set(document.functions)
    assert all("calls itself" in one.reason for closed in shown.closed.values() for one in closed)
    for one in shown.opened:
        function = document.functions[one.function]
        ends = len(function.signature.input_arg) + len(function.signature.output_arg)
        assert len(one.body) == len(function.node_def) + ends
        # All inputs and results found their source: no text of a real file is misread.
        assert len(one.body.src) == sum(len(node.input) for node in function.node_def) + len(function.ret)
    assert np.all(np.diff(shown.graph.dst) >= 0)
    assert len(NestedLayout(shown.scopes).draw(first_open(document)))
