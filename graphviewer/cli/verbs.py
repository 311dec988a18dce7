"""The group of verbs: loads only the verb that is asked for, and says in one sentence what went wrong."""

from __future__ import annotations

import difflib
import errno
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import click

from graphviewer.cli.output import say_error, say_json
from graphviewer.cli.streams import drop, is_output_refused, prepare_streams
from graphviewer.errors import GraphViewerError

TROUBLE = 2
"""Exit code of everything that could not be done; 1 means different, or problems found."""

_INTERRUPTED = 130  # what shells expect of a program that Ctrl+C ended

_VERBS: Mapping[str, str] = MappingProxyType(
    {
        "open": "graphviewer.cli.window",
        "info": "graphviewer.cli.look",
        "check": "graphviewer.cli.look",
        "outputs": "graphviewer.cli.look",
        "roles": "graphviewer.cli.look",
        "variables": "graphviewer.cli.variables",
        "freeze": "graphviewer.cli.make",
        "strip": "graphviewer.cli.make",
        "apply": "graphviewer.cli.make",
        "convert": "graphviewer.cli.convert",
        "diff": "graphviewer.cli.compare",
        "verify": "graphviewer.cli.prove",
        "run": "graphviewer.cli.prove",
        "render": "graphviewer.cli.render",
        "textconv": "graphviewer.cli.git",
        "git-setup": "graphviewer.cli.git",
    }
)


class _ReaderLeftError(Exception):
    """What reads our output, such as ``head``, has enough."""


class Verbs(click.Group):
    """Verbs by name; anything else that looks like a file is opened."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _VERBS.get(cmd_name)
        return getattr(import_module(module), f"{cmd_name.replace('-', '_')}_verb") if module else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before a file belong to ``open``: ``graphviewer --timings model.pb``."""
        own = {"--help", "-h", "--version"}
        if not args or (args[0].startswith("-") and args[0] not in own):
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """``graphviewer FILE`` is ``graphviewer open FILE``."""
        word = args[0]
        if word in _VERBS:
            return super().resolve_command(ctx, args)
        if not _looks_like_a_path(word):
            close = difflib.get_close_matches(word, _VERBS, 1)
            hint = f"Did you mean '{close[0]}'?" if close else "graphviewer --help lists the verbs."
            raise GraphViewerError(f"There is no verb and no file '{word}'.", hint)
        return "open", self.get_command(ctx, "open"), args

    def invoke(self, ctx: click.Context) -> Any:
        """Tell a reader who left from other trouble: click would end the process with 1, which means 'different'."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderLeftError from error

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and end the process with the exit code that the contract gives.

        Args:
            args: words of the command line; by default the process's own.
            prog_name: how help texts call the program.
            complete_var: as in click, for completion by the shell.
            standalone_mode: False lets exceptions through and returns the verb's value, as in click.
            extra: handed on to click.
        """
        name = prog_name or "graphviewer"
        if not standalone_mode:
            return super().main(args, name, complete_var, standalone_mode=False, **extra)
        try:
            prepare_streams()
            code = super().main(args, name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except Exception as error:
            _end(error, as_json="--json" in (sys.argv[1:] if args is None else args))
        sys.exit(code if isinstance(code, int) else 0)


def _looks_like_a_path(word: str) -> bool:
    return os.sep in word or "." in word or Path(word).exists() or Path(word + ".index").exists()


def _end(error: Exception, *, as_json: bool) -> NoReturn:
    """Say what happened, with a hint, and leave.

    Args:
        as_json: who asked for JSON gets the trouble as one document too, ``{"error": {"message", "hint"}}``.
    """
    if isinstance(error, (BrokenPipeError, _ReaderLeftError)):
        drop(sys.stdout)
        sys.exit(0)
    if isinstance(error, OSError) and error.filename is None and is_output_refused():
        drop(sys.stdout)
        closed = ("standard output is closed", "Leave it open, or send it to a file.")
        full = ((error.strerror or str(error)).lower(), "Send it to where there is room.")
        reason, hint = closed if error.errno == errno.EBADF else full
        say_error(f"The output could not be written: {reason}.", hint)
        sys.exit(TROUBLE)
    message, hint, code = _told(error)
    say_error(message, hint)
    if as_json:
        _say_json(message, hint)
    sys.exit(code)


def _say_json(message: str, hint: str) -> None:
    """The trouble as JSON, where standard output takes it: it is on standard error already."""
    try:
        say_json({"error": {"message": message, "hint": hint}})
        sys.stdout.flush()
    except OSError:
        drop(sys.stdout)


def _told(error: Exception) -> tuple[str, str, int]:
    """What happened, a hint, and the exit code; of a fault of the program, its place is on standard error then."""
    if isinstance(error, GraphViewerError):
        return error.message, error.shell, error.exit_code
    if isinstance(error, click.Abort):
        return str(error) or "Stopped.", "", _INTERRUPTED
    if isinstance(error, click.ClickException):
        usage = isinstance(error, click.UsageError) and error.ctx is not None
        hint = f"{error.ctx.command_path} --help shows how it is used." if usage else ""  # type: ignore[attr-defined]
        return error.format_message(), hint, TROUBLE
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{(error.strerror or str(error)).lower()}.", "Check the path and its permissions.", TROUBLE
    if isinstance(error, MemoryError):
        hint = "Close other programs, or use a machine with more."
        return "There is not enough memory for this.", hint, TROUBLE
    click.echo(traceback.format_exc(), err=True, nl=False)
    return f"This is a fault in graphviewer: {type(error).__name__}.", "Please report it with the lines above.", TROUBLE


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="graphviewer", message="graphviewer %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """See, strip, freeze and compare TensorFlow graphs.

    graphviewer FILE opens a window; without a file, a welcome page. Every verb that prints a result takes --json.
    Exit codes: 0 done or same, 1 different or problems found, 2 trouble.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
