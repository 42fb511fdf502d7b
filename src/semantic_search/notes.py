"""What notes say with marks of their own: tags, and links to other notes (`[[…]]`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .frontmatter import front_matter

NOTE_LANGUAGES = frozenset(("markdown", "mdx", "org"))
"""Languages whose texts have tags."""

_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1|\Z)|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?:^|(?<=\s))#(\w[\w/-]{0,99})", re.MULTILINE)
_ORG = re.compile(
    r"^(?:#\+filetags:|\*+[ \t][^\n]*?)[ \t]+(:[\w@#%:]{1,200}:)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_LINK = re.compile(r"\[\[([^\[\]\n|#]{0,300})(?:#([^\[\]\n|]{1,300}))?(?:\|[^\[\]\n]{0,300})?\]\]")
_MOST_TAGS = 200


def tags_of(text: str, language: str) -> tuple[str, ...]:
    """The tags of a note, folded, without `#`, in the order they stand; empty for other languages.

    Those of the front matter (`tags`, `tag`) and those in the text (`#garden/bees`), not in code.
    """
    if language not in NOTE_LANGUAGES:
        return ()
    found = _org_tags(text) if language == "org" else _markdown_tags(text)
    folded = (tag.strip().strip("#/-").casefold() for tag in found)
    distinct = dict.fromkeys(tag for tag in folded if any(map(str.isalpha, tag)))
    return tuple(distinct)[:_MOST_TAGS]


def has_tag(tags: tuple[str, ...], wanted: str) -> bool:
    """Whether one of the tags is the wanted one or lies below it: `garden/bees` is a `garden`."""
    wanted = wanted.strip().strip("#/").casefold()
    return any(tag == wanted or tag.startswith(wanted + "/") for tag in tags)


def _markdown_tags(text: str) -> Iterator[str]:
    fields = front_matter(text)
    for name in ("tags", "tag"):
        for value in fields.fields.get(name, ()):
            yield from re.split(r"[,\s]+", value) if len(fields.fields[name]) == 1 else [value]
    if "#" in text:
        yield from _INLINE.findall(_CODE.sub(" ", text[fields.end :]))


def _org_tags(text: str) -> Iterator[str]:
    for run in _ORG.findall(text):
        yield from run.split(":")


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link as it is written: the name or path of a note (empty for the same one), and a heading in it."""

    target: str
    heading: str


def links_in(text: str) -> list[NoteLink]:
    """The links of a text, each once, in their order."""
    if "[[" not in text:
        return []
    found = (NoteLink(target.strip(), heading.strip()) for target, heading in _LINK.findall(text))
    return [link for link in dict.fromkeys(found) if link.target or link.heading]


def heading_line(text: str, heading: str) -> int | None:
    """The line (from 1) of the Markdown heading that a link means, None where there is none.

    Of a path of headings (`A#B`) the last one.
    """
    wanted = _bare(heading.rpartition("#")[2])
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") and _bare(line.lstrip("#")) == wanted:
            return number
    return None


def _bare(heading: str) -> str:
    return " ".join(re.findall(r"\w+", heading.casefold()))
