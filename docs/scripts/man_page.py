"""Writes the manual page, `docs/semantic-search.1`, of the help of the commands and the tables of the pages.

    python docs/scripts/man_page.py

The wheel installs it as `share/man/man1/semantic-search.1`. A test holds it current.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator

import click
from pages import ROOT, text_of
from tables import default_of

from semantic_search import __version__
from semantic_search.cli import COMMANDS, PROGRAM, command
from semantic_search.cli.examples import EXAMPLES
from semantic_search.setting_keys import KEYS

PAGE = ROOT / "docs" / "semantic-search.1"
# Of the last change that a reader would notice: pages without a date are taken for unfinished.
DATE = "2026-12-01"

_STATUS = (
    ("0", "found or done"),
    ("1", "nothing found"),
    ("2", "an error, told on stderr with what to do"),
    ("130", "interrupted"),
)


def escaped(text: str) -> str:
    """Plain text for roff: nothing in it is a request or an escape, and every character comes out."""
    text = text.replace("\\", "\\(rs").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")
    return "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)


def prose(text: str) -> str:
    """Markdown of one paragraph: code is bold, links are their text."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(text.split()))
    parts = text.split("`")
    said = "".join(rf"\fB{escaped(part)}\fR" if n % 2 else escaped(part) for n, part in enumerate(parts))
    lines = textwrap.wrap(said, 79, break_long_words=False, break_on_hyphens=False)
    # A line that begins like this would be a request.
    return "\n".join(rf"\&{line}" if line.startswith((".", "'")) else line for line in lines)


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring, each after a request that begins one."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
        if number:
            yield ".PP"
        yield prose(paragraph)


def tagged(tag: str, text: str) -> Iterator[str]:
    """A paragraph with a bold tag before it."""
    yield ".TP"
    yield rf"\fB{escaped(tag)}\fR"
    yield prose(text)


def options(found: click.Command, context: click.Context) -> Iterator[str]:
    """Every option of a command with its help."""
    for param in found.params:
        record = param.get_help_record(context)
        if record is not None and isinstance(param, click.Option):
            yield from tagged(*record)
    yield from tagged("-h, --help", "Show the help of the command and exit.")


def examples(name: str) -> Iterator[str]:
    """The examples of a command, as they are typed."""
    for said, lines in EXAMPLES[name]:
        yield ".PP"
        yield f"{prose(said)}:"
        yield ".PP"
        yield ".RS 4"
        yield ".EX"
        yield from (rf"\&{escaped(line)}" for line in lines.split("\n"))
        yield ".EE"
        yield ".RE"


def commands(context: click.Context) -> Iterator[str]:
    """A section for each command: what is typed, its help, its options, its examples."""
    for name in COMMANDS:
        found = command.get_command(context, name)
        assert found is not None
        inner = click.Context(
            found, info_name=name, parent=context, help_option_names=context.help_option_names
        )
        usage = " ".join([PROGRAM, name, *found.collect_usage_pieces(inner)])
        yield f".SS {escaped(usage)}"
        yield from paragraphs(found.help or "")
        yield from options(found, inner)
        yield from examples(name)


def environment() -> Iterator[str]:
    """The variables of settings, then the table of the others in `docs/configuration.md`."""
    for name, key in KEYS.items():
        if key.variable:
            yield from tagged(key.variable, f"as the setting `{name}`")
    table = text_of("docs/configuration.md").split("## Environment", 1)[1].split("\n## ", 1)[0]
    for names, meaning in re.findall(r"^\| (`.+?`) \| (.+) \|$", table, flags=re.MULTILINE):
        yield from tagged(names.replace("`", ""), meaning)


def page() -> Iterator[str]:
    """The lines of the page."""
    context = click.Context(command, info_name=PROGRAM, help_option_names=["-h", "--help"])
    yield r".\" Written by docs/scripts/man_page.py."
    yield f'.TH SEMANTIC\\-SEARCH 1 {DATE} "{PROGRAM} {__version__}" "User Commands"'
    yield ".SH NAME"
    yield rf"{escaped(PROGRAM)} \- {escaped((command.help or '').rstrip('.').partition(', ')[2])}"
    yield ".SH SYNOPSIS"
    yield rf"\fB{escaped(PROGRAM)}\fR [\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]"
    yield ".SH DESCRIPTION"
    yield from paragraphs(command.help or "")
    yield ".SH OPTIONS"
    yield from options(command, context)
    yield ".SH EXAMPLES"
    yield from list(examples(""))[1:]  # the heading begins a paragraph
    yield ".SH COMMANDS"
    yield from commands(context)
    yield ".SH SETTINGS"
    yield prose(f"Members of the config file, shown and changed by `{PROGRAM} config`.")
    for name, key in KEYS.items():
        yield from tagged(name, f"{key.meaning}: {key.expects}; by default `{default_of(key)}`")
    yield ".SH ENVIRONMENT"
    yield from environment()
    yield ".SH EXIT STATUS"
    for status, meaning in _STATUS:
        yield from tagged(status, meaning)


def main() -> None:
    """Writes the page where it is not what it should be."""
    text = "\n".join(page()) + "\n"
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")
        print(PAGE.relative_to(ROOT))


if __name__ == "__main__":
    main()
