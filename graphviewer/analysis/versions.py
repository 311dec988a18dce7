"""What the versions of a graph say about whether TensorFlow reads it."""

from __future__ import annotations

from collections.abc import Iterator

from graphviewer.model.document import Document
from graphviewer.model.problem import Problem

GRAPH_VERSION = 2474
"""``tf.version.GRAPH_DEF_VERSION`` of the TensorFlow whose ops and messages this program knows."""


def version_problems(document: Document) -> Iterator[Problem]:
    """A graph that asks for a newer TensorFlow than the worker's, or was written by one.

    Source: ``CheckVersions`` in tensorflow/core/framework/versions.cc.
    """
    versions = document.graph_def.versions
    if versions.min_consumer > GRAPH_VERSION:
        reason = (
            f"The graph asks for version {versions.min_consumer:,} or newer; TensorFlow here has {GRAPH_VERSION:,}."
        )
        yield Problem("too-new", "error", reason, "Viewing and stripping work; running needs a newer TensorFlow.")
    elif GRAPH_VERSION in versions.bad_consumers:
        reason = f"The graph says that TensorFlow of graph version {GRAPH_VERSION:,} must not read it."
        yield Problem("too-new", "error", reason, "Viewing and stripping work; running needs another TensorFlow.")
    elif versions.producer > GRAPH_VERSION:
        reason = f"A newer TensorFlow wrote the graph: version {versions.producer:,}, here it is {GRAPH_VERSION:,}."
        yield Problem("newer", "info", reason, "Ops and attributes that are new since then are not known here.")
