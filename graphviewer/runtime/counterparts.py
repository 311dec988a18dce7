"""Which tensors of two graphs stand for each other where their names differ: by signature keys, else by position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphviewer.analysis.endpoints import suggest_outputs
from graphviewer.analysis.ops import is_random_op
from graphviewer.errors import OperationError, UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import Side, signed
from graphviewer.model.names import Endpoint
from graphviewer.runtime.feeds import wanted
from graphviewer.runtime.outputs import MOST_ENDS, default_outputs, ends, fetchable, gives_value
from graphviewer.runtime.part import trace

_POSITION = "their position"
_CHOICE = "your choice"
_LABELS = ("the original", "the result")
_MOST_TOWERS = 20


class Paired(NamedTuple):
    """Two tensors that stand for each other; ``by`` says why, and is empty for those of one name."""

    before: Endpoint
    after: Endpoint
    by: str = ""

    def to_json(self) -> dict[str, str]:
        """Names and reason."""
        return {"before": str(self.before), "after": str(self.after), "by": self.by}


def paired_outputs(before: Document, after: Document, names: Sequence[str]) -> list[Paired]:
    """The outputs to compare.

    Args:
        names: what to compare, by names or signature keys that both know, or one of them if the signatures pair it, or
            it and the other's lone output; ``A=B`` compares A of the original with B of the result. Empty for the
            usual: see ``default_outputs``, and ``_twins`` where these have no name in common.

    Raises:
        UnknownNameError: a name that neither knows, or one does not and nothing pairs it.
        OperationError: an output that cannot be run; no names are given and nothing is in common.
    """
    if names:
        return list(dict.fromkeys(pair for name in names for pair in _named(before, after, name)))
    try:
        common = default_outputs(after, before)
    except OperationError:
        found = _twins(before, after)
        if not found:
            raise
        return found
    return [pair for name in common for pair in _named(before, after, name)]


def paired_inputs(
    before: Document, after: Document, left: Sequence[Endpoint], lost: Sequence[Endpoint]
) -> list[Paired] | None:
    """The inputs of the result that have no counterpart by name, with those of the original that are left.

    Args:
        left: inputs of the original.
        lost: inputs of the result.

    Returns:
        Pairs for all of ``lost``; None where they cannot be told.
    """
    old, new = _keys(before, "inputs"), _keys(after, "inputs")
    found = _by_key(old, new, left, lost)
    # An input whose key the result has, but does not need for these outputs, stands for no other one.
    needless = {endpoint for key, endpoint in old.items() if key in new or key in after.graph.index}
    others = [one for one in left if one not in needless and one not in {pair.before for pair in found}]
    rest = [one for one in lost if one not in {pair.after for pair in found}]
    if not rest:
        return found
    if len(rest) != len(others):
        return None
    pairs = _by_position(before, after, sorted(others, key=_natural), sorted(rest, key=_natural))
    return [*found, *pairs] if pairs else None


def steady_twin(before: Document, after: Document, output: Endpoint, twin: Endpoint) -> Endpoint | None:
    """The likeliest output of the original that draws no random numbers and looks like ``twin`` of the result: that of
    the tower for evaluation, where ``output`` is that of the one for training.
    """
    for suggestion in suggest_outputs(before, _MOST_TOWERS):
        end = suggestion.endpoint
        if end == output or not gives_value(before, suggestion.name) or not _alike(before, after, Paired(end, twin)):
            continue
        if not trace(before, [end], ()).first(is_random_op):
            return end
    return None


def _named(before: Document, after: Document, name: str) -> list[Paired]:
    if "=" in name:
        return [_chosen(before, after, part) for part in name.split(",") if part.strip()]
    first, second = _known(before, name), _known(after, name)
    if isinstance(first, list) and isinstance(second, list):
        same = zip(first, second, strict=False)  # one text, and so many names in it
        return [Paired(one, other, "" if one == other else f"the name '{name}'") for one, other in same]
    if isinstance(first, list):
        unknown = None if isinstance(second, list) else _located(second, after, _LABELS[1])
        return _partners(first, {pair.before: pair for pair in _twins(before, after)}, unknown)
    if isinstance(second, list):
        unknown = _located(first, before, _LABELS[0])
        return _partners(second, {pair.after: pair for pair in _twins(before, after)}, unknown)
    raise UnknownNameError(f"{first.message.rstrip('.')} in either graph.", first.hint)


def _chosen(before: Document, after: Document, text: str) -> Paired:
    """The pair that ``A=B`` means.

    Raises:
        UnknownNameError: a name that its graph does not know.
        OperationError: a side is missing, or means several tensors.
    """
    names = [name.strip() for name in text.split("=")]
    if len(names) != 2 or not all(names):
        raise OperationError(f"'{text}' pairs no two outputs.", "Write ORIGINAL=RESULT, for example logits=Softmax.")
    found: list[Endpoint] = []
    for document, name, label in zip((before, after), names, _LABELS, strict=True):
        known = _known(document, name)
        if isinstance(known, UnknownNameError):
            raise _located(known, document, label)
        found += known[:1]
    return Paired(found[0], found[1], "" if found[0] == found[1] else _CHOICE)


def _known(document: Document, name: str) -> list[Endpoint] | UnknownNameError:
    try:
        return fetchable(document, [name])
    except UnknownNameError as error:
        return error


def _located(error: UnknownNameError, document: Document, label: str) -> UnknownNameError:
    """The error, saying in which file there is no such name."""
    file = f" ({document.path.name})" if document.path is not None else ""
    return UnknownNameError(f"{error.message.rstrip('.')} in {label}{file}.", error.hint)


def _partners(
    found: Iterable[Endpoint], twins: Mapping[Endpoint, Paired], unknown: UnknownNameError | None
) -> list[Paired]:
    pairs = [twins.get(endpoint) for endpoint in found]
    if None in pairs and unknown is not None:
        raise unknown
    return [pair for pair in pairs if pair is not None]


def _twins(before: Document, after: Document) -> list[Paired]:
    """Outputs that stand for each other by keys of both signatures; by position where they have no key in common, or
    only one of them has a signature, or neither has, and each has one output.
    """
    old, new = _keys(before, "outputs"), _keys(after, "outputs")
    if old.keys() & new.keys():
        return _by_key(old, new, old.values(), new.values())
    if not old and not new:
        lone = [_lone(document) for document in (before, after)]
        return _by_position(before, after, *lone) if all(lone) else []
    first, second = (_in_order(keys) if keys else ends(document) for keys, document in ((old, before), (new, after)))
    is_whole = len(first) == len(second) <= MOST_ENDS
    return _by_position(before, after, first, second) if is_whole else []


def _lone(document: Document) -> list[Endpoint]:
    """The one output of a bare graph: where it ends, if that is in one place; else nothing."""
    found = ends(document)
    return found if len(found) == 1 else []


def _keys(document: Document, side: Side) -> dict[str, Endpoint]:
    """The tensors of the first signature that there is, the default one if possible, by key."""
    found: dict[str, dict[str, Endpoint]] = {}
    for signature, key, endpoint in signed(document, side):
        found.setdefault(signature, {})[key] = endpoint
    return next(iter(found.values()), {})


def _in_order(keys: Mapping[str, Endpoint]) -> list[Endpoint]:
    return [keys[key] for key in sorted(keys, key=_natural)]


def _by_key(
    old: Mapping[str, Endpoint], new: Mapping[str, Endpoint], left: Iterable[Endpoint], lost: Iterable[Endpoint]
) -> list[Paired]:
    """Tensors of one key; a graph without a signature often has its key as the name of the node."""
    of_old = {endpoint: key for key, endpoint in old.items()}
    of_new = {endpoint: key for key, endpoint in new.items()}
    by_key = {of_old.get(one, one.node): one for one in left}
    keys = ((of_new.get(one, one.node), one) for one in lost)
    return [Paired(by_key[key], one, f"the signature's key '{key}'") for key, one in keys if key in by_key]


def _by_position(
    before: Document, after: Document, first: Sequence[Endpoint], second: Sequence[Endpoint]
) -> list[Paired]:
    """One after the other, as long as each has the dtype and rank of its counterpart; else nothing."""
    pairs = [Paired(one, other, _POSITION) for one, other in zip(first, second, strict=True)]
    return pairs if all(_alike(before, after, pair) for pair in pairs) else []


def _alike(before: Document, after: Document, pair: Paired) -> bool:
    one, other = wanted(before, pair.before), wanted(after, pair.after)
    if one.dtype and other.dtype and one.dtype != other.dtype:
        return False
    if one.shape is None or other.shape is None:
        return True
    same = (-1 in (size, twin) or size == twin for size, twin in zip(one.shape, other.shape, strict=False))
    return len(one.shape) == len(other.shape) and all(same)


def _natural(name: object) -> list[tuple[int, str]]:
    """A key for sorting that puts ``output_2`` before ``output_10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,9})", str(name))]
