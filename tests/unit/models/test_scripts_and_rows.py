"""What a model can read, and how models are named."""

from __future__ import annotations

import re
import unicodedata

import pytest

from semantic_search.models import ALL_SCRIPTS, MODELS
from semantic_search.models.rows import find_row, is_repo, known_prefixes
from semantic_search.models.scripts import can_read, count_scripts, script_of, trained_scripts

LATIN = frozenset({"Latin"})


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("how do I open a file", True),
        ("où est la bibliothèque, señor Łódź", True),
        ("як відкрити файл", False),
        ("как открыть файл", False),
        ("ファイルを開く", False),
        ("파일 열기", False),
        ("打开文件", False),
        ("افتح الملف", False),
        ("פתח קובץ", False),
        ("άνοιγμα αρχείου", False),
        ("how does open_file handle файл", True),
        ("як працює getUserById", False),
        ("", True),
        ("42 + 1 = ?", True),
        ("😀 …", True),
    ],
)
def test_an_english_model_abstains(text: str, readable: bool) -> None:
    assert can_read(text, LATIN) is readable
    assert can_read(text, ALL_SCRIPTS)


def test_long_texts_are_judged_by_their_start() -> None:
    assert can_read("a" * 3000 + "я" * 10_000_000, LATIN)
    assert count_scripts("я" * 5000).total() == 2000


def test_scripts_agree_with_the_unicode_names_of_letters() -> None:
    words = {
        "Latin": "LATIN",
        "Cyrillic": "CYRILLIC",
        "Greek": "GREEK",
        "Hebrew": "HEBREW",
        "Arabic": "ARABIC",
    }
    words |= {
        "Han": "CJK",
        "Hangul": "HANGUL",
        "Hiragana": "HIRAGANA",
        "Katakana": "KATAKANA",
        "Thai": "THAI",
    }
    words |= {"Devanagari": "DEVANAGARI", "Georgian": "GEORGIAN", "Armenian": "ARMENIAN", "Tamil": "TAMIL"}
    total = wrong = 0
    for point in range(0x41, 0x10000):
        letter = chr(point)
        name = unicodedata.name(letter, "")
        script = next((script for script, word in words.items() if re.match(rf"{word}\b", name)), "")
        if letter.isalpha() and script:
            total += 1
            wrong += script_of(letter) != script
    assert total > 40_000
    assert wrong < total * 0.002


def test_trained_scripts_need_words_not_letters() -> None:
    latin = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(600)]
    assert trained_scripts([*latin, *"абвгґдежз", *(chr(0x4E00 + n) for n in range(488))]) == LATIN
    cyrillic = [word.translate(str.maketrans("word", "слов")) for word in latin]
    assert trained_scripts(latin + cyrillic) == frozenset({"Latin", "Cyrillic"})
    chinese = [chr(0x4E00 + n) for n in range(2000)]
    assert trained_scripts(chinese) == frozenset({"Han"})
    many = [
        chr(start) * 3 + chr(97) * n
        for start in (0x61, 0x430, 0x3B1, 0x5D0, 0x627, 0xE01)
        for n in range(600)
    ]
    assert trained_scripts(many) == ALL_SCRIPTS


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("multilingual-e5-small", "multilingual-e5-small"),
        ("intfloat/multilingual-e5-small", "multilingual-e5-small"),
        ("Xenova/multilingual-e5-small", "multilingual-e5-small"),
        ("all-minilm-l6-v2", "all-MiniLM-L6-v2"),
        ("sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("Xenova/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("Xenova/paraphrase-multilingual-MiniLM-L12-v2", "paraphrase-multilingual-MiniLM-L12-v2"),
        ("someone/all-MiniLM-L6-v2", None),
        ("all-MiniLM", None),
        ("", None),
        ("/", None),
    ],
)
def test_names_of_known_models(name: str, row: str | None) -> None:
    found = find_row(name)
    assert (found.name if found else None) == row


@pytest.mark.parametrize(
    ("name", "repo"),
    [
        ("org/name", True),
        ("BAAI/bge-small-en-v1.5", True),
        ("name", False),
        ("a/b/c", False),
        ("../x", False),
        ("a/..", False),
        ("a/b..c", False),
        ("a/b?c", False),
        ("a b/c", False),
        ("", False),
    ],
)
def test_names_of_repositories(name: str, repo: bool) -> None:
    assert is_repo(name) is repo


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [
        ("intfloat/e5-base-v2", ("query: ", "passage: ")),
        ("/models/multilingual-e5-large", ("query: ", "passage: ")),
        ("BAAI/bge-small-en-v1.5", ("Represent this sentence for searching relevant passages: ", "")),
        ("sentence-transformers/all-MiniLM-L12-v2", ("", "")),
        ("someone/where5-small", ("", "")),
    ],
)
def test_prefixes_of_families(name: str, prefixes: tuple[str, str]) -> None:
    assert known_prefixes(name) == prefixes


@pytest.mark.parametrize("row", MODELS.values(), ids=MODELS)
def test_rows_are_pinned(row: object) -> None:
    row = MODELS[row.name]  # type: ignore[attr-defined]
    assert re.fullmatch(r"[0-9a-f]{40}", row.revision) and is_repo(row.repo) and row.licence
    files = [*row.hub_files, *(row.wheel.files if row.wheel else ())]
    assert "model.safetensors" in {file.path for file in row.hub_files}
    assert all(re.fullmatch(r"[0-9a-f]{64}", file.sha256) and file.size > 0 for file in files)
