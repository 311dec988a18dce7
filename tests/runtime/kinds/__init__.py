"""Kinds of TF1 graphs whose roles are known by construction: each part is built inside ``part(role)``.

The role rules are tuned on half of the kinds; the other half only measures them. See ``registry.kind``.
"""

import importlib
import pkgutil

from kinds.registry import KINDS, Kind


def all_kinds() -> list[Kind]:
    """Every kind of every file in this folder, tuned ones first."""
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return sorted(KINDS, key=lambda one: (not one.tuned, not one.seen, one.name))
