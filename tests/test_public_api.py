"""What the package promises to those who import it or install it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import semantic_search

ROOT = Path(__file__).parents[1]


def test_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", semantic_search.__version__)
    assert metadata.version("semantic-search-mcp") == semantic_search.__version__


def test_it_is_typed_and_carries_its_example() -> None:
    package = resources.files("semantic_search")
    assert package.joinpath("py.typed").is_file()
    assert (
        package.joinpath("indexignore.example").read_bytes() == (ROOT / ".indexignore.example").read_bytes()
    )


def test_the_command_and_the_module_are_the_same() -> None:
    (entry,) = metadata.entry_points(group="console_scripts", name="semantic-search")
    assert entry.value == "semantic_search.__main__:main"
    done = subprocess.run(
        [sys.executable, "-m", "semantic_search", "--version"], capture_output=True, text=True, check=True
    )
    assert semantic_search.__version__ in done.stdout


def test_every_error_is_told_in_one_line() -> None:
    """All that is raised on purpose has one base, which the command turns into a line and status 2."""
    from semantic_search import errors

    found = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(found) >= 9
    assert all(issubclass(error, errors.SemanticSearchError) for error in found)
    assert all(error.__name__ in (errors.__doc__ or "") for error in found)
