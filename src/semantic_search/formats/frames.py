"""Messages between the indexer and its extraction child.

A frame is `>IQ` (length of the header, length of the body), a JSON header and raw bytes. Nothing in it can
run code in whoever reads it, unlike a pickle: a hostile document may control the child.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">IQ")
_MAX_HEADER = 16 << 20
_MAX_BODY = 1 << 30


class BrokenFrame(Exception):
    """The stream ended inside a frame, or holds something else than frames."""


def write_frame(stream: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame and flush it. Raises OSError where the other side is gone."""
    head = json.dumps(header).encode("ascii")
    stream.write(_LENGTHS.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next frame as (header, body), None at the end of the stream; raises `BrokenFrame`."""
    lengths = stream.read(_LENGTHS.size)
    if not lengths:
        return None
    if len(lengths) < _LENGTHS.size:
        raise BrokenFrame("cut short")
    head_size, body_size = _LENGTHS.unpack(lengths)
    if head_size > _MAX_HEADER or body_size > _MAX_BODY:
        raise BrokenFrame("longer than any frame may be")
    head, body = stream.read(head_size), stream.read(body_size)
    if len(head) < head_size or len(body) < body_size:
        raise BrokenFrame("cut short")
    try:
        header = json.loads(head)
    except ValueError as error:
        raise BrokenFrame("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise BrokenFrame("a header that is not an object")
    return header, body
