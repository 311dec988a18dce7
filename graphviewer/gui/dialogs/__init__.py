"""Dialogs: palette, settings, keys, about."""
