"""A zip of XML parts, read within limits: Office Open XML (ECMA-376 part 2), OpenDocument, EPUB.

Parts are inflated piece by piece and parsed as they come; nothing is written to disk, whatever the members
are called. Entities are refused everywhere, document types where no such file has them.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, NoReturn
from xml.parsers import expat

from ..types import Skip

Start = Callable[[str, Mapping[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]

MAX_MEMBERS = 10_000
MAX_PART = 100_000_000
MAX_TOTAL = 200_000_000
MAX_DEPTH = 500
_MAX_RATIO = 200
_RATIO_MATTERS = 8_000_000
_PIECE = 1 << 16
COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")
_STORED_OR_DEFLATED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "http://schemas.openxmlformats.org/presentationml/2006/main": "p",
    "http://purl.oclc.org/ooxml/presentationml/main": "p",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "s",
    "http://purl.oclc.org/ooxml/spreadsheetml/main": "s",
    "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office",
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text",
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0": "table",
    "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0": "draw",
    "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0": "presentation",
    "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0": "manifest",
    "urn:oasis:names:tc:opendocument:xmlns:container": "container",
    "http://www.idpf.org/2007/opf": "opf",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
}


class Refusal(Exception):
    """The document gives no text; `reason` and `detail` as in `Refused`."""

    def __init__(self, reason: Skip, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: the id it does so by, the kind (`styles`, `header` …), and the part's name."""

    id: str
    kind: str
    part: str


class Package:
    """The parts of one file, which is to be a `what` ("Word document") saved as `suffix`.

    Every method raises `Refusal` where the file is damaged or over a limit.
    """

    def __init__(self, data: bytes, what: str, suffix: str) -> None:
        self._what = what
        if data.startswith(COMPOUND_FILE):
            if "EncryptedPackage".encode("utf-16-le") in data:
                raise Refusal(Skip.ENCRYPTED, "")
            raise Refusal(Skip.DAMAGED, f"an older {what}; save it as {suffix}")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise Refusal(Skip.DAMAGED, "not a zip archive, or one cut short") from error
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            raise Refusal(Skip.TOO_COMPLEX, f"{len(members)} members")
        self._members = {_normal(member.filename): member for member in members}
        self._room = MAX_TOTAL

    def __contains__(self, part: str) -> bool:
        return part in self._members

    def foreign(self) -> Refusal:
        """The refusal of a file that is something else."""
        return Refusal(Skip.DAMAGED, f"not a {self._what}")

    def main(self, usual: str) -> str:
        """The name of the part that holds the document's body; `usual` where none is said to."""
        for relation in self.relations(""):
            if relation.kind == "officeDocument" and relation.part in self._members:
                return relation.part
        if usual in self._members:
            return usual
        raise self.foreign()

    def relations(self, part: str) -> list[Relation]:
        """What a part refers to, in order. "" is the package."""
        folder, name = posixpath.split(part)
        source = posixpath.join(folder, "_rels", f"{name}.rels")
        found: list[Relation] = []
        if source not in self._members:
            return found

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            if tag == "rel:Relationship" and attributes.get("TargetMode") != "External":
                kind = attributes.get("Type", "").rpartition("/")[2]
                found.append(
                    Relation(attributes.get("Id", ""), kind, beside(part, attributes.get("Target", "")))
                )

        self.parse(source, start)
        return found

    def parse(
        self,
        part: str,
        start: Start,
        end: End | None = None,
        text: Text | None = None,
        *,
        typed: bool = False,
    ) -> None:
        """Feed a part to the handlers, which get names such as `w:p` ("" for unknown namespaces).

        `typed` lets a document type pass. What a handler raises comes through.
        """
        parser = _parser(start, end, text, typed=typed)
        try:
            for piece in self._pieces(part):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise Refusal(Skip.DAMAGED, f"{part}: {error}") from error
        except (ValueError, LookupError) as error:
            raise Refusal(Skip.DAMAGED, f"{part}: {type(error).__name__}") from error

    def read(self, part: str) -> bytes:
        """The bytes of a part."""
        return b"".join(self._pieces(part))

    def _pieces(self, part: str) -> Iterator[bytes]:
        stream = self._open(part)
        try:
            with stream:
                while piece := stream.read(_PIECE):
                    self._room -= len(piece)
                    if self._room < 0:
                        raise Refusal(Skip.TOO_COMPLEX, f"more than {MAX_TOTAL} bytes of XML")
                    yield piece
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError) as error:
            raise Refusal(Skip.DAMAGED, f"{part}: the archive is damaged") from error

    def _open(self, part: str) -> IO[bytes]:
        member = self._members.get(part)
        if member is None:
            raise Refusal(Skip.DAMAGED, f"{part}: missing")
        if member.flag_bits & 1:
            raise Refusal(Skip.ENCRYPTED, "")
        if member.compress_type not in _STORED_OR_DEFLATED:
            raise Refusal(Skip.DAMAGED, f"{part}: an unknown compression")
        size = member.file_size
        if size > MAX_PART or (size > _RATIO_MATTERS and size > _MAX_RATIO * member.compress_size):
            raise Refusal(Skip.TOO_COMPLEX, f"{part}: expands to {size} bytes")
        try:
            return self._zip.open(member)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError) as error:
            raise Refusal(Skip.DAMAGED, f"{part}: the archive is damaged") from error


def attribute(attributes: Mapping[str, str], name: str) -> str | None:
    """The value of an attribute of the WordprocessingML namespace, transitional or strict."""
    for space, prefix in _PREFIXES.items():
        if prefix == "w" and (value := attributes.get(f"{space} {name}")) is not None:
            return value
    return None


def number(attributes: Mapping[str, str], name: str = "val") -> int | None:
    """The value of an attribute as a whole number, None where it is missing or something else."""
    value = attribute(attributes, name)
    return int(value) if value and len(value) < 10 and value.isascii() and value.isdecimal() else None


def beside(part: str, target: str) -> str:
    """The name of the part that `part` means by a relative or absolute `target`."""
    return _normal(posixpath.join("/", posixpath.dirname(part), target))


def plain(attributes: Mapping[str, str], name: str) -> str:
    """The value of the attribute of this local name, whatever its namespace; empty without one."""
    for key, value in attributes.items():
        if key.rpartition(" ")[2] == name:
            return value
    return ""


def relation_id(attributes: Mapping[str, str]) -> str:
    """The id by which an element refers to another part; empty without one."""
    for key, value in attributes.items():
        if key.endswith("/relationships id"):
            return value
    return ""


def _normal(name: str) -> str:
    return posixpath.normpath(name.replace("\\", "/")).lstrip("/")


def _parser(start: Start, end: End | None, text: Text | None, *, typed: bool) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def on_start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise Refusal(Skip.TOO_COMPLEX, "nested too deeply")
        start(_short(name), attributes)

    def on_end(name: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(_short(name))

    def on_doctype(*_: object) -> NoReturn:
        raise Refusal(Skip.DAMAGED, "a document type declaration, which no such file has")

    def on_entity(*_: object) -> NoReturn:
        raise Refusal(Skip.DAMAGED, "a declared entity, which no such file has")

    parser.StartElementHandler = on_start
    parser.EndElementHandler = on_end
    parser.EntityDeclHandler = on_entity
    if not typed:
        parser.StartDoctypeDeclHandler = on_doctype
    if text is not None:
        parser.CharacterDataHandler = text
    return parser


@lru_cache(maxsize=4096)
def _short(name: str) -> str:
    space, _, local = name.rpartition(" ")
    prefix = _PREFIXES.get(space)
    return f"{prefix}:{local}" if prefix else ""
