"""Code that fails at one file, ours or a library's, at whatever stage: that file alone is not indexed."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from builders import write_tree
from fakes import WordsEmbedder, WordsModels, configure, open_words

from semantic_search.errors import ModelUnavailable
from semantic_search.models.embedder import Embedder
from semantic_search.stores import Filter
from semantic_search.terms import query_terms
from semantic_search.tools.index import Request, Run, index
from semantic_search.types import Skip

# The file with this word in it is the one that fails; no other has a word of the same stem.
WORD = "zeppelins"
SOURCE = f"def {WORD}(month):\n    return month\n"
OTHERS: dict[str, str | bytes] = {
    "a.md": "# Retry\n\nThe gateway retries five times.\n",
    "z.md": "# Garden\n\nTomatoes go outdoors in May.\n",
    "code.py": "def close_ledger(month):\n    return month\n",
    "legacy.txt": "harbour 搜索系统的设计。\n".encode("gb18030") * 9,
}


class PanicException(BaseException):
    """As libraries written in Rust raise it."""


ERRORS = [KeyError("no such key"), MemoryError(), RecursionError(), PanicException("index out of bounds")]


class Fragile(WordsEmbedder):
    """A model whose tokenizer fails at the word."""

    error: BaseException = KeyError()

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        for text in texts:
            _fail(WORD in text, self.error)
        return super().token_starts(texts)


class FragileModels(WordsModels):
    def open_embedder(self, name: str, **_: Any) -> Embedder:
        return cast(Embedder, self.opened.setdefault(name, Fragile(name)))


def _fail(whether: bool, error: BaseException) -> None:
    if whether:
        raise error


def break_decoding(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    import charset_normalizer

    whole = charset_normalizer.from_bytes

    def broken(data: bytes, **options: Any) -> Any:
        _fail(WORD.encode() in data, error)
        return whole(data, **options)

    patch.setattr(charset_normalizer, "from_bytes", broken)


def break_hashing(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    whole = hashlib.sha256

    def broken(data: bytes = b"") -> Any:
        _fail(WORD.encode() in data, error)
        return whole(data)

    patch.setattr(hashlib, "sha256", broken)


def break_syntax(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    import tree_sitter

    from semantic_search.chunking import code

    whole = tree_sitter.Parser

    class Broken:
        def __init__(self, language: Any) -> None:
            self.whole = whole(language)

        def parse(self, read: Callable[[int, object], bytes], **options: Any) -> Any:
            _fail(WORD.encode() in read(0, None), error)
            return self.whole.parse(read, **options)

        def reset(self) -> None:
            self.whole.reset()

    patch.setattr(tree_sitter, "Parser", Broken)
    patch.setattr(code, "_parsers", type(code._parsers)())


def break_stems(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    import Stemmer

    from semantic_search import terms
    from semantic_search.terms import stems

    class Broken:
        def __init__(self, language: str) -> None:
            self.whole = Stemmer_Stemmer(language)

        def stemWord(self, word: str) -> str:  # noqa: N802 - the library's name for it
            _fail(word == WORD, error)
            return str(self.whole.stemWord(word))

    Stemmer_Stemmer = Stemmer.Stemmer  # noqa: N806 - a class
    patch.setattr(Stemmer, "Stemmer", Broken)
    patch.setattr(stems, "_stemmers", type(stems._stemmers)())
    patch.setattr(terms, "_terms_of", {name: type(found)(name) for name, found in terms._terms_of.items()})


def break_writing(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    whole = zlib.compress

    def broken(data: bytes, *level: int) -> bytes:
        _fail(f"def {WORD}".encode() in data, error)
        return whole(data, *level)

    patch.setattr(zlib, "compress", broken)


def break_tokens(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    patch.setattr(Fragile, "error", error)


LEGACY = f"{WORD} 搜索系统的设计。\n".encode("gb18030") * 9
STAGES: dict[str, tuple[str, str | bytes, Callable[[pytest.MonkeyPatch, BaseException], None]]] = {
    "decode": ("broken.txt", LEGACY, break_decoding),
    "hash": ("broken.md", SOURCE, break_hashing),
    "syntax": ("broken.py", SOURCE, break_syntax),
    "tokens": ("broken.md", SOURCE, break_tokens),
    "terms": ("broken.md", SOURCE, break_stems),
    "write": ("broken.md", SOURCE, break_writing),
}


def run_all() -> tuple[Run, list[str], dict[str, Skip | None]]:
    """A run of everything, the files that a search by words finds for what is in them, and their reasons."""
    with open_words(FragileModels()) as corpus:
        run = index(corpus, Request())
        store, _ = corpus.reading()
        (folder,) = store.folders()
        reasons = {path: row.reason for path, row in store.known(folder).items()}
        words = query_terms("gateway tomatoes ledger harbour airship")
        ids = [id_ for id_, _ in store.match(words, Filter(), 100)]
        return run, sorted({passage.path for passage in store.passages(ids).values()}), reasons


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("stage", STAGES)
def test_code_that_fails_at_one_file_costs_that_file_alone(
    tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch, stage: str, error: BaseException
) -> None:
    name, content, break_it = STAGES[stage]
    folder = write_tree(tmp_path / "notes", OTHERS)
    configure(own_environment, [folder])
    (folder / name).write_text("# Before\n\nAn airship of before.\n")
    assert run_all()[0].whole
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for path, text in OTHERS.items():
        (folder / path).write_bytes((text.encode() if isinstance(text, str) else text) + b"\n\nmore\n")
    with monkeypatch.context() as patch:
        if stage != "tokens":
            patch.setattr(Fragile, "token_starts", WordsEmbedder.token_starts)
        break_it(patch, error)
        run, found, reasons = run_all()
    (report,) = run.reports
    # What it held before is found until it can be read again, unless nothing but its content is to blame.
    deep = isinstance(error, RecursionError)
    assert found == sorted([*OTHERS, *([] if deep else [name])])
    assert report.processed == len(OTHERS) and sum(report.skipped.values()) == 1
    foreseen: dict[type[BaseException], Skip] = {
        MemoryError: Skip.UNREADABLE,
        RecursionError: Skip.TOO_COMPLEX,
    }
    reason = foreseen.get(type(error), Skip.FAULT)
    assert reasons[name] is reason and report.failed == (not deep) and run.whole is deep
    assert all(reason is None for path, reason in reasons.items() if path != name)
    if reason is Skip.FAULT:
        told = rf"{name}: a fault of ours \({type(error).__name__} at \w+(/\w+)*\.py:\d+\); it is tried again"
        assert re.match(told, report.notes[0]), report.notes
    monkeypatch.setattr(Fragile, "token_starts", WordsEmbedder.token_starts)
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    assert run_all()[0].whole


def test_a_whole_model_that_fails_is_no_fault_of_a_file(
    tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(own_environment, [write_tree(tmp_path / "notes", {"a.md": SOURCE})])
    monkeypatch.setattr(Fragile, "error", ModelUnavailable("its tokenizer cannot be loaded"))
    with pytest.raises(ModelUnavailable):
        run_all()


def test_the_way_to_a_fault_is_told_on_request(
    tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(own_environment, [write_tree(tmp_path / "notes", {"a.md": SOURCE})])
    monkeypatch.setattr(Fragile, "error", KeyError("no such key"))
    monkeypatch.setenv("SS_DEBUG", "1")
    (report,) = run_all()[0].reports
    assert "KeyError: 'no such key' at passages.py:" in report.notes[0] and " > " in report.notes[0]
