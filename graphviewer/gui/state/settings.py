"""What a person can set. The dialog and the documentation are generated from the fields."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from PySide6.QtCore import QSettings

from graphviewer.layout.style import Style


def _setting(default: Any, label: str, doc: str) -> Any:
    return field(default=default, metadata={"label": label, "doc": doc})


@dataclass(frozen=True)
class Settings:
    """The settings, with their defaults."""

    theme: Literal["system", "light", "dark"] = _setting("system", "Theme", "Colours of window and canvas.")
    animate: bool = _setting(True, "Animate", "Move smoothly when zooming to a node (never longer than 0.2 s).")
    wheel: Literal["zoom", "pan"] = _setting("zoom", "Mouse wheel", "What the wheel does; Ctrl+wheel always zooms.")
    direction: Literal["down", "right"] = _setting("down", "Direction", "Where edges lead on the canvas.")
    stacks: bool = _setting(
        True, "Group repeated scopes", "Show sibling scopes that differ in their number only as one box that opens."
    )
    tuck: bool = _setting(
        True,
        "Tuck auxiliary ops",
        "Show constants, reads and first values of variables and what savers restore as chips beside what they serve.",
    )
    minimap: bool = _setting(True, "Minimap", "Show the minimap in the corner of the canvas.")

    @property
    def style(self) -> Style:
        """How graphs are laid out."""
        return Style(self.direction, stacked=self.stacks, tucked=self.tuck)

    @classmethod
    def load(cls, store: QSettings) -> Settings:
        """Read what is stored; a value that is not one of the choices falls back to the default."""
        known = {}
        for one in fields(cls):
            raw, default = store.value(f"settings/{one.name}"), one.default
            if raw is None:
                continue
            value = raw in (True, "true", "1") if isinstance(default, bool) else raw
            if isinstance(default, bool) or value in choices(one.name):
                known[one.name] = value
        return cls(**known)

    def save(self, store: QSettings) -> None:
        """Store every field."""
        for one in fields(self):
            store.setValue(f"settings/{one.name}", getattr(self, one.name))

    def but(self, **changes: Any) -> Settings:
        """A copy with other values."""
        return replace(self, **changes)


def choices(name: str) -> tuple[str, ...]:
    """The allowed values of a setting with a fixed list; empty for a switch."""
    return get_args(get_type_hints(Settings)[name])
