"""TensorFlow itself: imported when first needed, set up for equal results, its errors put into one sentence."""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from graphviewer.errors import GraphViewerError

_UNREGISTERED = re.compile(r"Op type not registered '([^']+)'")
_WHERE = re.compile(r"\[\[[^\[\]]*\]\]")
_NODE = re.compile(r"(?:\{\{function_node [^{}]*\}\}\s*)?\{\{(?:function_)?node ([^{}]*)\}\}")
_REFERENCE = re.compile(r"Input \d+ of node (\S+) was passed \w+ from (\S+):\d+ incompatible with expected \w+_ref")
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
    gc.collect()
    gc.freeze()  # every proof collects garbage, and need not look through all of TensorFlow, for 0.2 s, each time
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
    """The first sentence of what TensorFlow says, without a full stop; of its marks for places, only nodes that the
    sentence is about.
    """
    text = _message(error)
    known = _UNREGISTERED.search(text)
    if known:
        return not_registered(known[1])
    lines = [_named(line.strip()) for line in _WHERE.sub("", text).splitlines()]
    first = next((line for line in lines if line and not line.startswith(_NO_NEWS)), type(error).__name__)
    return (first[:_LONGEST] + "…" if len(first) > _LONGEST else first).rstrip(" .")


def _message(error: Exception) -> str:
    return str(getattr(error, "message", None) or error)


def _named(line: str) -> str:
    """A line with nodes as plain names; without those that it begins with, which only say where it comes from."""
    while (mark := _NODE.match(line)) is not None:
        line = line[mark.end() :].lstrip()
    return _NODE.sub(r"'\1'", line)


def needs_variable(error: Exception) -> tuple[str, str] | None:
    """What is fed though it is a variable, and the node that cannot do with its value; None for other errors."""
    found = _REFERENCE.search(_message(error))
    return (found[2], found[1]) if found is not None else None


def run_errors() -> tuple[type[Exception], ...]:
    """What importing a graph into TensorFlow, or running it, may raise."""
    return (load().errors.OpError, ValueError, TypeError, KeyError, NotImplementedError, OverflowError)
