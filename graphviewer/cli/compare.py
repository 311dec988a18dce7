"""The verb that compares two files."""

from __future__ import annotations

from pathlib import Path

import click

from graphviewer.cli.options import PATH, json_option
from graphviewer.cli.output import ProgressLine, say, say_json


@click.command("diff")
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@click.option("--stat", is_flag=True, help="Only count: by status and by op.")
@click.option("--full", is_flag=True, help="Every node that is not the same, with the reason.")
@json_option
def diff_verb(before: Path, after: Path, stat: bool, full: bool, as_json: bool) -> int:
    """Compare two graphs node by node. Exit code 0 when they are the same, 1 when they differ.

    Order of nodes, encoding of tensors and versions do not count.
    """
    from graphviewer.analysis.diff import compare
    from graphviewer.formats import open_document

    with ProgressLine() as progress:
        first = open_document(before, progress=lambda part, text: progress(0.3 * part, text))
        second = open_document(after, progress=lambda part, text: progress(0.3 + 0.3 * part, text))
        diff = compare(first, second, progress=lambda part, text: progress(0.6 + 0.4 * part, text))
    if as_json:
        say_json(diff.to_json())
    else:
        from graphviewer.cli.diff_text import by_scope, every_change, head, statistics

        for line in head(diff):
            say(line)
        if not diff.same:
            for line in (statistics if stat else every_change if full else by_scope)(diff):
                say(line)
    return 0 if diff.same else 1
