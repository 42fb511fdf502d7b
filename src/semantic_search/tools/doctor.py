"""Doctor: everything that must be right for indexing and searching, checked one by one."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..corpus import Corpus
from ..errors import NoIndex, SemanticSearchError

LEAST_FREE = 200_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check: what was checked, whether it is well, and what was seen or must be done."""

    check: str
    well: bool
    detail: str


def doctor(corpus: Corpus) -> list[Finding]:
    """Findings of every check, in the order in which things depend on each other. Never raises."""
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        try:
            findings += [Finding(name, well, detail) for well, detail in check(corpus)]
        except SemanticSearchError as error:
            findings.append(Finding(name, False, str(error)))
    return findings


Outcome = Iterator[tuple[bool, str]]


def _settings(corpus: Corpus) -> Outcome:
    path = corpus.settings.paths.config_file
    yield True, path if os.path.exists(path) else f"{path} (not written yet: defaults)"
    for key in corpus.settings.unknown:
        yield True, f"unknown setting {key}: kept, not used"


def _folders(corpus: Corpus) -> Outcome:
    from ..listing import list_files

    if not corpus.folders:
        yield False, "none configured: run `semantic-search add PATH`"
    for folder in corpus.folders:
        try:
            listing = list_files(folder.path, corpus.listing_rules(folder.path))
        except SemanticSearchError as error:
            yield False, f"{folder.name}: {error}"
            continue
        if listing.unread:
            yield (
                False,
                f"{folder.name}: {len(listing.unread)} directories cannot be read ({listing.unread[0]})",
            )
        else:
            yield True, f"{folder.name}: {len(listing.files)} files to index, {len(listing.skipped)} skipped"


def _git(_: Corpus) -> Outcome:
    found = shutil.which("git")
    yield bool(found), found or "not found: repositories cannot be listed without git; install it"


def _sqlite(_: Corpus) -> Outcome:
    with sqlite3.connect(":memory:") as db:
        has = db.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0]
    db.close()
    yield (
        bool(has),
        f"SQLite {sqlite3.sqlite_version}" + ("" if has else " without FTS5: use another Python build"),
    )


def _disk(corpus: Corpus) -> Outcome:
    directory = corpus.settings.paths.index_directory
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    free = shutil.disk_usage(directory).free
    yield free >= LEAST_FREE, f"{free / 1e9:.1f} GB free at {directory}"


def _model(corpus: Corpus) -> Outcome:
    embedder = corpus.embedder
    vector = embedder.embed_query("ready")
    yield True, f"{embedder.row.name}, {len(vector)} dimensions"


def _index(corpus: Corpus) -> Outcome:
    try:
        store, current = corpus.reading()
    except NoIndex:
        yield False, "nothing is indexed yet: run `semantic-search index`"
        return
    trouble = store.check()
    yield not trouble, trouble or f"{store.path} is sound"
    if not current:
        yield False, "made with other settings: run `semantic-search index` to renew it"
    waiting = store.pending_count()
    if waiting:
        yield False, f"{waiting} passages wait for a vector: run `semantic-search index`"


CHECKS: dict[str, Callable[[Corpus], Outcome]] = {
    "settings": _settings,
    "folders": _folders,
    "git": _git,
    "sqlite": _sqlite,
    "disk": _disk,
    "model": _model,
    "index": _index,
}
