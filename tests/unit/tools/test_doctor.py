"""Everything that must be right, checked one by one."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.tools.doctor import CHECKS, doctor
from semantic_search.tools.index import Request, index


def ill(corpus: Corpus) -> dict[str, str]:
    return {finding.check: finding.detail for finding in doctor(corpus) if not finding.well}


def test_all_is_well(corpus: Corpus) -> None:
    findings = doctor(corpus)
    assert ill(corpus) == {}
    assert list(dict.fromkeys(finding.check for finding in findings)) == list(CHECKS)
    assert all(finding.detail for finding in findings)


def test_before_anything_is_done(own_environment: Path) -> None:
    with open_words() as corpus:
        found = ill(corpus)
    assert "semantic-search add" in found["folders"]
    assert "semantic-search index" in found["index"]


def test_each_trouble_is_named_and_the_others_are_checked(folder: Path, own_environment: Path) -> None:
    configure(own_environment, [folder, folder.with_name("gone")])
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as corpus:
        index(corpus, Request())
        found = ill(corpus)
    assert set(found) == {"folders", "model", "index"}
    assert "gone" in found["folders"]
    assert "not on this machine" in found["model"]
    assert "wait for a vector" in found["index"]


def test_no_git(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install it" in ill(corpus)["git"]


def test_a_damaged_index_is_told(corpus: Corpus) -> None:
    path = corpus.reading()[0].path
    corpus.close()
    for place in (path, path + "-wal"):
        if Path(place).exists():
            Path(place).write_bytes(b"no database " * 1000)
    assert "damaged" in ill(corpus)["index"]


def test_unknown_keys_are_told_and_are_no_trouble(folder: Path, own_environment: Path) -> None:
    configure(own_environment, [folder], defaultTopk=7)
    with open_words() as corpus:
        index(corpus, Request())
        details = [finding.detail for finding in doctor(corpus) if finding.check == "settings"]
        assert any("defaultTopK" in detail for detail in details)
        assert ill(corpus) == {}
