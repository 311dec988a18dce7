"""Binary GraphDef: ``.pb`` files of frozen, training and TensorBoard graphs."""

from __future__ import annotations

from collections.abc import Iterator

from graphviewer.errors import ReadError
from graphviewer.formats.decode import load_graph, no_versions
from graphviewer.formats.encode import encode_graph
from graphviewer.formats.recognise import looks_like_graph, looks_like_graph_without_nodes
from graphviewer.formats.registry import Options, reader, writer
from graphviewer.formats.source import Source
from graphviewer.model.document import Document


def _recognise(source: Source) -> str | None:
    if looks_like_graph(source, 0, source.size):
        return ""
    return "without nodes" if looks_like_graph_without_nodes(source) else None


@reader(kind="graphdef", label="GraphDef", rank=30, recognise=_recognise)
def read_graphdef(source: Source, options: Options) -> Document:
    """Parse a binary GraphDef; one without nodes is refused, for that is how protobuf "accepts" foreign files.

    Raises:
        ReadError: damaged (with the byte offset), or without nodes.
    """
    loaded = load_graph(source, 0, source.size, options)
    if not loaded.graph_def.node:
        raise no_nodes(source)
    return Document(
        "graphdef",
        loaded.graph_def,
        payloads=loaded.left_in(source),
        problems=(*loaded.problems, *no_versions(loaded.graph_def)),
    )


def no_nodes(source: Source) -> ReadError:
    """The error for a graph that is empty."""
    return ReadError(f"{source.name} is a graph without nodes.", "Was it written before the graph was built?")


@writer(suffix=".pb", label="GraphDef, binary")
def write_graphdef(document: Document) -> Iterator[bytes]:
    """The GraphDef alone; signatures and collections need ``.meta``."""
    return encode_graph(document)
