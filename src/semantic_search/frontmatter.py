"""What stands above a Markdown text: fields between two lines of `---` (YAML) or `+++` (TOML).

Of YAML only what such fields are written in: scalars and lists of scalars. Nothing is ever constructed from a
tag, no alias is followed; what is written another way is left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_BLOCK = re.compile(r"(---|\+\+\+)[ \t]*\n((?:[^\n]*\n){0,200}?)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)")
_FIELD = re.compile(r"([\w][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\']|\'\')*)\'')
_FLOW_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^,\[\]{}"\'][^,\[\]{}]*)\s*(?:,|$)')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}
_LONGEST = 1_000
_MOST_VALUES = 200


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Where the text begins that follows the fields (0 without any), and values by lower-case name."""

    end: int
    fields: Mapping[str, tuple[str, ...]]

    def first(self, name: str) -> str:
        """The first value of a field, empty where it has none."""
        return next(iter(self.fields.get(name, ())), "")


def front_matter(text: str) -> FrontMatter:
    """The fields above a text."""
    match = _BLOCK.match(text) if text.startswith(("---", "+++")) else None
    if match is None:
        return FrontMatter(0, {})
    read = _toml if match[1] == "+++" else _yaml
    fields: dict[str, tuple[str, ...]] = {}
    for name, values in read(match[2]):
        kept = tuple(value.strip()[:_LONGEST] for value in values[:_MOST_VALUES] if value.strip())
        fields.setdefault(name.strip().lower(), kept)
    return FrontMatter(match.end(), fields)


def _toml(block: str) -> Iterator[tuple[str, list[str]]]:
    try:
        found = tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for name, value in found.items():
        values = value if isinstance(value, list) else [value]
        yield name, [str(each) for each in values if not isinstance(each, dict | list | bool)]


def _yaml(block: str) -> Iterator[tuple[str, list[str]]]:
    lines = block.split("\n")
    at = 0
    while at < len(lines):
        match = _FIELD.match(lines[at])
        at += 1
        if match is None:
            continue
        value = _uncommented(match[2] or "")
        if value[:1] in ("|", ">"):
            body = _below(lines, at)
            at += len(body)
            yield match[1], [" ".join(" ".join(body).split())]
        elif value.startswith("["):
            while "]" not in value and at < len(lines) and not _FIELD.match(lines[at]):
                value += " " + lines[at].strip()
                at += 1
            yield match[1], [_scalar(item) for item in _FLOW_ITEM.findall(value[1:].rpartition("]")[0])]
        elif value:
            yield match[1], [_scalar(value)]
        else:
            items = []
            while at < len(lines) and (item := _ITEM.match(lines[at])):
                items.append(_scalar(_uncommented(item[1])))
                at += 1
            yield match[1], items


def _uncommented(value: str) -> str:
    return value.strip() if value.startswith(('"', "'")) else _COMMENT.sub("", value).strip()


def _below(lines: list[str], at: int) -> list[str]:
    """The indented and empty lines from a place on."""
    found = []
    for line in lines[at:]:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        found.append(line)
    return found


def _scalar(value: str) -> str:
    """A plain or quoted value. Maps and aliases are none."""
    value = value.strip()
    quoted = _QUOTED.match(value)
    if quoted is not None:
        if quoted[1] is not None:
            return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted[1])
        return quoted[2].replace("''", "'")
    if value[:1] in ("{", "&", "*", "!", "%", "@", "`") or value in ("~", "null"):
        return ""
    return value
