"""Names as people and files write them: ``x:0``, ``^x``, ``/x``, pasted code."""

import difflib
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from graphviewer.errors import UnknownNameError

CONTROL_PORT = -1
_QUOTED = re.compile(r"""["']([^"']+)["']""")
_PRINTED = re.compile(r"""\b(?:shape|dtype|device)=(?:\([^()]*\)|[^\s,()<>]*)""")
"""What TensorFlow prints beside a tensor's name, as in ``Tensor("x:0", shape=(?, 10), dtype=float32)``."""


class Endpoint(NamedTuple):
    """One output of a node: a tensor. ``port`` is 0 for the first output."""

    node: str
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> "Endpoint":
        """The tensor that files call ``x`` or ``x:1``; of a control input, ``^x``, the port is CONTROL_PORT."""
        return cls(*parse_input(text))

    def __str__(self) -> str:
        return f"{self.node}:{self.port}" if self.port else self.node


Aliases = Mapping[str, Mapping[str, Endpoint]]
"""Other names of tensors: by such a name, the tensor for each place that gives it the name (``signature/key``)."""

_NO_ALIASES: Aliases = MappingProxyType({})


def parse_input(text: str) -> tuple[str, int]:
    """Split a NodeDef input: ``x`` -> (x, 0), ``x:1`` -> (x, 1), ``^x`` -> (x, CONTROL_PORT)."""
    if text.startswith("^"):
        return text[1:], CONTROL_PORT
    name, colon, port = text.rpartition(":")
    if colon and port.isascii() and port.isdigit() and len(port) < 7:
        return name, int(port)
    return text, 0


def body_source(text: str) -> str:
    """The node or argument that an input inside a function names: ``argument``, ``node:output:0`` or ``^node``."""
    return text.lstrip("^").partition(":")[0]


def nearest(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names most likely meant by ``name``: same last part first, then by similarity (at most 20,000 looked at)."""
    pool = list(names)
    last = name.rsplit("/", 1)[-1].lower()
    same_end = [other for other in pool if other.lower().rsplit("/", 1)[-1] == last]
    close = difflib.get_close_matches(name, pool[:20_000], count, 0.6)
    return list(dict.fromkeys([*same_end[:count], *close]))[:count]


def _spellings(text: str) -> Iterable[str]:
    """What ``text`` may mean, the literal reading first."""
    bare = text.strip()
    yield bare
    quoted = _QUOTED.search(bare)
    if quoted:
        bare = quoted.group(1).strip()
        yield bare
    bare = bare.strip("\"'`,; ").lstrip("^/")
    yield bare
    yield re.sub(r"(:\d*)+$", "", bare)
    yield re.sub(r"/\([^()/]*\)$", "", bare)  # TensorBoard shows the op of a scope as 'concat/(concat)'


def resolve(text: str, index: Mapping[str, int], aliases: Aliases = _NO_ALIASES) -> Endpoint:
    """The endpoint that a typed or pasted name means; in a document, ``model.endpoints`` knows the aliases.

    Args:
        text: ``x:0``, ``^x``, ``/x``, ``x:0:0``, ``concat/(concat)``, other case, or code that quotes the name.
        index: node names of the graph (as keys).
        aliases: what else tensors are called; a node of exactly the same name comes first.

    Raises:
        UnknownNameError: no node, or several differing only in case, or one alias for several tensors; the message
            names the nearest.
    """
    if text in index:  # a name may begin or end with spaces
        return Endpoint(text)
    first_port = re.search(r":(\d{1,6})(:\d+)*$", text.strip("\"' )"))
    typed = int(first_port.group(1)) if first_port else 0
    for spelling in _spellings(text):
        name, port = parse_input(spelling)
        for candidate, at in ((spelling, 0), (name, max(port, 0))):
            if candidate in index:
                return Endpoint(candidate, at or (typed if candidate != text else 0))
    alias = next((spelling for spelling in _spellings(text) if spelling in aliases), None)
    if alias is not None and (alias == text.strip() or not typed):  # an alias means one tensor, and has no ports
        return _aliased(text, aliases[alias])
    return _nearly(text, index, aliases)


def _aliased(text: str, places: Mapping[str, Endpoint]) -> Endpoint:
    """The one tensor that an alias means.

    Raises:
        UnknownNameError: it means several; the message lists where.
    """
    tensors = set(places.values())
    if len(tensors) == 1:
        return tensors.pop()
    listed = ", ".join(f"{place} ({endpoint})" for place, endpoint in places.items())
    raise UnknownNameError(
        f"'{text.strip()}' means several tensors: {listed}.", f"Write '{next(iter(places))}' to choose one."
    )


def _nearly(text: str, index: Mapping[str, int], aliases: Aliases) -> Endpoint:
    """The node whose name differs in case only.

    Raises:
        UnknownNameError: there is none, or there are several.
    """
    folded = parse_input(text.strip().lstrip("^/"))[0].lower()
    same = [name for name in index if name.lower() == folded]
    if len(same) == 1:
        return Endpoint(same[0], max(parse_input(text)[1], 0))
    close = same or nearest(folded, [*aliases, *index])
    raise UnknownNameError(
        f"There is no node '{text.strip()}'.",
        f"Closest: {', '.join(close)}." if close else "The outputs verb and the Endpoints panel list candidates.",
    )


def resolve_all(texts: Iterable[str], index: Mapping[str, int], aliases: Aliases = _NO_ALIASES) -> list[Endpoint]:
    """Resolve repeated and comma-separated names, keeping order and dropping doubles."""
    parts: list[str] = []
    for text in texts:
        parts += [text] if text in index or text in aliases else _PRINTED.sub("", text).split(",")
    parts = [part for part in parts if part in index or part.strip(" \t\r\n)>]")]
    return list(dict.fromkeys(resolve(part, index, aliases) for part in parts))
