"""The sample corpus with the real model: what a user sees who tries the tool for the first time."""

from __future__ import annotations

import csv
import os
import shutil
import sys
from pathlib import Path

import pytest
from command_line import Command, apart, environment, without_a_network

SAMPLES = Path(__file__).parents[2] / "samples"
with (SAMPLES / "queries.tsv").open(encoding="utf-8", newline="") as _file:
    QUERIES = [(row[0], row[1]) for row in csv.reader(_file, delimiter="\t") if row]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> dict[str, str | None]:
    """The sample corpus, indexed with its vectors; the variables that lead to it."""
    place = tmp_path_factory.mktemp("samples")
    shutil.copytree(SAMPLES / "corpus", place / "corpus")
    variables = apart(place, model_cache)
    run = Command()
    run("add", place / "corpus", env=variables)
    summary = run("index", env=variables).summary
    assert summary["pendingVectors"] == 0
    assert summary["filesFailed"] == 0
    return variables


@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_every_listed_query_finds_its_file_among_the_first_five(
    run: Command, corpus: dict[str, str | None], query: str, expected: str
) -> None:
    assert expected in run("search", "--json", query, env=corpus).paths


def test_the_drafts_are_hidden(run: Command, corpus: dict[str, str | None]) -> None:
    assert not [path for path in run.search("pricing ideas", env=corpus) if path.startswith("drafts/")]
    assert run("grep", "pricing", "--glob", "drafts/**", env=corpus, status=1).stdout == ""


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("documents/field-manual.pdf", "жовт"),
        ("documents/правила-даних.docx", "телефон"),
    ],
)
def test_a_document_has_the_same_lines_in_search_grep_and_cat(
    run: Command, corpus: dict[str, str | None], path: str, sentence: str
) -> None:
    matches = run("grep", sentence, "--glob", path, "--json", env=corpus).document["matches"]
    line = matches[0]["line"]
    assert sentence in run("cat", f"corpus/{path}:{line}", env=corpus).stdout.lower()
    whole = run("cat", f"corpus/{path}", env=corpus).stdout.split("\n")
    hits = run("search", "--json", "-k", "20", "--glob", path, matches[0]["text"], env=corpus).document
    holding = [hit for hit in hits if hit["startLine"] <= line <= hit["endLine"]]
    assert holding
    for hit in hits:
        lines = whole[hit["startLine"] - 1 : hit["endLine"]]
        assert hit["text"] in "\n".join(lines)
    if path.endswith(".pdf"):
        assert all(hit["page"] >= 1 for hit in hits)


def test_a_ukrainian_question_finds_an_english_answer(run: Command, corpus: dict[str, str | None]) -> None:
    best = run("search", "--json", "-k", "3", "чому ми не видаляємо старі події?", env=corpus)
    assert "decisions/001-append-only-journal.md" in best.paths


@pytest.mark.skipif(sys.platform != "linux", reason="networks are taken away as Linux does it")
def test_everything_works_without_a_network(
    corpus: dict[str, str | None], tmp_path: Path, model_cache: Path
) -> None:
    alone = without_a_network()
    (tmp_path / "f").mkdir()
    (tmp_path / "f/a.md").write_text("The quokka smiles.\n")
    env = {**corpus, "SS_INDEX_DIR": str(tmp_path / "i"), "SS_CONFIG_PATH": str(tmp_path / "c.json")}
    alone("add", tmp_path / "f", env=env)
    assert alone("index", env=env).summary["vectorsWritten"] == 1
    assert alone("search", "--json", "happy animal", env=env).paths == ["a.md"]
    assert alone("doctor", "--json", env=env).document["ok"] is True


def test_a_model_that_is_nowhere_leaves_search_by_words(run: Command, indexed: Path, tmp_path: Path) -> None:
    env: dict[str, str | None] = {
        "SS_MODEL_NAME": "paraphrase-multilingual-MiniLM-L12-v2",
        "SS_INDEX_DIR": str(tmp_path / "index"),
    }
    found = run("index", env=env)
    assert "words alone" in found.stderr
    assert (found.summary["filesProcessed"], found.summary["vectorsWritten"]) == (3, 0)
    result = run("search", "--json", "seedlings", env=env)
    assert result.paths == ["garden.md"]
    assert "words alone" in result.stderr
    well = run("doctor", env=env, status=2)
    assert "MEND  model" in well.stdout


def test_the_command_is_the_installed_one() -> None:
    assert os.path.isfile(Command().argv()[0])
    assert "SS_MODEL_CACHE_DIR" in environment(None)
