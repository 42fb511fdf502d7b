"""JSON shapes: what clients read."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.runs import FolderReport
from semantic_search.stores import SkippedFile
from semantic_search.tools.index import Run
from semantic_search.tools.status import FolderStatus, Status
from semantic_search.types import Chunk, Hit, Skip
from semantic_search.wire import dumps, hit_json, hits_json, run_json, status_json

CHUNK = Chunk(10, 14, 3, 4, "text", "A > B", "Ledger.close", "method", 7)
HIT = Hit("/somewhere/notes", "notes", "src/a.md", "markdown", CHUNK, 0.123456789)


def test_a_hit_starts_with_the_five_keys() -> None:
    found = hit_json(HIT)
    assert list(found)[:5] == ["filePath", "text", "score", "offset", "startLine"]
    assert found["filePath"].endswith("a.md")
    assert (found["text"], found["score"], found["offset"], found["startLine"], found["endLine"]) == (
        "text",
        0.123457,
        10,
        3,
        4,
    )
    assert (found["folder"], found["path"], found["language"]) == ("notes", "src/a.md", "markdown")
    assert (found["heading"], found["symbol"], found["kind"], found["page"]) == (
        "A > B",
        "Ledger.close",
        "method",
        7,
    )
    assert (found["stale"], "explain" in found) == (False, False)


def test_what_does_not_apply_is_left_out() -> None:
    plain = Hit("/f", "f", "a", "text", Chunk(0, 1, 1, 1, "x"), 1.0, explain={"lexical": 0.12345678})
    found = hit_json(plain)
    assert not {"heading", "symbol", "kind", "page"} & set(found)
    assert found["explain"] == {"lexical": 0.123457}
    assert hits_json([HIT, plain]) == [hit_json(HIT), found]


def test_encoding_07_a_name_that_is_not_utf8_makes_valid_json() -> None:
    odd = Hit("/f\udcff", "f\udcff", "caf\udce9.md", "text", Chunk(0, 1, 1, 1, "a\ud800b"), 1.0)
    text = dumps(hit_json(odd))
    assert json.loads(text.encode())["path"] == "caf\\xe9.md"


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_any_text_is_one_line_of_utf8(text: str) -> None:
    line = dumps({"text": text})
    assert "\n" not in line
    assert isinstance(json.loads(line.encode())["text"], str)


def test_a_run_adds_up() -> None:
    first = FolderReport("a", "/a", processed=2, unchanged=3, touched=1, deleted=1, failed=1, chunks=9)
    first.skipped = {"binary": 2, "unreadable": 1}
    second = FolderReport("b", "/b", skipped={"binary": 1}, truncated=True, error="gone")
    found = run_json(Run([first, second], vectors=4, pending=5, seconds=1.23456, notes=["n"]))
    assert list(found)[:5] == ["filesProcessed", "filesSkipped", "filesDeleted", "chunksWritten", "truncated"]
    assert (found["filesProcessed"], found["filesDeleted"], found["chunksWritten"]) == (2, 1, 9)
    assert found["filesSkipped"] == 3 + 1 + 4
    assert found["skipped"] == {"binary": 3, "unreadable": 1}
    assert (found["filesUnchanged"], found["filesFailed"]) == (4, 1)
    assert (found["vectorsWritten"], found["pendingVectors"], found["seconds"]) == (4, 5, 1.235)
    assert (found["truncated"], found["interrupted"]) == (True, False)
    assert found["foldersFailed"] == [{"folder": "/b", "error": "gone"}]


def test_a_status_has_every_folder() -> None:
    folder = FolderStatus("a", "/a", True, False, 3, 9, 2, {"binary": 1}, "")
    skip = SkippedFile("/a", "x.bin", Skip.BINARY, "")
    state = Status([folder], "words", "sqlite", "/i/index", 100, True, [skip])
    found = status_json(state, indexing=True, with_skipped=False)
    (only,) = found["folders"]
    assert {"name", "path", "files", "chunks", "pendingVectors", "skipped", "lastRun"} <= set(only)
    assert only["lastRun"] is None
    assert (found["model"], found["store"], found["indexPath"], found["indexBytes"], found["indexing"]) == (
        "words",
        "sqlite",
        "/i/index",
        100,
        True,
    )
    assert "skippedFiles" not in found
    listed = status_json(state, indexing=False, with_skipped=True)["skippedFiles"]
    assert listed == [{"folder": "/a", "path": "x.bin", "reason": "binary", "detail": ""}]
