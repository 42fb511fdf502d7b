"""What a command works on: settings, folders, the index and the model, opened when first needed."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

from . import index_files
from .errors import IndexBusy, IndexReplaced, ModelUnavailable, NoIndex, StoreError
from .folders import Folder, configured_folders
from .private_files import locked, make_private_directory
from .settings import Settings

if TYPE_CHECKING:
    from .chunking import Budget
    from .listing import ListingRules
    from .models.embedder import Embedder
    from .passages import Cutter
    from .stores import Store

Note = Callable[[str], None]

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")

# Seconds of waiting for another writer: between two looks at `stop`, and what a person wants to know of.
_LOOK = 0.25
_WORTH_TELLING = 5.0


class ModelSource(Protocol):
    """Where models come from; the package `models` is one."""

    def open_embedder(
        self,
        name: str,
        *,
        cache_dir: str,
        allow_download: bool = False,
        on_progress: Note | None = None,
    ) -> Embedder:
        """See `models.open_embedder`."""

    def fingerprint_of(self, name: str, cache_dir: str) -> str | None:
        """See `models.fingerprint_of`."""


class Corpus:
    """Settings with what they lead to. `on_note` is told what a person should know while it happens.

    `models` is where models come from, the package of that name by default. `serve` are the resolved paths
    of directories outside of which nothing is shown or indexed; None means everything that is indexed.
    `patience` is how many seconds a refresh waits for another writer. May be used from several threads.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        on_note: Note | None = None,
        models: ModelSource | None = None,
        serve: tuple[str, ...] | None = None,
        patience: float = 0.0,
    ) -> None:
        self.settings = settings
        self.note: Note = on_note or (lambda _: None)
        self._source = models
        self.folders: tuple[Folder, ...] = configured_folders(settings)
        self._embedder: Embedder | None = None
        self._other: tuple[str, Embedder] | None = None
        self._reading: tuple[Store, bool] | None = None
        self.serve = serve
        self.patience = patience
        self._opening = threading.RLock()
        self._retired: list[Store] = []

    def close(self) -> None:
        """Frees the index and the model."""
        if self._reading:
            self._reading[0].close()
            self._reading = None
        for store in self._retired:
            store.close()
        self._retired.clear()
        if self._embedder:
            self._embedder.close()
            self._embedder = None
        if self._other:
            self._other[1].close()
            self._other = None

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The model

    @property
    def _models(self) -> ModelSource:
        if self._source is None:
            from . import models

            self._source = models
        return self._source

    @property
    def embedder(self) -> Embedder:
        """The configured model. Raises ModelUnavailable."""
        with self._opening:
            if self._embedder is None:
                self._embedder = self.open_model(self.settings.model)
            return self._embedder

    def take_model(self, other: Corpus) -> None:
        """Goes on with the model of a corpus that is given up, where it is the same; frees it otherwise."""
        if other._embedder is None:
            return
        model, other._embedder = other._embedder, None
        if other.settings.model == self.settings.model and self._embedder is None:
            self._embedder = model
        else:
            model.close()

    def embedder_or_none(self) -> Embedder | None:
        """The configured model, or None where it cannot be had: see `model_trouble`."""
        try:
            return self.embedder
        except ModelUnavailable:
            return None

    def model_trouble(self) -> str:
        """Why the configured model cannot be had; empty where it can. Costs nothing where it is ready."""
        try:
            if self.ready_fingerprint() is None:
                _ = self.embedder
        except ModelUnavailable as error:
            return str(error)
        return ""

    def embedder_of(self, store: Store) -> Embedder:
        """The model that made a store's vectors. Raises ModelUnavailable."""
        name = store.meta(index_files.MODEL) or self.settings.model
        if name == self.settings.model:
            return self.embedder
        with self._opening:
            if self._other is None or self._other[0] != name:
                if self._other:
                    self._other[1].close()
                self._other = (name, self.open_model(name))
            return self._other[1]

    def open_model(self, name: str) -> Embedder:
        """A model by name, from the cache, its wheel, a directory or (when allowed) the hub."""
        make_private_directory(self.settings.paths.index_directory)
        make_private_directory(self.settings.paths.model_cache)
        return self._models.open_embedder(
            name,
            cache_dir=self.settings.paths.model_cache,
            allow_download=self.settings.allow_download,
            on_progress=self.note,
        )

    # How passages are made

    def fingerprint(self) -> str:
        """Names the way passages, terms and vectors are made: a change of it means other passages."""
        from .chunking import CHUNKER_VERSION
        from .stores.schema import SCHEMA_VERSION
        from .terms import TERMS_VERSION

        s = self.settings
        parts = (
            self.model_fingerprint(),
            CHUNKER_VERSION,
            TERMS_VERSION,
            SCHEMA_VERSION,
            s.chunk_target,
            s.chunk_overlap,
            s.chunk_limit,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    def model_fingerprint(self) -> str:
        """The model's fingerprint, `none` where it cannot be had."""
        try:
            return self.ready_fingerprint() or self.embedder.fingerprint
        except ModelUnavailable:
            return "none"

    def ready_fingerprint(self) -> str | None:
        """The model's fingerprint, without loading anything; None where it must be made ready first."""
        return self._models.fingerprint_of(self.settings.model, self.settings.paths.model_cache)

    def budget(self, embedder: Embedder | None) -> Budget:
        """How large passages are, in tokens of the model."""
        from .chunking import Budget

        s = self.settings
        limit = min(s.chunk_limit, embedder.max_text_tokens) if embedder else s.chunk_limit
        return Budget(target=min(s.chunk_target, limit), overlap=s.chunk_overlap, limit=limit)

    def listing_rules(self, folder: str) -> ListingRules:
        """The rules for listing one of the folders: the others inside it, and what is ours, stay out."""
        from .formats import FORMATS
        from .listing import ListingRules

        s = self.settings
        inner = tuple(f.path for f in self.folders if f.path != folder)
        return ListingRules(
            max_file_bytes=s.max_file_bytes,
            max_document_bytes=s.max_document_bytes,
            document_extensions=frozenset(FORMATS),
            ignore_patterns=s.ignore_patterns,
            binary_extensions=frozenset(s.binary_extensions),
            index_secrets=s.index_secrets,
            ocr_languages=s.ocr_languages,
            ocr_seconds=s.ocr_seconds,
            config_directory=os.path.dirname(s.paths.config_file),
            excluded=inner + s.paths.own,
        )

    def cutter(self, folder: str, embedder: Embedder | None) -> Cutter:
        """What reads and cuts the files of one of the folders."""
        from . import models
        from .passages import Cutter, Recipe
        from .suspects import Suspects

        rules, budget = self.listing_rules(folder), self.budget(embedder)
        recipe = None
        # Another process can only open the models that are on the machine.
        if self._models is models:
            name = self.settings.model if embedder else ""
            recipe = Recipe(rules, budget, name, str(self.settings.paths.model_cache))
        suspects = Suspects(self.settings.paths.index_directory)
        return Cutter(rules, budget, embedder, recipe, suspects)

    # The index

    def reading(self) -> tuple[Store, bool]:
        """The index to search, and whether it was made with the settings in force. Raises NoIndex."""
        with self._opening:
            if self._reading is None or not self._still_there():
                # Another thread may be in the middle of a search in the one that was open.
                self.reopen()
                s = self.settings
                store, current = index_files.open_for_reading(s.index_location, s.store, self.fingerprint())
                self._reading = self._seen_from_here(store), current
            return self._reading

    def reopen(self) -> None:
        """Has the next reader look anew for the index to search."""
        with self._opening:
            if self._reading:
                self._retired.append(self._reading[0])
                self._reading = None

    def _still_there(self) -> bool:
        # Another process may have switched to an index of its own making since.
        return self._reading is not None and index_files.exists(self._reading[0].path)

    @contextlib.contextmanager
    def writing(
        self, *, wait: float = 60.0, stop: Callable[[], bool] = lambda: False, check: bool = False
    ) -> Iterator[Store]:
        """The index to write, this process being the only writer. With `check` it is read whole first.

        Raises IndexBusy after `wait` seconds, or when `stop` says so while it waits.
        """
        location, backend = self.settings.index_location, self.settings.store
        make_private_directory(self.settings.paths.index_directory)
        with self.locked_index(wait=wait, stop=stop):
            fingerprint = self.fingerprint()
            old = index_files.predecessor(location, backend, fingerprint)
            store, note = index_files.open_for_writing(location, backend, fingerprint, check=check)
            try:
                if note:
                    self.note(note)
                store.set_meta(index_files.MODEL, self.settings.model)
                if old is None and not store.meta(index_files.COMPLETE):
                    store.set_meta(index_files.COMPLETE, "1")
                yield self._seen_from_here(store)
            finally:
                store.close()

    def _seen_from_here(self, store: Store) -> Store:
        """The store with its folders under the paths that they have on this machine."""
        s = self.settings
        if not s.location and not s.folder_paths:
            return store
        from .stores.view import FolderView

        return cast("Store", FolderView(store, self._places, by_size=s.read_only))

    def _places(self, stored: Sequence[str]) -> dict[str, str]:
        """Where folders of the index are that are elsewhere here, by path: as `folderPaths` says, or where a
        configured folder has the same name."""
        from .folders import name_folders

        configured = {folder.name: folder.path for folder in self.folders if folder.path not in stored}
        found = {}
        for folder in name_folders(stored):
            named = self.settings.folder_paths.get(folder.name)
            path = os.path.realpath(os.path.expanduser(named)) if named else ""
            if not path and self.settings.location and folder.path not in configured.values():
                path = configured.get(folder.name, "")
            if path and path not in stored:
                found[folder.path] = path
        return found

    @contextlib.contextmanager
    def locked_index(self, *, wait: float = 60.0, stop: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """A span in which no other process writes any index file. Raises what `writing` raises."""
        if self.settings.read_only:
            raise StoreError("the index is read-only here (readOnly, SS_READ_ONLY): another machine writes")
        directory = self.settings.paths.index_directory
        path = os.path.join(directory, index_files.LOCK_NAME)
        end = time.monotonic() + wait
        told = wait < _WORTH_TELLING
        with contextlib.ExitStack() as stack:
            while True:
                left = end - time.monotonic()
                try:
                    stack.enter_context(
                        locked(path, what="the index", timeout=max(0.0, min(left, _LOOK)) if told else 0)
                    )
                    break
                except IndexBusy:
                    if left <= 0 or stop():
                        raise
                if not told:
                    self.note("another process is writing the index; waiting for it …")
                    told = True
            yield

    def known_folders(self) -> tuple[Folder, ...]:
        """The configured folders and those that were indexed by path, which have a path for a name."""
        from .folders import name_folders

        indexed: list[str] = []
        with contextlib.suppress(NoIndex, StoreError):
            indexed = asked_again(lambda corpus: corpus.reading()[0].folders())(self)
        return name_folders([folder.path for folder in self.folders] + indexed)


def asked_again(
    ask: Callable[Concatenate[Corpus, _Given], _Found],
) -> Callable[Concatenate[Corpus, _Given], _Found]:
    """The same question, asked once more where another process replaced the index in the middle of it."""

    @functools.wraps(ask)
    def twice(corpus: Corpus, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        try:
            return ask(corpus, *args, **kwargs)
        except IndexReplaced:
            corpus.reopen()
            return ask(corpus, *args, **kwargs)

    return twice
