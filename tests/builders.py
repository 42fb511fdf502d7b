"""Small values for tests: source files, documents and indexed files, and a model made of words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semantic_search.passages import embedding_key
from semantic_search.scripts import dominant_script
from semantic_search.stores import Indexed
from semantic_search.terms import index_terms, path_terms
from semantic_search.types import Chunk, Document, SourceFile

FOLDER = "/somewhere/notes"
DIMENSION = 64


def source(path: str = "a.md", *, folder: str = FOLDER, size: int = 10, mtime_ns: int = 1) -> SourceFile:
    """A file that nobody needs to find on disk."""
    return SourceFile(folder, path, size, mtime_ns, mtime_ns, 7)


def chunk_of(text: str, whole: str) -> Chunk:
    """The chunk of a text in the document that holds it."""
    start = whole.index(text)
    first = whole.count("\n", 0, start) + 1
    return Chunk(start, start + len(text), first, first + text.count("\n"), text)


def indexed(
    path: str = "a.md",
    *passages: str,
    folder: str = FOLDER,
    language: str = "markdown",
    mtime_ns: int = 1,
    tags: tuple[str, ...] = (),
) -> Indexed:
    """A file whose passages are the given texts, a blank line between them."""
    whole = "\n\n".join(passages)
    found = source(path, folder=folder, size=len(whole), mtime_ns=mtime_ns)
    document = Document(found, hashlib.sha256(whole.encode()).hexdigest(), whole, language, tags=tags)
    chunks = tuple(chunk_of(text, whole) for text in passages)
    return Indexed(
        document,
        chunks,
        tuple(" ".join(index_terms(text)) for text in passages),
        tuple(" ".join(path_terms(path)) for _ in passages),
        tuple(dominant_script(text) for text in passages),
        tuple(embedding_key("words", chunk.embedded_text) for chunk in chunks),
        " ".join(path_terms(path)),
    )


def vector(text: str) -> npt.NDArray[np.float32]:
    """A bag of words as a unit vector: texts that share words are near each other."""
    found = np.zeros(DIMENSION, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        found[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % DIMENSION] += 1
    norm = float(np.linalg.norm(found))
    return found / norm if norm else found


def vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Vectors of texts, float32 (n, DIMENSION)."""
    return np.stack([vector(text) for text in texts])


def arrive(folder: Path, name: str, text: str) -> None:
    """A file comes into a folder whole: nobody who looks there meets a part of it."""
    beside = folder.parent / f"{name}.beside"
    beside.write_text(text)
    beside.replace(folder / name)


def write_tree(root: Path, files: dict[str, str | bytes]) -> Path:
    """Writes files (by relative path) below a directory and returns it."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
