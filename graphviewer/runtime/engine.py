"""TensorFlow itself: imported when first needed, set up for equal results, its errors put into one sentence."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from graphviewer.errors import GraphViewerError

_UNREGISTERED = re.compile(r"Op type not registered '([^']+)'")
_PLACES = re.compile(r"\{\{(?:function_)?node [^{}]*\}\}|\[\[[^\[\]]*\]\]")
_NO_NEWS = ("Graph execution error:", "Detected at node", "Node:", "Original stack trace")
_LONGEST = 300


class CannotRunError(GraphViewerError):
    """TensorFlow cannot run a graph: which one and why."""


class StoppedError(CannotRunError):
    """TensorFlow stopped with an error; with other values it might not."""


class TimedOutError(CannotRunError):
    """A run did not end in time; with other values it would hardly do better."""


def load() -> Any:
    """The ``tensorflow`` module; the first call takes seconds and hundreds of megabytes."""
    if "tensorflow" in sys.modules:
        return sys.modules["tensorflow"]
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # read once, when the library is loaded
    with _quiet():
        import tensorflow
    tensorflow.get_logger().setLevel(logging.ERROR)
    return tensorflow


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing on standard error: TensorFlow's libraries greet there before any setting reaches them."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def exact_config(tensorflow: Any) -> Any:
    """A session's ConfigProto without optimizers, on the CPU.

    Grappler's rewrites, and folding constants on one thread, change the last bits of results.
    """
    config = tensorflow.compat.v1.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})
    config.graph_options.optimizer_options.opt_level = tensorflow.compat.v1.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def unregistered(ops: Iterable[str]) -> list[str]:
    """Those of ``ops`` that the installed TensorFlow does not know, sorted."""
    load()
    from tensorflow.python.framework import op_def_registry

    return sorted(op for op in set(ops) if op_def_registry.get(op) is None)


def not_registered(op: str) -> str:
    """What is said of an op that TensorFlow does not know."""
    return f"op '{op}' is not registered in this TensorFlow"


def explain(error: Exception) -> str:
    """The first sentence of what TensorFlow says, without its marks for places, and without a full stop."""
    text = str(getattr(error, "message", None) or error)
    known = _UNREGISTERED.search(text)
    if known:
        return not_registered(known[1])
    lines = [line.strip() for line in _PLACES.sub("", text).splitlines()]
    first = next((line for line in lines if line and not line.startswith(_NO_NEWS)), type(error).__name__)
    return (first[:_LONGEST] + "…" if len(first) > _LONGEST else first).rstrip(" .")


def run_errors() -> tuple[type[Exception], ...]:
    """What importing a graph into TensorFlow, or running it, may raise."""
    return (load().errors.OpError, ValueError, TypeError, KeyError, NotImplementedError, OverflowError)
