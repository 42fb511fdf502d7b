"""What is found in a document of every format, and what is said of one that is damaged: tried, not told.

The documents are those of `tests/document_samples.py`. All of them and their damaged twins lie in one folder,
which is indexed and searched with the default model.
"""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path

from pages import ROOT

from semantic_search import index, open_corpus, search
from semantic_search.corpus import Corpus
from semantic_search.formats import FORMATS
from semantic_search.languages import page_word
from semantic_search.setting_keys import KEYS
from semantic_search.tools.status import status
from semantic_search.types import Hit

MODEL = KEYS["modelName"].default

# Of what is in the document, in other words or another language than it says it where that is natural.
QUESTIONS = {
    ".pdf": "how high should the gateway hang",
    ".docx": "скільки днів зберігають записи про вхід",
    ".doc": "how many frames has the blue hive by the fence",
    ".pptx": "коли обрізати яблуні",
    ".ppt": "in which month is linden honey harvested",
    ".xlsx": "what did the glass for the greenhouse cost",
    ".xls": "скільки коштувала вощина для рамок",
    ".odt": "on which shelf is the pitchfork",
    ".ods": "вулик під липою",
    ".odp": "чому поливати краще на світанку",
    ".rtf": "how cold was it on Sunday",
    ".epub": "коли знімати мішковину з троянд",
    ".html": "at which temperature are the vents opened",
    ".eml": "на який день перенесли зустріч садівників",
    ".mbox": "when can the cultivator be borrowed",
    ".ipynb": "what was the mean moisture of the soil",
}
# A macro document is the same document, and so are the other names of a page.
SAME_AS = {".docm": ".docx", ".pptm": ".pptx", ".xlsm": ".xlsx", ".htm": ".html", ".xhtml": ".html"}


def write_documents(folder: Path) -> None:
    """`sample.SUFFIX` and `damaged.SUFFIX` for every format."""
    if (tests := str(ROOT / "tests")) not in sys.path:
        sys.path.append(tests)
    from document_samples import SAMPLES

    for suffix in FORMATS:
        sample = SAMPLES[suffix]
        (folder / f"sample{suffix}").write_bytes(sample.data())
        (folder / f"damaged{suffix}").write_bytes(sample.damaged(sample.data()))


@cache
def formats() -> tuple[str, ...]:
    """The rows of every format: the document, a question, where it was found, and the reason of its twin."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "documents")
        folder.mkdir()
        write_documents(folder)
        with open_corpus([folder], index_directory=Path(place, "index"), model=MODEL) as corpus:
            index(corpus)
            reasons = {file.path: file.reason for file in status(corpus, with_skipped=True).skipped}
            found = {suffix: _found(corpus, suffix) for suffix in FORMATS}
    rows = [
        f"| `{suffix}` | {_question(suffix)} | {found[suffix]} | `{reasons[f'damaged{suffix}']}` |"
        for suffix in FORMATS
    ]
    return ("| document | question | result | place | damaged twin |", "|---|---|---:|---|---|", *rows)


def _question(suffix: str) -> str:
    return QUESTIONS[SAME_AS.get(suffix, suffix)]


def _found(corpus: Corpus, suffix: str) -> str:
    family = SAME_AS.get(suffix, suffix)
    # Documents that say the same are one result; each is asked for without the others.
    twins = [f"!*{other}" for other in FORMATS if SAME_AS.get(other, other) == family and other != suffix]
    hits = search(corpus, _question(suffix), k=10, globs=twins, refresh=False)
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit.path == f"sample{suffix}"]
    if not ranks:
        return "none of ten | –"
    return f"{ranks[0]} | {_place(hits[ranks[0] - 1])}"


def _place(hit: Hit) -> str:
    page = f"{page_word(hit.language)} {hit.chunk.page}, " if hit.chunk.page else ""
    return f"{page}line {hit.chunk.first_line}"
