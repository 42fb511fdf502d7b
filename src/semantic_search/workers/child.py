"""A worker: told once how to cut, then answers each request for files with their passages.

Started by `pool` through `formats.worker`; speaks frames. The first request is the recipe, answered by the
fingerprint of the model; each other one is `messages.request_frame`, answered by `messages.answer_frame`.
"""

from __future__ import annotations

import contextlib

from ..errors import SemanticSearchError
from ..formats.child import take_streams, watch_parent
from ..formats.frames import BrokenFrame, read_frame, write_frame
from ..passages import Cutter, Recipe
from ..priority import give_way
from ..types import Document, SourceFile
from .messages import Outcome, answer_frame, recipe_of, request_of


def main(_memory: int) -> None:
    """Serve until standard input ends. There is no limit on memory but that of the batches."""
    give_way()
    requests, answers, _ = take_streams()
    watch_parent(requests.fileno())
    write_frame(answers, {"ready": True})
    with contextlib.suppress(BrokenFrame, OSError):
        first = read_frame(requests)
        if first is None:
            return
        try:
            cutter = cutter_of(recipe_of(first[0]))
        except SemanticSearchError as error:
            write_frame(answers, {"refused": str(error)})
            return
        write_frame(answers, {"fingerprint": cutter.fingerprint})
        while (frame := read_frame(requests)) is not None:
            write_frame(answers, *answer_frame(cut(cutter, request_of(frame[0]))))


def cutter_of(recipe: Recipe) -> Cutter:
    """A cutter as the recipe says. Raises ModelUnavailable."""
    embedder = None
    if recipe.model:
        from ..models import open_embedder

        embedder = open_embedder(recipe.model, cache_dir=recipe.cache_dir)
    return Cutter(recipe.rules, recipe.budget, embedder)


def cut(cutter: Cutter, files: list[tuple[SourceFile, str]]) -> list[Outcome]:
    """What becomes of each file; one whose content has the hash beside it is not cut."""
    read = [cutter.read(file) for file, _ in files]
    changed = [
        found
        for found, (_, known) in zip(read, files, strict=True)
        if isinstance(found, Document) and found.sha256 != known
    ]
    indexed = iter(cutter.cut(changed))
    return [
        next(indexed) if isinstance(found, Document) and found.sha256 != known else found
        for found, (_, known) in zip(read, files, strict=True)
    ]
