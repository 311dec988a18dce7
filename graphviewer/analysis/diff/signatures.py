"""SignatureDefs of two documents: keys, methods, and the tensors behind each name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphviewer.analysis.diff.pairing import NAME, UNMATCHED
from graphviewer.analysis.diff.result import Change
from graphviewer.model.document import Document
from graphviewer.model.tensors import shape_list
from graphviewer.protos import dtype_name

_INITIALISE = "__saved_model_init_op"  # an entry of the loader, not of the model
Translate = Callable[[str], str]


def compare_signatures(before: Document, after: Document, translate: Translate) -> tuple[Change, ...]:
    """What differs between the signatures, by key; nothing where one of the files cannot have any.

    Args:
        before: the first document.
        after: the second document.
        translate: a tensor's name in the first graph as the second would write it, if only nodes were renamed.
    """
    if before.meta is None or after.meta is None:
        return ()
    old, new = before.signatures, after.signatures
    changes = []
    for key in sorted({*old, *new} - {_INITIALISE}):
        if key not in new:
            reason = f"this signature ({_size(old[key])}) is in the first file only"
            changes.append(Change("removed", key, None, reason, UNMATCHED))
        elif key not in old:
            reason = f"this signature ({_size(new[key])}) is in the second file only"
            changes.append(Change("added", None, key, reason, UNMATCHED))
        else:
            details = _details(old[key], new[key], translate)
            if details:
                changes.append(Change("changed", key, key, _words(details), NAME, details))
    return tuple(changes)


def _size(signature: Any) -> str:
    inputs, outputs = len(signature.inputs), len(signature.outputs)
    return f"{inputs} input{'s' * (inputs != 1)}, {outputs} output{'s' * (outputs != 1)}"


def _details(old: Any, new: Any, translate: Translate) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if old.method_name != new.method_name:
        found["method"] = [old.method_name, new.method_name]
    for side in ("inputs", "outputs"):
        tensors = _tensors(getattr(old, side), getattr(new, side), translate)
        if tensors:
            found[side] = tensors
    return found


def _tensors(old: Mapping[str, Any], new: Mapping[str, Any], translate: Translate) -> dict[str, list[str | None]]:
    """What differs, by name in the signature, as text; None where one side lacks it."""
    found: dict[str, list[str | None]] = {}
    for name in sorted({*old, *new}):
        left = _text(old[name], lambda text: text) if name in old else None
        right = _text(new[name], lambda text: text) if name in new else None
        if left is None or right is None or _text(old[name], translate) != _text(new[name], lambda text: text):
            found[name] = [left, right]
    return found


def _text(tensor: Any, translate: Translate) -> str:
    """``x float32 [?, 3]``; of a sparse or composite tensor its parts."""
    kind = tensor.WhichOneof("encoding")
    if kind == "name":
        name = _canonical(tensor.name, translate)
    elif kind == "coo_sparse":
        parts = (tensor.coo_sparse.values_tensor_name, tensor.coo_sparse.indices_tensor_name)
        name = "sparse " + ", ".join(_canonical(part, translate) for part in parts)
    elif kind == "composite_tensor":
        parts = tuple(part.name for part in tensor.composite_tensor.components)
        name = "composite " + ", ".join(_canonical(part, translate) for part in parts)
    else:
        name = "nothing"
    shape = shape_list(tensor.tensor_shape)
    sizes = "of unknown rank" if shape is None else "[" + ", ".join("?" if n < 0 else str(n) for n in shape) + "]"
    return f"{name} {dtype_name(tensor.dtype)} {sizes}"


def _canonical(name: str, translate: Translate) -> str:
    """A tensor's name, ``:0`` left out."""
    translated = translate(name)
    return translated.removesuffix(":0")


def _words(details: Mapping[str, Any]) -> str:
    parts = [f"method {' → '.join(details['method'])}"] if "method" in details else []
    for side in ("inputs", "outputs"):
        for name, (old, new) in details.get(side, {}).items():
            one = side[:-1]
            if old is None or new is None:
                parts.append(f"{one} {name} is {'new' if old is None else 'gone'}")
            else:
                parts.append(f"{one} {name}: {old} → {new}")
    return ", ".join(parts)
