"""Whatever happened to folders, and in whatever order: their index is that of ones indexed afresh."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from counts import a_seed, many
from fakes import WordsModels, let_time_pass
from fresh_equality import fresh_equality
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from semantic_search.corpus import Corpus
from semantic_search.settings import load_settings
from semantic_search.tools.folders import add, remove
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
WORDS = ["alpha", "gamma", "one", "two", "рядок", "zeppelin", "edited", "library"]
DIRECTORIES = ["", "docs/", "docs/deep/", "src/"]
PATHS = [f"{directory}{name}" for directory in DIRECTORIES for name in ("a.md", "b.py", "caf\udce9.txt")]
paths = st.sampled_from(PATHS)
which = st.integers(0, 11)
branches = st.sampled_from(["main", "side"])
in_git = precondition(lambda self: (self.folder / ".git").exists())
on_posix = precondition(lambda _: os.name == "posix")


class Tree(RuleBasedStateMachine):
    """Two small folders, changed and indexed by turns, the one within the other's reach.

    Rights are left out: tests may run as root, for whom they are no obstacle. What cannot be read is in the
    faults of `test_faults`.
    """

    store: ClassVar[str] = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="converge-"))
        self.folder = self.place / "tree"
        self.folder.mkdir()
        self.models = WordsModels()
        self.options: dict[str, Any] = {}
        self.steps = 0
        self.config = self.place / "config.json"
        self.config.write_text(json.dumps({"defaultRoots": [str(self.folder)]}))
        self.environment = {
            "SS_CONFIG_PATH": str(self.config),
            "SS_INDEX_DIR": str(self.place / "index"),
            "SS_MODEL_CACHE_DIR": str(self.place / "models"),
            "SS_STORE_BACKEND": self.store,
        }

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
            self.git("init", "-q", "-b", "main")
        for path, content in files.items():
            self.create(path, content)

    @rule(path=paths, content=st.sampled_from(CONTENTS))
    def create(self, path: str, content: bytes) -> None:
        place = self.folder / path
        if place.parent.exists() and not place.parent.is_dir():
            place.parent.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif place.is_symlink() or (place.exists() and not place.is_file()):
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

    @on_posix
    @rule(n=which, to=st.sampled_from(["a.md", "nowhere", "docs", "/etc/hostname"]))
    def swap_for_link(self, n: int, to: str) -> None:
        for place in self.file(n):
            place.unlink()
            place.symlink_to(self.folder / to)

    @on_posix
    @rule(directory=st.sampled_from(["docs", "src"]))
    def swap_directory_for_link(self, directory: str) -> None:
        """A directory goes out of the folder, and a link to it comes in its place."""
        place, outside = self.folder / directory, self.place / f"outside-{self.steps}-{directory}"
        if place.is_dir() and not place.is_symlink() and not outside.exists():
            place.rename(outside)
            place.symlink_to(outside)

    @on_posix
    @rule(n=which, kind=st.sampled_from(["fifo", "socket", "directory"]))
    def swap_for_no_file(self, n: int, kind: str) -> None:
        for place in self.file(n):
            place.unlink()
            if kind == "fifo":
                os.mkfifo(place)
            elif kind == "directory":
                place.mkdir()
            else:
                with socket.socket(socket.AF_UNIX) as listening:
                    here = os.open(place.parent, os.O_RDONLY)
                    try:  # the path of a socket must be short
                        listening.bind(
                            f"/proc/self/fd/{here}/{place.name}".encode("utf-8", "surrogateescape")
                        )
                    except OSError:
                        place.mkdir()  # such a path is of Linux
                    finally:
                        os.close(here)

    @rule(name=st.sampled_from([".gitignore", ".indexignore"]), line=st.sampled_from(["*.md", "docs/", ""]))
    def ignore(self, name: str, line: str) -> None:
        (self.folder / name).write_text(line + "\n")

    # What git does to it

    @in_git
    @rule(n=which)
    def git_add(self, n: int) -> None:
        for place in self.file(n):
            self.git("add", "-f", "--", str(place.relative_to(self.folder)))

    @in_git
    @rule(branch=branches)
    def git_commit(self, branch: str) -> None:
        self.git("checkout", "-q", "-B", branch)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "all")

    @in_git
    @rule(branch=branches)
    def git_checkout(self, branch: str) -> None:
        self.git("checkout", "-q", "-f", branch)

    @in_git
    @rule(directory=st.sampled_from(["docs", "lib"]))
    def git_submodule(self, directory: str) -> None:
        library = self.place / "library"
        if not library.exists():
            library.mkdir()
            (library / "lib.md").write_text("# Library\n\nthe library\n")
            for args in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "all")):
                self.git(*args, at=library)
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), directory)

    @in_git
    @rule(name=st.sampled_from(["linked", "docs/linked"]), branch=branches)
    def git_worktree(self, name: str, branch: str) -> None:
        self.git("worktree", "add", "-q", "-f", name, branch)

    @rule(directory=st.sampled_from(["docs", "src"]))
    def git_init_inside(self, directory: str) -> None:
        if (self.folder / directory).is_dir():
            self.git("init", "-q", at=self.folder / directory)

    # What the user wishes

    @rule(
        options=st.sampled_from(
            [
                {},
                {"indexSecrets": True},
                {"maxFileSizeBytes": 60},
                {"binaryExtensions": [".py"]},
                {"defaultIgnorePatterns": ["src/"]},
                {"chunk": {"targetTokens": 32, "overlapTokens": 0}},
                {"modelName": "other"},
            ]
        )
    )
    def configure(self, options: dict[str, Any]) -> None:
        roots = json.loads(self.config.read_text())["defaultRoots"]
        self.config.write_text(json.dumps({"defaultRoots": roots, **options}))

    @rule(directory=st.sampled_from(["docs", "beside"]))
    def add_folder(self, directory: str) -> None:
        """A folder inside the other, or beside it."""
        path = self.folder / directory if directory == "docs" else self.place / directory
        if path.is_symlink():
            return
        if directory == "beside":
            path.mkdir(exist_ok=True)
            (path / "c.md").write_text("# Beside\n\nalpha beside\n")
        if path.is_dir():
            with self.corpus() as corpus:
                add(corpus, [str(path)])

    @rule(n=which)
    def remove_folder(self, n: int) -> None:
        with self.corpus() as corpus:
            # A folder stays, or there is nothing to compare.
            others = [folder.path for folder in corpus.folders if folder.path != str(self.folder)]
            if others:
                remove(corpus, [others[n % len(others)]])

    # What we do about it

    @rule(most=st.integers(1, 3))
    def index_some(self, most: int) -> None:
        with self.corpus() as corpus:
            index(corpus, Request(max_files=most))

    @rule(after=st.integers(0, 3))
    def index_interrupted(self, after: int) -> None:
        asked: list[int] = []

        def stop() -> bool:
            asked.append(1)
            return len(asked) > after

        with self.corpus() as corpus:
            index(corpus, Request(), stop=stop)

    @rule(directory=st.sampled_from(["docs", "src"]))
    def index_a_part(self, directory: str) -> None:
        path = self.folder / directory
        if path.is_dir() and not path.is_symlink():
            with self.corpus() as corpus:
                index(corpus, Request(str(path)))

    @invariant()
    def index_after_two_steps(self) -> None:
        self.steps += 1
        if self.steps % 2 and self.prepared():
            self.index(self.environment)
            with self.corpus() as corpus, corpus.writing() as store:
                for folder in corpus.folders:
                    let_time_pass(store, Path(folder.path))

    @rule()
    def index_and_compare(self) -> None:
        if self.prepared():
            fresh_equality(self.environment, self.index, words=WORDS)

    # How

    def prepared(self) -> bool:
        """Leaves out folders that are gone; they are an error of their own."""
        content = json.loads(self.config.read_text())
        there = [root for root in content["defaultRoots"] if os.path.isdir(root)]
        for gone in set(content["defaultRoots"]) - set(there):
            with self.corpus() as corpus:
                remove(corpus, [gone])
        return True

    def index(self, environment: Mapping[str, str]) -> None:
        with self.corpus(environment) as corpus:
            run = index(corpus, Request())
            assert not run.failed, run
            assert run.pending == 0

    def file(self, n: int) -> list[Path]:
        """The n-th of the files there are, if there are any."""
        found = sorted(p for p in self.folder.rglob("*") if p.is_file() and not p.is_symlink())
        found = [p for p in found if ".git" not in p.parts and not p.name.endswith(("ignore", ".git"))]
        return [found[n % len(found)]] if found else []

    def corpus(self, environment: Mapping[str, str] | None = None) -> Corpus:
        return Corpus(load_settings(environment or self.environment), models=self.models)

    def git(self, *args: str, at: Path | None = None) -> None:
        """Asks git; what it refuses it refuses, such as a branch that has no commit."""
        subprocess.run(["git", "-C", str(at or self.folder), *args], check=False, capture_output=True)


class LanceTree(Tree):
    """The same in LanceDB."""

    store = "lancedb"


@pytest.mark.parametrize(
    ("machine", "sequences", "steps"),
    [
        pytest.param(Tree, 50, 10, id="sqlite"),
        pytest.param(LanceTree, 2, 6, id="lancedb"),
        pytest.param(Tree, many(300), 30, marks=pytest.mark.stress, id="sqlite-many"),
        pytest.param(LanceTree, many(20), 12, marks=pytest.mark.stress, id="lancedb-many"),
    ],
)
def test_an_index_that_followed_its_folders_equals_a_fresh_one(
    machine: type[Tree], sequences: int, steps: int, tell: Callable[[str], None]
) -> None:
    number = a_seed()
    tell(f"{sequences} sequences of up to {steps} steps, STRESS_SEED={number}")
    how = settings(
        max_examples=sequences,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(seed(number)(machine), settings=how)
