"""Writes the part of the ONNX file format that an encoder needs, without the `onnx` package.

ONNX files are Protocol Buffers messages (onnx.proto3 in the ONNX specification). The field numbers below are
that file's; the wire format is the one of protobuf.dev/programming-guides/encoding: every field is a varint
key `number << 3 | wire type`, then a varint (type 0), or a length and bytes (type 2).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

IR_VERSION = 8
OPSET = 17

_FLOAT, _INT8, _INT64 = 1, 3, 7  # TensorProto.DataType
_TYPES = {"float32": _FLOAT, "int8": _INT8, "int64": _INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7  # AttributeProto.AttributeType

Attribute = int | float | Sequence[int]


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are written as 64-bit two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _block(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        data = _varint(2 << 3 | 5) + struct.pack("<f", value)
        kind = _ATTRIBUTE_FLOAT
    elif isinstance(value, int):
        data, kind = _number(3, value), _ATTRIBUTE_INT
    else:
        data, kind = b"".join(_number(8, item) for item in value), _ATTRIBUTE_INTS
    return _block(1, name) + data + _number(20, kind)


def node(operator: str, inputs: Iterable[str], outputs: Iterable[str], **attributes: Attribute) -> bytes:
    """A NodeProto: one operator of the default domain with its named inputs and outputs."""
    parts = [_block(1, name) for name in inputs]
    parts += [_block(2, name) for name in outputs]
    parts.append(_block(4, operator))
    parts += [_block(5, _attribute(name, value)) for name, value in attributes.items()]
    return b"".join(parts)


def tensor(name: str, array: NDArray[np.generic]) -> bytes:
    """A TensorProto holding a float32, int8 or int64 array as little-endian raw data."""
    kind = _TYPES[array.dtype.name]
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    shape = b"".join(_number(1, size) for size in array.shape)
    return shape + _number(2, kind) + _block(8, name) + _block(9, data)


def value(name: str, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto: a float32 graph input or output; a string names a dimension known at run time."""
    sizes = (_number(1, size) if isinstance(size, int) else _block(2, size) for size in shape)
    dimensions = b"".join(_block(1, size) for size in sizes)
    tensor_type = _number(1, _FLOAT) + _block(2, dimensions)
    return _block(1, name) + _block(2, _block(1, tensor_type))


def model(
    name: str,
    *,
    nodes: Iterable[bytes],
    tensors: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """A ModelProto as bytes, the content of an `.onnx` file."""
    graph = b"".join(
        [
            *(_block(1, item) for item in nodes),
            _block(2, name),
            *(_block(5, item) for item in tensors),
            *(_block(11, item) for item in inputs),
            *(_block(12, item) for item in outputs),
        ]
    )
    opset = _block(1, "") + _number(2, OPSET)
    return _number(1, IR_VERSION) + _block(2, "semantic-search") + _block(7, graph) + _block(8, opset)
