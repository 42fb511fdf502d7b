"""What the documentation says is what the code does."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from format_table import formats
from pages import LANGUAGES, blocks, body_of, commands, pages
from tables import TABLES, default_of, renewed, settings, tables_of

from semantic_search import errors
from semantic_search.cli import COMMANDS, command
from semantic_search.clients.registering import INSTRUCTIONS
from semantic_search.formats import FORMATS
from semantic_search.scoring import PENALTIES, WEIGHTS
from semantic_search.setting_keys import KEYS
from semantic_search.terms import index_terms
from semantic_search.types import Skip

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
CONTEXT = click.Context(command, info_name="semantic-search")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def subcommand(name: str) -> click.Command:
    found = command.get_command(CONTEXT, name)
    assert found is not None, f"there is no command {name}"
    return found


def options_of(name: str) -> list[str]:
    """Every option of a command but those that all have."""
    found = subcommand(name).params
    spellings = [p.opts + p.secondary_opts for p in found if isinstance(p, click.Option)]
    return sorted({each for opts in spellings for each in opts} - {"--json", "--help", "-h"})


def examples() -> Iterator[tuple[str, str]]:
    """Every command line shown in a block or in a code span, with its page."""
    for name in NAMES:
        text = text_of(name)
        lines = [body_of(command.text) for command in commands(name, text)]
        lines += re.findall(r"`(semantic-search [^`]+)`", text)
        for line in lines:
            match = re.match(r"(?:uvx --from \S+ )?semantic-search (.+)", line.strip(), re.DOTALL)
            if match:
                yield name, match[1]


EXAMPLES = sorted(set(examples()))


def test_there_are_pages_and_examples() -> None:
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} <= set(NAMES)
    assert {"docs/cli.md", "docs/configuration.md", "docs/how-it-works.md"} <= set(NAMES)
    assert len(EXAMPLES) > 20


@pytest.mark.parametrize(("page", "line"), EXAMPLES)
def test_an_example_is_a_command_that_can_be_given(page: str, line: str) -> None:
    """Parsed by the real command, not run. A line of synopsis (`PATH...`) only names what there is."""
    if re.search(r"\[[A-Z]+\]|\[:|\.\.\.|…$", line):
        line = line.split()[0]
        subcommand(line)
        return
    words = shlex.split(line, comments=True)
    if words[0].startswith("-"):
        assert words[0] in ("--help", "--version", "-h")
        return
    found = subcommand(words[0])
    if "--help" not in words:
        # Without arguments a span names the command: `semantic-search search`.
        required = any(isinstance(p, click.Argument) and p.required for p in found.params)
        if len(words) > 1 or not required:
            found.make_context(words[0], words[1:], parent=CONTEXT)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_described(name: str) -> None:
    sections = re.split(r"^## ", text_of("docs/cli.md"), flags=re.MULTILINE)
    (section,) = [part for part in sections if part.split("\n", 1)[0] == name]
    for option in options_of(name):
        assert f"`{option}" in section or f"/ {option}" in section, f"docs/cli.md: {name} {option}"


def test_every_described_option_is_there() -> None:
    sections = re.split(r"^## ", text_of("docs/cli.md"), flags=re.MULTILINE)[1:]
    for section in sections:
        name, _, body = section.partition("\n")
        known = {
            *options_of(name),
            "--json",
            "--in",
            "--help",
            "-h",
            "-k",
            "--files",
            "--explain",
            "--skipped",
        }
        shown = set(re.findall(r"`(--?[a-zA-Z][a-z-]*)", body))
        assert shown <= known, f"docs/cli.md: {name} has no {shown - known}"


def test_every_command_is_in_the_table_of_the_group_and_has_help() -> None:
    assert list(COMMANDS) == re.findall(r"^## ([a-z]+)$", text_of("docs/cli.md"), flags=re.MULTILINE)
    for name in COMMANDS:
        assert subcommand(name).help


def test_the_blocks_of_json_are_json() -> None:
    blocks = [(name, b) for name in NAMES for b in re.findall(r"```json\n(.*?)```", text_of(name), re.DOTALL)]
    assert len(blocks) > 8
    for name, block in blocks:
        assert json.loads(block) is not None, name


@pytest.mark.parametrize("page", pages())
def test_tables_that_the_code_knows_are_current(page: str) -> None:
    assert renewed(page) == text_of(page), "run `make tables`"


def test_every_table_stands_somewhere() -> None:
    assert sorted(name for page in pages() for name in tables_of(page)) == sorted(TABLES)


def test_every_format_is_tried_and_found_among_the_first_three() -> None:
    rows = [row.strip("| ").split(" | ") for row in formats()[2:]]
    assert [row[0].strip("`") for row in rows] == list(FORMATS)
    reasons = {f"`{reason}`" for reason in (Skip.DAMAGED, Skip.UNDECODABLE)}
    for suffix, _, result, place, reason in rows:
        assert result in ("1", "2", "3"), (suffix, result)
        assert re.fullmatch(r"(\w+ \d+, )?line \d+", place), (suffix, place)
        assert reason in reasons, (suffix, reason)


def test_the_table_of_settings_has_every_key_with_its_default_and_variable() -> None:
    rows = {row.split(" | ")[0].strip("| `"): row for row in settings()}
    assert set(KEYS) < set(rows)
    for name, key in KEYS.items():
        assert f"| `{default_of(key)}` |" in rows[name]
        assert key.meaning in rows[name] and key.expects in rows[name]
        assert not key.variable or f"`{key.variable}`" in rows[name]


def test_every_variable_is_described() -> None:
    """Those of ours, and those of others that we read."""
    ours = "((?:SS|XDG|HF)_[A-Z_]+|NO_COLOR|FORCE_[A-Z]+|VISUAL|EDITOR)"
    read = set()
    for path in (ROOT / "src").rglob("*.py"):
        read |= set(re.findall(f'"{ours}"', path.read_text(encoding="utf-8")))
    described = set(re.findall(f"`{ours}`", text_of("docs/configuration.md")))
    assert read == described


def test_every_reason_is_described() -> None:
    table = text_of("docs/configuration.md").split("status --skipped`", 1)[1]
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^;|]+?)(?:;[^|]*)? \|$", table, flags=re.MULTILINE)
    assert dict(rows) == {reason.value: reason.sentence for reason in Skip}


def test_every_signal_is_described_with_its_weights() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\S+) \| (\S+) \|$", text_of("docs/ranking.md"), re.MULTILINE)
    sign = {name: -1 if name in PENALTIES else 1 for name in WEIGHTS}
    assert {name: (float(code), float(prose)) for name, code, prose in rows} == {
        name: (sign[name] * weight.code, sign[name] * weight.prose) for name, weight in WEIGHTS.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text_of(name)):
        if not re.match(r"https?:|mailto:", target):
            assert ((ROOT / name).parent / target).exists(), f"{name}: {target}"


@pytest.mark.parametrize("name", NAMES)
def test_anchors_are_headings(name: str) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", text_of(name)):
        if target.startswith("http"):
            continue
        page = (ROOT / name).parent / target if target else ROOT / name
        headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in slugs, f"{name}: {target}#{anchor}"


def test_the_tests_that_are_named_are_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", text_of("CONTRIBUTING.md")))
    assert len(named) > 10
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert {name for name in named if f"def {name}(" not in sources} == set()


def test_files_that_are_named_are_there() -> None:
    """Paths of this repository in code spans: `tests/fakes.py`, `docs/cli.md`."""
    places = ("src/", "tests/", "docs/", "benchmarks/", "samples/")
    for name in NAMES:
        for path in re.findall(r"`([\w./-]+)`", text_of(name)):
            if path.startswith(places):
                assert (ROOT / path).exists(), f"{name}: {path}"


def test_the_example_is_the_packaged_one() -> None:
    packaged = ROOT / "src" / "semantic_search" / "indexignore.example"
    assert (ROOT / ".indexignore.example").read_bytes() == packaged.read_bytes()


def test_targets_of_make_are_there() -> None:
    makefile = text_of("Makefile")
    for name in NAMES:
        for target in re.findall(r"^make ([a-z]+)", text_of(name), flags=re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"{name}: make {target}"


def test_what_is_marked_as_code_is_closed_and_says_what_it_is() -> None:
    for name in NAMES:
        assert {block.language for block in blocks(name, text_of(name))} <= set(LANGUAGES), name


def test_words_meet_that_the_pages_on_knowledge_bases_say_meet() -> None:
    def terms(word: str) -> set[str]:
        return set(index_terms(word))

    together = [
        ("об'єкт", "об’єкт", "обʼєкт", "обєкт"),
        ("ґрунт", "грунт"),
        ("елка", "ёлка"),
        ("зберігання", "зберіг"),
        ("список", "списку"),
        ("хлопець", "хлопця"),
    ]
    apart = [("зберігання", "зберігаємо"), ("книзі", "книга"), ("руці", "рука")]
    apart += [("проектом", "проєкт"), ("писати", "написати"), ("її", "іі"), ("мій", "мии")]
    for name in ("docs/knowledge-bases.md", "docs/knowledge-bases.uk.md"):
        for words in [*together, *apart[:4]]:
            assert all(f"`{word}`" in text_of(name) for word in words), (name, words)
    for first, *others in together:
        assert all(terms(other) == terms(first) for other in others), first
    for first, other in apart:
        assert not terms(first) & terms(other), first


def test_a_page_in_ukrainian_shows_the_same_commands() -> None:
    translated = [page for page in pages() if page.endswith(".uk.md")]
    assert translated
    for page in translated:
        shown = [
            [(command.text, command.shown) for command in commands(name)]
            for name in (page, page.replace(".uk.md", ".md"))
        ]
        assert shown[0] and shown[0] == shown[1], page


def test_the_figures_of_the_agents_page_are_those_of_the_benchmarks() -> None:
    figures = re.findall(
        r"\b\d[\d ]*\d\b", text_of("docs/agents.md").split("## What it is worth")[1].split("##")[0]
    )
    assert {"194", "14 696"} <= set(figures)
    measured = text_of("benchmarks/README.md").split("## The MCP server")[1].split("\n## ")[0]
    assert all(figure in measured for figure in figures)


def test_the_agents_page_shows_what_init_writes() -> None:
    (block,) = [block for block in blocks("docs/agents.md") if block.language == "markdown"]
    assert block.text.strip() == INSTRUCTIONS.strip()


def test_every_class_of_error_has_its_row() -> None:
    table = text_of("docs/troubleshooting.md").split("## By class, for scripts")[1].split("\n## ")[0]
    classes = [name for name, value in vars(errors).items() if isinstance(value, type)]
    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == classes


def test_the_messages_that_are_explained_are_messages_of_the_program() -> None:
    text = text_of("docs/troubleshooting.md")
    tables = text.split("## What is not found")[1].split("## By class")[0]
    shown = re.findall(r"^\| `([^`]+)`", tables, flags=re.MULTILINE)
    assert len(shown) > 10
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    for message in shown:
        parts = [part.strip() for part in message.split("…") if len(part.strip()) > 5]
        assert parts and all(part in sources for part in parts), message


def test_privacy_and_security_say_the_same_of_what_leaves_the_machine() -> None:
    sent = text_of("docs/privacy.md").split("## What is sent")[1].split("\n## ")[0]
    leaves = text_of("SECURITY.md").split("## What leaves the machine")[1].split("\n## ")[0]
    for what in ("allowDownload", "indexLocation", "index --engine ray", "HF_TOKEN", "telemetry"):
        assert what in sent and what in leaves, what
    for mode in ("0700", "0600"):
        assert mode in text_of("docs/privacy.md") and mode in text_of("SECURITY.md")


def test_examples_in_python_are_on_the_page_whose_examples_are_run() -> None:
    """By test_public_api.py."""
    assert [name for name in NAMES if any(block.language == "python" for block in blocks(name))] == [
        "docs/python.md"
    ]
