"""Every format in one folder: what stands in it is found, at the lines and pages where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from document_samples import SAMPLES, TEXTS
from fakes import WordsModels

from semantic_search.corpus import Corpus
from semantic_search.formats import FORMATS
from semantic_search.languages import language_of, page_word
from semantic_search.settings import load_settings
from semantic_search.tools.cat import cat
from semantic_search.tools.grep import Line, Search, grep
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search
from semantic_search.tools.status import status
from semantic_search.types import Skip
from semantic_search.wire import hit_json

SUFFIXES = (*FORMATS, *TEXTS)
TABLE = Path(__file__).parents[3] / "docs" / "formats.md"


def wanted(suffix: str) -> str:
    """A line of the sample that no other sample has."""
    if suffix in TEXTS:
        return TEXTS[suffix].line
    sample = SAMPLES[suffix]
    return (sample.on_page or sample.needles[-2]).split("\n")[-1]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    place = tmp_path_factory.mktemp("formats")
    # Of suffixes that share a sample one is enough: near-duplicates are one result.
    files: dict[str, str | bytes] = {}
    samples = {sample.data: suffix for suffix, sample in reversed(list(SAMPLES.items()))}
    files |= {f"sample{suffix}": SAMPLES[suffix].data() for suffix in samples.values()}
    files |= {f"sample{suffix}": text.text for suffix, text in TEXTS.items()}
    files |= {f"damaged{suffix}": SAMPLES[suffix].damaged(SAMPLES[suffix].data()) for suffix in FORMATS}
    root = write_tree(place / "folder", files)
    (place / "config.json").write_text(json.dumps({"defaultRoots": [str(root)]}), encoding="utf-8")
    settings = load_settings(
        {
            "HOME": str(place),
            "SS_CONFIG_PATH": str(place / "config.json"),
            "SS_INDEX_DIR": str(place / "index"),
            "SS_MODEL_CACHE_DIR": str(place / "models"),
        }
    )
    with Corpus(settings, models=WordsModels()) as opened:
        index(opened, Request())
        yield opened


def line_of(corpus: Corpus, suffix: str) -> Line:
    """The whole line, as grep gives it."""
    found = grep(corpus, Search(wanted(suffix), literal=True, globs=("sample.*",)))
    (line,) = found.lines
    assert line.source.path == f"sample{suffix}"
    return line


def found_in(corpus: Corpus) -> list[str]:
    return [suffix for suffix in SUFFIXES if (Path(corpus.folders[0].path) / f"sample{suffix}").exists()]


def test_every_format_is_found_where_it_stands(corpus: Corpus) -> None:
    suffixes = found_in(corpus)
    assert len(suffixes) > 20
    for suffix in suffixes:
        line = line_of(corpus, suffix)
        hit = search(corpus, Question(line.text, 3, refresh=False)).hits[0]
        assert hit.path == f"sample{suffix}", (line, hit.path)
        assert hit.chunk.first_line <= line.number <= hit.chunk.last_line, suffix
        excerpt = cat(corpus, hit.path, hit.chunk.first_line, hit.chunk.last_line)
        assert hit.chunk.text.strip() in excerpt.text, suffix
        assert excerpt.text.split("\n")[line.number - hit.chunk.first_line] == line.text, suffix


def test_pages_have_the_name_of_their_format(corpus: Corpus) -> None:
    for suffix in found_in(corpus):
        sample = SAMPLES.get(suffix)
        if sample is None or not sample.page:
            continue
        shape = hit_json(search(corpus, Question(line_of(corpus, suffix).text, 1, refresh=False)).hits[0])
        word = page_word(language_of(f"a{suffix}"))
        # A passage of a PDF or a notebook may begin on the page or in the cell before.
        exact = (sample.page,) if word not in ("page", "cell") else range(1, sample.page + 1)
        assert shape[word] in exact, (suffix, shape)


def test_headings_stand_above_what_is_found(corpus: Corpus) -> None:
    for suffix, text in TEXTS.items():
        if text.heading:
            hit = search(corpus, Question(text.line, 1, refresh=False)).hits[0]
            assert hit.chunk.heading == text.heading, suffix


def test_damaged_twins_have_a_reason(corpus: Corpus) -> None:
    skipped = {skip.path: skip.reason for skip in status(corpus, with_skipped=True).skipped}
    for suffix in FORMATS:
        assert skipped[f"damaged{suffix}"] in (Skip.DAMAGED, Skip.UNDECODABLE), suffix
    assert len(skipped) == len(FORMATS)


def test_the_table_of_formats_names_every_format() -> None:
    rows = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    suffixes = [suffix for row in rows for suffix in re.findall(r"`(\.\w+)`", row.split("|")[2])]
    assert len(suffixes) == len(set(suffixes))
    assert set(suffixes) == set(SUFFIXES)


def test_the_table_of_formats_names_their_pages() -> None:
    for row in TABLE.read_text(encoding="utf-8").splitlines():
        for suffix in re.findall(r"`(\.\w+)`", row.split("|")[2] if row.startswith("| ") else ""):
            sample = SAMPLES.get(suffix)
            place = f"{page_word(language_of('a' + suffix))}, line" if sample and sample.page else "line"
            assert row.split("|")[4].strip() == place, row
