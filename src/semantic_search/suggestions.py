"""What was meant by a mistyped name: one rule for commands, options, settings, folders and choices."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Below this share of common letters a suggestion confuses more often than it helps.
_ALIKE = 0.65


def closest(name: str, known: Iterable[str]) -> str:
    """The known name most like a mistyped one, whatever the case of either; "" where none is close."""
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.casefold(), each)
    found = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=_ALIKE)
    return folded[found[0]] if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean NAME?)` to stand behind a mistyped name, "" where no known name is close."""
    meant = closest(name, known)
    return f" (did you mean {meant}?)" if meant else ""
