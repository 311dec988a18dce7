"""The one family of errors that a user is meant to read."""

from typing import ClassVar


class GraphViewerError(Exception):
    """Something a person can act on: what went wrong, and what to do about it.

    Args:
        message: one sentence, naming the file or node it is about.
        hint: what to do next, as the window has it; may be empty.
        shell: the same as the shell has it, with flags and verbs; by default the hint, and what the shell offers for
            all errors of the class.

    Attributes:
        in_shell: what the shell offers where the window has a button.
    """

    exit_code = 2
    in_shell: ClassVar[str] = ""

    def __init__(self, message: str, hint: str = "", *, shell: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.shell = shell or f"{hint} {self.in_shell}".strip()

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ReadError(GraphViewerError):
    """A file could not be read as what it claims, or seems, to be."""


class DamagedError(ReadError):
    """A file breaks off or turns into nonsense, and what came before can be opened (``salvage``)."""

    in_shell = "'graphviewer convert --salvage' does that."


class RunsCodeError(ReadError):
    """A file that only its own library can read, by running code that the file brings along: ask first."""

    in_shell = (
        "'graphviewer convert --run' lets Keras load it, which runs code from the file, and with --verify proves the "
        "result."
    )


class WriteError(GraphViewerError):
    """A result could not be written; the old file is untouched."""


class UnknownNameError(GraphViewerError):
    """A typed name means no node, or more than one."""


class OperationError(GraphViewerError):
    """An operation cannot give a right result, and says for which nodes."""


class NoOutputError(OperationError):
    """Nobody chose an output, and none suggests itself."""

    in_shell = "--output names one."

    def __init__(self) -> None:
        super().__init__("No output was named, and none suggests itself.", "Choose the nodes whose values are wanted.")


class TrainingModeError(OperationError):
    """The outputs hang on nodes that compute as in training; inference mode would mend them."""

    in_shell = (
        "'graphviewer apply inference-mode FILE --output NAME -o OUT' applies it; --allow-training-mode allows it."
    )


class CheckpointError(ReadError):
    """A checkpoint is damaged, incomplete, or does not fit the graph."""


class Cancelled(GraphViewerError):
    """The user stopped the work; nothing was written."""
