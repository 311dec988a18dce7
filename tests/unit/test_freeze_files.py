"""Which constants name the files that tables are filled from, over calls of functions."""

from __future__ import annotations

import numpy as np
from operation_graphs import const, document, node

from graphviewer import protos
from graphviewer.operations.freezing.files import named_files
from graphviewer.protos import DataType


def calling(name, function, *inputs):
    made = node(f"{name} = PartitionedCall {' '.join(inputs)}")
    made.attr["f"].func.name = function
    return made


def function(name, *nodes):
    """A FunctionDef with the arguments ``table`` and ``file``."""
    made = protos.FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="table", type=DataType.RESOURCE)
    made.signature.input_arg.add(name="file", type=DataType.STRING)
    made.node_def.extend(nodes)
    return made


def files_of(*functions):
    graph = document(
        const("file", np.array(b"words.txt", object), DataType.STRING),
        node("table = HashTableV2"),
        calling("fill", "f0", "table", "file"),
        functions=functions,
    )
    return list(named_files(graph, [2]))


def test_that_files_are_found_in_functions_that_call_each_other_many_times():
    fill = node("fill = InitializeTableFromTextFileV2 table file")
    levels = [
        function(f"f{level}", *(calling(f"c{at}", f"f{level + 1}", "table", "file") for at in range(9)))
        for level in range(14)
    ]

    assert files_of(*levels, function("f14", fill)) == [(0, "words.txt")]


def test_that_a_function_that_calls_itself_ends_the_search():
    fill = node("fill = InitializeTableFromTextFileV2 table file")
    assert files_of(function("f0", calling("c", "f0", "table", "file"), fill)) == [(0, "words.txt")]
    assert files_of(function("f0", calling("c", "f0", "table", "file"))) == []
