"""The one family of errors that a user is meant to read."""


class GraphViewerError(Exception):
    """Something a person can act on: what went wrong, and what to do about it.

    Args:
        message: one sentence, naming the file or node it is about.
        hint: what to do next; may be empty.
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ReadError(GraphViewerError):
    """A file could not be read as what it claims, or seems, to be."""


class DamagedError(ReadError):
    """A file breaks off or turns into nonsense, and what came before can be opened (``salvage``)."""


class RunsCodeError(ReadError):
    """A file that only its own library can read, by running code that the file brings along: ask first."""


class WriteError(GraphViewerError):
    """A result could not be written; the old file is untouched."""


class UnknownNameError(GraphViewerError):
    """A typed name means no node, or more than one."""


class OperationError(GraphViewerError):
    """An operation cannot give a right result, and says for which nodes."""


class NoOutputError(OperationError):
    """Nobody chose an output, and none suggests itself."""

    def __init__(self) -> None:
        super().__init__("No output was named, and none suggests itself.", "Choose the nodes whose values are wanted.")


class TrainingModeError(OperationError):
    """The outputs hang on nodes that compute as in training; inference mode would mend them."""


class CheckpointError(ReadError):
    """A checkpoint is damaged, incomplete, or does not fit the graph."""


class Cancelled(GraphViewerError):
    """The user stopped the work; nothing was written."""
