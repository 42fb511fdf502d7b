"""Whatever happened to a folder, and in whatever order: its index is that of one indexed afresh."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from fakes import WordsModels, let_time_pass
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from semantic_search.corpus import Corpus
from semantic_search.settings import load_settings
from semantic_search.stores import Filter
from semantic_search.stores.sqlite_rows import unpacked
from semantic_search.terms import query_terms
from semantic_search.tools.index import Request, index

KEY = b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 64 + b"\n-----END PRIVATE KEY-----\nzeppelin\n"
CONTENTS: list[bytes] = [
    b"# Alpha\n\nalpha one\n",
    b"# Gamma\n\ngamma one\n",
    b"alpha two\n\ngamma two\n" * 30,
    "рядок українською\n".encode(),
    b"",
    b"\0binary",
    KEY,
    b"\xff\xfebroken\xd8",
]
WORDS = ["alpha", "gamma", "one", "two", "рядок", "zeppelin", "edited"]
DIRECTORIES = ["", "docs/", "docs/deep/", "src/"]
PATHS = [f"{directory}{name}" for directory in DIRECTORIES for name in ("a.md", "b.py", "caf\udce9.txt")]
paths = st.sampled_from(PATHS)
which = st.integers(0, 11)


class Tree(RuleBasedStateMachine):
    """A small tree, changed and indexed by turns."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="converge-"))
        self.folder = self.place / "tree"
        self.folder.mkdir()
        self.models = WordsModels()
        self.options: dict[str, Any] = {}
        self.indexes = self.steps = 0

    def teardown(self) -> None:
        self.index_and_compare()
        shutil.rmtree(self.place)

    # What happens to the tree

    @initialize(
        files=st.dictionaries(paths, st.sampled_from(CONTENTS), min_size=2, max_size=6),
        repository=st.booleans(),
    )
    def start(self, files: dict[str, bytes], repository: bool) -> None:
        if repository:
            self.git("init", "-q")
        for path, content in files.items():
            self.create(path, content)

    @rule(path=paths, content=st.sampled_from(CONTENTS))
    def create(self, path: str, content: bytes) -> None:
        place = self.folder / path
        if place.parent.exists() and not place.parent.is_dir():
            place.parent.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        place.write_bytes(content)

    @rule(n=which)
    def edit_unseen(self, n: int) -> None:
        """Another content of the same size, with the old time put back."""
        for place in self.file(n):
            before, content = place.stat(), place.read_bytes()
            place.write_bytes(
                (b"edited\n" if content[:1] != b"e" else b"again\n\n")[: len(content)] + content[7:]
            )
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(n=which, when=st.sampled_from([1, 10**9, 4 * 10**9]))
    def touch(self, n: int, when: int) -> None:
        for place in self.file(n):
            os.utime(place, (when, when))

    @rule(n=which, other=paths)
    def rename(self, n: int, other: str) -> None:
        target = self.folder / other
        for source in self.file(n):
            if target.parent.is_dir() and not target.is_dir():
                source.replace(target)

    @rule(new=st.sampled_from(["moved", "docs/inner", "node_modules"]))
    def rename_directory(self, new: str) -> None:
        source, target = self.folder / "src", self.folder / new
        if source.is_dir() and target.parent.is_dir() and not target.exists():
            source.rename(target)

    @rule(n=which)
    def delete(self, n: int) -> None:
        for place in self.file(n):
            place.unlink()

    @rule(directory=st.sampled_from(["docs", "src"]))
    def delete_directory(self, directory: str) -> None:
        shutil.rmtree(self.folder / directory, ignore_errors=True)

    @precondition(lambda _: os.name == "posix")
    @rule(n=which)
    def swap_for_link(self, n: int) -> None:
        for place in self.file(n):
            place.unlink()
            place.symlink_to(self.folder / "a.md")

    @rule(name=st.sampled_from([".gitignore", ".indexignore"]), line=st.sampled_from(["*.md", "docs/", ""]))
    def ignore(self, name: str, line: str) -> None:
        (self.folder / name).write_text(line + "\n")

    @precondition(lambda self: (self.folder / ".git").exists())
    @rule(n=which)
    def git_add(self, n: int) -> None:
        for place in self.file(n):
            self.git("add", "-f", "--", str(place.relative_to(self.folder)))

    @rule(
        options=st.sampled_from(
            [
                {},
                {"indexSecrets": True},
                {"maxFileSizeBytes": 60},
                {"binaryExtensions": [".py"]},
                {"defaultIgnorePatterns": ["src/"]},
                {"chunk": {"targetTokens": 32, "overlapTokens": 0}},
            ]
        )
    )
    def configure(self, options: dict[str, Any]) -> None:
        self.options = options

    # What we do about it

    @rule(most=st.integers(1, 3))
    def index_some(self, most: int) -> None:
        with self.corpus("index") as corpus:
            index(corpus, Request(max_files=most))

    @rule(after=st.integers(0, 3))
    def index_interrupted(self, after: int) -> None:
        asked: list[int] = []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > after

        with self.corpus("index") as corpus:
            index(corpus, Request(), stop=stop)

    @rule(directory=st.sampled_from(["docs", "src"]))
    def index_a_part(self, directory: str) -> None:
        if (self.folder / directory).is_dir():
            with self.corpus("index") as corpus:
                index(corpus, Request(str(self.folder / directory)))

    @invariant()
    def index_after_two_steps(self) -> None:
        self.steps += 1
        if self.steps % 2:
            with self.corpus("index") as corpus:
                assert not index(corpus, Request()).failed
                with corpus.writing() as store:
                    let_time_pass(store, self.folder)

    @rule()
    def index_and_compare(self) -> None:
        self.indexes += 1
        found = self.contents("index")
        assert found == self.contents(f"fresh-{self.indexes}")
        shutil.rmtree(self.place / f"fresh-{self.indexes}")

    # How

    def file(self, n: int) -> list[Path]:
        """The n-th of the files there are, if there are any."""
        found = sorted(p for p in self.folder.rglob("*") if p.is_file() and not p.is_symlink())
        found = [p for p in found if ".git" not in p.parts and not p.name.endswith("ignore")]
        return [found[n % len(found)]] if found else []

    def corpus(self, name: str) -> Corpus:
        config = self.place / "config.json"
        config.write_text(json.dumps({"defaultRoots": [str(self.folder)], **self.options}))
        places = {"SS_CONFIG_PATH": str(config), "SS_INDEX_DIR": str(self.place / name)}
        return Corpus(load_settings(places), models=self.models)

    def contents(self, name: str) -> dict[str, Any]:
        """Everything that can be found after a whole run."""
        with self.corpus(name) as corpus:
            run = index(corpus, Request())
            assert not run.failed, run
            assert run.pending == 0
            store, current = corpus.reading()
            assert current
            assert store.check() == ""
            assert len(list(Path(corpus.settings.paths.index_directory).glob("index-*.sqlite3"))) == 1
            by_word = {}
            for word in WORDS:
                found = store.passages([n for n, _ in store.match(query_terms(word), Filter(), 1000)])
                by_word[word] = sorted((p.path, p.chunk.first_line) for p in found.values())
            skipped = sorted((skip.path, skip.reason) for skip in store.skipped())
            with contextlib.closing(sqlite3.connect(store.path)) as db:
                rows = db.execute(
                    'SELECT f.path, f.sha256, p.start, p."end", p.first_line, p.heading, p.symbol, e.vector '
                    "FROM passages p JOIN files f ON f.id = p.file_id "
                    "JOIN embeddings e ON e.id = p.embedding_id"
                ).fetchall()
                texts = db.execute(
                    "SELECT f.path, d.text, d.terms FROM documents d JOIN files f ON f.id = d.file_id"
                ).fetchall()
        assert all(row[-1] is not None for row in rows)
        return {
            "passages": sorted(rows),
            "texts": sorted((path, unpacked(text), unpacked(terms)) for path, text, terms in texts),
            "words": by_word,
            "skipped": skipped,
        }

    def git(self, *args: str) -> None:
        subprocess.run(["git", "-C", str(self.folder), *args], check=True, capture_output=True)


TestConvergence = Tree.TestCase
TestConvergence.settings = settings(
    max_examples=30,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
