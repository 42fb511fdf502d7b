"""Notes that point at each other, and are asked for by tag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from fakes import configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.tools.index import Request, index
from semantic_search.tools.related import related
from semantic_search.tools.search import Question, search
from semantic_search.wire import hit_json

NOTES: dict[str, str | bytes] = {
    "Bees.md": "---\ntitle: Keeping bees\ntags: [animals/bees]\n---\n"
    "Hives face south. See [[Honey]], [[garden/Plan#Spring]], "
    "[[Plan]], [[nowhere]], [[#Swarms]] and ![[hive.png]].\n\n# Swarms\n\nA swarm in May.\n",
    "Honey.md": "# Honey\n\nHoney is spun in July. #animals #kitchen\n",
    "garden/Plan.md": "# Plan\n\n## Spring\n\nSow clover for the [[../Bees]] in [[plan]] order.\n",
    "archive/old/Plan.md": "# Plan\n\nAn old plan of the orchard.\n",
    "code.py": "# Honey [[Bees]]\nhoney = 'spun'\n",
}


@pytest.fixture
def corpus(tmp_path: Path, own_environment: Path) -> Iterator[Corpus]:
    configure(own_environment, [write_tree(tmp_path / "notes", NOTES)])
    with open_words() as opened:
        index(opened, Request())
        yield opened


def links(corpus: Corpus, text: str) -> tuple[str, ...]:
    return search(corpus, Question(text, 1)).hits[0].links


def test_links_are_resolved_by_path_and_by_name(corpus: Corpus) -> None:
    assert links(corpus, "Hives face south") == (
        "Honey.md",
        "garden/Plan.md:3",
        "garden/Plan.md",
        "Bees.md:7",
    )
    assert links(corpus, "Sow clover") == ("Bees.md", "garden/Plan.md")


def test_only_notes_have_links_and_only_results_with_links_show_them(corpus: Corpus) -> None:
    assert links(corpus, "An old plan of the orchard") == ()
    for hit in search(corpus, Question("honey spun bees", 10)).hits:
        shape = hit_json(hit)
        assert ("links" in shape) == bool(hit.links)
        assert hit.path != "code.py" or not hit.links
        assert all(Path(link.partition(":")[0]).is_file() for link in shape.get("links", ()))


def test_related_passages_show_links_too(corpus: Corpus) -> None:
    found = {hit.path: hit.links for hit in related(corpus, "Honey.md", 1, 5).hits}
    assert found["garden/Plan.md"] == ("Bees.md", "garden/Plan.md")


def test_a_search_is_narrowed_by_tag(corpus: Corpus) -> None:
    def paths(*tags: str) -> set[str]:
        return {hit.path for hit in search(corpus, Question("honey", 10, tags=tags)).hits}

    assert paths("animals") == {"Bees.md", "Honey.md"}
    assert paths("#Animals/bees") == {"Bees.md"}
    assert paths("bees") == set()
    assert paths("kitchen", "animals/bees") == {"Bees.md", "Honey.md"}
    assert "code.py" in paths()


def test_the_title_of_a_note_stands_above_its_passages(corpus: Corpus) -> None:
    hit = search(corpus, Question("keeping bees swarm in May", 1)).hits[0]
    assert hit.chunk.heading.startswith("Keeping bees")
