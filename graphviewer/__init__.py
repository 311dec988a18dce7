"""See, strip, freeze and compare TensorFlow graphs."""

__version__ = "0.1.0"
