"""Files are hostile: what a graph could touch is said, and allowed by the user, before it runs."""

from __future__ import annotations

from collections.abc import Sequence

from graphviewer.analysis.touches import Touch
from graphviewer.errors import OperationError

_ALLOW = "If you trust the file, allow it{}."
_SHOWN = 3


class NotAllowedError(OperationError):
    """A graph could touch something outside itself, and nobody has allowed it.

    Attributes:
        touches: what it could touch.
    """

    def __init__(self, touches: Sequence[Touch]) -> None:
        kinds = " and ".join(dict.fromkeys(touch.kind for touch in touches))
        texts = list(dict.fromkeys(f"'{touch.node}' ({touch.op})" for touch in touches))  # two graphs may share nodes
        nodes = ", ".join(texts[:_SHOWN])
        more = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
        message = f"The graph {kinds} when it runs: {nodes}{more}."
        super().__init__(message, _ALLOW.format(""), shell=_ALLOW.format(" with --yes"))
        self.touches = tuple(touches)


def require_permission(touches: Sequence[Touch], *, allow: bool) -> None:
    """Stop unless nothing is touched, or it is allowed.

    Raises:
        NotAllowedError: listing what would be touched.
    """
    if touches and not allow:
        raise NotAllowedError(touches)
