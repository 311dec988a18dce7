"""The verbs that make a git repository show what changed in its graphs."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
from pathlib import Path

import click

from graphviewer.cli.options import PATH
from graphviewer.cli.output import clean, say
from graphviewer.errors import GraphViewerError, ReadError

_PATTERNS = ("*.pb", "*.pbtxt", "*.meta")
_NAME = "graphviewer"
_MOST_TEXT = 50_000_000  # bytes of a text file that is no graph, shown as it is


@click.command("textconv", short_help="Print a graph as text for 'git diff'.")
@click.argument("path", type=PATH)
def textconv_verb(path: Path) -> int:
    """Print a graph as text for 'git diff': equal graphs give equal text.

    What is no graph is printed as it is when it is text, and told by its size and digest when it is not, so that 'git
    diff' goes on.
    """
    from graphviewer.export.listing import listing
    from graphviewer.formats import open_document

    try:
        document = open_document(path, alone=True)
    except ReadError as error:
        if not path.is_file():
            raise
        say(_no_graph(path, error.message))
        return 0
    for line in listing(document):
        say(clean(line))
    return 0


def _no_graph(path: Path, reason: str) -> str:
    raw = path.read_bytes()
    if len(raw) < _MOST_TEXT and b"\0" not in raw:
        try:
            return "\n".join(map(clean, raw.decode("utf-8").splitlines()))
        except UnicodeDecodeError:
            pass
    what = reason.replace(path.name, "This file")  # git calls it by another name every time
    return clean(f"{what} {len(raw):,} bytes, sha256:{hashlib.sha256(raw).hexdigest()}")


@click.command("git-setup", short_help="Let 'git diff' show what changed in graphs.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--remove", is_flag=True, help="Take out what an earlier git-setup put in.")
def git_setup_verb(yes: bool, remove: bool) -> int:
    """Let 'git diff' of the repository here show what changed in *.pb, *.pbtxt and *.meta.

    Adds a diff driver and a difftool to the repository's own configuration, which is not shared, and lines to its
    .gitattributes, which is. 'git difftool -t graphviewer' opens both sides in the window.
    """
    top = Path(_git("rev-parse", "--show-toplevel"))
    attributes = top / ".gitattributes"
    lines = [f"{pattern} diff={_NAME}" for pattern in _PATTERNS]
    if remove:
        _ask(f"Take {_NAME} out of the configuration and {attributes}?", yes)
        _remove(attributes, lines)
        return 0
    config = _config()
    say(f"In the configuration of the repository {clean(str(top))}:")
    for key, value in config.items():
        say(f"  {key} = {clean(value)}")
    missing = [line for line in lines if line not in _lines(attributes)]
    say(f"In {clean(str(attributes))}: " + (", ".join(missing) or "nothing, the lines are there"))
    _ask("Write this?", yes)
    for key, value in config.items():
        _git("config", "--local", key, value)
    if missing:
        _write(attributes, [*_lines(attributes), *missing])
    say(f"Done. 'git diff' shows graphs as text, 'git difftool -t {_NAME}' opens the window.")
    return 0


def _config() -> dict[str, str]:
    # -P: git runs this in the repository, where a file json.py must not be taken for Python's own.
    program = f"{shlex.quote(sys.executable)} -P -m graphviewer" if sys.executable else "graphviewer"
    both = f'{program} open "$LOCAL" --diff "$REMOTE"'
    tool = (
        f'if test -s "$LOCAL" && test -s "$REMOTE"; then {both}; '
        f'elif test -s "$REMOTE"; then {program} open "$REMOTE"; else {program} open "$LOCAL"; fi'
    )
    return {
        f"diff.{_NAME}.textconv": f"{program} textconv",
        f"diff.{_NAME}.cachetextconv": "true",
        f"diff.{_NAME}.xfuncname": "^[^ ].*$",  # a hunk's header names the node that it is in
        f"difftool.{_NAME}.cmd": tool,
    }


def _remove(attributes: Path, lines: list[str]) -> None:
    for section in (f"diff.{_NAME}", f"difftool.{_NAME}"):
        subprocess.run(["git", "config", "--local", "--remove-section", section], capture_output=True, check=False)
    kept = [line for line in _lines(attributes) if line not in lines]
    if kept:
        _write(attributes, kept)
    else:
        attributes.unlink(missing_ok=True)


def _ask(question: str, yes: bool) -> None:
    if not yes:
        click.confirm(clean(question), abort=True)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.is_file() else []


def _write(path: Path, lines: list[str]) -> None:
    from graphviewer.formats.writing import write_atomically

    write_atomically(path, [("\n".join(lines) + "\n").encode()], force=True)


def _git(*words: str) -> str:
    """What a git command prints.

    Raises:
        GraphViewerError: there is no git, or it refuses.
    """
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise GraphViewerError("There is no git on this machine.", "Install git first.") from error
    if done.returncode:
        raise GraphViewerError(
            f"git refuses: {(done.stderr.strip() or 'no reason given').splitlines()[0]}.", "Run this in a repository."
        )
    return done.stdout.strip()
