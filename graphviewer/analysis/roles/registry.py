"""Role rules: small functions that each find the nodes of one role by structure.

To add a rule, drop a file into ``rules/``, or a function into one of its files. Rules are asked in order of rank, and a
node keeps the first role it is given.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from graphviewer.analysis.roles.training import Training
from graphviewer.model.graph import Mask

ROLES = (
    "inference",
    "training_forward",
    "loss",
    "metric",
    "gradient",
    "optimizer",
    "global_step",
    "moving_average",
    "batch_norm_update",
    "save_restore",
    "initializer",
    "summary",
    "input_pipeline",
    "check",
    "unused",
)
"""One per node, in legend order."""

CODE = {role: code for code, role in enumerate(ROLES)}

Find = Callable[[Training], Mask]


@dataclass(frozen=True)
class Rule:
    """One way to tell a role.

    Attributes:
        role: one of ``ROLES``.
        rank: rules of lower rank are asked first.
        reason: sentence for every node found, the first line of the rule's docstring; ``{op}`` and ``{variable}`` (the
            one that the node reads or writes) are filled in.
        find: bool [n], the nodes that the rule holds for.
    """

    role: str
    rank: int
    reason: str
    find: Find


def rule(role: str, rank: int) -> Callable[[Find], Find]:
    """Declare a rule; see ``Rule`` for the arguments. The docstring is the reason that users read."""
    if role not in CODE:
        raise ValueError(f"'{role}' is no role")

    def declare(find: Find) -> Find:
        reason = (find.__doc__ or "").strip().split("\n")[0]
        find.__dict__["rule"] = Rule(role, rank, reason, find)
        return find

    return declare


@cache
def role_rules() -> tuple[Rule, ...]:
    """Every rule in ``rules/``, in order of rank."""
    package = importlib.import_module("graphviewer.analysis.roles.rules")
    found = []
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        members = vars(importlib.import_module(f"{package.__name__}.{module}")).values()
        found += [member.rule for member in members if isinstance(getattr(member, "rule", None), Rule)]
    return tuple(sorted(found, key=lambda one: one.rank))
