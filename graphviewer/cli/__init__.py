"""The command line: one verb per question or task; see ``graphviewer --help``."""

from graphviewer.cli.verbs import main

__all__ = ["main"]
