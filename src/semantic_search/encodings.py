"""Bytes to text: which encoding, and what could not be read in it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from .cyrillic import code_page

_BOMS = (
    # UTF-32 first: its little-endian mark starts with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)
_UNICODE = ("utf-8", *(encoding for _, encoding, _ in _BOMS))
_SNIFFED = 4096
_SAMPLE = 32_768
_CHECKED = 65_536
_HIGH_BYTES = bytes(range(128, 256))
_NOT_TEXT = re.compile("[\ud800-\udfff\x00]")
_CONTROL = re.compile(
    "[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_CONTROL_BYTES = bytes({*range(32), 127} - {8, 9, 10, 11, 12, 13, 27})
_MOST_CONTROLS = 0.1
_MOST_CONTROLS_GUESSED = 0.005
_CANDIDATES = [
    *("cp1252", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
    *("iso8859_2", "iso8859_7", "cp437", "cp850", "cp852", "mac_roman"),
    *("cp932", "euc_jp", "gb18030", "big5", "big5hkscs", "cp949", "euc_kr"),
]


# What Western European text in Windows-1252 is written with. Letters that stand where other code pages have
# the most frequent ones of their own (Czech ě ř š ž, Turkish ğ ş, Romanian ă) are left to the detector.
_WESTERN = re.compile(
    "[\x00-\x7fàáâäæåçèéêëíîïñóôöœùúûüßÀÁÂÄÆÅÇÈÉÊËÍÎÏÑÓÔÖŒÙÚÛÜ«»‹›“”„‘’–—…•·€£§©®™°¡¿\u00a0]*"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text without BOM, in valid Unicode, lines ended by `\\n` alone.

    `replaced` counts what could not be read and stands as U+FFFD: bytes of UTF-8, code units of UTF-16 and
    UTF-32; and NUL characters, which no store keeps.
    """

    text: str
    encoding: str
    replaced: int = 0


def is_binary(data: bytes) -> bool:
    """Whether a NUL byte in the first 4 KB says that this is no text (UTF-16 and UTF-32 have a BOM here)."""
    return b"\0" in data[:_SNIFFED] and not any(data.startswith(bom) for bom, _, _ in _BOMS)


def decode(data: bytes) -> Decoded | None:
    """The text of `data`, or None when it is no text in any encoding known here.

    In this order: UTF-16 and UTF-32 by BOM, UTF-8, UTF-8 with some bad bytes, Cyrillic code pages by their
    letters, Windows-1252 with the letters of Western Europe only, what charset-normalizer finds in the first
    32 KB, Windows-1252 with any.
    """
    for bom, encoding, width in _BOMS:
        if data.startswith(bom):
            return _wide(data[len(bom) :], encoding, width)
    if is_binary(data):
        return None
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return _clean(body.decode("utf-8"), "utf-8", _MOST_CONTROLS)
    except UnicodeDecodeError:
        pass
    lenient = body.decode("utf-8", "surrogateescape")
    if len(body) < len(data) or _is_mostly_utf8(body, lenient):
        return _clean(lenient, "utf-8", _MOST_CONTROLS)
    return _in_code_page(body)


def _is_mostly_utf8(data: bytes, lenient: str) -> bool:
    """Whether there are as many sequences of UTF-8 as bytes that are none.

    A few pairs of bytes of a legacy text look like UTF-8 by chance, one in ten at most. `lenient` has a
    surrogate for each bad byte.
    """
    bad = len(data) - len(lenient.encode("utf-8", "ignore"))
    ascii_characters = len(data.translate(None, _HIGH_BYTES))
    return len(lenient) - bad - ascii_characters >= bad


def _in_code_page(data: bytes) -> Decoded | None:
    for find in (code_page, _western, _guess, lambda _: "cp1252"):
        encoding = find(data)
        if encoding is None:
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if (decoded := _clean(text, encoding, _MOST_CONTROLS_GUESSED)) is not None:
            return decoded
    return None


def _western(data: bytes) -> str | None:
    return "cp1252" if _WESTERN.fullmatch(data.decode("cp1252", "replace")) else None


def _guess(data: bytes) -> str | None:
    """What charset-normalizer takes the start of `data` for, among the encodings people used for text."""
    import charset_normalizer

    sample = data[:_SAMPLE]
    if len(data) > _SAMPLE:
        # Whole lines, so that no character is cut in two.
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    best = charset_normalizer.from_bytes(sample, cp_isolation=_CANDIDATES).best()
    return best.encoding if best is not None else None


def _wide(data: bytes, encoding: str, width: int) -> Decoded | None:
    """UTF-16 and UTF-32. A unit cut off at the end counts as one that could not be read."""
    whole = len(data) - len(data) % width
    try:
        text = data[:whole].decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        text = data[:whole].decode(encoding, "replace")
    return _clean(text if whole == len(data) else f"{text}\ud800", encoding, _MOST_CONTROLS)


def _clean(text: str, encoding: str, most_controls: float) -> Decoded | None:
    """The text with clean line ends and characters; None if it has more control characters than text has."""
    # DOS editors ended a file with Control-Z.
    sample = text[:_CHECKED].removesuffix("\x1a")
    if _controls(sample, encoding) > len(sample) * most_controls + (encoding in _UNICODE):
        return None
    replaced = 0
    if "\0" in text or not _is_encodable(text):
        text, replaced = _NOT_TEXT.subn("\ufffd", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text, encoding, replaced)


def _controls(sample: str, encoding: str) -> int:
    """How many control characters there are; bytes of UTF-8 that are no text do not count."""
    if encoding == "utf-8":
        # As bytes, which is much the faster way for the encoding that nearly every file has.
        raw = sample.encode("utf-8", "surrogatepass")
        return len(raw) - len(raw.translate(None, _CONTROL_BYTES))
    return len(_CONTROL.findall(sample))


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
