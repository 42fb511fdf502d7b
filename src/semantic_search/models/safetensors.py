"""Reads tensors from a `.safetensors` file: a JSON header and raw little-endian numbers, nothing executable.

Layout (github.com/huggingface/safetensors, "Format"): u64 header length, the header as JSON (name → dtype,
shape, begin and end offset within the data), the data.
"""

from __future__ import annotations

import json
import struct
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_MAX_HEADER = 100_000_000  # the format's own limit
_SIZES = {"F32": 4, "F16": 2, "BF16": 2}
_MAX_DIMENSIONS = 8


class Safetensors:
    """An opened file. Raises ModelUnavailable naming the file where it is damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._data = np.memmap(path, np.uint8, "r")
            self._header, self._start = self._read_header()
        except (OSError, ValueError, RecursionError) as error:
            raise self._damaged(error) from error

    def names(self) -> list[str]:
        """The names of the tensors."""
        return list(self._header)

    def shape(self, name: str) -> tuple[int, ...]:
        """A tensor's shape. Raises KeyError for a name that is not in the file."""
        return tuple(self._header[name]["shape"])

    def tensor(self, name: str) -> Floats:
        """A tensor as float32. Raises KeyError for a name that is not in the file."""
        entry = self._header[name]
        begin, end = entry["data_offsets"]
        return self._numbers(entry["dtype"], begin, end).reshape(entry["shape"])

    def rows(self, name: str, start: int, end: int) -> Floats:
        """Some rows of a matrix as float32; only they are read."""
        entry = self._header[name]
        columns = entry["shape"][1]
        begin, row = entry["data_offsets"][0], columns * _SIZES[entry["dtype"]]
        return self._numbers(entry["dtype"], begin + start * row, begin + end * row).reshape(-1, columns)

    def _numbers(self, dtype: str, begin: int, end: int) -> Floats:
        raw = self._data[self._start + begin : self._start + end]
        if dtype == "F32":
            return np.frombuffer(raw, "<f4")
        if dtype == "F16":
            return np.frombuffer(raw, "<f2").astype(np.float32)
        # bfloat16 is the upper half of a float32
        return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)

    def _read_header(self) -> tuple[dict[str, Any], int]:
        if len(self._data) < 8:
            raise ValueError("it is shorter than its header")
        (length,) = struct.unpack("<Q", bytes(self._data[:8]))
        if length > _MAX_HEADER or 8 + length > len(self._data):
            raise ValueError("its header is longer than the file")
        header = json.loads(bytes(self._data[8 : 8 + length]))
        if not isinstance(header, dict):
            raise ValueError("its header is not an object")
        header.pop("__metadata__", None)
        start = 8 + length
        tensors = {}
        for name, entry in header.items():
            if _is_entry(entry, len(self._data) - start):
                tensors[name] = entry
            elif not _is_other_type(entry):
                raise ValueError(f"tensor {name!r} lies outside the file or has a wrong size")
        return tensors, start

    def _damaged(self, cause: Exception) -> ModelUnavailable:
        return ModelUnavailable(f"{self.path} is damaged: {cause}. Download or copy it again.")


def _is_other_type(entry: object) -> bool:
    """Integer tensors (position ids of old checkpoints) are not weights and are left out."""
    return isinstance(entry, dict) and entry.get("dtype") in ("I64", "I32", "I16", "I8", "U8", "BOOL")


def _is_entry(entry: object, size: int) -> bool:
    if not isinstance(entry, dict) or entry.get("dtype") not in _SIZES:
        return False
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    if (
        not _are_counts(shape)
        or not _are_counts(offsets)
        or len(offsets) != 2
        or len(shape) > _MAX_DIMENSIONS
    ):
        return False
    begin, end = offsets
    return bool(begin <= end <= size and end - begin == prod(shape) * _SIZES[entry["dtype"]])


def _are_counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
