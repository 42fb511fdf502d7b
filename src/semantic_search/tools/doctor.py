"""Doctor: everything that must be right for indexing and searching, checked one by one."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .. import index_files
from ..corpus import Corpus
from ..errors import NoIndex, SemanticSearchError

DISTRIBUTION = "semantic-search-mcp"
LEAST_FREE = 200_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check: what was checked, whether it is well, and what was seen or must be done."""

    check: str
    well: bool
    detail: str


def doctor(corpus: Corpus, wrong_settings: Sequence[str] = ()) -> list[Finding]:
    """Findings of every check, in the order in which things depend on each other. Never raises.

    `wrong_settings` are sentences about those that the corpus has the defaults for.
    """
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        if check is _settings and wrong_settings:
            findings += [Finding(name, False, sentence) for sentence in wrong_settings]
            findings.append(Finding(name, False, "the other checks are of the defaults for these"))
            continue
        try:
            findings += [Finding(name, well, detail) for well, detail in check(corpus)]
        except SemanticSearchError as error:
            findings.append(Finding(name, False, str(error)))
    return findings


Outcome = Iterator[tuple[bool, str]]


def _python(_: Corpus) -> Outcome:
    from importlib import metadata

    yield True, f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    absent = [name for name in _required(metadata.requires(DISTRIBUTION) or ()) if not _version(name)]
    if absent:
        yield False, f"not installed: {', '.join(absent)}: run `pip install --force-reinstall {DISTRIBUTION}`"
    parts = ("onnxruntime", "numpy", "mcp", "lancedb")
    yield True, ", ".join(f"{name} {version}" for name in parts if (version := _version(name)))


def _required(requirements: Iterable[str]) -> Iterator[str]:
    # What has a marker is for some platforms or extras only.
    for requirement in requirements:
        if ";" not in requirement:
            yield re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _permissions(corpus: Corpus) -> Outcome:
    paths = corpus.settings.paths
    places = [paths.index_directory, paths.model_cache]
    places += [file.path for file in index_files.index_files(paths.index_directory, "sqlite")]
    open_to_others = []
    for path in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            if os.name == "posix" and os.stat(path).st_mode & 0o077:
                open_to_others.append(path)
    for path in open_to_others:
        yield False, f"others can read {path}: run `chmod go= {shlex.quote(path)}`"
    if not open_to_others:
        yield True, "files and directories are private to you"


def _clients(_: Corpus) -> Outcome:
    from ..clients.registering import registered

    found = registered(os.getcwd())
    for client, path in found:
        yield True, f"{client.title}: registered in {path}"
    if not found:
        yield True, "none knows of the server here: `semantic-search init` registers one"


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
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE tried USING fts5(terms)")
            has = True
        except sqlite3.Error:
            has = False
    yield (
        has,
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
    damaged = embedder.verify()
    if damaged:
        path = embedder.folder / damaged
        yield False, f"{path} is damaged: delete it, and it is made again from the model's weights"
        return
    vector = embedder.embed_query("ready")
    yield True, f"{embedder.row.name}, {len(vector)} dimensions, its files are as they were made"


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


def _ocr(corpus: Corpus) -> Outcome:
    if not corpus.settings.ocr_languages:
        yield True, "not asked for (ocrLanguages)"
        return
    program = shutil.which("tesseract")
    if program is None:
        yield False, "ocrLanguages is set and tesseract is not installed: install it, or unset ocrLanguages"
    else:
        yield True, f"{program}, {'+'.join(corpus.settings.ocr_languages)}"


CHECKS: dict[str, Callable[[Corpus], Outcome]] = {
    "python": _python,
    "settings": _settings,
    "permissions": _permissions,
    "folders": _folders,
    "git": _git,
    "sqlite": _sqlite,
    "disk": _disk,
    "model": _model,
    "index": _index,
    "clients": _clients,
    "ocr": _ocr,
}
