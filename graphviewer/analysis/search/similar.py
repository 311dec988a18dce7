"""Words that come near: letters left out, one letter too many, one wrong, or two swapped."""

from __future__ import annotations

import re
from collections.abc import Callable


def similar(word: str) -> Callable[[str], bool]:
    """A test of folded texts, linear in their length."""
    typo = _with_one_typo(word) if len(word) >= 4 else None

    def test(text: str) -> bool:
        return _is_spread(word, text) or (typo is not None and typo.search(text) is not None)

    return test


def _is_spread(word: str, text: str) -> bool:
    """The letters occur in this order and close together: ``sofmax`` and ``smx`` in ``softmax``."""
    begin = at = text.find(word[0])
    for letter in word[1:]:
        at = text.find(letter, at + 1)
        if at < 0:
            return False
    return begin >= 0 and at - begin < 2 * len(word) + 2


def _with_one_typo(word: str) -> re.Pattern[str]:
    variants = []
    for at in range(len(word)):
        before, after = re.escape(word[:at]), re.escape(word[at + 1 :])
        variants += [before + after, before + "." + after]
        if at + 1 < len(word):
            variants.append(before + re.escape(word[at + 1] + word[at]) + re.escape(word[at + 2 :]))
    return re.compile("|".join(dict.fromkeys(variants)))
