"""Search while typing: a query language and an index over what a graph says about its nodes."""

from graphviewer.analysis.search.index import Hits, Match, SearchIndex, search_overlay
from graphviewer.analysis.search.query import LANGUAGE, Query, QueryError, parse_query

__all__ = ["LANGUAGE", "Hits", "Match", "Query", "QueryError", "SearchIndex", "parse_query", "search_overlay"]
