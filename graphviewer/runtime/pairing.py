"""Two graphs made ready to be compared: the same outputs, the same values for what they are fed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.ops import PLACEHOLDER_OPS, output_count
from graphviewer.analysis.touches import Touch
from graphviewer.errors import OperationError, UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import aliases, endpoint_named
from graphviewer.model.names import Endpoint, nearest
from graphviewer.model.progress import Progress
from graphviewer.runtime.attempts import FIRST, Attempt
from graphviewer.runtime.counterparts import Paired, paired_inputs, paired_outputs
from graphviewer.runtime.feeds import (
    FeedError,
    Wanted,
    batch_size,
    fit,
    guesses,
    has_any_rank,
    make_all,
    narrowed,
    read,
    wanted,
)
from graphviewer.runtime.network import Network, asset_paths, prepare
from graphviewer.runtime.outputs import fetchable
from graphviewer.runtime.part import Part, ports_read, trace
from graphviewer.runtime.restore import USUAL, Matching

Given = Mapping[str, str | NDArray[Any]]
"""By name of a tensor: a file or a number as the user writes it, or an array."""


_LONGEST_TEXT = 60

_MOST_LIKE = 3


class Feed(NamedTuple):
    """What a graph was fed.

    Attributes:
        name: of the tensor.
        dtype, shape: of the value.
        made: the value was made up; else the user gave it.
        value: of a single element: the number, its text where JSON has no such number, or the string; else None.
        computed: the graph computes the tensor itself, and was cut there: what feeds it does not run.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    made: bool
    value: bool | float | str | None = None
    computed: bool = False


@dataclass
class Side:
    """A graph with all that a run of it needs.

    Attributes:
        label: how errors call it.
        part: the nodes that will run.
        outputs: what a run gives.
        values: of the fed tensors.
        feeds: the same, described.
        assets: paths of files, by the tensors that hold them.
        checkpoint: where the variables' values are.
        matching: which of them are whose.
        unused: names of given feeds that the outputs do not need.
        paired: tensors that are compared, or fed, with others of the other graph than those of their name.
    """

    label: str
    part: Part
    outputs: Sequence[Endpoint]
    assets: Mapping[Endpoint, bytes]
    checkpoint: Path | None = None
    matching: Matching = USUAL
    unused: tuple[str, ...] = ()
    paired: tuple[Paired, ...] = ()
    values: dict[Endpoint, NDArray[Any]] = field(default_factory=dict)
    feeds: list[Feed] = field(default_factory=list)

    def give(self, endpoint: Endpoint, value: NDArray[Any], *, made: bool) -> None:
        """Feed a value to a tensor."""
        self.values[endpoint] = value
        dtype = "string" if value.dtype.hasobject else value.dtype.name
        graph = self.part.document.graph
        computed = graph.ops[graph.index[endpoint.node]] not in PLACEHOLDER_OPS
        self.feeds.append(Feed(str(endpoint), dtype, value.shape, made, _single(value), computed))

    def shapes(self) -> list[tuple[int, ...]]:
        """Of all that is fed."""
        return [feed.shape for feed in self.feeds]

    def loose_shapes(self) -> dict[Endpoint, tuple[int, ...]]:
        """The shapes of values for tensors whose rank the graph does not tell."""
        document = self.part.document
        return {one: value.shape for one, value in self.values.items() if wanted(document, one).shape is None}

    def missing(self) -> list[Endpoint]:
        """Tensors that are cut and have no value yet."""
        return [one for one in self.part.fed if one not in self.values and one not in self.assets]

    def network(self, progress: Progress) -> Network:
        """The graph in a TensorFlow session, ready to run; to be closed.

        Raises:
            CannotRunError, GraphViewerError: as ``Network``.
        """
        return Network(
            self.part,
            self.outputs,
            checkpoint=self.checkpoint,
            matching=self.matching,
            assets=self.assets,
            shapes=self.loose_shapes(),
            label=self.label,
            progress=progress,
        )


def _single(value: NDArray[Any]) -> bool | float | str | None:
    """The one element of a value, as JSON can hold it."""
    if value.size != 1:
        return None
    item = value.item() if value.dtype.kind in "biuOSU" else float(f"{value.astype(np.complex128).real.item():.7g}")
    if isinstance(item, bytes | str):
        text = item.decode("utf-8", "replace") if isinstance(item, bytes) else item
        return text[:_LONGEST_TEXT]
    return item if not isinstance(item, float) or math.isfinite(item) else str(item)


def alone(
    document: Document,
    outputs: Sequence[str],
    given: Given,
    *,
    checkpoint: Path | None,
    seed: int,
    attempt: Attempt = FIRST,
) -> Side:
    """One graph to run.

    Raises:
        UnknownNameError: an output or a feed that the graph does not have.
        OperationError: an output that cannot be run.
        FeedError: a feed that cannot be read, or a tensor that none can be made for.
    """
    ends, own, assets = fetchable(document, outputs), _named(document, given), asset_paths(document)
    _require_known(given, [own], document)
    side = Side("the graph", prepare(document, ends, own, assets), ends, assets, checkpoint or document.checkpoint)
    wants = {endpoint: wanted(document, endpoint) for endpoint in side.missing()}
    for endpoint, value in _values(wants, own, given, seed, attempt, guessing=not side.part.functions()).items():
        side.give(endpoint, value, made=endpoint not in own)
    return side


def touched(document: Document, outputs: Sequence[str], feeds: Iterable[str]) -> list[Touch]:
    """What a run of ``outputs`` could touch when tensors of these names are fed.

    Raises:
        UnknownNameError, OperationError: as ``alone``.
    """
    given = dict.fromkeys(feeds, "")
    own = _named(document, given)
    _require_known(given, [own], document)
    return prepare(document, fetchable(document, outputs), own, asset_paths(document)).touches()


def pair(
    before: Document,
    after: Document,
    outputs: Sequence[str],
    given: Given,
    *,
    checkpoint: Path | None,
    matching: Matching = USUAL,
    seed: int,
    attempt: Attempt = FIRST,
) -> tuple[Side, Side]:
    """Two graphs to run on the same values; the result's variables have the original's where it has none.

    Only the original's variables follow ``matching``.

    Raises:
        UnknownNameError: an output that one of them lacks, or a feed that both lack.
        OperationError: an output that cannot be run, or an input of the result that the original does not have.
        FeedError: a feed that cannot be read, or a tensor that none can be made for.
    """
    pairs = paired_outputs(before, after, outputs)
    ends = [[one.before for one in pairs], [one.after for one in pairs]]
    own = [_named(document, given) for document in (before, after)]
    _require_known(given, own, before)
    _require_computed(ends, own)
    known = asset_paths(before)
    assets = {**_unwritten(known, before, after), **asset_paths(after)}
    part = prepare(after, ends[1], own[1], assets)
    met: dict[Endpoint, Paired] = {}
    twins = _counterparts(trace(before, ends[0], own[0]), part, assets, met)
    # Once more with these cut: what is read only behind them no longer counts for the others.
    plain = [twin for endpoint, twin in twins.items() if twin == endpoint]
    twins = _counterparts(trace(before, ends[0], [*own[0], *plain]), part, assets, met)
    whole = prepare(before, ends[0], [*own[0], *twins.values()], known)
    used = {*whole.fed, *(twins[one] for one in own[1] if one in twins)}
    needless = tuple(name for one, name in own[0].items() if one not in used)
    first = Side("the original", whole, ends[0], known, checkpoint or before.checkpoint, matching, needless)
    first.paired = tuple(one for one in [*pairs, *met.values()] if one.by)
    second = Side("the result", part, ends[1], assets, checkpoint or after.checkpoint or before.checkpoint)
    same = {twin: _joint(wanted(after, endpoint), wanted(before, twin)) for endpoint, twin in twins.items()}
    wants = {endpoint: same.get(endpoint) or wanted(before, endpoint) for endpoint in [*same, *first.missing()]}
    names = {twins[endpoint]: name for endpoint, name in own[1].items() if endpoint in twins} | own[0]
    is_flat = not whole.functions() and not part.functions()
    for endpoint, value in _values(wants, names, given, seed, attempt, guessing=is_flat).items():
        if endpoint in whole.fed:
            first.give(endpoint, value, made=endpoint not in names)
        for other in (other for other, twin in twins.items() if twin == endpoint):
            second.give(other, value, made=endpoint not in names)
    return first, second


def _unwritten(assets: Mapping[Endpoint, bytes], before: Document, after: Document) -> dict[Endpoint, bytes]:
    """The tensors of a result that its loader would have to give paths of files: no constant of its own says them."""
    found = {}
    for endpoint, path in assets.items():
        number = after.graph.index.get(endpoint.node)
        if number is None:
            continue
        node, was = after.full_node(number), before.full_node(before.graph.index[endpoint.node])
        if node.op != "Const" or node == was:
            found[endpoint] = path
    return found


def _joint(want: Wanted, known: Wanted) -> Wanted:
    """What the result takes, under the original's name, with sizes that only the original knows."""
    return want._replace(
        name=known.name, shape=narrowed(want.shape, known.shape), usual_batch=max(want.usual_batch, known.usual_batch)
    )


def _values(
    wants: Mapping[Endpoint, Wanted],
    names: Mapping[Endpoint, str],
    given: Given,
    seed: int,
    attempt: Attempt,
    *,
    guessing: bool,
) -> dict[Endpoint, NDArray[Any]]:
    """A value for each tensor: what was given under its name, else a made one; made ones share one batch size.

    Ranks are guessed only with ``guessing``, where no functions are called: nothing checks beforehand what the ops in
    these take, and some end the process.
    """
    found = {
        endpoint: _given_value(given[names[endpoint]], want) for endpoint, want in wants.items() if endpoint in names
    }
    shapes = [found[endpoint].shape if endpoint in found else want.usual_shape for endpoint, want in wants.items()]
    batch = batch_size(shapes) if attempt.batch is None else attempt.batch
    shape = guesses(batch)[attempt.guess]
    left = {endpoint: want for endpoint, want in wants.items() if endpoint not in found}
    sized = [want._replace(shape=shape) if guessing and has_any_rank(want) else want for want in left.values()]
    return {**found, **dict(zip(left, make_all(sized, seed, batch), strict=True))}


def _given_value(value: str | NDArray[Any], want: Wanted) -> NDArray[Any]:
    return read(value, want) if isinstance(value, str) else fit(value, want, f"The value for '{want.name}'")


def _named(document: Document, given: Iterable[str]) -> dict[Endpoint, str]:
    """The given feeds that a graph has, by tensor.

    Raises:
        FeedError: two names for one tensor.
    """
    found: dict[Endpoint, str] = {}
    for name in given:
        try:
            endpoint = endpoint_named(document, name, "inputs")
        except UnknownNameError:
            continue
        count = output_count(document.node(document.graph.index[endpoint.node]))
        if count is not None and endpoint.port >= count:
            continue
        if endpoint in found:
            raise FeedError(f"'{found[endpoint]}' and '{name}' are one tensor, fed twice.", "Leave one of them out.")
        found[endpoint] = name
    return found


def _require_computed(ends: Sequence[Sequence[Endpoint]], own: Sequence[Mapping[Endpoint, str]]) -> None:
    """An output that is fed is what it is fed, in any graph."""
    fed = next((end for side, named in zip(ends, own, strict=True) for end in side if end in named), None)
    if fed is not None:
        raise OperationError(
            f"'{fed}' is fed and is an output too, so that nothing is computed.", "Feed what it reads."
        )


def _require_known(given: Iterable[str], own: Sequence[Mapping[Endpoint, str]], document: Document) -> None:
    """Raises UnknownNameError for a name that means no tensor of any graph, or several."""
    unknown = [name for name in given if not any(name in named.values() for named in own)]
    if unknown:
        known = aliases(document, "inputs")
        if unknown[0] in known:
            endpoint_named(document, unknown[0], "inputs")  # says that it means several
        close = _like(unknown[0], document, known)
        hint = f"Closest: {', '.join(close)}." if close else "The outputs verb and the Endpoints panel list inputs."
        raise UnknownNameError(f"There is no tensor '{unknown[0]}' to feed.", hint)


def _like(name: str, document: Document, known: Mapping[str, Mapping[str, Endpoint]]) -> list[str]:
    """Tensors that may be meant: inputs with the name in theirs, or in what signatures call them; then similar names.

    Args:
        known: what signatures call inputs.
    """
    graph, folded = document.graph, name.partition(":")[0].lower()
    called = [(name, name) for name, op in zip(graph.names, graph.ops, strict=True) if op in PLACEHOLDER_OPS]
    called += [(alias, str(end)) for alias, ends in known.items() for end in ends.values()]
    found = [node for text, node in called if _is_part(folded, text.lower())]
    return [*dict.fromkeys([*found, *nearest(name, graph.index)])][:_MOST_LIKE]


def _is_part(short: str, whole: str) -> bool:
    """The beginning or the last word of a name; short ones are too often one by chance for more."""
    return whole.startswith(short) or whole.endswith(("_" + short, "/" + short))


def _counterparts(
    before: Part, after: Part, assets: Mapping[Endpoint, bytes], met: dict[Endpoint, Paired]
) -> dict[Endpoint, Endpoint]:
    """The original's tensor for each that the result is fed.

    Args:
        met: pairs of other names, by the result's tensor; those that are found are added.

    Raises:
        OperationError: the original has none.
    """
    fed = [endpoint for endpoint in after.fed if endpoint not in assets]
    twins = {endpoint: _counterpart(before, endpoint) for endpoint in fed}
    found = {endpoint: twin for endpoint, twin in twins.items() if twin is not None}
    found |= {endpoint: met[endpoint].before for endpoint in fed if endpoint in met}
    lost = [endpoint for endpoint in fed if endpoint not in found]
    if not lost:
        return found
    left = [endpoint for endpoint in before.fed if endpoint not in assets and endpoint not in found.values()]
    pairs = paired_inputs(before.document, after.document, left, lost)
    if pairs is None:
        raise OperationError(
            f"'{lost[0]}' is fed in the result, and the original has no tensor of that name.",
            "Inputs must keep their names, or their places in signatures, for a comparison of values.",
        )
    met.update({pair.after: pair for pair in pairs})
    return found | {pair.after: pair.before for pair in pairs}


def _counterpart(before: Part, endpoint: Endpoint) -> Endpoint | None:
    """A tensor of the original, by the name that it, or the placeholder made in its place, has in the result.

    Cutting a node with several outputs names their placeholders ``node``, ``node_1`` ..., or ``node`` alone where only
    one output is read.
    """
    document, (name, port) = before.document, endpoint
    index = document.graph.index
    if name in index:
        ports = ports_read(before, name)
        return Endpoint(name, ports[0]) if port == 0 and len(ports) == 1 else endpoint
    stem, _, number = name.rpartition("_")
    if stem in index and number.isascii() and number.isdigit() and len(number) < 5:
        count = output_count(document.node(index[stem]))
        if count is None or int(number) < count:
            return Endpoint(stem, int(number))
    return None
