"""Text looked for as it is: the same lines as GNU grep gives, whatever is in text and pattern."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import write_tree
from counts import a_seed, repeated
from fakes import configure, open_words

from semantic_search.tools.grep import Search, grep

_PIECES = [
    *(
        "a",
        "b",
        "ab",
        "ba",
        "A",
        " ",
        "  ",
        "\t",
        ".",
        "*",
        "+",
        "?",
        "[",
        "]",
        "(",
        ")",
        "{1}",
        "|",
        "\\",
        "\\E",
    ),
    *(
        "^",
        "$",
        "-",
        "--",
        "-e",
        "'",
        '"',
        "`",
        "$HOME",
        "%s",
        "\\n",
        "\\d",
        "é",
        "e\u0301",
        "ї",
        "字",
        "😀",
        "ß",
    ),
]


def made_line(draw: random.Random) -> str:
    return "".join(draw.choices(_PIECES, k=draw.randint(0, 12)))


def by_gnu_grep(folder: Path, needle: str) -> set[tuple[str, int]]:
    """Paths and numbers of lines with the needle."""
    done = subprocess.run(
        ["grep", "-rnFZ", "--binary-files=text", "-e", needle, "--", "."],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done
    rows = [row.split(b"\0", 1) for row in done.stdout.split(b"\n")[:-1]]
    return {(os.fsdecode(name).removeprefix("./"), int(rest.split(b":")[0])) for name, rest in rows}


@pytest.mark.skipif(shutil.which("grep") is None, reason="there is no grep to compare with")
@pytest.mark.parametrize("count", repeated(120))
def test_literal_patterns_match_the_lines_that_grep_matches(
    tmp_path: Path, own_environment: Path, count: int, tell: Callable[[str], None]
) -> None:
    seed = a_seed()
    draw = random.Random(seed)
    matched = 0
    for tree in range(max(1, count // 30)):
        texts: dict[str, str | bytes] = {
            f"d{n % 3}/{n}.md": "a\n" + "\n".join(made_line(draw) for _ in range(draw.randint(1, 30)))
            for n in range(12)
        }
        folder = write_tree(tmp_path / f"notes{tree}", texts)
        configure(own_environment, [folder])
        lines = "\n".join(map(str, texts.values())).split("\n")
        with open_words() as corpus:
            for _ in range(30):
                line = draw.choice(lines)
                start = draw.randrange(len(line) + 1)
                needle = line[start : start + draw.randint(1, 6)] or made_line(draw) or "a"
                found = grep(corpus, Search(needle, case_sensitive=True, literal=True, most=10_000))
                mine = {(line.source.path, line.number) for line in found.lines}
                assert mine == by_gnu_grep(folder, needle), needle
                matched += len(mine)
    tell(f"{count} patterns, {matched} lines, STRESS_SEED={seed}")
    assert matched > count
