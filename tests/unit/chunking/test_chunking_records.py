from __future__ import annotations

import re
from itertools import pairwise

from semantic_search.chunking import Budget, chunk_document
from semantic_search.types import Chunk, Document, SourceFile

SMALL = Budget(target=40, overlap=10, limit=80)


def _chunks(text: str, language: str, budget: Budget = SMALL) -> list[Chunk]:
    document = Document(SourceFile("/folder", "file", 0, 0, 0, 0), "", text, language)
    starts = [match.start() for match in re.finditer(r"\w+|\S", text)]
    chunks = chunk_document(document, starts, budget)
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
    return chunks


def _starts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text.split("\n", 1)[0] for chunk in chunks]


def test_rows_are_cut_between_rows_and_carry_the_names_of_their_columns() -> None:
    text = "city,inhabitants,river\n" + "".join(f"Town {n},{n}000,River {n}\n" for n in range(60))
    chunks = _chunks(text, "csv")
    assert len(chunks) > 5
    assert {chunk.heading for chunk in chunks} == {"city, inhabitants, river"}
    assert all(line.startswith("Town") for line in _starts(chunks)[1:])
    assert all(a.last_line + 1 == b.first_line for a, b in pairwise(chunks))
    assert chunks[1].embedded_text.startswith("city, inhabitants, river\nTown")


def test_a_row_may_run_over_lines_within_quotation_marks() -> None:
    rows = "".join(f'{n},"first line\nsecond, line ""quoted""\n\nthird line"\n' for n in range(20))
    chunks = _chunks("id,note\n" + rows, "csv")
    assert len(chunks) > 3
    assert all(re.match(r"\d+,\"first", line) for line in _starts(chunks)[1:])


def test_a_quotation_mark_that_nothing_closes_does_not_swallow_the_file() -> None:
    text = 'id,note\n1,"open\n' + "".join(f"{n},fine\n" for n in range(2, 2000))
    chunks = _chunks(text, "csv")
    assert all(re.match(r"\d+,fine", line) for line in _starts(chunks)[len(chunks) // 2 :])


def test_tabs_and_semicolons_part_columns_too() -> None:
    for delimiter in "\t;|":
        text = "\n".join(delimiter.join(row) for row in [("name", "town"), ("Ira", "Lviv"), ("Max", "Ulm")])
        assert [chunk.heading for chunk in _chunks(text, "csv")] == ["name, town"]


def test_a_first_row_of_values_is_no_header() -> None:
    for text in (
        "1,2,3\n4,5,6\n",
        "a,a\nb,c\n",
        "title\nvalue\n",
        "a,,c\n1,2,3\n",
        "a,b\n1,2,3\n4,5,6\n",
        "a,b",
    ):
        assert [chunk.heading for chunk in _chunks(text, "csv")] == [""], text


def test_objects_are_cut_between_lines() -> None:
    text = "".join(f'{{"id": {n}, "said": "one two three four"}}\n' for n in range(40))
    chunks = _chunks(text, "json-lines")
    assert len(chunks) > 5
    assert all(chunk.text.startswith('{"id"') and chunk.text.endswith("}") for chunk in chunks)


def test_a_trace_stays_with_the_record_it_belongs_to() -> None:
    record = (
        "2026-03-0{n} 10:00:00 ERROR worker failed\nTraceback (most recent call last):\n"
        '  File "a.py", line 1\nValueError: bad value {n}\n'
    )
    text = "".join(record.replace("{n}", str(n)) for n in range(1, 9))
    chunks = _chunks(text, "log", Budget(target=60, overlap=10, limit=120))
    assert len(chunks) > 2
    assert all(line.startswith("2026-03") for line in _starts(chunks))


def test_the_stamps_of_logs_are_known() -> None:
    for stamp in (
        "[2026-03-01T10:00:00Z]", "01/Mar/2026:10:00:00", "Mar  1 10:00:00 host sshd[1]:", "10:00:00.123",
        "INFO", "1767225600.123", '127.0.0.1 - - [01/Mar/2026:10:00:00 +0000] "GET /', "2026/03/01",
    ):  # fmt: skip
        text = "".join(f"{stamp} event {n} happened\n{'more ' * 12}\n" for n in range(30))
        chunks = _chunks(text, "log", Budget(target=80, overlap=10, limit=160))
        assert len(chunks) > 2
        assert all(line.startswith(stamp) for line in _starts(chunks)), stamp


def test_subtitles_are_cut_between_cues_and_named_by_their_time() -> None:
    cues = "".join(
        f"{n}\n00:{n:02}:00,000 --> 00:{n:02}:04,000\nThe spoken words number {n}\n\n" for n in range(1, 30)
    )
    chunks = _chunks(cues, "subtitles")
    assert len(chunks) > 5
    for chunk in chunks:
        number = int(chunk.text.split("\n", 1)[0])
        assert (chunk.heading, chunk.kind) == (f"00:{number:02}:00", "cues")


def test_the_model_sees_what_is_said_and_no_times() -> None:
    text = (
        "WEBVTT\n\n00:01.000 --> 00:04.000 align:start\nGood evening.\n\n00:05.000 --> 00:06.000\n42 apples\n"
    )
    [chunk] = _chunks(text, "subtitles", Budget())
    assert chunk.heading == "00:01"
    assert chunk.text == text.strip()
    assert chunk.embedded_text.split() == ["Good", "evening.", "42", "apples"]


def test_text_without_cues_is_still_text() -> None:
    assert [chunk.text for chunk in _chunks("no cue at all", "subtitles")] == ["no cue at all"]
    only_times = "1\n00:00:01,000 --> 00:00:02,000\n"
    assert [chunk.embedded_text for chunk in _chunks(only_times, "subtitles")] == [only_times.strip()]
