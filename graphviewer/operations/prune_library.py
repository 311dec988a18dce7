"""Remove functions that no node calls any more.

Functions stay that the graph calls, directly or through other functions, and the gradients registered for them. In a
SavedModel, Python objects may name functions that no node calls; the graph alone does not need those.
"""

from __future__ import annotations

from graphviewer.model.document import Document
from graphviewer.model.progress import Progress
from graphviewer.model.provenance import Provenance
from graphviewer.operations.library import pruned_library
from graphviewer.operations.registry import Result, Rewrite, operation


@operation(id="prune-library", label="Prune function library", parameters=())
def prune_library(document: Document, *, progress: Progress) -> Result:
    """Keep only the functions that the graph reaches; nodes stay as they are."""
    progress(0.0, "Following calls")
    before = document.graph_def
    after = type(before)()
    after.CopyFrom(before)
    after.ClearField("library")
    pruned_library(after, before.library)
    kept = {function.signature.name for function in after.library.function}
    gone = [name for name in document.functions if name not in kept]
    rewrites = tuple(Rewrite(name, "function removed", "no node calls it") for name in gone)
    warnings = () if gone else ("Every function is called.",)
    return Result(
        document.with_graph(after, payloads=document.payloads), Provenance(), warnings=warnings, rewrites=rewrites
    )
