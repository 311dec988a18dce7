"""Enough of JSON Schema to check a document against the schemas that are shipped."""

from __future__ import annotations

import json

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "type", "required", "properties", "additionalProperties",
    "items", "enum", "const", "minimum", "minItems", "maxItems", "minLength",
}  # fmt: skip


def faults(value, schema, root=None, path="$"):
    """What does not fit, as texts; a keyword that is not known here is a fault too."""
    root = root if root is not None else schema
    if unknown := schema.keys() - KNOWN:
        return [f"{path}: {sorted(unknown)} is not checked"]
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, path)
    wanted = schema.get("type", list(TYPES))
    kinds = tuple(TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted))
    if not isinstance(value, _flat(kinds)) and not (isinstance(value, bool) and "type" not in schema):
        return [f"{path}: {value!r} is no {wanted}"]
    found = []
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        found.append(f"{path}: {value!r} is not allowed")
    if value is not None and value < schema["minimum"] if "minimum" in schema else False:
        found.append(f"{path}: {value} is too small")
    if isinstance(value, (list, str)):
        least, most = max(schema.get("minItems", 0), schema.get("minLength", 0)), schema.get("maxItems", len(value))
        found += [] if least <= len(value) <= most else [f"{path}: length {len(value)}"]
    if isinstance(value, list) and "items" in schema:
        found += [one for at, item in enumerate(value) for one in faults(item, schema["items"], root, f"{path}[{at}]")]
    if isinstance(value, dict):
        found += _object(value, schema, root, path)
    return found


def _flat(kinds):
    return tuple(one for kind in kinds for one in (kind if isinstance(kind, tuple) else (kind,)))


def _object(value, schema, root, path):
    found = [f"{path}: {name} is missing" for name in schema.get("required", ()) if name not in value]
    known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in known:
            found += faults(item, known[name], root, f"{path}.{name}")
        elif more is False:
            found.append(f"{path}: {name} is not known")
        elif isinstance(more, dict):
            found += faults(item, more, root, f"{path}.{name}")
    return found


def through_json(value):
    """The value as a reader of the JSON gets it."""
    return json.loads(json.dumps(value, allow_nan=False))
