"""Constant folding: what is known without running anything, bit for bit as TensorFlow would compute it."""
