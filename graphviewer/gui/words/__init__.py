"""Nodes, scopes, calls and changes in words, as HTML in which every text of a file is escaped."""
