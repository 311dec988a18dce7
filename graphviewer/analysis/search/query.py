"""The query language of the search: words, fields, attributes, shapes and regular expressions, all of which must hold.

Texts are compared folded: lower case, without spaces, so that ``[1, 2]`` and ``[1,2]`` are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphviewer.errors import GraphViewerError

NO, INSIDE, BOUNDARY, PREFIX, EXACT = range(5)
"""How well a text meets a term."""

LANGUAGE: tuple[tuple[str, str], ...] = (
    ("conv bias", "every word, in name, op, attributes, device or value"),
    ("op:Conv2D", "the op; op:Conv* for all that begin so"),
    ("name:unit_3", "the name only"),
    ("dtype:float32", "any type attribute"),
    ("shape:[?,10]", "a known output shape; ? is any size, … any sizes"),
    ("padding=SAME", "an attribute's value; padding= where it is set"),
    ("role:gradient", "the role, when an output is chosen"),
    ("device:gpu", "the device"),
    ("value:0.5", "the value of a small constant"),
    ("/block[34].*bias/", "a regular expression over the full name"),
    ("-op:Const", "not"),
)
"""Examples and what they find."""

_FIELDS = {
    **{name: name for name in ("name", "op", "attribute", "dtype", "shape", "device", "role", "value")},
    "attr": "attribute",
    "type": "dtype",
}
_DTYPES = {"float": "float32", "double": "float64", "half": "float16"}
_TOKEN = re.compile(r'-?(?:\w+:)?/.+?/(?=\s|$)|-?/.*$|(?:"[^"]*"?|\[[^\]]*\]?|[^\s"\[])+')
_FIELD = re.compile(r"(\w+):(.*)$", re.DOTALL)
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_TENSOR = re.compile(r"\^?(.*/.*?)(?::\d+)?$", re.DOTALL)  # x/y:0 and ^x/y mean the node x/y


_LONGEST = (10_000, 5_000, 1_000, 300, 150)  # letters of a text, by the number of unbounded repeats


class QueryError(GraphViewerError):
    """The text cannot be read as a query."""


def fold(text: str) -> str:
    """The form in which texts and terms are compared."""
    return text.lower().replace(" ", "")


@dataclass(frozen=True)
class Term:
    """One condition.

    Attributes:
        field: where it looks; empty for everywhere.
        text: what it looks for, folded.
        is_negated: nodes that meet it are left out.
    """

    field: str
    text: str
    is_negated: bool = False

    @property
    def reads_paths(self) -> bool:
        """It must see full names, not only their parts."""
        return "/" in self.text

    @property
    def may_be_similar(self) -> bool:
        """A misspelt word: where it is found nowhere, texts that come near it are looked for."""
        return self.field in ("", "name") and not self.is_negated and len(self.text) >= 3 and not self.reads_paths

    def strength(self, text: str) -> int:
        """How well a folded text meets this."""
        at = text.find(self.text)
        if at < 0:
            return NO
        if at == 0:
            return EXACT if len(text) == len(self.text) else PREFIX
        return INSIDE if text[at - 1].isalnum() else BOUNDARY

    def span(self, text: str) -> tuple[int, int] | None:
        """Begin and end of the last place in a text, as it is written, that meets this."""
        at = text.lower().rfind(self.text)
        return (at, at + len(self.text)) if at >= 0 else None


@dataclass(frozen=True)
class Pattern(Term):
    """A regular expression, or a text with ``*``.

    Attributes:
        is_whole: it must fit the whole text.
        repeats: unbounded repeats in it; the time of a match grows with the text's length to the power of this plus 1.
    """

    expression: re.Pattern[str] = re.compile("")
    is_whole: bool = False
    repeats: int = 0

    @property
    def reads_paths(self) -> bool:
        return True

    @property
    def may_be_similar(self) -> bool:
        return False

    @property
    def longest(self) -> int:
        """Letters of a text that may be looked at without standing still for seconds."""
        return _LONGEST[self.repeats]

    def strength(self, text: str) -> int:
        if self.is_whole:
            return EXACT if self.expression.fullmatch(text) else NO
        return BOUNDARY if self.expression.search(text) else NO

    def span(self, text: str) -> tuple[int, int] | None:
        found = self.expression.search(text.lower())
        return found.span() if found else None


class _WholeText(Term):
    """A term that a text meets as a whole or not at all; texts of names are none."""

    @property
    def reads_paths(self) -> bool:
        return False

    @property
    def may_be_similar(self) -> bool:
        return False

    def span(self, text: str) -> tuple[int, int] | None:
        return (0, len(text)) if self.strength(fold(text)) else None


@dataclass(frozen=True)
class Attribute(_WholeText):
    """``name=value``: the value as a term of its own."""

    value: Term = Term("", "")

    def strength(self, text: str) -> int:
        name, _, value = text.partition("=")
        if name != self.text:
            return NO
        return self.value.strength(value) if self.value.text else EXACT


@dataclass(frozen=True)
class Shape(_WholeText):
    """A shape: sizes that must be equal, ``?`` for any one, ``…`` for any number of them."""

    sizes: tuple[str, ...] = ()

    def strength(self, text: str) -> int:
        if not text.startswith("["):
            return NO
        sizes = [size for size in text.strip("[]").split(",") if size]
        if "…" not in self.sizes:
            return EXACT if len(sizes) == len(self.sizes) and _fit(self.sizes, sizes) else NO
        at = self.sizes.index("…")
        head, tail = self.sizes[:at], self.sizes[at + 1 :]
        enough = len(sizes) >= len(head) + len(tail)
        fits = enough and _fit(head, sizes[: len(head)]) and _fit(tail, sizes[len(sizes) - len(tail) :])
        return EXACT if fits else NO


def _fit(wanted: tuple[str, ...], sizes: list[str]) -> bool:
    return all(one in ("?", other) for one, other in zip(wanted, sizes, strict=True))


@dataclass(frozen=True)
class Query:
    """What was asked: terms that must all hold."""

    text: str
    terms: tuple[Term, ...]

    @property
    def positive(self) -> tuple[Term, ...]:
        """The terms that are not negated."""
        return tuple(term for term in self.terms if not term.is_negated)

    def __bool__(self) -> bool:
        return bool(self.terms)


def parse_query(text: str) -> Query:
    """Read a query; unfinished brackets, quotes and expressions count as finished, for people are still typing.

    Raises:
        QueryError: a regular expression that is none, or that could run for ever.
    """
    return Query(text, tuple(_terms(text)))


def _terms(text: str) -> Iterator[Term]:
    for token in _TOKEN.findall(text):
        negated = token[0] == "-" and len(token) > 1 and (token[1].isalpha() or token[1] in '_/"')
        body = token[1:] if negated else token
        term = _term(body, negated)
        if term is not None:
            yield term


def _term(body: str, negated: bool) -> Term | None:
    field, wanted = "", body
    found = _FIELD.match(body)
    if found and found[1].lower() in _FIELDS:
        field, wanted = _FIELDS[found[1].lower()], found[2]
    if wanted.startswith("/"):
        return _expression(field or "name", wanted, negated)
    attribute = _ATTRIBUTE.match(wanted)
    if attribute and field in ("", "attribute"):
        value = _plain("", attribute[2], False) or Term("", "")
        return Attribute("attribute", fold(attribute[1]), negated, value)
    if field == "shape" and wanted:
        return _shape(wanted, negated)
    return _plain(field, wanted, negated)


def _plain(field: str, wanted: str, negated: bool) -> Term | None:
    text = fold(wanted.replace('"', ""))
    if field == "dtype":
        text = text.removeprefix("dt_")
        text = _DTYPES.get(text, text)
    elif field in ("", "name") and (tensor := _TENSOR.match(text)):
        text = tensor[1]
    elif field == "role":
        text = text.replace("-", "_")
    if not text.strip("*"):
        return None
    if "*" in text:
        expression = ".*?".join(re.escape(part) for part in re.split(r"\*+", text))
        whole = field not in ("", "name")
        return _pattern(field or "name", text, negated, re.compile(expression, re.DOTALL), whole)
    return Term(field, text, negated)


def _shape(wanted: str, negated: bool) -> Term | None:
    text = fold(wanted).replace("...", "…")
    sizes = tuple("?" if size in ("*", "-1", "none") else size for size in text.strip("[]").split(",") if size)
    if not text.startswith("["):  # a bare size: anywhere in the shape
        sizes = ("…", *sizes, "…")
        return _anywhere(sizes, text, negated)
    return Shape("shape", text, negated, sizes)


def _anywhere(sizes: tuple[str, ...], text: str, negated: bool) -> Term | None:
    inner = ",".join("[^,]+" if size == "?" else re.escape(size) for size in sizes[1:-1])
    return _pattern("shape", text, negated, re.compile(rf"(?<=[\[,]){inner}(?=[,\]])")) if inner else None


def _pattern(field: str, text: str, negated: bool, expression: re.Pattern[str], is_whole: bool = False) -> Pattern:
    repeats = len(_REPEAT.findall(_without_letters(expression.pattern)))
    if repeats >= len(_LONGEST):
        raise QueryError(f"More than {len(_LONGEST) - 1} repeats take too long.", "Ask for several shorter pieces.")
    return Pattern(field, text, negated, expression, is_whole, repeats)


def _expression(field: str, wanted: str, negated: bool) -> Term | None:
    source = wanted[1:-1] if len(wanted) > 1 and wanted.endswith("/") else wanted[1:]
    if not source:
        return None
    if _nests_repeats(source):
        raise QueryError("A repeat inside a repeat, as in (a+)+, may never end.", "Write it with one of the two.")
    flags = 0 if source == source.lower() else re.IGNORECASE  # folded texts are lower case; without the flag: faster
    try:
        return _pattern(field, source, negated, re.compile(source, flags))
    except (re.error, OverflowError, RecursionError) as error:
        raise QueryError(f"No regular expression: {error}.", "Correct it, or leave out the slashes.") from error


_REPEAT = re.compile(r"[*+]|\{\d*,|\{\d{2,}")


def _without_letters(source: str) -> str:
    """An expression with ``x`` for each escaped letter and each set of letters."""
    return re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", source, flags=re.DOTALL)


def _nests_repeats(source: str) -> bool:
    """Whether a repeated group holds a repeat: matching such an expression can take exponential time."""
    plain, stack = _without_letters(source), [False]
    for at, letter in enumerate(plain):
        if letter == "(":
            stack.append(False)
        elif letter == ")" and len(stack) > 1:
            inner = stack.pop()
            repeated = plain[at + 1 : at + 2] in ("*", "+", "{")
            if inner and repeated:
                return True
            stack[-1] |= inner or repeated
        elif letter in "*+{":
            stack[-1] = True
    return False
