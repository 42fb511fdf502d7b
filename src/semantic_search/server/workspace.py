"""What a server works on: the corpus of the settings in force, renewed when the config file changes."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from ..corpus import Corpus, ModelSource
from ..errors import SettingsError
from ..folders import check_folder, is_inside
from ..settings import Settings, load_settings
from .streams import tell

# Seconds between two looks at the disk for changed files of one folder.
COOL_DOWN = 2.0
# Seconds a search waits for another process to finish writing before it answers without the newest changes.
PATIENCE = 1.0


class Workspace:
    """Lends the corpus of the settings in force.

    `roots` are directories to serve in place of the configured folders. Raises SettingsError, and FolderError
    for a root that is none.
    """

    def __init__(
        self,
        roots: Sequence[str] = (),
        *,
        models: ModelSource | None = None,
        cool_down: float = COOL_DOWN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._roots = tuple(dict.fromkeys(check_folder(root) for root in roots))
        self._models, self._cool_down, self._clock = models, cool_down, clock
        self._lock = threading.Lock()
        self._looked: dict[str, float] = {}
        self._searching = 0
        settings = load_settings()
        self._stamp = _stamp(settings.paths.config_file)
        self._lent: dict[int, int] = {}
        self._corpus = self._open(settings)

    def _open(self, settings: Settings) -> Corpus:
        # Grammars are unpacked once; they belong with our other derived files, not in a cache of their own.
        os.environ.setdefault(
            "SEMBLE_GRAMMARS_CACHE_DIR", os.path.join(settings.paths.model_cache, "grammars")
        )
        serve = self._roots or settings.roots
        # A root inside a configured folder is a part of it; any other is a folder like those.
        outside = [root for root in self._roots if not any(is_inside(root, path) for path in settings.roots)]
        settings = dataclasses.replace(settings, roots=(*settings.roots, *outside))
        return Corpus(settings, on_note=tell, models=self._models, serve=serve, patience=PATIENCE)

    @contextlib.contextmanager
    def corpus(self) -> Iterator[Corpus]:
        """The corpus of the settings in force, for as long as the caller needs it."""
        with self._lock:
            self._renew()
            corpus = self._corpus
            self._lent[id(corpus)] = self._lent.get(id(corpus), 0) + 1
        try:
            yield corpus
        finally:
            with self._lock:
                self._lent[id(corpus)] -= 1
                self._drop_unused(corpus)

    def _renew(self) -> None:
        path = self._corpus.settings.paths.config_file
        stamp = _stamp(path)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            settings = load_settings()
        except SettingsError as error:
            tell(f"{error} Until then the settings are as they were.")
            return
        old, self._corpus = self._corpus, self._open(settings)
        self._corpus.take_model(old)
        self._looked.clear()
        self._drop_unused(old)

    def _drop_unused(self, corpus: Corpus) -> None:
        if corpus is not self._corpus and not self._lent.get(id(corpus)):
            self._lent.pop(id(corpus), None)
            corpus.close()

    def close(self) -> None:
        """Frees the index and the model. Nothing may be lent."""
        with self._lock:
            self._corpus.close()

    def worth_a_look(self, folders: Sequence[str]) -> bool:
        """Whether one of the folders (paths) was not looked at lately; from now on they all were."""
        with self._lock:
            now = self._clock()
            due = any(now - self._looked.get(folder, -1e9) >= self._cool_down for folder in folders)
            if due:
                self._looked.update(dict.fromkeys(folders, now))
            return due

    @contextlib.contextmanager
    def searching(self) -> Iterator[None]:
        """A span in which somebody waits for an answer: work in the background gives way."""
        with self._lock:
            self._searching += 1
        try:
            yield
        finally:
            with self._lock:
                self._searching -= 1

    def busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._searching > 0


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
