"""The canvas: a scene of arrays, pure functions that paint it, and the view that moves over it."""
