"""What needs TensorFlow running: verifying a result against its original, and running a graph.

The only package that imports TensorFlow, and only inside functions. TensorFlow gets bytes, never our messages.
"""
