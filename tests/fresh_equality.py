"""The main oracle: whatever happened to an index, one normal run later it holds what a fresh one would."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from semantic_search import index_files
from semantic_search.settings import Settings, load_settings
from semantic_search.stores import Filter, Store, open_store
from semantic_search.terms import query_terms

Row = tuple[str, str, int, tuple[int, ...], str, str]
"""Folder, path, passage number, offsets and lines, hash of the text and its header, hash of the vector
(empty while there is none)."""

EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Held:
    """What an index holds: its passages, the reasons of files without any, and which passages words find."""

    rows: frozenset[Row]
    skipped: frozenset[tuple[str, str, str]]
    words: Mapping[str, frozenset[tuple[str, str, int]]]

    def of_files(self) -> dict[tuple[str, str], frozenset[tuple[object, ...]]]:
        """The passages of each file, without their vectors."""
        found: dict[tuple[str, str], set[tuple[object, ...]]] = {}
        for row in self.rows:
            found.setdefault(row[:2], set()).add(row[2:5])
        return {name: frozenset(rows) for name, rows in found.items()}


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def held_by(store: Store, words: Sequence[str] = ()) -> Held:
    """What a store holds. `words` are looked up beside those that occur in it."""
    rows: set[Row] = set()
    asked = {term for word in words for term in query_terms(word)}
    terms: set[str] = set()
    with store.snapshot():
        vectors = {
            key: hashlib.sha256(vector.tobytes()).hexdigest()[:16]
            for keys, _, batch in store.stored_vectors()
            for key, vector in zip(keys, batch, strict=True)
        }
        for folder in store.folders():
            for kept in store.contents(folder):
                if kept.indexed is None:
                    continue
                item = kept.indexed
                for number, (chunk, own, key) in enumerate(
                    zip(item.chunks, item.terms, item.keys, strict=True)
                ):
                    terms.update(own.split())
                    facts = (item.document.language, item.document.tags, item.document.sha256)
                    text = _digest(chunk.text, chunk.heading, chunk.symbol, chunk.kind, own, *facts)
                    places = (chunk.start, chunk.end, chunk.first_line, chunk.last_line, chunk.page or 0)
                    rows.add((folder, kept.source.path, number, places, text, vectors.get(key, "")))
        # As many as a folder of tests has, from all over the alphabet.
        some = sorted(terms, key=lambda term: hashlib.sha256(term.encode()).digest())[:60]
        found = {}
        for term in asked.union(some):
            ids = [id_ for id_, _ in store.match([term], EVERYTHING, 100_000)]
            passages = store.passages(ids).values()
            found[term] = frozenset((p.folder, p.path, p.chunk.start) for p in passages)
    skipped = frozenset((skip.folder, skip.path, skip.reason.value) for skip in store.skipped())
    return Held(frozenset(rows), skipped, {term: places for term, places in found.items() if places})


def stores_at(settings: Settings) -> list[str]:
    """The paths of the indexes there are."""
    return [file.path for file in index_files.index_files(settings.paths.index_directory, settings.store)]


def held_at(environment: Mapping[str, str], words: Sequence[str] = ()) -> Held:
    """What the one index of an environment holds, which must be sound and whole."""
    settings = load_settings(environment)
    paths = stores_at(settings)
    assert len(paths) == 1, f"more than one index is left: {paths}"
    store = open_store(settings.store, paths[0])
    try:
        assert store.check() == ""
        assert store.meta(index_files.COMPLETE)
        assert store.pending_count() == 0
        return held_by(store, words)
    finally:
        store.close()


def fresh_equality(
    environment: Mapping[str, str],
    index: Callable[[Mapping[str, str]], object],
    *,
    words: Sequence[str] = (),
    fresh: Held | None = None,
) -> Held:
    """After one normal run, the index of an environment holds what a fresh index of the same files does.

    `index` is the normal run of an environment and fails where the run does. `words` are looked up in both.
    Returns what the fresh one holds; given back as `fresh` it need not be made again for the same files.
    """
    index(environment)
    found = held_at(environment, words)
    if fresh is None:
        place = Path(tempfile.mkdtemp(prefix="fresh-"))
        try:
            other = {**environment, "SS_INDEX_DIR": str(place / "index")}
            other.setdefault("SS_MODEL_CACHE_DIR", load_settings(environment).paths.model_cache)
            index(other)
            fresh = held_at(other, words)
        finally:
            shutil.rmtree(place)
    assert found.rows == fresh.rows, f"not as fresh: {difference(found.rows, fresh.rows)}"
    assert found.skipped == fresh.skipped, f"not as fresh: {difference(found.skipped, fresh.skipped)}"
    assert found.words == fresh.words
    return fresh


def difference(found: frozenset[object] | frozenset[Row], fresh: frozenset[object] | frozenset[Row]) -> str:
    """Where two sets differ, in a line or so."""
    only, missing = sorted(found - fresh, key=repr), sorted(fresh - found, key=repr)
    return f"{len(only)} too many, such as {only[:2]}; {len(missing)} missing, such as {missing[:2]}"
