"""The middle of the window: tabs, canvases, and the lines above and below them."""
