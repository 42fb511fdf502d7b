"""Input made to stop us: documents in their child, patterns, questions and lines of the protocol."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import cast

import pytest
from builders import write_tree
from counts import a_seed, repeated
from document_samples import SAMPLES
from fakes import WordsEmbedder, configure, open_words
from mcp_agents import NO_MODEL, Wire

from semantic_search.chunking import Budget
from semantic_search.chunking.packing import TokenIndex
from semantic_search.corpus import Corpus
from semantic_search.encodings import decode, is_binary
from semantic_search.errors import QueryError
from semantic_search.formats import FORMATS, Extracted, Pool
from semantic_search.languages import languages
from semantic_search.listing import ListingRules
from semantic_search.models.embedder import Embedder
from semantic_search.passages import Cutter
from semantic_search.stores import Indexed
from semantic_search.tools.grep import Search, grep
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search
from semantic_search.types import Document, Skip, SourceFile

CORPUS = Path(__file__).parents[1] / "quality" / "corpus"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(FORMATS) as found:
        yield found


def mutated(draw: random.Random, data: bytes) -> bytes:
    """A document with some bytes changed, cut out, doubled, or put elsewhere."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 2, 4, 16, 64))):
        at = draw.randrange(max(1, len(changed)))
        size = draw.choice((1, 1, 2, 8, 64, len(changed) // 4))
        match draw.randrange(6):
            case 0:
                changed[at : at + 1] = bytes([draw.randrange(256)])
            case 1:
                del changed[at : at + size]
            case 2:
                changed[at:at] = changed[at : at + size]
            case 3:
                changed[at:at] = draw.choice(
                    (b"\0", b"\xff" * 8, b"<", b"(", b"99999999999", b"endobj\n", b"obj <<")
                )
            case 4:
                place = draw.randrange(max(1, len(changed)))
                changed[at:at] = changed[place : place + size]
            case 5:
                del changed[draw.randrange(max(1, len(changed))) :]
    return bytes(changed[:4_000_000])


def inside(draw: random.Random, data: bytes) -> bytes:
    """A package of which one part is changed: its checksums stay right, so that what is in it is read."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        victim = draw.choice(source.namelist())
        for name in source.namelist():
            part = source.read(name)
            target.writestr(name, mutated(draw, part) if name == victim else part)
    return out.getvalue()


CHILD_SECONDS = 60.0


@pytest.mark.parametrize("count", repeated(25))
@pytest.mark.parametrize("suffix", sorted(SAMPLES))
def test_a_changed_document_neither_kills_nor_stalls_its_reader(pool: Pool, suffix: str, count: int) -> None:
    """The child has 1.5 GB and 60 s (see `formats/pool.py`): an end by either is a finding."""
    seed = a_seed()
    draw, read = random.Random(f"{seed} {suffix}"), 0
    data = SAMPLES[suffix].data()
    for n in range(count):
        changed = inside(draw, data) if data[:2] == b"PK" and n % 2 else mutated(draw, data)
        if not changed:
            continue
        outcome = pool.extract(suffix, changed, seconds=CHILD_SECONDS)
        if isinstance(outcome, Extracted):
            read += 1
            continue
        assert outcome.reason is not Skip.TIMED_OUT, (seed, suffix, n)
        assert "ended with status" not in outcome.detail, (seed, suffix, n, outcome)
        assert "gave up" not in outcome.detail, (seed, suffix, n, outcome)
        assert not outcome.detail.partition(":")[0].endswith(("Error", "Exception")), (
            seed,
            suffix,
            n,
            outcome,
        )
    print(f"{suffix}: {count} documents of seed {seed}, {read} of them read")


@pytest.fixture
def corpus(tmp_path: Path, own_environment: Path) -> Iterator[Corpus]:
    folder = write_tree(
        tmp_path / "folder",
        {
            "a.md": 'the walnut ledger (x+x+)+y "quoted" NEAR AND OR NOT\n' + "xa" * 5000 + "\n",
            "b.md": "meadow\n",
        },
    )
    configure(own_environment, [folder], autoRefresh=False)
    with open_words() as found:
        index(found, Request(None))
        yield found


EXPLODING = [
    *(
        "(a+)+$",
        "(a|a)*$",
        "(a|aa)+$",
        "(.*a){20}$",
        "(x+x+)+y",
        "([a-zA-Z]+)*$",
        "(a*)*b",
        "(.*)*$",
        "^(([a-z])+.)+[A-Z]",
    ),
    *(r"(\d+)*x", r"(\w|\W)*!", "(?:a?){60}a{60}", "(a{1,50}){1,20}", "((a{1,10}){1,10}){1,10}", "a" * 5000),
    *(".{1,1000}y", "(x{1000})", "[^x]*[^y]*[^z]*$", "(" * 200 + "a" + ")" * 200, "|".join(["xa"] * 2000)),
    *("(?i)" + "x" * 500, r"\pL{500}", r"(\b\w+\b\s*){1,100}$", "(a??)*", "^(x|xa|xax)*$", "(?s).*.*.*.*.*y"),
    *(
        "[[:alpha:]]*" * 30 + "!",
        r"(?:(?:(?:x*)*)*)*$",
        "x*" * 500,
        "(^|x)+y",
        r"\x{10FFFF}*" * 50,
        "$" * 1000,
    ),
]
PATTERN_PIECES = [
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "*",
        "+",
        "?",
        "|",
        "^",
        "$",
        ".",
        "\\",
        "\\b",
        "\\d",
        "\\pL",
        "(?i)",
        "(?:",
    ),
    *(
        "{1,1000}",
        "{999}",
        "[^x]",
        "x",
        "a",
        "walnut",
        "\\1",
        "(?=x)",
        "(?<n>a)",
        "[[:alpha:]]",
        "\\Q",
        "\\E",
        "é",
    ),
]


# What opens something in one language or another.
OPENINGS = [
    *("{", "}", "(", ")", "<", ">", '"', "'", "`", "/*", "*/", "#", "\\", "$", "${", "@", "%", "|", "^", "~"),
    *("\n", "\r", "\t", "\0", "  ", "<<EOF\n", "<<~'E'\n", '"""', "'''", 'r#"', 'R"(', "q{", "s/", "=pod\n"),
    *(
        "=begin\n",
        "=end\n",
        "]]>",
        "<!--",
        "{-",
        "(*",
        "[[",
        "[=[",
        "---\n",
        "```",
        ":::",
        "\u2028",
        "\u0301",
    ),
    *("é", "字", "😀", "\u200b", "\ufeff", "\ud7ff"),
]


def made_text(draw: random.Random, seeds: list[bytes]) -> bytes:
    """A piece of a file, changed, with what opens something put in, once or very often."""
    whole = draw.choice(seeds)
    start = draw.randrange(len(whole))
    changed = bytearray(mutated(draw, whole[start : start + draw.choice((200, 2000, 8000))]))
    for _ in range(draw.choice((0, 1, 3, 10))):
        at = draw.randrange(len(changed) + 1)
        changed[at:at] = draw.choice(OPENINGS).encode() * draw.choice((1, 1, 2, 300, 3000))
    return bytes(changed[:60_000])


def cut_texts(seed: int, count: int, last: str) -> None:
    """Decodes and cuts so many texts in languages drawn by chance; what is at hand is in the file `last`."""
    draw = random.Random(seed)
    seeds = [path.read_bytes() for path in sorted(CORPUS.rglob("*")) if path.is_file()]
    cutter = Cutter(ListingRules(), Budget(60, 10, 90), cast(Embedder, WordsEmbedder()))
    for _ in range(count):
        data, language = made_text(draw, seeds), draw.choice(languages())
        Path(last).write_bytes(language.encode() + b"\n" + data)
        faulthandler.dump_traceback_later(CHILD_SECONDS, exit=True)
        decoded = None if is_binary(data) else decode(data)
        if decoded is None or not decoded.text.strip():
            continue
        text = decoded.text
        (found,) = cutter.cut([Document(SourceFile("/f", "x", 1, 1, 1, 1), "00", text, language)])
        assert isinstance(found, Indexed), found
        starts = TokenIndex(text, WordsEmbedder().token_starts([text])[0])
        covered = bytearray(len(text))
        for chunk in found.chunks:
            assert chunk.text == text[chunk.start : chunk.end]
            assert starts.count(chunk.start, chunk.end) <= 90
            covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        assert all(covered[at] or text[at].isspace() for at in range(len(text)))
    faulthandler.cancel_dump_traceback_later()


_IN_A_CHILD = """
import sys
sys.path[:0] = {path!r}
from test_hostile_input_properties import cut_texts
cut_texts({seed}, {count}, {last!r})
"""


@pytest.mark.parametrize("count", repeated(200))
def test_no_text_ends_or_stalls_the_process_that_cuts_it_and_none_of_it_is_lost(
    tmp_path: Path, count: int, tell: Callable[[str], None]
) -> None:
    """In a process of its own, since what parses languages is written in C."""
    seed, last = a_seed(), tmp_path / "last"
    tell(f"{count} texts, STRESS_SEED={seed}")
    path = [str(Path(__file__).parent), *sys.path]
    script = _IN_A_CHILD.format(path=path, seed=seed, count=count, last=str(last))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:], last.read_bytes()[:500])


@pytest.mark.parametrize("count", repeated(300))
def test_no_pattern_stalls_and_each_gives_lines_or_a_sentence(corpus: Corpus, count: int) -> None:
    seed = a_seed()
    draw = random.Random(seed)
    made = ["".join(draw.choices(PATTERN_PIECES, k=draw.randint(1, 40))) for _ in range(count)]
    refused, began = 0, time.process_time()
    assert len(EXPLODING) >= 30
    for pattern in [*EXPLODING, *made]:
        try:
            grep(corpus, Search(pattern))
        except QueryError as error:
            refused += 1
            assert "\n" not in str(error)[:-1], (seed, pattern)
    used = time.process_time() - began
    print(f"{len(EXPLODING) + count} patterns of seed {seed}, {refused} refused, {used:.1f} s of CPU")
    # CPU, not wall-clock: one pattern that explodes takes more than all the others together.
    assert used < 10 + 0.1 * count, seed


QUERY_PIECES = [
    *(
        '"',
        "'",
        "*",
        "(",
        ")",
        "NEAR(",
        "NEAR/2",
        "AND",
        "OR",
        "NOT",
        "-",
        "^",
        ":",
        "terms:",
        "{",
        "}",
        "\\",
        ";",
    ),
    *(
        "--",
        "/*",
        "%",
        "_",
        "\x00",
        "\udcff",
        "\ud83d",
        "\u202e",
        "\x1b[31m",
        "walnut",
        "сховище",
        "検索",
        "́" * 50,
    ),
    *(
        "🦊",
        "ﬁ",
        "ǅ",
        "İ",
        " " * 100,
        "\n",
        "\t",
        "x" * 3000,
        "DROP TABLE files",
        "$(id)",
        "${HOME}",
        "<|endoftext|>",
    ),
    *(
        "[CLS]",
        "a" * 200,
        "1e999",
        "-0",
        "NaN",
        "{}",
        "[]",
        "\\u0000",
        "%00",
        "../../etc/passwd",
        "camelCase_word9",
    ),
]


@pytest.mark.parametrize("count", repeated(400))
def test_no_question_fails_but_with_a_sentence(corpus: Corpus, count: int) -> None:
    seed = a_seed()
    draw, found = random.Random(seed), 0
    for n in range(count):
        text = draw.choice(("", " ")).join(draw.choices(QUERY_PIECES, k=draw.choice((1, 3, 10, 60))))
        if n % 40 == 0:
            text = (text * 100_000)[:100_000]
        with contextlib.suppress(QueryError):
            answer = search(corpus, Question(text, draw.choice((1, 10, 1000))))
            found += bool(answer.hits)
            assert all(hit.chunk.text for hit in answer.hits)
    assert corpus.reading()[0].check() == ""
    print(f"{count} questions of seed {seed}, {found} with results")
    assert found > count / 10


VALID: list[dict[str, object]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "grep", "arguments": {"pattern": "walnut", "maxResults": 5}},
    },
    {
        "jsonrpc": "2.0",
        "id": 4,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "walnut", "k": 5}},
    },
    {"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "file:///x"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
]
ODD_VALUES: list[object] = [
    *(
        None,
        True,
        -1,
        0,
        1.5,
        10**30,
        1e308,
        "",
        "x" * 10_000,
        [],
        {},
        [[]],
        {"a": {"b": []}},
        "\x00",
        "☃",
        "\ud800",
    ),
    *("search", "tools/call", "2.0", ["search"], {"name": "search"}, "../x", "file:///etc/passwd", -(2**63)),
]


def a_line(draw: random.Random) -> bytes:
    """A message with a value in it replaced, or with its bytes changed."""
    message = json.loads(json.dumps(draw.choice(VALID)))
    if draw.random() < 0.6:
        place = message
        while True:
            key = draw.choice(list(place))
            if not isinstance(place[key], dict) or not place[key] or draw.random() < 0.4:
                break
            place = place[key]
        if draw.random() < 0.2:
            del place[key]
        else:
            place[key] = draw.choice(ODD_VALUES)
        if draw.random() < 0.2:
            place["more"] = draw.choice(ODD_VALUES)
        return json.dumps(message, ensure_ascii=draw.random() < 0.7).encode("utf-8", "surrogatepass")
    return mutated(draw, json.dumps(message).encode())[:50_000].replace(b"\n", b" ")


@pytest.mark.parametrize("count", repeated(600))
def test_no_line_of_the_protocol_ends_the_server(
    tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)
    folder = write_tree(tmp_path / "folder", {"a.md": "walnut\n"})
    configure(own_environment, [folder])
    seed = a_seed()
    draw = random.Random(seed)
    with Wire() as wire:
        wire.initialize()
        wire._next = 10**6  # ids of ours are none of those in the lines
        for n in range(count):
            wire.send(a_line(draw) + b"\n")
            if n % 20 == 19:
                assert wire.answer(wire.request("ping"))["result"] == {}, (seed, n)
                wire.messages.clear()
        assert "walnut" in wire.ask("grep", pattern="walnut").text
        assert wire.close() == 0, seed
    assert b"Traceback" not in wire.stderr, (seed, bytes(wire.stderr[-3000:]))
    print(f"{count} lines of seed {seed}")
