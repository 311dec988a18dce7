"""Find the files that ship with the program."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "resources", _PACKAGE.parent / "resources")


def resource(relative: str) -> Path:
    """The path of a shipped file, in an installed wheel or in a checkout.

    Raises:
        FileNotFoundError: the file is in neither place: the installation is incomplete.
    """
    for place in _PLACES:
        path = place / relative
        if path.exists():
            return path
    raise FileNotFoundError(f"graphviewer's own file {relative} is missing; install it again")
