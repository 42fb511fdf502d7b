"""What the package promises to those who import it or install it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import pytest
from builders import write_tree

import semantic_search
import semantic_search.errors

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


def test_the_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    write_tree(tmp_path, {"notes/retry.md": "# Retries\n\nThe gateway retries a lost request five times.\n"})
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    shown = capsys.readouterr().out
    assert shown.startswith("1 files\nretry.md:1 ") and "five times" in shown
    assert names["paths"] == [str(tmp_path.resolve() / "notes" / "retry.md")]


def test_a_corpus_of_some_folders_shows_no_others(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/one.md": "the walrus\n", "b/two.md": "the walrus\n"})
    both = semantic_search.open_corpus([tmp_path / "a", tmp_path / "b"], index_directory=tmp_path / "index")
    with both as corpus:
        semantic_search.index(corpus, embed=False)
        assert len(semantic_search.search(corpus, "walrus")) == 1  # they say the same
    with semantic_search.open_corpus([tmp_path / "b"], index_directory=tmp_path / "index") as corpus:
        assert [hit.path for hit in semantic_search.search(corpus, "walrus")] == ["two.md"]
    with pytest.raises(semantic_search.errors.FolderError):
        semantic_search.open_corpus([tmp_path / "gone"])


def test_the_public_names_are_those_of_all() -> None:
    assert all(hasattr(semantic_search, name) for name in semantic_search.__all__)
    with pytest.raises(AttributeError):
        _ = semantic_search.no_such_name
