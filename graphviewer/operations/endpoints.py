"""Outputs that an operation cannot take."""

from __future__ import annotations

from collections.abc import Sequence

from graphviewer.analysis.refusals import refuse_output
from graphviewer.errors import OperationError
from graphviewer.model.document import Document
from graphviewer.model.names import Endpoint

_HINT = "The outputs verb and the Endpoints panel list candidates."


def require_outputs(document: Document, outputs: Sequence[Endpoint]) -> None:
    """Refuse outputs that compute nothing anybody wants of an inference graph, all of them in one message.

    Raises:
        OperationError: for each of them, the reason.
    """
    if not outputs:
        raise OperationError("No output was named.", _HINT)
    reasons = [(endpoint, refuse_output(document, endpoint)) for endpoint in outputs]
    refused = [f"'{endpoint}' cannot be an output: {reason}" for endpoint, reason in reasons if reason]
    if refused:
        raise OperationError("; ".join(refused) + ".", _HINT)
