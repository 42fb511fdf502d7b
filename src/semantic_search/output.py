"""Text that leaves the process: always valid UTF-8, never able to pose as something else."""

from __future__ import annotations

import os
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def shown(path: str) -> str:
    """A file name as valid Unicode: bytes that are not UTF-8 become `\\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace") if _SURROGATE.search(path) else path


def valid(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 stream can carry."""
    return _SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Text for a line of its own: line ends and control characters escaped, so that nothing can be forged."""
    text = valid(text).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return _CONTROL.sub(_escape, text)


def harmless(text: str) -> str:
    """Text of several lines for a terminal: control characters other than line end and tab are escaped."""
    return _CONTROL.sub(_escape, valid(text))


def harmless_json(text: str) -> str:
    """A line of JSON in which characters that act on a terminal, or hide, are written as escapes of JSON."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", valid(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
