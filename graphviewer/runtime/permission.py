"""Files are hostile: what a graph could touch is said, and allowed by the user, before it runs."""

from __future__ import annotations

from collections.abc import Sequence

from graphviewer.analysis.touches import Touch
from graphviewer.errors import OperationError

ALLOW_HINT = "If you trust the file, allow it with --yes."
_SHOWN = 3


class NotAllowedError(OperationError):
    """A graph could touch something outside itself, and nobody has allowed it.

    Attributes:
        touches: what it could touch.
    """

    def __init__(self, touches: Sequence[Touch]) -> None:
        kinds = " and ".join(dict.fromkeys(touch.kind for touch in touches))
        nodes = ", ".join(f"'{touch.node}' ({touch.op})" for touch in touches[:_SHOWN])
        more = f" and {len(touches) - _SHOWN:,} more" if len(touches) > _SHOWN else ""
        super().__init__(f"The graph {kinds} when it runs: {nodes}{more}.", ALLOW_HINT)
        self.touches = tuple(touches)


def require_permission(touches: Sequence[Touch], *, allow: bool) -> None:
    """Stop unless nothing is touched, or it is allowed.

    Raises:
        NotAllowedError: listing what would be touched.
    """
    if touches and not allow:
        raise NotAllowedError(touches)
