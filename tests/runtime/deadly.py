"""Work that ends its process: in a module of its own, as a spawned process imports it, and nothing heavy with it."""

import os
from pathlib import Path
from typing import Any

from corpus_report import Row


def die_on_deadly(case: Any, folder: Path) -> Row:
    if case.path.name == "deadly":
        os._exit(7)
    return Row(case.path.name, (), None, "same", 0.0, 0.0, "")
