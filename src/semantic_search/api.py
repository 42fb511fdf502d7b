"""What scripts and notebooks import from `semantic_search`: the verbs with plain arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .corpus import Corpus
from .folders import check_folder
from .settings import load_settings

if TYPE_CHECKING:
    from .tools.index import Run
    from .types import Hit

StrPath = str | os.PathLike[str]


def open_corpus(
    folders: Sequence[StrPath] = (),
    *,
    index_directory: StrPath | None = None,
    model: str | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Corpus:
    """The folders of the configuration file, or just these; a context manager.

    Settings are those of the command line (file, then environment); nothing is written to the file.
    `index_directory` keeps the index apart from the user's own. `on_note` is told what a person should know.
    Raises FolderError, SettingsError.
    """
    environment = dict(os.environ)
    if index_directory is not None:
        environment["SS_INDEX_DIR"] = os.fspath(index_directory)
    if model is not None:
        environment["SS_MODEL_NAME"] = model
    settings = load_settings(environment)
    if not folders:
        return Corpus(settings, on_note=on_note)
    paths = tuple(check_folder(os.fspath(folder)) for folder in folders)
    return Corpus(replace(settings, roots=paths), on_note=on_note, serve=paths)


def index(corpus: Corpus, *, force: bool = False, embed: bool = True) -> Run:
    """Brings the corpus's folders up to date and says what was done; see `tools.index.index`.

    `force` reads every file again. Without `embed` files are found by words only. Raises FolderError,
    IndexBusy, StoreError.
    """
    from .tools import index as verb

    return verb.index(corpus, verb.Request(force=force, threads=corpus.settings.threads, embed=embed))


def search(
    corpus: Corpus,
    query: str,
    k: int | None = None,
    *,
    folders: Sequence[str] = (),
    globs: Sequence[str] = (),
    languages: Sequence[str] = (),
    tags: Sequence[str] = (),
    refresh: bool = True,
) -> list[Hit]:
    """The k best passages (by default the configured number, 5), best first.

    What narrows it is as on the command line. With `refresh` changed files are brought in first. Raises
    QueryError, NoIndex, StoreError, FolderError.
    """
    from .tools import search as verb

    question = verb.Question(
        query,
        k or corpus.settings.top_k,
        tuple(folders) or None,
        tuple(globs),
        tuple(languages),
        tuple(tags),
        refresh=refresh,
    )
    return verb.search(corpus, question).hits
