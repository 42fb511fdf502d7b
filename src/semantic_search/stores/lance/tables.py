"""The tables of a LanceDB index and how values become rows of them.

`entries` has a row for each file and one for each passage, so that one commit replaces a file with all of its
passages, whole or not at all. A file's id is a number; the ids of its passages follow from it, and a new
version of a file takes the ids of the old: the commit is an update by id, and what is left over of a longer
old version becomes a row of kind GONE. `vectors` has a row for each embedded text, by key: rows are added,
never changed, so that it agrees with every state of `entries`. `meta` holds remembered values and folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ...types import Chunk, Skip, Skipped, SourceFile
from ..rows import Indexed, Known, Passage, Stored, tags_to_text
from ..sqlite_rows import packed

ENTRIES, VECTORS, META = "entries", "vectors", "meta"
GONE, FILE, PASSAGE = 0, 1, 2
FOLDER_KEY = "folder:"

# So many ids are a file's. A document has at most as many passages: the limits on file sizes keep far
# below it.
SPAN = 1 << 20

_AT_ONCE = 500

# How often the path's terms stand in `whole`: as much as they weigh against those of the text.
WHOLE_PATH_WEIGHT = 3

_ZSTD = {b"lance-encoding:compression": b"zstd"}

ENTRIES_SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("file", pa.int64(), nullable=False),
        pa.field("kind", pa.int8(), nullable=False),
        # Of a file
        pa.field("folder", pa.string()),
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("mtime_ns", pa.int64()),
        pa.field("ctime_ns", pa.int64()),
        pa.field("inode", pa.string()),
        pa.field("seen_ns", pa.int64()),
        pa.field("sha256", pa.string()),
        pa.field("language", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("detail", pa.string()),
        pa.field("chunks", pa.int32()),
        pa.field("tags", pa.string()),
        pa.field("tokens", pa.int64()),
        pa.field("text", pa.binary()),
        pa.field("pages", pa.list_(pa.int32())),
        pa.field("path_terms", pa.string()),
        pa.field("whole", pa.string(), metadata=_ZSTD),
        # Of a passage
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        pa.field("first_line", pa.int32()),
        pa.field("last_line", pa.int32()),
        pa.field("heading", pa.string()),
        pa.field("symbol", pa.string()),
        pa.field("sort", pa.string()),
        pa.field("page", pa.int32()),
        pa.field("script", pa.string()),
        pa.field("key", pa.string()),
        pa.field("text_terms", pa.int32()),
        pa.field("words", pa.string(), metadata=_ZSTD),
    ]
)
META_SCHEMA = pa.schema([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.string())])

FILE_COLUMNS = [
    "id",
    "folder",
    "path",
    "size",
    "mtime_ns",
    "ctime_ns",
    "inode",
    "seen_ns",
    "sha256",
    "language",
    "reason",
    "detail",
    "chunks",
    "tags",
]
PASSAGE_COLUMNS = [
    "id",
    "file",
    "start",
    "end",
    "first_line",
    "last_line",
    "heading",
    "symbol",
    "sort",
    "page",
    "script",
    "key",
]

Row = dict[str, Any]


def vectors_schema(dimension: int) -> pa.Schema:
    """The columns of `vectors`: float32, since search over float16 takes four times as long (measured)."""
    return pa.schema(
        [
            pa.field("key", pa.string(), nullable=False),
            pa.field("script", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def name_to_text(name: str) -> str:
    """A file or folder name as Unicode text, reversibly: names are bytes and need not be UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "\0" + os.fsencode(name).hex()
    return name


def text_to_name(text: str) -> str:
    """The name that `name_to_text` was given."""
    return os.fsdecode(bytes.fromhex(text[1:])) if text.startswith("\0") else text


def quoted(text: str) -> str:
    """A string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def any_of(column: str, values: Iterable[str | int]) -> str:
    """A condition that a column has one of the values."""
    return f"{column} IN ({','.join(quoted(v) if isinstance(v, str) else str(v) for v in values)})"


def slices_of(column: str, values: Iterable[str | int]) -> Iterator[str]:
    """Conditions that a column has one of the values, of a few hundred each: one of 4 000 takes 300 MB."""
    every = list(values)
    for start in range(0, len(every), _AT_ONCE):
        yield any_of(column, every[start : start + _AT_ONCE])


def file_of(passage: int) -> int:
    """The number of the file that a row belongs to."""
    return passage // SPAN


def file_row_id(file: int) -> int:
    """The id of a file's own row."""
    return file * SPAN


def gone_rows(file: int, first: int, last: int) -> list[Row]:
    """Rows in the place of passages `first` to `last - 1` (counted from 0) of a file, which are no more."""
    return [_blank(file_row_id(file) + 1 + n, file, GONE) for n in range(first, last)]


def gone_file(file: int, passages: int) -> list[Row]:
    """Rows in the place of a file and its passages."""
    return [_blank(file_row_id(file), file, GONE), *gone_rows(file, 0, passages)]


def _blank(id_: int, file: int, kind: int) -> Row:
    return {"id": id_, "file": file, "kind": kind}


def file_row(file: int, folder: str, source: SourceFile, seen_ns: int) -> Row:
    """The row of a file of a folder that has no text."""
    return {
        **_blank(file_row_id(file), file, FILE),
        "folder": name_to_text(folder),
        "path": name_to_text(source.path),
        **stamp_of(source, seen_ns),
        "sha256": "",
        "language": "",
        "reason": "",
        "detail": "",
        "chunks": 0,
        "tags": "",
        "tokens": 0,
    }


def stamp_of(source: SourceFile, seen_ns: int) -> Row:
    """The columns that say how a file looked, and when."""
    size, mtime_ns, ctime_ns, inode = source.stamp
    return {
        "size": size,
        "mtime_ns": mtime_ns,
        "ctime_ns": ctime_ns,
        "inode": str(inode),
        "seen_ns": seen_ns,
    }


def skip_row(file: int, folder: str, skipped: Skipped, seen_ns: int) -> Row:
    """The row of a file that was skipped and has no passages."""
    row = file_row(file, folder, skipped.source, seen_ns)
    return {**row, "reason": skipped.reason.value, "detail": skipped.detail}


def indexed_rows(file: int, folder: str, item: Indexed, seen_ns: int) -> list[Row]:
    """The rows of a document: the file's own, then those of its passages in their order."""
    document = item.document
    rows = []
    tokens = 0
    parts = zip(item.chunks, item.terms, item.context, item.scripts, item.keys, strict=True)
    for n, (chunk, terms, context, script, key) in enumerate(parts):
        in_text, around = terms.split(), context.split()
        tokens += len(in_text) + len(around)
        rows.append(
            {
                **_blank(file_row_id(file) + 1 + n, file, PASSAGE),
                "start": chunk.start,
                "end": chunk.end,
                "first_line": chunk.first_line,
                "last_line": chunk.last_line,
                "heading": chunk.heading,
                "symbol": chunk.symbol,
                "sort": chunk.kind,
                "page": chunk.page,
                "script": script,
                "key": key.hex(),
                "text_terms": len(in_text),
                "words": " ".join([*in_text, *around]),
            }
        )
    own = {
        **file_row(file, folder, document.source, seen_ns),
        "sha256": document.sha256,
        "language": document.language,
        "detail": "; ".join(document.notes),
        "chunks": len(rows),
        "tags": tags_to_text(document.tags),
        "tokens": tokens,
        "text": packed(document.text),
        "pages": list(document.pages),
        "path_terms": item.path_terms,
        "whole": " ".join([*item.terms, *[item.path_terms] * WHOLE_PATH_WEIGHT]),
    }
    return [own, *rows]


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Rows as a table of `entries`; columns that a row lacks are null."""
    columns = {field.name: [row.get(field.name) for row in rows] for field in ENTRIES_SCHEMA}
    return pa.table(columns, schema=ENTRIES_SCHEMA)


def known_of(row: Row) -> Known:
    """What is remembered of a file."""
    reason = Skip(row["reason"]) if row["reason"] else None
    return Known(_stamp(row), row["seen_ns"], row["sha256"], reason, row["chunks"])


def stored_of(row: Row, text: str) -> Stored:
    """The document of a file's row."""
    return Stored(text, tuple(row["pages"]), row["language"], row["sha256"], _stamp(row))


def source_of(row: Row) -> SourceFile:
    """The file of a row as it looked when it was read."""
    return SourceFile(text_to_name(row["folder"]), text_to_name(row["path"]), *_stamp(row))


def passage_of(row: Row, file: Row, text: str) -> Passage:
    """The passage of a row, sliced from its document's text."""
    return Passage(
        row["id"],
        text_to_name(file["folder"]),
        text_to_name(file["path"]),
        file["language"],
        _stamp(file),
        row["script"],
        chunk_of(row, text),
    )


def chunk_of(row: Row, text: str) -> Chunk:
    """The chunk of a passage's row."""
    span = (row["start"], row["end"], row["first_line"], row["last_line"])
    return Chunk(
        *span, text[row["start"] : row["end"]], row["heading"], row["symbol"], row["sort"], row["page"]
    )


def _stamp(row: Row) -> tuple[int, int, int, int]:
    return (row["size"], row["mtime_ns"], row["ctime_ns"], int(row["inode"]))
