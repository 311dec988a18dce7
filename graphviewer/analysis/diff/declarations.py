"""What two FunctionDefs declare: arguments and results with dtype and shape, and the functions' own attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from graphviewer.analysis.diff.excerpts import excerpts
from graphviewer.analysis.diff.generated import base_text
from graphviewer.analysis.diff.nodes import attribute_texts
from graphviewer.model.graph import Ints
from graphviewer.model.tensors import shape_list, shape_text
from graphviewer.protos import DataType, dtype_name

Details = dict[str, Any]

_INFERRED = "_input_shapes"
_SHAPES = "_output_shapes"
_WORDS: Mapping[str, str] = MappingProxyType({"arguments": "argument", "results": "result", "attributes": "attribute"})
_MOST_TOLD = 3  # arguments, results or attributes in a reason, one by one


def declaration(before: Any, after: Any, match: Ints) -> Details:
    """What differs between two FunctionDefs outside their nodes, as pairs of texts, None where a side has none.

    Args:
        before: the first FunctionDef.
        after: the second one.
        match: int32 [arguments, nodes and results before], the number after, -1 where it is gone.

    Returns:
        ``arguments`` and ``results`` by name after, ``attributes`` by name; what does not differ is left out.
    """
    links = match.tolist()
    last = len(links) - len(before.signature.output_arg)
    count = len(after.signature.input_arg)
    found = {
        "arguments": _ends(_arguments(before), _arguments(after), links[: len(before.signature.input_arg)], 0),
        "results": _ends(_results(before), _results(after), links[last:], count + len(after.node_def)),
        "attributes": dict(_attributes(before, after)),
    }
    return {key: pairs for key, pairs in found.items() if pairs}


def declared(details: Mapping[str, Any]) -> list[str]:
    """What ``declaration`` found, in words, one for each."""
    return [text for key in _WORDS for text in _declared(key, details)]


def declared_shortly(details: Mapping[str, Any]) -> list[str]:
    """What ``declaration`` found, in words; of more than a few arguments, say, how many there are and the first."""
    parts = []
    for key in _WORDS:
        texts = _declared(key, details)
        if len(texts) > _MOST_TOLD:
            texts = [f"{len(texts):,} {key} differ, such as {texts[0].removeprefix(_WORDS[key]).lstrip()}"]
        parts += texts
    return parts


def _declared(key: str, details: Mapping[str, Any]) -> list[str]:
    parts, one = [], _WORDS[key]
    for name, pair in details.get(key, {}).items():
        old, new = ("absent" if side is None else str(side) for side in pair)
        old, new = excerpts(old, new)
        if key != "attributes" and None in pair:
            is_new = pair[0] is None
            parts.append(f"{one} {name} ({new if is_new else old}) is {'new' if is_new else 'gone'}")
        else:
            parts.append(f"{one} {name}: {old} → {new}")
    return parts


def _ends(
    before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]], links: Sequence[int], first: int
) -> dict[str, list[str | None]]:
    """Arguments or results that differ.

    Args:
        before, after: name and text of each.
        links: of each one before, its number after, counted from ``first``; anything else where it is gone.
        first: number of the first one after.
    """
    found: dict[str, list[str | None]] = {}
    known = set()
    for (name, old), link in zip(before, links, strict=True):
        place = link - first
        if not 0 <= place < len(after):
            found[name] = [old, None]
            continue
        known.add(place)
        if after[place][1] != old:
            found[after[place][0]] = [old, after[place][1]]
    return found | {name: [None, new] for place, (name, new) in enumerate(after) if place not in known}


def _arguments(function: Any) -> list[tuple[str, str]]:
    return [(one.name, _text(one, _shape(function, place))) for place, one in enumerate(function.signature.input_arg)]


def _results(function: Any) -> list[tuple[str, str]]:
    return [(one.name, _text(one, "")) for one in function.signature.output_arg]


def _shape(function: Any, place: int) -> str:
    """The declared shape of an argument; empty where none is."""
    if place not in function.arg_attr or _SHAPES not in function.arg_attr[place].attr:
        return ""
    shapes = function.arg_attr[place].attr[_SHAPES].list.shape
    return shape_text(shape_list(shapes[0])) if shapes else ""


def _text(argument: Any, shape: str) -> str:
    """``float32 [?, 3]``; of a handle also what it leads to."""
    kind = dtype_name(argument.type) if argument.type else argument.type_attr or argument.type_list_attr or "any"
    text = f"{kind}[{argument.number_attr}]" if argument.number_attr else kind
    if argument.type == DataType.RESOURCE and argument.handle_data:
        handle = argument.handle_data[0]
        text += f" of {dtype_name(handle.dtype)} {shape_text(shape_list(handle.shape))}"
    return f"{text} {shape}".rstrip()


def _attributes(before: Any, after: Any) -> Iterator[tuple[str, list[str | None]]]:
    if before.signature.is_stateful != after.signature.is_stateful:
        yield "is_stateful", [str(before.signature.is_stateful), str(after.signature.is_stateful)]
    for name in sorted({*before.attr, *after.attr} - {_INFERRED}):
        old, new = (_get(side.attr, name) for side in (before, after))
        if old != new and not _differ_by_counter(name, old, new):
            yield name, attribute_texts(old, new)


def _get(attrs: Any, name: str) -> Any | None:
    """An attribute; asking a map of messages otherwise puts an empty one there."""
    return attrs[name] if name in attrs else None  # noqa: SIM401


def _differ_by_counter(name: str, old: Any, new: Any) -> bool:
    """Both are texts, equal but for what is made up."""
    is_text = all(value is not None and value.WhichOneof("value") == "s" for value in (old, new))
    return is_text and base_text(name, old.s) == base_text(name, new.s)
