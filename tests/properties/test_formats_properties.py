"""Whatever is changed in a document, its reader gives text or a reason, and never raises."""

from __future__ import annotations

import importlib
import io
import zipfile
from collections.abc import Callable

import pytest
from document_samples import SAMPLES, package
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semantic_search.formats import FORMATS, Extracted, Refused
from semantic_search.types import Skip

# One suffix of each module; PDF is pdfium's work, and is tried in the child.
SUFFIXES = sorted({module: suffix for suffix, module in FORMATS.items() if suffix != ".pdf"}.values())
SUFFIXES += [suffix for suffix in (".odt", ".odp") if suffix not in SUFFIXES]
REASONS = {Skip.DAMAGED, Skip.NO_TEXT, Skip.ENCRYPTED, Skip.TOO_COMPLEX, Skip.UNDECODABLE}
SNIPPETS = [
    b"<", b">", b"</", b"<!--", b"&#x0;", b"&#xD800;", b"&amp;", b"\x00", b"\xff\xfe", b"\xd0", b"{", b"}",
    b"\\", b"\\bin99999 ", b"\\u-1?", b"\\'", b"\\ansicpg0", b"\\f-1", b"\"", b"[", b"]", b"-9999999999",
    b"1e999", b"\r", b"\xe2\x80\xa8", b"=?utf-8?b?/w==?=", b"=?x?q?=ff?=",
    b"Content-Type: text/html; charset=nonsense\n\n", b"\nFrom ", b"<table><tr><td>", b"</table>", b"</p>",
    b"<li>", b"<pre>", b"<text:p>", b"</table:table-row>", b"<a:tr>", b"A0",
]  # fmt: skip

Change = Callable[[bytes], bytes]


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """A change of a run of bytes: cut, doubled, swapped with another, or with something put in."""
    kind = draw(st.sampled_from(["cut", "double", "swap", "insert", "replace"]))
    at, length, other = (draw(st.floats(0, 1)) for _ in range(3))
    snippet = draw(st.sampled_from(SNIPPETS))

    def change(data: bytes) -> bytes:
        start = int(at * len(data))
        end = min(len(data), start + int(length * len(data) / 4) + 1)
        place = int(other * len(data))
        piece = data[start:end]
        rest = data[:start] + data[end:]
        return {
            "cut": rest,
            "double": data[:end] + piece + data[end:],
            "swap": rest[:place] + piece + rest[place:],
            "insert": data[:start] + snippet + data[start:],
            "replace": data[:start] + snippet + data[end:],
        }[kind]

    return change


def check(suffix: str, data: bytes) -> None:
    extract = importlib.import_module(FORMATS[suffix]).extract
    outcome = extract(data)
    if isinstance(outcome, Refused):
        assert outcome.reason in REASONS
        return
    assert isinstance(outcome, Extracted)
    assert outcome.text.strip()
    assert outcome.text.encode("utf-8")
    assert list(outcome.pages) == sorted(outcome.pages)
    assert all(0 <= page <= len(outcome.text) for page in outcome.pages)
    assert extract(data) == outcome


BOUNDED = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("suffix", SUFFIXES)
@BOUNDED
@given(st.lists(changes(), min_size=1, max_size=4), st.integers(0, 50))
def test_a_changed_document_gives_text_or_a_reason(suffix: str, several: list[Change], which: int) -> None:
    data = SAMPLES[suffix].data()
    if data.startswith(b"PK"):
        # Inside the archive, where a checksum does not find it out.
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        name = list(files)[which % len(files)]
        for change in several:
            files[name] = change(files[name])
        data = package(files)
    else:
        for change in several:
            data = change(data)
    check(suffix, data)


@pytest.mark.parametrize("suffix", [".xhtml", ".rtf", ".eml", ".mbox", ".ipynb"])
@BOUNDED
@given(st.lists(st.one_of(st.sampled_from(SNIPPETS), st.binary(max_size=20)), max_size=30))
def test_anything_at_all_gives_text_or_a_reason(suffix: str, pieces: list[bytes]) -> None:
    start = {".rtf": b"{\\rtf1 ", ".eml": b"Subject: x\n", ".mbox": b"From x\nSubject: y\n\n"}.get(
        suffix, b""
    )
    check(suffix, start + b"".join(pieces))
