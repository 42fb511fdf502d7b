"""The script that most of a text is written in: what a passage and a question are compared by."""

from __future__ import annotations

from .models.scripts import count_scripts


def dominant_script(text: str) -> str:
    """The Unicode name of the script of most letters (`Latin`, `Cyrillic` …), `Latin` where there are none.

    The parts of Japanese writing count as one with Chinese characters: a text changes between them.
    """
    if text.isascii():
        return "Latin"
    counts = count_scripts(text)
    for kana in ("Hiragana", "Katakana"):
        counts["Han"] += counts.pop(kana, 0)
    script, count = max(counts.items(), key=lambda item: (item[1], item[0]), default=("Latin", 0))
    return script if count else "Latin"
