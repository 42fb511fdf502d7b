"""Search: the passages that are about a query, by meaning and by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..corpus import Corpus, asked_again
from ..duplicates import collapsed
from ..errors import QueryError
from ..freshness import changed_on_disk, refresh
from ..retrieval import Found, Pool, retrieve
from ..stores import Filter, Store
from ..types import Hit
from .index import Watcher
from .note_links import with_links
from .on_demand import index_what_is_missing
from .scope import folders_in, resolve_filter

MOST_RESULTS = 1000
LONGEST_QUERY = 4000

# How many passages each arm returns at least.
LEAST_POOL = 100
_UNUSABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Question:
    """A query with what narrows it. `folders` are names or paths; None means every folder.

    `index_missing` has a directory among `folders` that is not indexed yet indexed first.
    """

    text: str
    k: int
    folders: tuple[str, ...] | None = None
    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refresh: bool = True
    explain: bool = False
    index_missing: bool = False


@dataclass(slots=True)
class Answer:
    """Hits, best first, with what the reader should know: notes, and how many of the texts that were
    searched are still without a vector.

    `terms` are those of the question that tell something: what to bring out in a passage.
    """

    hits: list[Hit]
    notes: list[str] = field(default_factory=list)
    pending: int = 0
    terms: tuple[str, ...] = ()


@asked_again
def search(corpus: Corpus, question: Question, watcher: Watcher | None = None) -> Answer:
    """The best passages for a question. The watcher is told how far a directory is that is indexed first.

    Changed files are brought into the index first (within a time budget). The arm that cannot read the
    query's script, or has no model, abstains. Raises QueryError, NoIndex, StoreError, FolderError.
    """
    text, notes = usable_query(question.text)
    if not 1 <= question.k <= MOST_RESULTS:
        raise QueryError(f"the number of results must be from 1 to {MOST_RESULTS}")
    if question.index_missing:
        index_what_is_missing(corpus, question.folders or (), watcher)
    wanted = resolve_filter(corpus, question.folders, question.globs, question.languages, question.tags)
    if question.refresh and corpus.settings.refresh:
        notes += refresh(corpus, folders_in(corpus, wanted))
    store, _ = corpus.reading()
    with store.snapshot():
        return _answer(corpus, store, text, question, wanted, notes)


def usable_query(text: str) -> tuple[str, list[str]]:
    """The query without characters that nothing can match, cut to a length; and notes. Raises QueryError."""
    cleaned = _UNUSABLE.sub(" ", text).strip()
    if not cleaned:
        raise QueryError("the query is empty: say in a few words what you look for")
    if len(cleaned) <= LONGEST_QUERY:
        return cleaned, []
    return cleaned[:LONGEST_QUERY], [f"the query was cut to its first {LONGEST_QUERY} characters"]


def _answer(
    corpus: Corpus, store: Store, text: str, question: Question, wanted: Filter, notes: list[str]
) -> Answer:
    pool = Pool(max(5 * question.k, LEAST_POOL), wanted)
    found = retrieve(corpus, store, text, pool, notes)
    hits = with_links(store, to_hits(corpus, found.ranked, question.k, explain=question.explain))
    return Answer(hits, notes, store.pending_count(wanted), found.terms)


def to_hits(corpus: Corpus, ranked: Sequence[Found], most: int, *, explain: bool) -> list[Hit]:
    """The best candidates as hits; those that say the same as a better one are told of in it."""
    names = {folder.path: folder.name for folder in corpus.known_folders()}
    kept = collapsed(((found, found[0].passage.chunk.text) for found in ranked), most)
    return [_hit(names, found, same, explain=explain) for found, same in kept]


def _hit(names: dict[str, str], found: Found, same: Sequence[Found], *, explain: bool) -> Hit:
    candidate, score, shares = found
    passage = candidate.passage
    return Hit(
        folder=passage.folder,
        folder_name=names.get(passage.folder, passage.folder),
        path=passage.path,
        language=passage.language,
        chunk=passage.chunk,
        score=score,
        stale=changed_on_disk(passage.folder, passage.path, passage.stamp),
        explain=shares if explain else None,
        duplicates=tuple(dict.fromkeys(other.file for other, _, _ in same if other.file != candidate.file)),
    )


def files_of(hits: Sequence[Hit]) -> list[Hit]:
    """The best hit of each file, in order."""
    seen: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        seen.setdefault((hit.folder, hit.path), hit)
    return list(seen.values())
