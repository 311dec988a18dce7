"""Which tensors of two graphs stand for each other where their names differ: by signature keys, else by position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from graphviewer.errors import OperationError, UnknownNameError
from graphviewer.model.document import Document
from graphviewer.model.endpoints import Side, signed
from graphviewer.model.names import Endpoint
from graphviewer.runtime.feeds import wanted
from graphviewer.runtime.outputs import MOST_ENDS, default_outputs, ends, fetchable

_POSITION = "their position"


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
        names: what to compare, by names or signature keys that both know, or one of them if the signatures pair it;
            empty for the usual: see ``default_outputs``, and ``_twins`` where these have no name in common.

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


def _named(before: Document, after: Document, name: str) -> list[Paired]:
    sides = [_known(document, name) for document in (before, after)]
    first, second = sides
    if isinstance(first, list) and isinstance(second, list):
        same = zip(first, second, strict=False)  # one text, and so many names in it
        return [Paired(one, other, "" if one == other else f"the name '{name}'") for one, other in same]
    if isinstance(first, list):
        return _partners(first, {pair.before: pair for pair in _twins(before, after)}, second)
    if isinstance(second, list):
        return _partners(second, {pair.after: pair for pair in _twins(before, after)}, first)
    raise first


def _known(document: Document, name: str) -> list[Endpoint] | UnknownNameError:
    try:
        return fetchable(document, [name])
    except UnknownNameError as error:
        return error


def _partners(
    found: Iterable[Endpoint], twins: Mapping[Endpoint, Paired], unknown: list[Endpoint] | UnknownNameError
) -> list[Paired]:
    pairs = [twins.get(endpoint) for endpoint in found]
    if None in pairs and isinstance(unknown, UnknownNameError):
        raise unknown
    return [pair for pair in pairs if pair is not None]


def _twins(before: Document, after: Document) -> list[Paired]:
    """Outputs that stand for each other by keys of both signatures; by position where they have no key in common, or
    only one of them has a signature.
    """
    old, new = _keys(before, "outputs"), _keys(after, "outputs")
    if old.keys() & new.keys():
        return _by_key(old, new, old.values(), new.values())
    if not old and not new:
        return []
    first, second = (_in_order(keys) if keys else ends(document) for keys, document in ((old, before), (new, after)))
    is_whole = len(first) == len(second) <= MOST_ENDS
    return _by_position(before, after, first, second) if is_whole else []


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
