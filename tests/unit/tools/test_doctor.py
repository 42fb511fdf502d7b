"""Everything that must be right, checked one by one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builders import write_tree
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


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_what_others_can_read_is_told(corpus: Corpus) -> None:
    path = corpus.reading()[0].path
    os.chmod(path, 0o644)
    assert f"chmod go= {path}" in ill(corpus)["permissions"]


def test_who_knows_of_the_server_is_told(
    corpus: Corpus, own_environment: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project = write_tree(tmp_path / "project", {".mcp.json": '{"mcpServers": {"other": {"command": "x"}}}'})
    monkeypatch.chdir(project)

    def said() -> list[str]:
        return [finding.detail for finding in doctor(corpus) if finding.check == "clients"]

    assert "semantic-search init" in said()[0]
    write_tree(project, {".mcp.json": '{"mcpServers": {"semantic-search": {"command": "semantic-search"}}}'})
    write_tree(own_environment, {".cursor/mcp.json": "no JSON {"})
    assert said() == [f"Claude Code: registered in {project / '.mcp.json'}"]


def test_a_missing_package_is_told(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = tmp_path / "semantic_search_mcp-9.dist-info"
    write_tree(
        found,
        {
            "METADATA": "Metadata-Version: 2.1\nName: semantic-search-mcp\nVersion: 9\n"
            "Requires-Dist: no-such-thing>=1\nRequires-Dist: other; extra == 'x'\n"
        },
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert "not installed: no-such-thing" in ill(corpus)["python"]


def test_recognition_that_is_asked_for_needs_its_program(
    own_environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(own_environment, [], ocrLanguages=["eng"])
    monkeypatch.setenv("PATH", str(tmp_path))
    with open_words() as corpus:
        assert "install it, or unset ocrLanguages" in ill(corpus)["ocr"]
