"""The background process: long and risky work, out of the window's way."""
