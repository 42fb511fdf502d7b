"""What goes between the indexer and its workers, as frames: JSON and text, nothing that could run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from ..chunking import Budget
from ..listing import ListingRules
from ..passages import Recipe
from ..stores import Indexed
from ..types import Chunk, Document, Skip, Skipped, SourceFile

Frame = tuple[dict[str, Any], bytes]
Outcome = Indexed | Document | Skipped
"""What became of a file: passages, a document that was not cut, or a reason."""

_ENCODING, _ERRORS = "utf-8", "surrogatepass"
_KEY_BYTES = 16


def recipe_frame(recipe: Recipe) -> Frame:
    """The frame that tells a worker how to cut."""
    rules = {field.name: getattr(recipe.rules, field.name) for field in fields(recipe.rules)}
    plain = {name: sorted(v) if isinstance(v, frozenset) else v for name, v in rules.items()}
    budget = {field.name: getattr(recipe.budget, field.name) for field in fields(recipe.budget)}
    return {"rules": plain, "budget": budget, "model": recipe.model, "cache": recipe.cache_dir}, b""


def recipe_of(header: dict[str, Any]) -> Recipe:
    """The recipe of a frame."""
    rules: dict[str, Any] = {}
    for name, value in header["rules"].items():
        default = getattr(ListingRules(), name)
        rules[name] = type(default)(value) if isinstance(default, tuple | frozenset) else value
    return Recipe(ListingRules(**rules), Budget(**header["budget"]), header["model"], header["cache"])


def request_frame(files: Sequence[SourceFile], hashes: Sequence[str]) -> Frame:
    """The frame that asks for files; `hashes` are of content that need not be cut again, or empty."""
    return {"folder": files[0].folder, "files": [_facts(file) for file in files], "hashes": list(hashes)}, b""


def request_of(header: dict[str, Any]) -> list[tuple[SourceFile, str]]:
    """The files of a request, each with the hash of the content that need not be cut again."""
    files = [_source(header["folder"], facts) for facts in header["files"]]
    return list(zip(files, header["hashes"], strict=True))


def answer_frame(outcomes: Sequence[Outcome]) -> Frame:
    """The frame that answers a request: what became of each file, in order."""
    rows: list[list[Any]] = []
    texts: list[str] = []
    keys: list[bytes] = []
    for outcome in outcomes:
        if isinstance(outcome, Skipped):
            rows.append(["skipped", _facts(outcome.source), outcome.reason.value, outcome.detail])
        elif isinstance(outcome, Document):
            rows.append(["same", _facts(outcome.source), outcome.sha256, outcome.language])
        else:
            rows.append(_indexed_row(outcome))
            texts += [outcome.document.text, "\n".join(outcome.terms), "\n".join(outcome.context)]
            keys += outcome.keys
    blobs = [text.encode(_ENCODING, _ERRORS) for text in [json.dumps(rows), *texts]]
    return {"sizes": [len(blob) for blob in blobs]}, b"".join([*blobs, *keys])


def outcomes_of(header: dict[str, Any], body: bytes, folder: str) -> list[Outcome]:
    """The outcomes that an answer holds."""
    blobs: list[str] = []
    at = 0
    for size in header["sizes"]:
        blobs.append(body[at : at + size].decode(_ENCODING, _ERRORS))
        at += size
    keys = [body[start : start + _KEY_BYTES] for start in range(at, len(body), _KEY_BYTES)]
    texts, left = iter(blobs[1:]), iter(keys)
    outcomes: list[Outcome] = []
    for kind, facts, *rest in json.loads(blobs[0]):
        source = _source(folder, facts)
        if kind == "skipped":
            outcomes.append(Skipped(source, Skip(rest[0]), rest[1]))
        elif kind == "same":
            outcomes.append(Document(source, rest[0], "", rest[1]))
        else:
            document, chunks, scripts, path_terms = rest
            text, terms, context = next(texts), next(texts), next(texts)
            sha256, language, pages, notes = document
            outcomes.append(
                Indexed(
                    Document(source, sha256, text, language, tuple(pages), tuple(notes)),
                    tuple(Chunk(c[0], c[1], c[2], c[3], text[c[0] : c[1]], *c[4:]) for c in chunks),
                    tuple(terms.split("\n")) if chunks else (),
                    tuple(context.split("\n")) if chunks else (),
                    tuple(scripts),
                    tuple(next(left) for _ in chunks),
                    path_terms,
                )
            )
    return outcomes


def _indexed_row(item: Indexed) -> list[Any]:
    document = item.document
    return [
        "indexed",
        _facts(document.source),
        [document.sha256, document.language, document.pages, document.notes],
        [
            [c.start, c.end, c.first_line, c.last_line, c.heading, c.symbol, c.kind, c.page]
            for c in item.chunks
        ],
        item.scripts,
        item.path_terms,
    ]


def _facts(source: SourceFile) -> list[Any]:
    return [source.path, *source.stamp]


def _source(folder: str, facts: list[Any]) -> SourceFile:
    return SourceFile(folder, *facts)
