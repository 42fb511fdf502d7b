"""From a file to what a store keeps of it: read, cut, and name what the model and the lexical arm see."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import unforeseen
from .reading import fault_of, read
from .stores import Indexed
from .types import Chunk, Document, Skipped, SourceFile

if TYPE_CHECKING:
    from .chunking import Budget
    from .listing import ListingRules
    from .models.embedder import Embedder
    from .suspects import Suspects

_ROUGHLY_A_TOKEN = re.compile(r"\w{1,4}|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How another process makes the same cutter: `model` by its name (empty for none) and its cache."""

    rules: ListingRules
    budget: Budget
    model: str
    cache_dir: str


class Cutter:
    """Reads files and cuts them for one model. Without a model, tokens are estimated.

    `recipe` is how other processes can do the same; None where only this one can. In `suspects` it is noted
    what is being cut.
    """

    def __init__(
        self,
        rules: ListingRules,
        budget: Budget,
        embedder: Embedder | None,
        recipe: Recipe | None = None,
        suspects: Suspects | None = None,
    ) -> None:
        self._rules, self._budget, self._embedder = rules, budget, embedder
        self.recipe = recipe
        self.suspects = suspects

    @property
    def fingerprint(self) -> str:
        """That of the model, `none` without one."""
        return self._embedder.fingerprint if self._embedder else "none"

    def read(self, source: SourceFile) -> Document | Skipped:
        """The text of a file, or why there is none. Safe to call from several threads."""
        return read(source, self._rules)

    def cut(self, documents: Sequence[Document]) -> list[Indexed | Skipped]:
        """Documents cut into passages, in order; the reason in the place of one at which our code fails.

        Raises ModelUnavailable.
        """
        noted: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if self.suspects is not None and documents:
            noted = self.suspects.cutting((item.source.folder, item.source.path) for item in documents)
        try:
            with noted:
                return [*self._cut(documents)]
        except unforeseen() as error:
            if len(documents) == 1:
                return [fault_of(documents[0].source, error)]
        # One of them is the cause, whichever it is.
        return [outcome for document in documents for outcome in self.cut([document])]

    def _cut(self, documents: Sequence[Document]) -> list[Indexed]:
        from .chunking import chunk_document

        starts = self._token_starts([document.text for document in documents])
        return [
            self._indexed(document, chunk_document(document, offsets, self._budget))
            for document, offsets in zip(documents, starts, strict=True)
        ]

    def _token_starts(self, texts: list[str]) -> Sequence[Sequence[int]]:
        if self._embedder is not None:
            return self._embedder.token_starts(texts)
        return [[match.start() for match in _ROUGHLY_A_TOKEN.finditer(text)] for text in texts]

    def _indexed(self, document: Document, chunks: Sequence[Chunk]) -> Indexed:
        from .scripts import dominant_script
        from .terms import index_terms, path_terms

        model = self.fingerprint
        of_path = path_terms(document.source.path)
        return Indexed(
            document,
            tuple(chunks),
            tuple(" ".join(index_terms(chunk.text)) for chunk in chunks),
            tuple(" ".join([*of_path, *index_terms(f"{chunk.heading} {chunk.symbol}")]) for chunk in chunks),
            tuple(dominant_script(chunk.text) for chunk in chunks),
            tuple(embedding_key(model, chunk.embedded_text) for chunk in chunks),
            " ".join(of_path),
        )


def embedding_key(model_fingerprint: str, text: str) -> bytes:
    """16 bytes that name a vector: what made it, and of what. No path, so that a moved file keeps its own."""
    return hashlib.sha256(f"{model_fingerprint}\0{text}".encode()).digest()[:16]
