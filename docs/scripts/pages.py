"""The pages of the documentation and what is shown in them: blocks, and the commands of a block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What a block may be. `console` shows commands after `$ ` and what they print, `sh` commands alone.
LANGUAGES = ("console", "sh", "json", "python", "toml", "text", "markdown")

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<language>[^\n`]*)$")
_NEED = re.compile(r"\bneeds (?P<need>[^;,]+)")
_STATUS = re.compile(r"\bexit status (?P<status>\d+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: its language ("" where none is named), first line of text, and text."""

    page: str
    line: int
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it is shown: where, the shell's text, what it prints (None where the page does not say),
    what it needs that is not everywhere ("" where it can be run), and the exit status that the page names."""

    page: str
    line: int
    text: str
    shown: tuple[str, ...] | None
    needs: str
    status: int


def pages() -> list[str]:
    """README and the pages of docs/, as paths from the root of the repository, in order."""
    return ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))]


def text_of(page: str) -> str:
    """The Markdown of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, text: str | None = None) -> list[Block]:
    """The fenced blocks of a page, in order. A block in a list loses the list's indentation.

    Raises ValueError for a block that never ends.
    """
    found, opened = [], None
    lines: list[str] = []
    for number, line in enumerate((text_of(page) if text is None else text).split("\n"), 1):
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened, lines = (number + 1, fence), []
        elif line.strip() == opened[1]["fence"]:
            found.append(Block(page, opened[0], opened[1]["language"].strip(), "\n".join(lines)))
            opened = None
        else:
            lines.append(line.removeprefix(opened[1]["indent"]))
    if opened is not None:
        raise ValueError(f"{page}:{opened[0] - 1}: a block that never ends")
    return found


def commands(page: str, text: str | None = None) -> list[Command]:
    """The commands of a page's `sh` and `console` blocks, in order."""
    return [
        command
        for block in blocks(page, text)
        if block.language in ("sh", "console")
        for command in _commands_of(block)
    ]


def _commands_of(block: Block) -> Iterator[Command]:
    prompts = block.language == "console"
    lines = block.text.split("\n")
    at = 0
    while at < len(lines):
        line, first = lines[at], block.line + at
        at += 1
        if prompts and not line.startswith("$ "):
            raise ValueError(f"{block.page}:{first}: a console block begins with a command after `$ `")
        command = line.removeprefix("$ ") if prompts else line
        while command.endswith("\\") and at < len(lines):
            command += "\n" + lines[at].removeprefix("> ")
            at += 1
        shown: list[str] = []
        while prompts and at < len(lines) and not lines[at].startswith("$ "):
            shown.append(lines[at])
            at += 1
        if command.strip() and not command.lstrip().startswith("#"):
            remark = _remark(command)
            need, status = _NEED.search(remark), _STATUS.search(remark)
            yield Command(
                block.page,
                first,
                command,
                tuple(shown) if prompts else None,
                need["need"].strip() if need else "",
                int(status["status"]) if status else 0,
            )


def _remark(command: str) -> str:
    """The comment at the end of a command, "" where there is none."""
    quote = ""
    for place, character in enumerate(command):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#" and (place == 0 or command[place - 1].isspace()):
            return command[place + 1 :]
    return ""


def body_of(command: str) -> str:
    """A command without the comment at its end."""
    remark = _remark(command)
    return (command[: len(command) - len(remark) - 1] if remark else command).rstrip()
