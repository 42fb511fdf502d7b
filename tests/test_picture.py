"""The picture in README is of what the command prints today."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import picture
import pytest
from pages import text_of
from try_pages import pattern

COMMITTED = picture.PICTURE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> str:
    """The picture as the script draws it now."""
    file = tmp_path_factory.mktemp("picture") / "search.svg"
    picture.draw(file, Path(os.path.dirname(sys.executable)), {"SS_MODEL_CACHE_DIR": str(model_cache)})
    return file.read_text(encoding="utf-8")


def test_the_committed_picture_shows_what_the_command_prints_today(drawn: str) -> None:
    """Scores may differ in their last digits from machine to machine; nothing else may."""
    today, shown = picture.lines_of(drawn), picture.lines_of(COMMITTED)
    assert len(today) == len(shown), "run `make picture`"
    for line, committed in zip(today, shown, strict=True):
        assert pattern(committed.replace("…", "\N{REPLACEMENT CHARACTER}")).fullmatch(
            line.replace("…", "\N{REPLACEMENT CHARACTER}").strip()
        ), f"run `make picture`: {committed!r} is now {line!r}"


def test_it_shows_every_command_and_an_answer_to_each(drawn: str) -> None:
    lines = picture.lines_of(drawn)
    for words in picture.SHOWN:
        at = lines.index("$ " + shlex.join(["semantic-search", *words]))
        assert any("corpus/" in line for line in lines[at + 1 : at + 4]), words
    assert any("001-append-only-journal.md" in line for line in lines)


def test_it_fetches_nothing_and_names_no_place_of_the_machine_it_was_drawn_on() -> None:
    assert re.findall(r"https?://[^\"\s<]+", COMMITTED) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@font-face|url\((?!#)|@import|<script|/home/|/tmp/|/root", COMMITTED)
    assert "search.svg" in text_of("README.md")
