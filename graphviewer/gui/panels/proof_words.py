"""What the Proof panel says of a verdict and of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

VERDICT_COLUMNS = ("Output", "Verdict", "Max diff", "Relative", "Range", "Shape")
RUN_COLUMNS = ("Tensor", "Dtype", "Shape", "Min", "Max", "Mean")
_VERDICTS = {"same": "✓ The same", "different": "✕ Different", "cannot": "? Not verified"}
_CANNOT = "cannot verify: "
_MOST_NAMED, _MOST_PAIRS = 6, 3
_FASTER, _MEASURABLE = 1.1, 1e-3
"""Times of runs that lie closer together than the first, or are below the second, in seconds, are not told apart."""


def verdict_words(found: Mapping[str, Any]) -> str:
    """A verdict, its times, and what was fed and compared, a line each."""
    reason = found["reason"].removeprefix(_CANNOT)
    doubt = f", but that proves little: {found['doubt']}" if found["doubt"] else ""
    first = f"{_VERDICTS[found['verdict']]}: {reason}{doubt}."
    lines = [_joined([first, speed_words(found), _hint(found)]), fed_words(found["feeds"])]
    return "\n".join(filter(None, [*lines, *compared_words(found)]))


def _hint(found: Mapping[str, Any]) -> str:
    """What to do, in terms of the window."""
    if found["touches"]:
        return "It runs only if you allow it."
    if found["needs"]:
        return f"Give values for {_names(found['needs'])} under “Fed with”."
    return str(found["hint"])


def compared_words(found: Mapping[str, Any]) -> list[str]:
    """What was compared with what, and what was left out."""
    pairs = [
        f"{pair['before']} of the original stands for {pair['after']} of the result, by {pair['by']}."
        for pair in found["paired"][:_MOST_PAIRS]
    ]
    if len(found["paired"]) > _MOST_PAIRS:
        pairs[-1] += f" So do {len(found['paired']) - _MOST_PAIRS:,} more."
    unused = f"Not fed, as the outputs do not need it: {_names(found['unused'])}." if found["unused"] else ""
    skipped = f"Not compared, as its branch of a conditional is not taken: {_names(found['skipped'])}."
    return [*pairs, unused, skipped if found["skipped"] else ""]


def fed_words(feeds: Sequence[Mapping[str, Any]]) -> str:
    """What a graph was fed, in sentences."""
    parts = []
    for word, is_made in (("Given", False), ("Made up", True)):
        ones = [_fed(feed) for feed in feeds if feed["made"] is is_made]
        parts.append(f"{word}: {_names(ones)}." if ones else "")
    return _joined(parts)


def _fed(feed: Mapping[str, Any]) -> str:
    value = f" = {feed['value']}" if feed["value"] is not None else f" [{', '.join(map(str, feed['shape']))}]"
    return f"{feed['name']}{value}" + (" (in place of what the graph computes there)" if feed["computed"] else "")


def run_words(feeds: Sequence[Mapping[str, Any]]) -> str:
    """What a run was fed."""
    return _joined(["Ran once.", fed_words(feeds)]) if feeds else "Ran once; nothing had to be fed."


def speed_words(found: Mapping[str, Any]) -> str:
    """Run times before and after, where both ran."""
    before, after = found["seconds"]
    if before is None or after is None:
        return ""
    times = f"One run takes {before * 1e3:,.1f} ms before and {after * 1e3:,.1f} ms after"
    ratio = before / after if after > 0 else 1.0
    return f"{times}: {ratio:.1f} times as fast." if ratio >= _FASTER and before >= _MEASURABLE else f"{times}."


def difference_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    """A row of the table of outputs, as ``VERDICT_COLUMNS``."""
    shape = f"[{', '.join(map(str, one['shape']))}]"
    spread = "—" if one["min"] is None else f"{one['min']:.4g} … {one['max']:.4g}"
    differs = "✕ differs" if one["nan_equal"] else "✕ NaNs differ"
    verdict = differs if one["reason"] else "✓ same"
    return (one["name"], verdict, _number(one["max_abs"], 3), _number(one["max_rel"], 3), spread, shape)


def run_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    """A row of the table of tensors, as ``RUN_COLUMNS``."""
    return (one["name"], one["dtype"], str(one["shape"]), *(_number(one[key], 6) for key in ("min", "max", "mean")))


def _number(value: Any, digits: int) -> str:
    """So many digits, or a dash where there is none."""
    return f"{value:.{digits}g}" if isinstance(value, int | float) else "—"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _joined(parts: Iterable[str]) -> str:
    return " ".join(filter(None, parts))
