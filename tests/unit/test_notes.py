from __future__ import annotations

from semantic_search.notes import NoteLink, has_tag, heading_line, links_in, tags_of


def test_tags_of_front_matter() -> None:
    for written in ("tags: [Garden, '#bees/queen']", "tags: garden, bees/queen", "tag: garden bees/queen"):
        assert tags_of(f"---\n{written}\n---\n", "markdown") == ("garden", "bees/queen")


def test_tags_in_the_text() -> None:
    text = "#one and #two/three, not a#b nor (#anchor) nor #123 nor # heading\n## Head #four\n#Сад\n"
    assert tags_of(text, "markdown") == ("one", "two/three", "four", "сад")


def test_code_has_no_tags() -> None:
    text = "`#no`\n```c\n#include <x>\n```\n~~~\n#no\n~~~\n#yes\n```\n#open\n"
    assert tags_of(text, "markdown") == ("yes",)
    assert tags_of("#yes", "python") == ()


def test_tags_of_org() -> None:
    text = "#+TITLE: x\n#+FILETAGS: :home:bees:\n* Head :urgent:\nnot a :tag:\n"
    assert tags_of(text, "org") == ("home", "bees", "urgent")


def test_a_tag_holds_those_below_it() -> None:
    assert has_tag(("garden/bees",), "#Garden")
    assert not has_tag(("gardening",), "garden")
    assert not has_tag(("garden",), "garden/bees")


def test_links() -> None:
    text = "[[A]] and [[b/c#Head|shown]] ![[pic.png]] [[#Here]] [[]] [[A]] [x](y) [[no\nlink]]"
    assert links_in(text) == [
        NoteLink("A", ""),
        NoteLink("b/c", "Head"),
        NoteLink("pic.png", ""),
        NoteLink("", "Here"),
    ]


def test_the_line_of_a_heading() -> None:
    text = "# Top\n\n## Second *part*!\n"
    assert heading_line(text, "second part") == 3
    assert heading_line(text, "Top#Second part") == 3
    assert heading_line(text, "third") is None
