"""Which Cyrillic code page a text is in, told by which letters follow which.

General detectors need a page of text; a comment or a single word must do here. Every code page gives the same
bytes another reading, and only one of them looks like words: pairs of letters that Russian and Ukrainian
have, in lower case, capitalised or in capitals. The cost of a reading is the mean of -log2 P(next | letter)
over the letters (a bigram model as in Shannon, "Prediction and Entropy of Printed English", 1951), and the
cheapest reading wins if it is cheap enough to be language at all.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

_CODE_PAGES = ("cp1251", "koi8-u", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic")
"""In order of preference where readings cost the same."""

_ALPHABET = "·абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґ"
# Rows: a letter, or `·` for the edge of a word. Columns: what follows, in the same order. A digit is
# -0.9 log2 P, at most 9, counted over translated messages of free software, Russian and Ukrainian alike.
_COSTS = (
    "95537478449465343435458767799979697699"  # ·
    "29546556494534395453897547899997595999"  # а
    "43999849949436539369396689554999899499"  # б
    "32969537939447436656597999994999899499"  # в
    "43997649949955419397399999999999999499"  # г
    "42768635949438425565499998997899889499"  # д
    "28755475586444265344988677799999999999"  # е
    "54699419929649269999499979999999989699"  # ж
    "32647469959673336678499997996999599699"  # з
    "27546648554443485533965556799996499999"  # и
    "19879599999626569943999988999999999999"  # й
    "32989959939949629444499499699999999599"  # к
    "43798936939589629989599979997394389499"  # л
    "23749929939666535999499989995999599499"  # м
    "53999529839699339964579898994697499599"  # н
    "39434465475434474344998756999996899979"  # о
    "53999939939769717287499799997999899499"  # п
    "42956926939795528755496996995998599599"  # р
    "45779948939447544851497887996499399599"  # с
    "33949939929588439349499989996399899599"  # т
    "28736345696454594533968957599994995999"  # у
    "71999949939958929496369999999999999399"  # ф
    "17969949949999629489699999999999999399"  # х
    "54969929929799967999699999995495499299"  # ц
    "42999929929579369994699999999899969499"  # ч
    "53969929919459459585499999999899969599"  # ш
    "83999919939999919999599999999699969799"  # щ
    "99999919999999999999999999999999459999"  # ъ
    "39648648793755995674994977999999999999"  # ы
    "19999999399399349935999895999997999999"  # ь
    "99887999998436897882968995999999999999"  # э
    "19739798999999899883999929399996994999"  # ю
    "09958459699495699784996799899996798999"  # я
    "49998797899865299563997999999999999999"  # ё
    "29989599999594699873999999999996999969"  # є
    "36647397695546478546998876899996697959"  # і
    "19979899998999799998996999999999999969"  # ї
    "54888848848848548488488888888888888488"  # ґ
)
_PAIRS = {
    first + second: int(digit)
    for first, row in zip(_ALPHABET, (_COSTS[i : i + 38] for i in range(0, len(_COSTS), 38)), strict=True)
    for second, digit in zip(_ALPHABET, row, strict=True)
}
_UNSEEN = 9
_SWAPPED_CASE = 8
_CAPITAL = 1
_MIXED = 12
_TORN = 8
_QUOTES = frozenset("«»„“”‘’‚–—…")
_TYPOGRAPHY = frozenset("№•·§©®°± \u00ad€™†‡")
_INSIDE_WORDS = frozenset("’‘–—\u00ad")
_QUOTE, _SIGN, _BOX, _SYMBOL = 5, 9, 11, 14

_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_MAX_WORDS = 400
_DEAREST = 5.3
_SLACK = 6.0


def code_page(data: bytes) -> str | None:
    """The code page in which `data` is Russian or Ukrainian text (or code with such comments), else None."""
    words = Counter(match.group() for match, _ in zip(_WORD.finditer(data), range(_MAX_WORDS), strict=False))
    best: tuple[float, str] | None = None
    for name in _CODE_PAGES:
        cost = _mean_cost(words, name)
        if cost is not None and (best is None or cost < best[0]):
            best = (cost, name)
    return best[1] if best else None


def _mean_cost(words: Counter[bytes], name: str) -> float | None:
    """The cost of a reading for each byte above ASCII; None if it cannot be language."""
    total = capitals = letters = in_words = count = 0
    for word, times in words.items():
        try:
            cost = _cost(word.decode(name))
        except UnicodeDecodeError:
            return None
        total += cost.bits * times
        capitals += cost.capitals * times
        letters += cost.letters * times
        in_words += cost.letters * times if cost.letters >= 3 else 0
        count += cost.high * times
    # Single letters prove nothing: a French `à` is a Russian `а`. A short text is less like the average than
    # a long one, so more is let pass: one word may be a name.
    if letters < count * 0.6 or in_words < count * 0.4 or total > count * _DEAREST + _SLACK:
        return None
    return (total + capitals * _CAPITAL) / count if count else None


class _Cost(NamedTuple):
    """Of one word: its cost without that of capitals, capitals and letters that are Cyrillic, non-ASCII."""

    bits: int
    capitals: int
    letters: int
    high: int


@lru_cache(maxsize=4096)
def _cost(text: str) -> _Cost:
    bits = capitals = letters = high = 0
    before = "·"
    last = ""
    torn = False
    for character in text:
        lower = character.lower()
        high += not character.isascii()
        if character.isascii():
            bits += _MIXED if before not in "·a" else 0
            lower = "a"
        elif "\u0400" <= character <= "\u04ff":
            letters += 1
            capitals += character != lower
            bits += _letter_bits(before, lower, last, character) + (_TORN if torn else 0)
        else:
            bits += _edge_bits(before) + _other_bits(character)
            torn = before != "·" and character not in _INSIDE_WORDS
            before, last = "·", character
            continue
        before, last, torn = lower, character, False
    return _Cost(bits + _edge_bits(before), capitals, letters, high)


def _edge_bits(before: str) -> int:
    return 0 if before in "·a" else _PAIRS.get(before + "·", _UNSEEN)


def _letter_bits(before: str, lower: str, last: str, character: str) -> int:
    if before == "a":
        return _MIXED
    bits = _PAIRS.get(before + lower, _UNSEEN)
    return bits + (_SWAPPED_CASE if character != lower and last.islower() else 0)


def _other_bits(character: str) -> int:
    if character in _QUOTES:
        return _QUOTE
    if character in _TYPOGRAPHY:
        return _SIGN
    return _BOX if "\u2500" <= character <= "\u25ff" else _SYMBOL
