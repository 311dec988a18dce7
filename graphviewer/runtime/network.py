"""A traced part of a graph in a TensorFlow session: imported, its variables and tables filled, ready to run."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from numpy.typing import NDArray

from graphviewer.analysis.asset_paths import asset_files, settled_variables
from graphviewer.analysis.ops import is_assign
from graphviewer.errors import GraphViewerError
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint
from graphviewer.model.progress import Progress, silent
from graphviewer.operations.assets import assets_folder
from graphviewer.operations.freezing.tables import table_initializers, tables
from graphviewer.runtime.engine import (
    CannotRunError,
    StoppedError,
    TimedOutError,
    exact_config,
    explain,
    load,
    needs_variable,
    not_registered,
    run_errors,
    unregistered,
)
from graphviewer.runtime.feeds import wanted
from graphviewer.runtime.part import Part, serialized, trace, union
from graphviewer.runtime.restore import USUAL, Matching, Restorer, saver_part

Values = Mapping[Endpoint, NDArray[Any]]

_HINT = "If made-up values do not suit it, feed real ones: files, numbers, or short lists."
_DEAD = re.compile(r"Retval\[\d+\] does not have value")
_NO_KERNEL = "No OpKernel was registered"
_STILL = "Freezing, stripping and comparing still work."
_NO_FILE = "No such file or directory"
_FILE_HINT = "The graph reads this file: put it there, or freeze with {} to say where it lies."
_MINUTES = 5
"""A run may take so long; a loop that never ends must not hold the worker for ever."""


class DeadTensorError(CannotRunError):
    """Something that is fetched lies in a branch of a conditional that is not taken."""


def prepare(
    document: Document, outputs: Sequence[Endpoint], fed: Collection[Endpoint], assets: Collection[Endpoint] = ()
) -> Part:
    """The part that computes ``outputs``, with what must run once before: what fills lookup tables, and what tells
    variables the paths of files.

    Args:
        document: the graph.
        outputs: what to compute.
        fed: tensors that are given.
        assets: tensors that hold paths of files, given too where they are read.

    Returns:
        A part whose ``ends`` are the outputs, then the nodes that run once, in that order.
    """
    part = trace(document, outputs, fed)
    graph = document.graph
    fillers = table_initializers(document, tables(document, part.numbers))
    known = [asset for asset in assets if asset.node in graph.index]
    first: list[int] = []
    if fillers or not settled_variables(document).keys().isdisjoint(part.numbers):
        writers = [consumer for asset in known for consumer in graph.consumers(graph.index[asset.node])]
        first = [number for number in writers if is_assign(graph.ops[number])]
    names = [Endpoint(graph.names[number]) for number in dict.fromkeys([*first, *fillers])]
    return trace(document, [*outputs, *names], [*fed, *known])


def asset_paths(document: Document) -> dict[Endpoint, bytes]:
    """The tensors of a SavedModel that hold paths of its asset files, and where these files are now."""
    folder = assets_folder(document)
    if folder is None:
        return {}
    return {
        endpoint: str(folder / file).encode("utf-8", "surrogateescape")
        for endpoint, file in asset_files(document).items()
        if endpoint.node in document.graph.index
    }


def no_value(label: str, ends: Sequence[Endpoint]) -> tuple[str, str]:
    """What is said of outputs that have no value, and what to do."""
    names = ", ".join(f"'{end}'" for end in ends)
    why = "has no value: it lies in a branch" if len(ends) == 1 else "have no value: they lie in branches"
    return f"In {label}, {names} {why} of a conditional that is not taken.", "Choose the Merge that comes after it."


class Network:
    """A part of a graph that runs. Use it as a context manager: it ends its session.

    Args:
        part: what ``prepare`` gives.
        outputs: which of its ends a run gives.
        checkpoint: where the variables' values are; by default the document's own.
        matching: which of them are whose.
        assets: what ``asset_paths`` gives.
        shapes: of fed tensors whose rank the graph does not tell; see ``part.serialized``.
        label: how errors call the graph: ``the original``.
        progress: told what is being done.

    Raises:
        CannotRunError: TensorFlow refuses the graph, with the reason.
        GraphViewerError: values of variables are missing or do not fit, or files cannot be read.
    """

    def __init__(
        self,
        part: Part,
        outputs: Sequence[Endpoint],
        *,
        checkpoint: Path | None = None,
        matching: Matching = USUAL,
        assets: Mapping[Endpoint, bytes] = MappingProxyType({}),
        shapes: Mapping[Endpoint, Sequence[int]] = MappingProxyType({}),
        label: str = "the graph",
        progress: Progress = silent,
    ) -> None:
        self._tensorflow = load()
        self._label, self._part = label, part
        self._require_registered()
        checkpoint = checkpoint or part.document.checkpoint
        saver = saver_part(part, checkpoint, matching)
        whole = part if saver is None else union(part, saver)
        names = whole.placeholders()
        self._fed = {endpoint: f"{name}:0" for endpoint, name in names.items()}
        self._fetches = [self._fed.get(end, f"{end.node}:{end.port}") for end in outputs]
        self._dead: frozenset[int] = frozenset()
        self._fillers = [end.node for end in part.ends[len(outputs) :]]
        progress(0.1, f"importing {len(whole.numbers):,} nodes of {label}")
        self._graph = self._imported(whole, shapes)
        self._paths = {self._fed[name]: path for name, path in assets.items() if name in self._fed}
        prefix = self._fed[saver.fed[0]] if saver is not None else ""
        self._restorer = Restorer(self._tensorflow, self._graph, part, saver, prefix, checkpoint, matching)
        config = exact_config(self._tensorflow)
        self._session = self._tensorflow.compat.v1.Session(graph=self._graph, config=config)
        try:
            self._fill(progress)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Network:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session and let go of its memory, without waiting for Python to notice the graph's circles."""
        self._session.close()
        del self._session, self._graph, self._restorer
        gc.collect()

    def run(self, values: Values) -> list[NDArray[Any] | None]:
        """The outputs for these values of the fed tensors; None for one in a branch that is not taken.

        Raises:
            CannotRunError: TensorFlow stops with an error, does not end in minutes, or no output has a value.
        """
        if not self._dead:
            try:
                return self._fetched(self._fetches, values)
            except DeadTensorError:
                self._dead = self._without_value(values)
        if len(self._dead) == len(self._fetches):
            raise CannotRunError(*no_value(self._label, self._part.ends[: len(self._fetches)]))
        alive = iter(self._fetched([one for at, one in enumerate(self._fetches) if at not in self._dead], values))
        return [None if at in self._dead else next(alive) for at in range(len(self._fetches))]

    def _without_value(self, values: Values) -> frozenset[int]:
        """The places of the outputs that have none, each fetched by itself; variables are as before."""
        found = set()
        for at, fetch in enumerate(self._fetches):
            self.reset()
            try:
                self._fetched([fetch], values)
            except DeadTensorError:
                found.add(at)
        self.reset()
        return frozenset(found)

    def _fetched(self, fetches: Sequence[str], values: Values) -> list[NDArray[Any] | None]:
        options = self._tensorflow.compat.v1.RunOptions(timeout_in_ms=_MINUTES * 60_000)
        found: list[NDArray[Any] | None] = self._guarded(
            lambda: self._session.run(fetches, self._feed(values), options=options)
        )
        return found

    def reset(self) -> None:
        """Give the variables their values again, where a run changes them."""
        if self._part.writes():
            self._guarded(lambda: self._restorer.run(self._session, silent))

    def _feed(self, values: Values) -> dict[str, Any]:
        given = {self._fed[endpoint]: value for endpoint, value in values.items() if endpoint in self._fed}
        return {**self._paths, **given}

    def _fill(self, progress: Progress) -> None:
        """Values of variables, then tables."""
        self._guarded(lambda: self._restorer.run(self._session, progress))
        if self._fillers:
            progress(0.9, "filling lookup tables")
        for filler in self._fillers:  # one by one: a table's file name may be a variable that another one sets
            self._guarded(partial(self._session.run, filler, self._paths))

    def _imported(self, part: Part, shapes: Mapping[Endpoint, Sequence[int]]) -> Any:
        dtypes = {endpoint: wanted(part.document, endpoint).dtype for endpoint in part.fed}
        graph = self._tensorflow.Graph()

        def work() -> None:
            message = self._tensorflow.compat.v1.GraphDef.FromString(serialized(part, dtypes, shapes))
            with graph.as_default():
                self._tensorflow.graph_util.import_graph_def(message, name="")

        self._guarded(work)
        return graph

    def _require_registered(self) -> None:
        ops = self._part.ops()
        unknown = unregistered(ops)
        if unknown:
            reason = "; ".join(not_registered(op) for op in unknown[:5])
            hint = f"'{ops[unknown[0]]}' needs it. {_STILL}"
            raise CannotRunError(f"{reason}.", hint)

    def _guarded(self, work: Callable[[], Any]) -> Any:
        """Put what TensorFlow raises into one sentence."""
        try:
            return work()
        except GraphViewerError:
            raise
        except self._tensorflow.errors.DeadlineExceededError as error:
            raise TimedOutError(f"{self._label} did not end within {_MINUTES} minutes.") from error
        except run_errors() as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> CannotRunError:
        """What is said of an error of TensorFlow's."""
        reason, changing = explain(error), needs_variable(error)
        if _DEAD.search(reason):
            return DeadTensorError(f"In {self._label}, an output has no value.")
        sentence = f"TensorFlow cannot run {self._label}: {reason}."
        if changing is not None:
            fed, node = changing
            return CannotRunError(
                f"TensorFlow cannot run {self._label}: '{fed}' is fed, and '{node}' needs the variable itself, to "
                "change it.",
                f"Choose outputs that need no update of '{fed}'.",
            )
        if reason.startswith(_NO_KERNEL):
            return CannotRunError(sentence, _STILL)
        if _NO_FILE in reason:
            ways = {"hint": "an assets folder", "shell": "--assets"}
            return CannotRunError(sentence, **{to: _FILE_HINT.format(way) for to, way in ways.items()})
        return StoppedError(sentence, _HINT)
