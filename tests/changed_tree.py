"""Two folders that changed since they were indexed, with a small real model: the state that a fault meets."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from builders import write_tree
from document_samples import presentation, shape
from faults import Places
from forking import Ended
from fresh_equality import Held, fresh_equality, held_at, held_by, stores_at
from older_indexes import age
from tiny_bert import TinyBert

from semantic_search.errors import NoIndex, StoreError
from semantic_search.settings import load_settings
from semantic_search.stores import open_store

FILES = 40
# Words of the tiny model, so that different texts have different vectors.
_WORDS = ("hello", "world", "worlds", "a", "b", "c")
OPERATIONS = ("index", "force", "remove", "rebuild", "migrate")


def text(seed: int) -> str:
    """A short note, another one for each number."""
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(_WORDS, k=draw.randint(4, 16))) for _ in range(draw.randint(1, 6))]
    return f"# Note {seed}\n\nnumber{seed} " + ".\n\n".join(lines) + ".\n"


class ChangedTree:
    """`folders` hold now what `index` has to bring in; `reset` puts the index back to what it was before.

    A command is run by `forks`, in `environment`.
    """

    def __init__(
        self, place: Path, forks: Callable[..., Ended], *, store: str = "sqlite", documents: bool = False
    ) -> None:
        self.place, self.forks, self._documents = place, forks, documents
        self.folders = [str(place / "first"), str(place / "second")]
        TinyBert().write(place / "tiny", window=64)
        self.config = place / "config" / "config.json"
        self.environment = {
            **os.environ,
            "HOME": str(place),
            "SS_CONFIG_PATH": str(self.config),
            "SS_INDEX_DIR": str(place / "index"),
            "SS_MODEL_CACHE_DIR": str(place / "models"),
            "SS_STORE_BACKEND": store,
        }
        self.places = Places(
            tuple(self.folders), str(place / "config"), str(place / "index"), str(place / "models")
        )
        self._configured: dict[str, object] = {
            "defaultRoots": self.folders,
            "modelName": str(place / "tiny"),
            "concurrency": 1,
            "chunk": {"targetTokens": 32, "overlapTokens": 4, "hardTokenLimit": 48},
        }
        self.config.parent.mkdir()
        self.configure()
        for folder in self.folders:
            write_tree(Path(folder), {self._name(n): text(n) for n in range(FILES)})
        self.index(self.environment)
        self.before = held_at(self.environment)
        shutil.copytree(place / "index", place / "before")
        self._change()
        self._fresh: dict[str, Held] = {}

    @property
    def index_file(self) -> Path:
        """The one index of the store `sqlite` that there is."""
        (found,) = (self.place / "index").glob("index-*.sqlite3")
        return found

    @staticmethod
    def _name(n: int) -> str:
        return f"d{n % 4}/{n:02}.{'md' if n % 3 else 'py'}"

    def _change(self) -> None:
        first = Path(self.folders[0])
        write_tree(first, {self._name(n): text(100 + n) for n in range(0, FILES, 3)})
        write_tree(first, {f"new/{n}.md": text(200 + n) for n in range(10)})
        for n in (1, 5, 9):
            (first / self._name(n)).unlink()
        (first / self._name(2)).rename(first / "renamed.md")
        (first / self._name(4)).write_bytes(b"")
        if self._documents:
            for n in range(2):
                slide = presentation([shape("title", f"hello world number{n}")])
                (first / f"slides{n}.pptx").write_bytes(slide)

    def configure(self, **changes: object) -> None:
        """Writes the config file, with other values for some keys."""
        self.config.write_text(json.dumps({**self._configured, **changes}))

    def reset(self, operation: str = "index") -> None:
        """Puts index and configuration back to before a command of `OPERATIONS`."""
        index = self.place / "index"
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(self.place / "before", index)
        if operation == "rebuild":
            self.configure(chunk={"targetTokens": 40, "overlapTokens": 2, "hardTokenLimit": 48})
        else:
            self.configure()
        if operation == "migrate":
            (current,) = stores_at(load_settings(self.environment))
            age(Path(current), 1)

    def arguments(self, operation: str) -> list[str]:
        """The command line of an operation."""
        return {"force": ["index", "--force"], "remove": ["remove", self.folders[1]]}.get(
            operation, ["index"]
        )

    def index(self, environment: Mapping[str, str]) -> None:
        """A normal run."""
        ended = self.forks("index", env=environment)
        assert ended.status == 0, ended

    def heal(self, operation: str) -> Held:
        """After a normal run, the index is as fresh; what that is. A removal that did not come to its end is
        undone or done, whole: that the folder is still configured is what tells."""
        still = len(json.loads(self.config.read_text())["defaultRoots"])
        kind = {"rebuild": "rebuild"}.get(operation, f"{still} folders")
        self._fresh[kind] = fresh_equality(self.environment, self.index, fresh=self._fresh.get(kind))
        return self._fresh[kind]

    def check_all_but_one(self, new: Held) -> None:
        """Every file is as after, but one at most."""
        settings = load_settings(self.environment)
        files = {file: rows for path in stores_at(settings) for file, rows in _files_in(settings.store, path)}
        left = [file for file, rows in new.of_files().items() if files.get(file) != rows]
        assert len(left) <= 1, f"not indexed: {left}"

    def check_what_is_left(self, new: Held, ended: Ended) -> None:
        """Before anything heals: indexes are sound, a file is as before or as after, and whatever was told to
        be indexed is."""
        old_files, new_files = self.before.of_files(), new.of_files()
        settings = load_settings(self.environment)
        paths = stores_at(settings)
        assert paths, "no index is left"
        written: set[tuple[str, str]] = set()
        for path in paths:
            for file, rows in _files_in(settings.store, path):
                assert rows in (old_files.get(file), new_files.get(file)), f"half of {file} in {path}"
                if rows == new_files.get(file):
                    written.add(file)
        lost = acknowledged(ended.stdout) - written
        assert not lost, f"told to be indexed, and is not: {lost}"


def _files_in(backend: str, path: str) -> list[tuple[tuple[str, str], frozenset[tuple[object, ...]]]]:
    try:
        store = open_store(backend, path)
    except StoreError as error:
        # A new one may not have its tables yet.
        assert isinstance(error, NoIndex) or "older version" in str(error), error
        return []
    try:
        assert store.check() == ""
        return list(held_by(store).of_files().items())
    finally:
        store.close()


def acknowledged(stdout: str) -> set[tuple[str, str]]:
    """The files of the lines of a report that say that a file was indexed."""
    folder, found = "", set()
    for line in stdout.split("\n")[:-1]:
        if line.startswith("["):
            folder = line.split("  ", 1)[1]
        elif line.startswith("  ") and line.endswith(" passages)"):
            found.add((folder, line[2:].rpartition("  (")[0]))
    return found
