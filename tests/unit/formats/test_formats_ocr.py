"""Scanned pages. A program of ours stands in for tesseract; the last test asks the real one, if any."""

from __future__ import annotations

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdfium2
import pytest
from document_samples import SAMPLES

from semantic_search.formats import FORMATS, Extracted, Pool, Refused, ocr, pdf
from semantic_search.formats.pool import MEMORY_LIMIT
from semantic_search.formats.worker import Died, Task, Worker
from semantic_search.types import Skip

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in is a script of the shell")

# It keeps what it was given, and answers with the size of the image.
STAND_IN = """#!/bin/sh
echo "$@" > "$0.arguments"
head -c 40 > "$0.image"
cat > /dev/null
echo "Recognised words"
"""


def scan(pages: int = 1) -> bytes:
    """The first page of the sample as an image without a text layer, so many times."""
    document = pypdfium2.PdfDocument(SAMPLES[".pdf"].data())
    page = document[0]
    bitmap = page.render(scale=150 / 72, grayscale=True)
    width, height = bitmap.width, bitmap.height
    pixels = bytes(bitmap.buffer)
    rows = b"".join(pixels[n * bitmap.stride : n * bitmap.stride + width] for n in range(height))
    bitmap.close()
    page.close()
    document.close()
    content = b"q 595 0 0 842 0 0 cm /I Do Q"
    kids = b" ".join(b"%d 0 R" % (5 + n) for n in range(pages))
    page_object = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</I 3 0 R>>>>>>"
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, kids),
        b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8"
        b"/Length %d>>\nstream\n%s\nendstream" % (width, height, len(rows), rows),
        b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content),
        *[page_object] * pages,
    ]
    body = b"%PDF-1.4\n"
    for number, each in enumerate(objects, 1):
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    return body + b"trailer<</Root 1 0 R/Size %d>>\n" % (len(objects) + 1)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "tesseract"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    ocr.program.cache_clear()
    return program


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    ocr.program.cache_clear()


def test_a_scan_is_said_to_be_one_unless_recognition_is_asked_for(stand_in: Path) -> None:
    outcome = pdf.extract(scan())
    assert isinstance(outcome, Refused) and outcome.reason is Skip.NO_TEXT
    assert not (stand_in.parent / "tesseract.arguments").exists()


def test_a_page_is_drawn_and_recognised_in_the_languages(stand_in: Path) -> None:
    outcome = pdf.extract(scan(2), ocr_languages=["eng", "ukr"])
    assert outcome == Extracted(
        "Recognised words\n\nRecognised words", (0, 18), ("2 pages were recognised, not read",)
    )
    assert Path(f"{stand_in}.arguments").read_text() == "stdin stdout -l eng+ukr\n"
    assert re.match(rb"P5 24\d\d 35\d\d 255\n", Path(f"{stand_in}.image").read_bytes())


def test_pages_with_text_are_read_and_not_recognised(stand_in: Path) -> None:
    outcome = pdf.extract(SAMPLES[".pdf"].data(), ocr_languages=["eng"])
    assert isinstance(outcome, Extracted) and outcome.notes == ()
    assert not Path(f"{stand_in}.arguments").exists()


@pytest.mark.parametrize(
    ("script", "languages", "cause"),
    [
        ("echo 'Failed loading language xyz' >&2; exit 1", ["xyz"], "tesseract: Failed loading language xyz"),
        ("cat >/dev/null", ["--psm"], "'--psm' is no language code of tesseract"),
        ("exit 3", ["eng"], "tesseract: 3"),
    ],
)
def test_what_goes_wrong_is_said(stand_in: Path, script: str, languages: list[str], cause: str) -> None:
    stand_in.write_text(f"#!/bin/sh\n{script}\n")
    outcome = pdf.extract(scan(), ocr_languages=languages, ocr_seconds=600)
    assert outcome == Refused(Skip.NO_TEXT, f"1 pages were not recognised: {cause}")


def test_a_program_that_hangs_is_ended(stand_in: Path) -> None:
    stand_in.write_text("#!/bin/sh\ncat >/dev/null\nexec sleep 600\n")
    with pytest.raises(ocr.OcrFailed, match="tesseract took too long"):
        ocr.recognised(b"P5 1 1 255\n0", ["eng"], 0.2)


def test_without_the_program_a_scan_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = pdf.extract(scan(), ocr_languages=["eng"])
    assert outcome == Refused(Skip.NO_TEXT, "1 pages were not recognised: tesseract is not installed")


def test_pages_for_which_no_time_is_left_are_counted(stand_in: Path) -> None:
    outcome = pdf.extract(scan(3), ocr_languages=["eng"], ocr_seconds=0)
    assert outcome == Refused(Skip.NO_TEXT, "no time was left to recognise 3 pages (ocrSeconds)")


def test_the_child_takes_the_languages(stand_in: Path) -> None:
    options = {"ocr_languages": ["eng"], "ocr_seconds": 600}
    with Pool(FORMATS) as pool:
        outcome = pool.extract(".pdf", scan(), options=options)
    assert isinstance(outcome, Extracted) and outcome.text == "Recognised words"


def test_the_program_ends_with_the_child(stand_in: Path) -> None:
    started = Path(f"{stand_in}.id")
    stand_in.write_text(
        '#!/bin/sh\necho $$ > "$0.new" && mv "$0.new" "$0.id"\ncat >/dev/null\nexec sleep 600\n'
    )
    worker = Worker(MEMORY_LIMIT, ())
    task = Task(FORMATS[".pdf"], 600, {"ocr_languages": ["eng"], "ocr_seconds": 600})
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(worker.ask, task, scan())
        while not started.exists() and not answer.done():
            os.sched_yield()
        worker.kill()
        with pytest.raises(Died):
            answer.result()
    worker.close()
    number = int(started.read_text())
    while is_running(number):
        os.sched_yield()


def is_running(number: int) -> bool:
    """Whether a process is there and not merely waiting to be put away."""
    try:
        os.kill(number, 0)
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is optional")
def test_the_real_program_reads_a_scan() -> None:
    outcome = pdf.extract(scan(), ocr_languages=["eng"])
    assert isinstance(outcome, Extracted)
    assert "Verbena field manual" in outcome.text and "installers" in outcome.text
