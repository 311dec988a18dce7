"""What runs beside the window: reading files, analyses, operations and proofs, in threads and in the worker."""
