"""What the documents tell to type exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from graphviewer.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/README.zh-CN.md")


def typed(document: str) -> list[str]:
    """The command lines of a document's blocks of shell."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / document).read_text("utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("graphviewer ")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_that_every_command_line_names_a_verb_and_options_that_there_are(document):
    lines = typed(document)
    assert len(lines) >= 5
    for line in lines:
        command: click.Command = main
        words = shlex.split(line, comments=True)[1:]
        while isinstance(command, click.Group):
            name = words.pop(0)
            found = command.get_command(click.Context(command), name)
            assert found is not None, f"{document}: there is no verb '{name}': {line}"
            command = found
        known = {text for one in command.params for text in (*one.opts, *one.secondary_opts)}
        unknown = [word for word in words if word.startswith("-") and word not in known]
        assert unknown == [], f"{document}: {line}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_that_every_file_that_is_linked_is_there(document):
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / document).read_text("utf-8"))
    assert links
    assert [link for link in links if not ((ROOT / document).parent / link).exists()] == []
