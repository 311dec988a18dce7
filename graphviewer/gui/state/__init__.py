"""What is open, chosen and shown, as objects that panels read and listen to; no widget."""
