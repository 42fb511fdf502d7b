"""What a change of folders leaves when it is refused or meets an index that cannot be opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import write_tree
from fakes import configure, open_words
from older_indexes import OLDER, age

from semantic_search.errors import SettingsError
from semantic_search.settings import load_settings
from semantic_search.stores import open_store
from semantic_search.tools.folders import remove
from semantic_search.tools.index import Request, index


@pytest.fixture
def folders(tmp_path: Path, own_environment: Path) -> list[Path]:
    """Two folders, configured and indexed."""
    made = [write_tree(tmp_path / name, {"a.md": f"# {name}\n\nzebra {name}\n"}) for name in ("one", "two")]
    configure(own_environment, made)
    with open_words() as corpus:
        index(corpus, Request())
    return made


def configured(home: Path) -> list[str]:
    content = json.loads((home / "config/semantic-search/config.json").read_text())
    return [Path(root).name for root in content["defaultRoots"]]


def index_path() -> Path:
    (found,) = Path(load_settings().paths.index_directory).glob("index-*.sqlite3")
    return found


def test_a_removal_that_cannot_be_written_down_is_undone_by_the_next_run(
    folders: list[Path], own_environment: Path
) -> None:
    obstacle = own_environment / "config/semantic-search/config.json.lock"
    obstacle.unlink(missing_ok=True)
    obstacle.mkdir()
    with open_words() as corpus, pytest.raises(SettingsError, match="cannot be locked"):
        remove(corpus, ["two"])
    assert configured(own_environment) == ["one", "two"]
    with open_words() as corpus:
        index(corpus, Request())
        store, _ = corpus.reading()
        assert [(counts.path, counts.files) for counts in store.counts()] == [(str(f), 1) for f in folders]


@pytest.mark.parametrize("version", OLDER)
def test_a_folder_removed_from_an_older_index_does_not_come_back(
    folders: list[Path], own_environment: Path, version: int
) -> None:
    older = age(index_path(), version)
    with open_words() as corpus:
        remove(corpus, [str(folders[1])])
    with open_words() as corpus:
        run = index(corpus, Request())
    assert not older.exists()
    assert [report.name for report in run.reports] == ["one"]
    store = open_store("sqlite", str(index_path()))
    assert store.folders() == [str(folders[0])]
    store.close()
