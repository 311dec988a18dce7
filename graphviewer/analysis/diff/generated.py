"""Names that TensorFlow makes up with a counter: two exports of one model differ in them and in nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_COUNTERS = re.compile(r"(_\d+)+$")
_UNUSED = re.compile(r"_\d+(?=___redundant_placeholder\d+$)")
_TEXT_COUNTERS: Mapping[str, re.Pattern[bytes]] = {
    "_gradient_op_type": re.compile(rb"-\d+$"),  # PartitionedCall-1234, CustomGradient-1234
    "_user_specified_name": re.compile(rb"_?\d+$"),  # of a captured tensor its id; input_1
    "forward_function_name": re.compile(rb"(_\d+)+$"),
    "backward_function_name": re.compile(rb"(_\d+)+$"),
    "api_implements": re.compile(rb"_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),  # of Keras's LSTM and GRU
}


def base_name(function: str) -> str:
    """A function's name without its counters: ``__inference_f_12`` is ``__inference_f``."""
    return _COUNTERS.sub("", function) or function


def base_argument(argument: str) -> str:
    """An argument's name without the counter of a loop's condition, after which its unused arguments are called."""
    return _UNUSED.sub("", argument)


def base_text(attribute: str, text: bytes) -> bytes:
    """A text attribute without what is made up in it; the text itself where nothing is."""
    counter = _TEXT_COUNTERS.get(attribute)
    return text if counter is None else counter.sub(b"", text)


def drop_counters(attrs: Any) -> None:
    """Leave out of a map of attributes what is made up in them."""
    for name in _TEXT_COUNTERS:
        if name in attrs and attrs[name].WhichOneof("value") == "s":
            attrs[name].s = base_text(name, attrs[name].s)


def bring_counters(there: Any, attrs: Any) -> None:
    """Take made-up texts over from another map of attributes, where they differ in nothing but what is made up."""
    for name in _TEXT_COUNTERS:
        if name in attrs and name in there and base_text(name, attrs[name].s) == base_text(name, there[name].s):
            attrs[name].s = there[name].s
