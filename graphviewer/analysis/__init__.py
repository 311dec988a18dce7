"""Questions about a document, answered without changing it."""
