"""Two NodeDefs side by side: what differs by meaning, as pairs for scripts and as words for people."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from graphviewer import protos
from graphviewer.analysis.diff.excerpts import common_length, excerpts
from graphviewer.analysis.diff.functions import FunctionPairs
from graphviewer.analysis.diff.generated import base_text
from graphviewer.analysis.diff.values import difference, same_tensor, string_texts, told, value_facts
from graphviewer.analysis.ops import (
    BRANCH_CALL_OPS,
    CALL_OPS,
    MERGE_OPS,
    PLACEHOLDER_OPS,
    REF_TO_VALUE,
    RESOURCE_TO_VALUE,
    SWITCH_OPS,
    VARIABLE_OPS,
    attribute_defaults,
    is_pipeline_op,
)
from graphviewer.model.names import parse_input
from graphviewer.model.tensors import describe_tensor, shape_list
from graphviewer.protos import DataType, dtype_name

Details = dict[str, Any]

_TYPE_ATTRS = ("dtype", "T")
_COLOCATION = "_class"
INFERRED_SHAPES = "_output_shapes"
"""What shape inference found when the file was written; some writers leave it out."""

_SHOWN_ITEMS = 16
_SHOWN_TEXT = 1_000  # characters of an attribute in details; a reason shows fewer
_RUN = 5  # as many equal items in a row are shown as one and their number
_CONDITIONAL = MERGE_OPS | SWITCH_OPS
_PASSES_ON = ("Identity", "IdentityN", "NoOp")
_PLAIN_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def conversion(before: str, after: str) -> str:
    """What an op was turned into, in the words of the contract; empty for a pair of ops that is no conversion."""
    if before == after:
        return ""
    if after == "Const":
        return "variable → constant" if before in VARIABLE_OPS else f"{before} → constant"
    if after in PLACEHOLDER_OPS and before not in PLACEHOLDER_OPS:
        return "pipeline → placeholder" if is_pipeline_op(before) else f"{before} → placeholder"
    if (before in _CONDITIONAL and after == "Identity") or (before in BRANCH_CALL_OPS and after in _PLAIN_CALLS):
        return "branch of a folded cond"
    if before in CALL_OPS and after in _PASSES_ON:
        return "call → body"
    if after in _PASSES_ON or after in (RESOURCE_TO_VALUE.get(before), REF_TO_VALUE.get(before)):
        return f"{before} → {after}"
    return ""


def takes_values(before: Any, after: Any) -> bool:
    """Whether a node of one op passes values on, or takes them, where it did so with handles of variables."""
    return bool(before.op == after.op and _handles(after) < _handles(before))


def _handles(node: Any) -> int:
    """How many of the dtypes among a node's attributes are those of handles."""
    return sum(
        (value.type == DataType.RESOURCE) + list(value.list.type).count(DataType.RESOURCE)
        for value in node.attr.values()
    )


class NodeComparer:
    """Finds what differs between linked nodes of two documents.

    Args:
        functions: the two function libraries.
        translate: an input of the first graph as the second would write it, if only names changed.
        renamed: a node name of the first graph as the second writes it, where it is another.
        there: node names of the second graph.
    """

    def __init__(
        self,
        functions: FunctionPairs,
        translate: Callable[[str], str],
        renamed: Mapping[str, str],
        there: Container[str],
    ) -> None:
        self._functions = functions
        self._translate = translate
        self._renamed = renamed
        self._there = there
        self._scratch = protos.NodeDef()

    def alike(self, before: Any, after: Any) -> bool:
        """Whether two nodes that read the same differ in nothing but their name; a quick look that may miss it."""
        if before.op != after.op or len(before.attr) != len(after.attr):
            return False
        scratch = self._scratch
        scratch.CopyFrom(before)
        scratch.name = after.name
        scratch.ClearField("input")
        scratch.input.extend(after.input)
        if _COLOCATION in scratch.attr and _COLOCATION in after.attr:
            there = after.attr[_COLOCATION]
            if self._colocation(before.attr[_COLOCATION], self._renamed) != self._colocation(there, {}):
                return False
            scratch.attr[_COLOCATION].CopyFrom(there)
        return bool(scratch == after)

    def content(self, before: Any, after: Any) -> Details:
        """Differences of op, device, attributes and values; empty when both mean the same."""
        found: Details = {}
        if before.op != after.op:
            found["op"] = [before.op, after.op]
        if before.device != after.device:
            found["device"] = [before.device, after.device]
        for name in sorted({*before.attr, *after.attr}):
            left, right = _attr(before, name), _attr(after, name)
            if name == INFERRED_SHAPES and (left is None or right is None):
                continue
            if name == _COLOCATION:
                same = self._colocation(left, self._renamed) == self._colocation(right, {})
            else:
                same = left is not None and right is not None and self._same(name, left, right)
            if not same:
                self._describe(name, left, right, found)
        return found

    def inputs(self, before: Any, after: Any) -> Details:
        """Both input lists where they differ: data inputs in order, control inputs in any order."""
        old, new = list(before.input), list(after.input)
        if old == new and not self._renamed:
            return {}
        if _wires(map(self._translate, old)) == _wires(new):
            return {}
        return {"inputs": _shorten(old, new)}

    def rewiring(self, before: Any, after: Any) -> str:
        """How two input lists differ: ``reads c in place of b``."""
        old, new = list(map(self._translate, before.input)), list(after.input)
        gone, come = _only_in(old, new), _only_in(new, old)
        if not gone and not come:
            return "reads the same inputs in another order"
        if not come:
            return f"no longer reads {_list(gone)}"
        if not gone:
            return f"also reads {_list(come)}"
        return f"reads {_list(come)} in place of {_list(gone)}"

    def _same(self, name: str, left: Any, right: Any) -> bool:
        kind = left.WhichOneof("value")
        if kind != right.WhichOneof("value"):
            return False
        calls = kind == "func" or (kind == "list" and left.list.func)  # equal names may mean functions that differ
        if not calls and left == right:
            return True
        if kind == "tensor":
            return same_tensor(left.tensor, right.tensor)
        if kind == "s":
            return base_text(name, left.s) == base_text(name, right.s)
        if kind == "shape":
            return shape_list(left.shape) == shape_list(right.shape)
        if kind == "func":
            return self._same_call(left.func, right.func)
        if kind == "list":
            return self._same_list(left.list, right.list)
        return False

    def _same_call(self, left: Any, right: Any) -> bool:
        return self._functions.linked(left.name, right.name) and all(
            key in left.attr and key in right.attr and self._same(key, left.attr[key], right.attr[key])
            for key in {*left.attr, *right.attr}
        )

    def _same_list(self, left: Any, right: Any) -> bool:
        if [field.name for field, _ in left.ListFields()] != [field.name for field, _ in right.ListFields()]:
            return False
        pairs: tuple[tuple[Any, Any, Callable[[Any, Any], bool]], ...] = (
            (left.tensor, right.tensor, same_tensor),
            (left.shape, right.shape, lambda a, b: shape_list(a) == shape_list(b)),
            (left.func, right.func, self._same_call),
        )
        for old, new, same in pairs:
            if old or new:
                return len(old) == len(new) and all(map(same, old, new))
        return False

    def _colocation(self, value: Any | None, renamed: Mapping[str, str]) -> set[bytes]:
        """``loc:@old`` as ``loc:@new`` where that node was renamed; nothing is colocated with a node that is gone."""
        found = set()
        for location in value.list.s if value is not None else ():
            head, at, raw = location.partition(b"@")
            name = raw.decode("utf-8", "replace")
            name = renamed.get(name, name)
            if name in self._there:
                found.add(head + at + name.encode("utf-8", "surrogatepass"))
        return found

    def _describe(self, name: str, left: Any, right: Any, found: Details) -> None:
        """Put one differing attribute where readers look for it."""
        kinds = {value.WhichOneof("value") for value in (left, right) if value is not None}
        if kinds == {"type"} and name in _TYPE_ATTRS:
            found["dtype"] = attribute_texts(left, right)
        elif kinds == {"shape"} and name == "shape":
            found["shape"] = [None if value is None else shape_list(value.shape) for value in (left, right)]
        elif kinds == {"tensor"} and left is not None and right is not None:
            _describe_value(name, left.tensor, right.tensor, found)
        elif kinds == {"func"} and left is not None and right is not None and left.func.attr == right.func.attr:
            found.setdefault("functions", {})[name] = [left.func.name, right.func.name]
        else:
            found.setdefault("attributes", {})[name] = attribute_texts(left, right)


def _attr(node: Any, name: str) -> Any | None:
    """An attribute's value; the op's default where the node leaves it out, None where there is none."""
    return node.attr[name] if name in node.attr else attribute_defaults(node.op).get(name)


def _describe_value(name: str, left: Any, right: Any, found: Details) -> None:
    old, new = value_facts(left), value_facts(right)
    for key in ("dtype", "shape"):
        if old[key] != new[key] and key not in found:
            found[key] = [old[key], new[key]]
    texts = string_texts(left, right)
    for facts, text in zip((old, new), texts or (), strict=False):
        facts["text"] = f"{facts['text'].partition(': ')[0]}: {text}"
    found["value" if name == "value" else f"value of {name}"] = [old, new]
    apart = difference(left, right)
    if apart:
        found["difference"] = apart


def _wires(inputs: Iterable[str]) -> tuple[list[tuple[str, int]], set[str]]:
    """Data inputs in order, and control inputs as a set."""
    parsed = [parse_input(text) for text in inputs]
    return [wire for wire in parsed if wire[1] >= 0], {name for name, port in parsed if port < 0}


def _shorten(old: list[str], new: list[str]) -> list[list[str]]:
    """Both input lists; of long ones only what the other lacks, and no more than a person reads."""
    if max(len(old), len(new)) > _SHOWN_ITEMS:
        old, new = _only_in(old, new) or old, _only_in(new, old) or new
    return [
        [*side[:_SHOWN_ITEMS], *([f"… {more:,} more"] if (more := len(side) - _SHOWN_ITEMS) > 0 else [])]
        for side in (old, new)
    ]


def _only_in(these: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [text for text in these if text not in known]


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3:,} more" if len(names) > 3 else shown


def attribute_texts(left: Any | None, right: Any | None) -> list[str | None]:
    """Two attribute values that differ, in one short line each; None for an absent one.

    Of long texts and lists, what is shown is where they begin to differ.
    """
    old, new = _items(left), _items(right)
    first = 0
    if old and new and max(len(old), len(new)) > _SHOWN_ITEMS:
        first = common_length(old, new)
    found = [_text(side, items, first) for side, items in ((left, old), (right, new))]
    return found if None in found else list(excerpts(str(found[0]), str(found[1]), _SHOWN_TEXT))


def _items(value: Any | None) -> list[tuple[str, Any]]:
    """What a list attribute holds, with the kind of each; nothing for other attributes."""
    if value is None or value.WhichOneof("value") != "list":
        return []
    return [(field.name, item) for field, listed in value.list.ListFields() for item in listed]


def _text(value: Any | None, items: list[tuple[str, Any]], first: int) -> str | None:
    """An attribute value, a list from its item number ``first`` on where what is before it takes too much room."""
    if value is None:
        return None
    kind = value.WhichOneof("value")
    if kind != "list":
        return "nothing" if kind is None else _one(kind, getattr(value, kind))
    whole = _runs(items)
    if len(whole) <= _SHOWN_ITEMS:
        return f"[{', '.join(whole)}]"
    shown = _runs(items[first:]) if first >= _SHOWN_ITEMS else whole
    head = ["…"] if shown is not whole else []
    tail = [f"… {len(items):,} items"] if len(shown) > _SHOWN_ITEMS or head else []
    return f"[{', '.join([*head, *shown[:_SHOWN_ITEMS], *tail])}]"


def _runs(items: list[tuple[str, Any]]) -> list[str]:
    """The first items as texts, one more than are shown; many equal ones in a row as one: ``resource ×12``."""
    found: list[str] = []
    at = 0
    while at < len(items) and len(found) <= _SHOWN_ITEMS:
        end = at + 1
        while end < len(items) and items[end] == items[at]:
            end += 1
        text = _one(*items[at])
        found += [f"{text} ×{end - at:,}"] if end - at >= _RUN else [text] * (end - at)
        at = end
    return found


def _one(kind: str, item: Any) -> str:
    if kind == "type":
        return dtype_name(item)
    if kind == "shape":
        return _shape_words(shape_list(item))
    if kind == "tensor":
        return describe_tensor(item)
    if kind == "func":
        return str(item.name)
    return str(item.decode("utf-8", "backslashreplace") if kind == "s" else item)


def words(details: Mapping[str, Any]) -> str:
    """Differences as one line: ``op Relu → Relu6, dtype float32 → float16``."""
    parts = [f"{key} {_quoted(details[key])}" for key in ("op", "dtype", "device") if key in details]
    if "shape" in details:
        parts.append(f"shape {' → '.join(map(_shape_words, details['shape']))}")
    for name, pair in details.get("attributes", {}).items():
        parts.append(f"attribute {name} {_quoted(pair)}")
    for name, (old, new) in details.get("functions", {}).items():
        parts.append(f"the body of function {old}" if old == new else f"{name} calls {new} in place of {old}")
    parts += [_value_words(key, details) for key in details if key == "value" or key.startswith("value of ")]
    return ", ".join(parts)


def _shape_words(shape: list[int] | None) -> str:
    return "unknown" if shape is None else f"[{', '.join('?' if size < 0 else str(size) for size in shape)}]"


def _quoted(pair: list[Any]) -> str:
    old, new = ("absent" if side is None else str(side) if side != "" else "none" for side in pair)
    return " → ".join(excerpts(old, new))


def _value_words(key: str, details: Mapping[str, Any]) -> str:
    apart = details.get("difference")
    if not apart:
        return f"{key}"
    if apart["elements"] == 1:
        old, new = (side["text"].partition(": ")[2] for side in details[key])
        where = f", from byte {apart['from_byte']:,} on" if old == new and "from_byte" in apart else ""
        return f"{key} {old} → {new}{where}"
    return f"{key} ({told(apart)})"
