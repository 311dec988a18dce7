"""The nodes that take the place of a function call. See ``operations.inline_functions``."""
