"""The index of a document, and ranked answers from it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviewer.analysis.search.columns import Column, column, read_details
from graphviewer.analysis.search.query import BOUNDARY, EXACT, INSIDE, NO, Pattern, Query, Term, fold
from graphviewer.analysis.search.similar import similar
from graphviewer.model.document import Document
from graphviewer.model.graph import Ints
from graphviewer.model.overlay import Overlay
from graphviewer.model.scopes import ROOT

# Scores by strength: a name tells most, then the op, then all else. What a scope's name says counts for all inside.
_NAME = np.array([0, 65, 75, 85, 95], np.int32)
_PATH = np.array([0, 50, 60, 60, 100], np.int32)
_OP = np.array([0, 60, 62, 70, 90], np.int32)
_OTHER = np.array([0, 30, 35, 40, 50], np.int32)
_INHERITED = 40  # so much less than the scope's own score
_SIMILAR = 20
_INFERENCE_BONUS = 3

_ONE_OF = ("op", "dtype", "device", "role", "value", "attribute")
"""Fields of which only equal texts count where some are equal: ``op:Add`` does not mean ``AddN``."""


UNREAD = "attributes are still being read"
TOO_SLOW = "this expression takes too long"
TOO_LONG = "of very long names only the end was looked at"
_LONGEST_MATCH = 0.1  # seconds between two looks at the clock; what comes next would take as long


class Match(NamedTuple):
    """Why an item was found: the field, and what it says."""

    field: str
    text: str


@dataclass(frozen=True, eq=False)
class Hits:
    """The answer to a query.

    Attributes:
        query: what was asked.
        items: int32, items of the scope tree, best first.
        similar: words that are nowhere as written; texts that come near were taken.
        note: why the answer is not whole: what it says to the reader; empty where it is.
        columns: where it was looked, for ``matches``.
    """

    query: Query
    items: Ints
    similar: tuple[str, ...] = ()
    note: str = ""
    columns: Sequence[Column] = ()

    def __len__(self) -> int:
        return len(self.items)

    def matches(self, item: int) -> list[Match]:
        """What of an item met the query, names left out."""
        found: dict[Match, None] = {}
        for term in self.query.positive:
            for one in self.columns:
                if _reads(term, one):
                    strong = [(term.strength(text), text) for text in map(fold, one.of(item))]
                    shown = dict(zip(map(fold, one.of(item)), one.of(item), strict=True))
                    best = max((strength for strength, _ in strong), default=NO)
                    found |= {Match(one.field, shown[text]): None for strength, text in strong if strength == best > NO}
        return list(found)


class _OutOfTime(Exception):
    """The budget of a search is spent."""


class SearchIndex:
    """All that can be asked of a document's nodes and scopes. Names and ops answer at once, the rest once it is read.

    Safe to be used from one thread at a time, and to be read by ``search`` while ``complete`` runs in another.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._details: dict[str, Column] = {}

    @property
    def is_complete(self) -> bool:
        """Whether attributes are in the index."""
        return bool(self._details)

    def complete(self) -> None:
        """Read the attributes of all nodes."""
        if not self._details:
            self._details = read_details(self.document)

    @cached_property
    def _labels(self) -> Column:
        """The last part of each item's name: different ones are few, and a scope's is told once for all inside."""
        scopes = self.document.scopes
        plain = [
            label.strip("()") if node >= 0 else label for label, node in zip(scopes.labels, scopes.node, strict=True)
        ]
        return column("name", np.arange(len(scopes)), plain)

    @cached_property
    def _paths(self) -> Column:
        scopes = self.document.scopes
        texts = [""] * len(scopes)
        for path, item in scopes.by_path.items():
            texts[item] = path
        for item, name in zip(scopes.leaf.tolist(), scopes.graph.names, strict=True):
            texts[item] = name
        items = np.arange(len(scopes), dtype=np.int32)
        return Column("name", texts, items, items)

    @cached_property
    def _lengths(self) -> Ints:
        return np.fromiter(map(len, self._paths.texts), np.int32, len(self._paths.texts))

    @cached_property
    def _plain(self) -> tuple[Column, ...]:
        graph, leaf = self.document.graph, self.document.scopes.leaf
        return column("op", leaf, graph.ops), column("device", leaf, graph.devices)

    def _columns(self, roles: Overlay | None) -> list[Column]:
        found = [*self._plain, *self._details.values()]
        if roles is not None:
            known = np.flatnonzero(roles.codes >= 0)
            item = self.document.scopes.leaf[known]
            order = np.argsort(item, kind="stable")
            found.append(Column("role", roles.categories, item[order], roles.codes[known][order].astype(np.int32)))
        return found

    def search(self, query: Query, roles: Overlay | None = None, seconds: float = 1.0) -> Hits:
        """All items that meet a query, best first: by what was met, then inference nodes, short names, file order.

        Args:
            query: what is looked for; an empty one finds nothing.
            roles: roles of the nodes, where they are known.
            seconds: what it may take; a slow regular expression ends then, and the answer says so.
        """
        if not query:
            return Hits(query, np.zeros(0, np.int32))
        run = _Search(self, self._columns(roles), time.perf_counter() + seconds)
        scopes = self.document.scopes
        total, alive = np.zeros(len(scopes), np.int32), np.ones(len(scopes), bool)
        alive[ROOT] = False
        if not query.positive:
            alive &= ~scopes.is_scope
        try:
            for term in query.terms:
                scores = run.scores(term)
                alive &= (scores == 0) if term.is_negated else (scores > 0)
                if not term.is_negated:
                    total += scores
                elif term.field not in ("", "name"):
                    alive &= ~scopes.is_scope
        except _OutOfTime:
            alive[:], run.note = False, TOO_SLOW
        if roles is not None and "inference" in roles.categories:
            total[scopes.leaf[roles.codes == list(roles.categories).index("inference")]] += _INFERENCE_BONUS
        items = np.flatnonzero(alive).astype(np.int32)
        order = np.lexsort((items, self._lengths[items], -total[items]))
        return Hits(
            query, items[order], tuple(run.similar), run.note or ("" if self.is_complete else UNREAD), run.columns
        )


def _reads(term: Term, one: Column) -> bool:
    """Whether a term looks into a column. A word reads each type once, as an attribute, and no colocation."""
    if one.field == "colocation":
        return term.field == "attribute" and term.text.startswith("_")
    return term.field == one.field or (not term.field and one.field != "dtype")


class _Search:
    """Works out the scores of terms."""

    def __init__(self, index: SearchIndex, columns: list[Column], deadline: float) -> None:
        self._index, self.columns, self._deadline = index, columns, deadline
        self._count = len(index.document.scopes)
        self.similar: list[str] = []
        self.note = ""

    def scores(self, term: Term) -> Ints:
        """int32 [items]: how well each meets a term, 0 where it does not."""
        found = np.zeros(self._count, np.int32)
        if term.field in ("", "name"):
            found = self._of_names(term)
        for one in self.columns:
            if _reads(term, one):
                weights = _OP if one.field == "op" else _OTHER
                self._spread(one, weights[self._strengths(term, one)], found)
        if term.may_be_similar and not found.any():
            found = self._similar(term)
        return found

    def _of_names(self, term: Term) -> Ints:
        if term.reads_paths:
            paths = self._index._paths
            return _PATH[self._strengths(term, paths)][paths.text]
        labels = self._index._labels
        found = np.zeros(self._count, np.int32)
        self._spread(labels, _NAME[self._strengths(term, labels)], found)
        return self._inherit(found, _INHERITED)

    def _strengths(self, term: Term, one: Column) -> NDArray[np.int8]:
        """int8 [texts]."""
        look = self._by_pattern(term, one.folded) if isinstance(term, Pattern) else map(term.strength, one.folded)
        found = np.fromiter(look, np.int8, len(one.texts))
        if one.field == "value" and not term.field:
            found[(found == INSIDE) | (found == BOUNDARY)] = NO  # a 1 typed in a name is in most lists of numbers
        if term.field == one.field and one.field in _ONE_OF and (found == EXACT).any():
            found[found < EXACT] = NO
        return found

    def _by_pattern(self, term: Pattern, texts: Sequence[str]) -> Iterator[int]:
        """Strengths of a regular expression, which may take its time and stops the whole window meanwhile."""
        now, step = time.perf_counter(), (256, 8)[term.repeats] if term.repeats < 2 else 1
        for at, text in enumerate(texts):
            if len(text) > term.longest:
                text, self.note = text[-term.longest :], TOO_LONG
            yield term.strength(text)
            if at % step == 0:
                before, now = now, time.perf_counter()
                if now > self._deadline or now - before > _LONGEST_MATCH:
                    raise _OutOfTime

    @staticmethod
    def _spread(one: Column, scores: Ints, into: Ints) -> None:
        """Give each item the best score of its texts."""
        hit = np.flatnonzero(scores[one.text]) if scores.any() else np.zeros(0, np.intp)
        np.maximum.at(into, one.item[hit], scores[one.text[hit]])

    def _inherit(self, scores: Ints, less: int) -> Ints:
        """Let everything inside a scope that was met be met too, ``less`` well."""
        if not scores.any():
            return scores
        given, scopes = scores.copy(), self._index.document.scopes
        above = np.maximum(scores - less, 0)
        for level in self._levels:
            parent = scopes.parent[level]
            above[level] = np.maximum(above[level], above[parent])
            given[level] = np.maximum(given[level], above[parent])
        return given

    @cached_property
    def _levels(self) -> list[NDArray[np.intp]]:
        """The items of each depth, from 1 on."""
        depth = self._index.document.scopes.depth
        order = np.argsort(depth, kind="stable")
        bounds = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
        return [order[begin:end] for begin, end in pairwise(bounds)]

    def _similar(self, term: Term) -> Ints:
        test, found = similar(term.text), np.zeros(self._count, np.int32)
        for one in (self._index._labels, self._index._plain[0]):
            if term.field != "name" or one.field == "name":
                near = np.fromiter(map(test, one.folded), bool, len(one.folded))
                self._spread(one, near.astype(np.int32) * _SIMILAR, found)
        if found.any():
            self.similar.append(term.text)
        return self._inherit(found, _SIMILAR // 2)


def search_overlay(document: Document, hits: Hits) -> Overlay:
    """What was found, as an overlay: a scope that was found lends its nodes nothing, they are hits of their own."""
    scopes = document.scopes
    codes = np.ones(len(scopes.graph), np.int8)
    node = scopes.node[hits.items]
    codes[node[node >= 0]] = 0
    reasons = [f"meets {hits.query.text}" if code == 0 else "" for code in codes.tolist()]
    return Overlay("search", ("hit", "other"), codes, reasons)
