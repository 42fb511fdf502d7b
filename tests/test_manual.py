"""The manual page is that of the commands there are, and manual page readers have nothing to complain of."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import click
import pytest
from man_page import PAGE, escaped, page

from semantic_search.cli import COMMANDS, command
from semantic_search.cli.examples import EXAMPLES
from semantic_search.setting_keys import KEYS

ROOT = Path(__file__).parents[1]


def shown() -> str:
    """The page as text, as a reader would have it without fonts and filling."""
    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(r"\\\[u([0-9A-F]+)\]", lambda code: chr(int(code[1], 16)), text)
    for code, plain in {"\\-": "-", "\\(aq": "'", "\\(ti": "~", "\\(dq": '"', "\\(ga": "`"}.items():
        text = text.replace(code, plain)
    return re.sub(r"\\f[BIR]|\\&", "", text)


def test_the_page_is_current() -> None:
    """`make man` writes it."""
    assert PAGE.read_text(encoding="utf-8") == "\n".join(page()) + "\n"


def test_every_command_option_setting_and_example_is_in_it() -> None:
    text = shown()
    context = click.Context(command, info_name="semantic-search")
    parts = re.split(r"^\.SS semantic-search ", text, flags=re.MULTILINE)
    sections = {part.split()[0]: part for part in parts[1:]}
    assert list(sections) == list(COMMANDS)
    for name, section in sections.items():
        found = command.get_command(context, name)
        assert found is not None
        tags = re.findall(r"^\.TP\n(.+)$", section, flags=re.MULTILINE)
        options = {word.strip(",") for tag in tags for word in re.split(r"[ /]+", tag) if word[0] == "-"}
        for param in found.params:
            if isinstance(param, click.Option):
                assert {*param.opts, *param.secondary_opts} <= options, name
        for _, lines in EXAMPLES[name]:
            assert lines in section
    for setting in KEYS:
        assert f".TP\n{setting}\n" in text


def test_no_line_of_text_is_taken_for_a_request() -> None:
    requests = {"SH", "SS", "TP", "PP", "RS", "RE", "EX", "EE", "TH", "\\"}
    for line in PAGE.read_text(encoding="utf-8").split("\n"):
        assert not line.startswith("'")
        assert not line.startswith(".") or re.split(r"[ \"]", line[1:])[0] in requests, line
    assert escaped("a\\b-c'd") == "a\\(rsb\\-c\\(aqd"


@pytest.mark.parametrize(
    "reader",
    [
        ["mandoc", "-Tlint", "-W", "warning"],
        ["groff", "-man", "-ww", "-Tutf8", "-z"],
        ["man", "--warnings", "--local-file"],
    ],
)
def test_a_reader_of_manual_pages_warns_of_nothing(reader: list[str]) -> None:
    program = shutil.which(reader[0])
    if program is None:
        pytest.skip(f"{reader[0]} is not installed")
    if reader[0] == "man" and b"--warnings" not in _help_of(program):
        pytest.skip("this man has no option for warnings")
    # Where nothing says which characters a terminal has, these programs take it for one without Cyrillic.
    done = subprocess.run(
        [program, *reader[1:], str(PAGE)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    if reader[0] == "mandoc":
        assert done.stdout.decode() == ""


def _help_of(program: str) -> bytes:
    return subprocess.run([program, "--help"], capture_output=True, check=False).stdout


def test_the_wheel_installs_the_page_where_man_looks() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    shared = build["targets"]["wheel"]["shared-data"]
    assert shared == {PAGE.relative_to(ROOT).as_posix(): "share/man/man1/semantic-search.1"}
