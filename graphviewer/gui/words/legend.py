"""What the legend says: what a colour means, how much is not the same, and what is missing to show more."""

from __future__ import annotations

from graphviewer.gui.canvas.signs import meaning, title
from graphviewer.gui.state.versions import Comparison, Tab


def advice_for(tab: Tab) -> str:
    """What is missing for a tab to show roles."""
    if isinstance(tab, Comparison) and tab.is_merged_shown:
        return "Roles are shown side by side, not in the merged view."
    version = tab.after if isinstance(tab, Comparison) else tab
    if version.document.kind == "checkpoint":
        return "A checkpoint holds variables only; its graph would say what each is for."
    return "Choose an output to see what each node is for."


def headline_of(comparison: Comparison) -> str:
    """How many nodes are not the same, how many of them are inside functions, what else differs; as HTML."""
    counts, in_functions = comparison.counts(), sum(comparison.diff.summary_inside().values())
    changes = sum(counts.values()) - counts["unchanged"]
    told = f"<b>{changes:,} {'change' if changes == 1 else 'changes'}</b>" if changes else "<b>No changes</b>"
    more = [f"{in_functions:,} in functions"] if in_functions else []
    more += [comparison.diff.note] if comparison.diff.note and not changes else []
    more += ["values not compared"] if comparison.diff.leaves_values_out else []
    return ", ".join([told, *more])


def uncompared(comparison: Comparison) -> str:
    """What to do about values that were not compared; empty where there are none."""
    if not comparison.diff.leaves_values_out:
        return ""
    return (
        "Both sides have variables with values in files of their own, which the window does not compare.\n"
        "'graphviewer diff --values BEFORE AFTER' does; the Variables panel shows the values of one version."
    )


def explained(kind: str, category: str, count: int, inside: int, *, hidden: bool) -> str:
    """What a colour means, how many of its nodes are ``inside`` functions, and what a click does."""
    nodes = "1 node" if count == 1 else f"{count:,} nodes"
    what = meaning(kind, category)
    where = f"\n{count - inside:,} in the graph itself, {inside:,} in functions." if inside else ""
    return (
        f"{title(kind, category)}{': ' + what if what else ''}{where}\nClick to {'show' if hidden else 'hide'} {nodes}."
    )
