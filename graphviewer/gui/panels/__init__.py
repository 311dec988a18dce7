"""Panels around the canvas; each reads the session and listens to it."""
