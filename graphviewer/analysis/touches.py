"""What a graph could touch outside itself when it runs: files, the network, the program that runs it.

Told by op alone, so it is the worst case: the name of a file may be a constant of the graph, or be fed. TensorFlow's
file names may also name stores on the network (``gs://``, ``hdfs://``).
Source: TensorFlow's op registry and kernels, version 2.21.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from graphviewer import protos
from graphviewer.model.document import Document

Kind = Literal["reads files", "writes files", "uses the network", "runs Python", "runs code"]


class Touch(NamedTuple):
    """A node that could reach outside the graph.

    Attributes:
        node: its name.
        op: its op.
        kind: what it could do.
        function: the function of the library that the node is in; empty for the graph itself.
    """

    node: str
    op: str
    kind: Kind
    function: str = ""


_PATTERNS: Mapping[Kind, re.Pattern[str]] = MappingProxyType(
    {
        "writes files": re.compile(
            r"WriteFile|Save(V2|Slices)?|DistributedSave|SaveDataset(V2)?|MergeV2Checkpoints|(Experimental)?DatasetToTFRecord"
            r"|CreateSummary(File|Db)Writer|Write\w*Summary|ImportEvent|CacheDataset(V2)?|SnapshotDataset(V2)?|DumpTensor"
            r"|CalibrationStatisticsSaver"
        ),
        "reads files": re.compile(
            r"ReadFile|(Experimental)?MatchingFiles(Dataset)?|RecordInput|(DTensor)?Restore(V2|Slice)?|LoadDataset"
            r"|(TFRecord|TextLine|FixedLengthRecord|WholeFile|LMDB)Reader(V2)?"
            r"|(Experimental)?(TFRecord|TextLine|FixedLengthRecord|CSV|Sql|LMDB)Dataset(V2)?"
            r"|(ListSnapshotChunks|SnapshotChunk)Dataset|Snapshot(Nested)?DatasetReader"
            r"|InitializeTableFromTextFile(V2)?|LoadAndRemapMatrix|GenerateVocabRemapping|FileSystemSetConfiguration"
        ),
        "uses the network": re.compile(
            r"Rpc\w+|DataServiceDataset(V\d)?|RegisterDataset(V2)?|_?(Host)?(Send|Recv)|Collective\w+|RemoteCall"
            r"|_?\w*DistributedTPU\w*|WorkerHeartbeat"
        ),
        "runs Python": re.compile(r"(Eager)?PyFunc(Stateless)?"),
        "runs code": re.compile(r"XlaCustomCall(V2)?|_?XlaHostCompute\w*|TPUExecute\w*"),
    }
)
_DEBUG = re.compile(r"Debug(Identity|NanCount|NumericSummary)(V\d)?")
_STREAMS = frozenset({"", "stdout", "stderr", "log(info)", "log(warning)", "log(error)"})


def touches(document: Document, nodes: Iterable[int] | None = None) -> list[Touch]:
    """Nodes that could touch something outside the graph, those of called functions included.

    Args:
        document: the graph and its functions.
        nodes: numbers of the nodes that will run; None: everything in the file.
    """
    chosen = document.graph_def.node if nodes is None else [document.node(number) for number in nodes]
    functions = document.functions.keys() if nodes is None else _reached(document, chosen)
    found = list(_among(chosen, ""))
    for name in functions:
        found += _among(document.functions[name].node_def, name)
    return found


def _among(nodes: Iterable[Any], function: str) -> Iterator[Touch]:
    known: dict[str, Kind | None] = {}
    for node in nodes:
        if node.op not in known:
            known[node.op] = _kind(node.op)
        kind = known[node.op] or _attribute_kind(node)
        if kind is not None:
            yield Touch(node.name, node.op, kind, function)


def _kind(op: str) -> Kind | None:
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(op)), None)


def _attribute_kind(node: Any) -> Kind | None:
    """For ops that touch something only when an attribute says so."""
    if node.op == "PrintV2" and "output_stream" in node.attr:
        stream = node.attr["output_stream"].s.decode("utf-8", "replace")
        return None if stream in _STREAMS else "writes files"
    if _DEBUG.fullmatch(node.op):
        urls = node.attr["debug_urls"].list.s if "debug_urls" in node.attr else ()
        return "uses the network" if len(urls) else None
    if node.op == "FixedUnigramCandidateSampler" and "vocab_file" in node.attr and node.attr["vocab_file"].s:
        return "reads files"
    return None


def _reached(document: Document, nodes: Iterable[Any]) -> list[str]:
    """Names of the functions that nodes call, directly or through others, in the order they are found."""
    functions = document.functions
    found: dict[str, None] = {}
    stack = _called(nodes, functions) if functions else []
    while stack:
        name = stack.pop()
        if name not in found and name in functions:
            found[name] = None
            stack += _called(functions[name].node_def, functions)
    return list(found)


def _called(nodes: Iterable[Any], functions: Mapping[str, Any]) -> list[str]:
    names: dict[str, None] = {}
    for node in nodes:
        names.update(dict.fromkeys(sorted(protos.function_names(node.attr.values()))))
        if node.op in functions:
            names[node.op] = None
    return list(names)
