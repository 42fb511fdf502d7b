"""Jupyter notebooks (nbformat 3 and 4): text, code and the beginning of what it printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..encodings import decode
from ..types import Skip
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts

MAX_CHARACTERS = 10_000_000
MOST_OUTPUT_LINES = 15
MOST_OUTPUT_CHARACTERS = 1_000

_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_EMBEDDED = re.compile(r"(?<=\()data:[^)\s]+(?=\))")
_LANGUAGE = re.compile(r"[\w+#-]{1,20}")
_FENCE = re.compile(r"`{3,}")


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The cells of a notebook as Markdown, code in fences with its output below; the cells are the pages.

    Of each output the first lines, of images nothing. Refuses what is no notebook (`DAMAGED`) and notebooks
    whose cells are empty (`NO_TEXT`).
    """
    decoded = decode(data)
    try:
        notebook = json.loads(decoded.text) if decoded is not None else None
    except ValueError:
        return Refused(Skip.DAMAGED, "not JSON")
    cells = _cells(notebook)
    if cells is None:
        return Refused(Skip.DAMAGED, "not a notebook")
    language = _language(notebook)
    texts: list[str] = []
    notes: list[str] = []
    room = max_characters
    for cell in cells:
        text = clean("\n\n".join(_parts(cell, language))).strip("\n") if isinstance(cell, dict) else ""
        if len(text) > room:
            notes.append(CUT_NOTE)
            break
        room -= len(text)
        texts.append(text)
    return of_parts(texts, notes)


def _cells(notebook: Any) -> list[Any] | None:
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    return [
        cell
        for sheet in sheets
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
        for cell in sheet["cells"]
    ]


def _language(notebook: Any) -> str:
    about = notebook.get("metadata")
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        found = about.get(place) if isinstance(about, dict) else None
        name = found.get(key) if isinstance(found, dict) else None
        if isinstance(name, str) and _LANGUAGE.fullmatch(name):
            return name
    return "python"


def _parts(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input"))).strip("\n")
    if not source.strip():
        return
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        yield "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + source.strip()
    elif kind == "code":
        yield _fenced(source, language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict) and (text := _short(_output(output))):
                yield _fenced(text, "")
    else:
        yield _EMBEDDED.sub("", source)


def _output(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    data = output.get("data")
    shown = data.get("text/plain") if isinstance(data, dict) else output.get("text")
    return _COLOURS.sub("", _text(shown))


def _short(text: str) -> str:
    """The first lines of an output, with … where there were more."""
    text = text.strip("\n")
    lines = text.split("\n", MOST_OUTPUT_LINES)
    short = "\n".join(lines[:MOST_OUTPUT_LINES])[:MOST_OUTPUT_CHARACTERS].rstrip()
    return short + "\n…" if short and len(short) < len(text.rstrip()) else short


def _text(value: Any) -> str:
    """A text as notebooks keep it: one string, or a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _fenced(text: str, language: str) -> str:
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
