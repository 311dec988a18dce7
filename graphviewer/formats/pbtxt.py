"""Text GraphDef: ``.pbtxt`` of ``tf.io.write_graph`` and of Estimators."""

from __future__ import annotations

from collections.abc import Iterator

from graphviewer.errors import DamagedError, ReadError
from graphviewer.formats.decode import load_graph, no_versions
from graphviewer.formats.encode import encode_graph
from graphviewer.formats.graphdef import no_nodes
from graphviewer.formats.registry import Options, reader, writer
from graphviewer.formats.source import Source
from graphviewer.formats.text import first_field, format_text, parse_text
from graphviewer.model.document import Document
from graphviewer.model.problem import Problem

_FIELDS = {"node", "library", "versions", "version", "debug_info"}


def _recognise(source: Source) -> str | None:
    return "" if first_field(source) in _FIELDS else None


@reader(kind="pbtxt", label="GraphDef text", rank=20, recognise=_recognise)
def read_pbtxt(source: Source, options: Options) -> Document:
    """Parse a text GraphDef.

    Raises:
        ReadError: broken, with line and column, or without nodes.
    """
    problems: tuple[Problem, ...] = ()
    try:
        data = parse_text(source, "GraphDef", options.progress)
    except ReadError as error:
        if not options.salvage:
            raise _offering(source, error) from error
        data = parse_text(_whole_part(source), "GraphDef", options.progress)
        problems = (Problem("truncated", "error", f"Only the beginning was opened: {error.message}", error.hint),)
    raw = Source.of_bytes(data, source.path)
    loaded = load_graph(raw, 0, raw.size, options)
    if not loaded.graph_def.node:
        raise no_nodes(source)
    return Document("pbtxt", loaded.graph_def, problems=(*problems, *no_versions(loaded.graph_def)))


def _offering(source: Source, error: ReadError) -> ReadError:
    """The error, with the offer to open what stands before the break where there is something."""
    if not _whole_part(source).size:
        return error
    return DamagedError(error.message, f"{error.hint} Or open what stands before it.")


def _whole_part(source: Source) -> Source:
    """The text up to the last brace that closes at the beginning of a line: whole nodes, as TensorFlow writes them."""
    text = source.read(0, source.size)
    return Source.of_bytes(text[: text.rfind(b"\n}") + 2] if b"\n}" in text else b"", source.path)


@writer(suffix=".pbtxt", label="GraphDef, text")
def write_pbtxt(document: Document) -> Iterator[bytes]:
    """The GraphDef as text, constants included.

    Raises:
        ReadError: the file that holds the large constants changed since it was opened.
    """
    return format_text("GraphDef", encode_graph(document))
