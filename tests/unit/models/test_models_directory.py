"""Models from a local directory: any BERT of sentence-transformers, and clear refusals of what is none."""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semantic_search.errors import ModelUnavailable
from semantic_search.models import fingerprint_of, open_embedder
from semantic_search.priority import NICENESS

TEXT = "hello worlds a b c . hello"
IDS = [4, 5, 6, 7, 8, 9, 10, 4]  # of TEXT, without [CLS] and [SEP]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize(("model_type", "first_position"), [("bert", 0), ("roberta", 2), ("xlm-roberta", 2)])
def test_vectors_agree_with_the_reference(
    tmp_path: Path, tiny_bert: Any, pooling: str, model_type: str, first_position: int
) -> None:
    tensors = tiny_bert.write(tmp_path / "m", model_type=model_type, pooling=pooling)
    with open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache") as embedder:
        vector = embedder.embed_passages([TEXT])[0]
    expected = tiny_bert.forward(
        tensors, [2, *IDS, 3], heads=4, first_position=first_position, pooling=pooling
    )
    other = tiny_bert.forward(tensors, [2, *IDS, 3], heads=4, first_position=1, pooling=pooling)
    assert vector @ expected > 0.995
    assert vector @ expected > vector @ other  # the position offset is seen


@pytest.mark.parametrize(("dtype", "prefix"), [("F16", "bert."), ("BF16", ""), ("F32", "0.auto_model.")])
def test_number_types_and_tensor_prefixes(tmp_path: Path, tiny_bert: Any, dtype: str, prefix: str) -> None:
    tensors = tiny_bert.write(tmp_path / "m", dtype=dtype, prefix=prefix)
    with open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache") as embedder:
        vector = embedder.embed_query(TEXT)
    assert vector @ tiny_bert.forward(tensors, [2, *IDS, 3], heads=4) > 0.99


def test_the_row_comes_from_the_files(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "my-e5-tiny", pooling="cls", window=20)
    embedder = open_embedder(str(tmp_path / "my-e5-tiny"), cache_dir=tmp_path / "cache")
    assert (embedder.dimension, embedder.window, embedder.row.pooling) == (32, 20, "cls")
    assert (embedder.row.query_prefix, embedder.row.passage_prefix) == ("query: ", "passage: ")
    assert embedder.max_text_tokens == 20 - 2 - 2  # [CLS] [SEP]; "passage" is unknown, ":" a word
    assert embedder.row.scripts == frozenset()
    assert not embedder.can_read("hello") and embedder.can_read("42")


def test_prompts_of_the_model_win_over_the_family(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "e5-like")
    prompts = {"prompts": {"query": "a ", "document": "b "}}
    (tmp_path / "e5-like" / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = open_embedder(str(tmp_path / "e5-like"), cache_dir=tmp_path / "cache")
    assert (embedder.row.query_prefix, embedder.row.passage_prefix) == ("a ", "b ")


def test_long_passages_are_cut_at_the_window(tmp_path: Path, tiny_bert: Any) -> None:
    tensors = tiny_bert.write(tmp_path / "m", window=16)
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    long, cut = embedder.embed_passages(["hello " * 5000, "hello " * 14], threads=1)
    assert (long == cut).all()
    assert long @ tiny_bert.forward(tensors, [2, *[4] * 14, 3], heads=4) > 0.99


def test_no_text_and_empty_text(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    assert embedder.embed_passages([]).shape == (0, 32)
    assert np.linalg.norm(embedder.embed_query("")) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(embedder.embed_passages(["", " \n", "\ud800", "\x00"])).all()


def test_order_threads_and_company_change_nothing(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    texts = [" ".join(["hello", "a", "world", "b"][: 1 + n % 4] * (1 + n % 5)) for n in range(40)]
    with open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache") as embedder:
        together = embedder.embed_passages(texts, threads=3)
        assert (embedder.embed_passages(texts, threads=1) == together).all()
        assert (np.stack([embedder.embed_passages([text])[0] for text in texts]) == together).all()
    assert (embedder.embed_passages(texts) == together).all()  # after close() as well


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no niceness")
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_that_embed_give_way(tmp_path: Path, tiny_bert: Any, threads: int) -> None:
    tiny_bert.write(tmp_path / "m")
    seen: set[int] = set()

    def look() -> bool:
        seen.add(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return False

    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    with open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache") as embedder:
        embedder.embed_passages(["hello"] * 10, threads=threads, cancelled=look)
    assert seen == {max(NICENESS, before)}
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before


@pytest.mark.parametrize("threads", [1, 2])
def test_cancelling_stops_and_the_embedder_goes_on(tmp_path: Path, tiny_bert: Any, threads: int) -> None:
    tiny_bert.write(tmp_path / "m")
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 5

    with open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache") as embedder:
        with pytest.raises(CancelledError):
            embedder.embed_passages(["hello"] * 1000, threads=threads, cancelled=cancelled)
        assert len(asked) < 10
        assert embedder.embed_passages(["hello"] * 3, threads=threads, cancelled=lambda: False).shape == (
            3,
            32,
        )


def test_token_starts_of_a_library_tokenizer(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    texts = ["hello worlds.", "", "a" * 250, "\ud800 a", "a " * 30_000, "hello [CLS]"]
    starts = embedder.token_starts(texts)
    assert starts[0] == [0, 6, 11, 12]
    assert starts[1] == []
    assert starts[2] == list(range(0, 250, 4))  # one [UNK] for the model, counted by its length
    assert starts[3] == [2]  # BERT drops what has no UTF-8 form
    assert starts[4] == list(range(0, 60_000, 2))
    assert starts[5] == [0, 6, 7, 10]  # text, no special token


def test_fingerprint_follows_weights_tokenizer_and_facts(tmp_path: Path, tiny_bert: Any) -> None:
    cache = tmp_path / "cache"
    directory = tmp_path / "m"

    def current() -> str:
        embedder = open_embedder(str(directory), cache_dir=cache)
        assert fingerprint_of(str(directory), cache) == embedder.fingerprint
        return embedder.fingerprint

    tiny_bert.write(directory)
    assert fingerprint_of(str(directory), cache) is None  # never converted: its weights would have to be read
    seen = [current()]
    tiny_bert.write(directory, pooling="cls")
    seen.append(current())
    tiny_bert.write(directory, seed=2)
    seen.append(current())
    (directory / "tokenizer.json").write_text(
        json.dumps(tiny_bert.tokenizer_json(template=("[SEP]", "[CLS]")))
    )
    seen.append(current())
    assert len(set(seen)) == 4
    tiny_bert.write(directory)
    assert current() == seen[0]


def _remove(name: str) -> Callable[[Path], None]:
    return lambda directory: (directory / name).unlink()


def _write(name: str, content: str) -> Callable[[Path], None]:
    def write(directory: Path) -> None:
        (directory / name).write_text(content)

    return write


def _config(**changes: Any) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        path = directory / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def _only_pickle(directory: Path) -> None:
    (directory / "model.safetensors").rename(directory / "pytorch_model.bin")


def _truncate(name: str, size: int) -> Callable[[Path], None]:
    return lambda directory: os.truncate(directory / name, size)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_remove("config.json"), "config.json"),
        (_remove("tokenizer.json"), "tokenizer.json"),
        (_only_pickle, "pickle"),
        (_config(model_type="distilbert"), "'distilbert'"),
        (_config(model_type="mpnet"), "'mpnet'"),
        (_config(hidden_act="relu"), "hidden_act 'relu'"),
        (_config(position_embedding_type="relative_key"), "relative_key"),
        (_config(hidden_size=33), "impossible sizes"),
        (_config(num_hidden_layers=-1), "num_hidden_layers"),
        (_config(num_hidden_layers=3), "lacks the tensor encoder.layer.2"),
        (_config(vocab_size=41), "does not fit config.json"),
        (_write("config.json", "{"), "config.json cannot be read"),
        (_write("config.json", "[]"), "not a JSON object"),
        (_write("tokenizer.json", "{}"), "vocabulary"),
        (_write("modules.json", '[{"type": "sentence_transformers.models.Dense"}]'), "Dense"),
        (_write("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}'), "max_tokens"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_cause(
    tmp_path: Path, tiny_bert: Any, damage: Callable[[Path], None], message: str
) -> None:
    refused(tmp_path, tiny_bert, damage, message)


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("model.safetensors", 0, "model.safetensors"),
        ("model.safetensors", 7, "shorter than its header"),
        ("model.safetensors", 1024, "header is longer than the file"),
        ("model.safetensors", 20_000, "outside the file"),
        ("tokenizer.json", 0, "tokenizer.json"),
        ("tokenizer.json", 100, "tokenizer.json"),
    ],
)
def test_model_04_a_file_that_was_cut_short_is_named(
    tmp_path: Path, tiny_bert: Any, name: str, size: int, message: str
) -> None:
    refused(tmp_path, tiny_bert, _truncate(name, size), message)


def refused(tmp_path: Path, tiny_bert: Any, damage: Callable[[Path], None], message: str) -> None:
    directory = tmp_path / "m"
    tiny_bert.write(directory)
    damage(directory)
    with pytest.raises(ModelUnavailable, match=message):
        open_embedder(str(directory), cache_dir=tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").glob("*") if path.is_dir()]


def test_a_tokenizer_that_the_library_refuses(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    broken = tiny_bert.tokenizer_json()
    broken["pre_tokenizer"] = {"type": "NoSuchThing"}
    (tmp_path / "m" / "tokenizer.json").write_text(json.dumps(broken))
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json"):
        embedder.token_starts(["hello"])


@pytest.mark.parametrize(
    "name", ["./nowhere", "/nowhere/at/all", "no-such-model", "a/b/c", "../x", "a/..b/../c"]
)
def test_unknown_names(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ModelUnavailable, match="A model is one of multilingual-e5-small"):
        open_embedder(name, cache_dir=tmp_path)
    assert fingerprint_of(name, tmp_path) is None


def test_a_tensor_entry_that_lies(tmp_path: Path, tiny_bert: Any) -> None:
    directory = tmp_path / "m"
    tiny_bert.write(directory)
    data = (directory / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    name = "embeddings.LayerNorm.bias"
    for change in (
        {"shape": [-32]},
        {"shape": [1 << 62, 1 << 62]},
        {"shape": "32"},
        {"shape": [True]},
        {"data_offsets": [0, 1 << 60]},
        {"data_offsets": [128, 0]},
        {"data_offsets": [0]},
        {"dtype": "F64"},
    ):
        text = json.dumps({**header, name: {**header[name], **change}}).encode()
        (directory / "model.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text + data[8 + length :]
        )
        with pytest.raises(ModelUnavailable, match=name):
            open_embedder(str(directory), cache_dir=tmp_path / "cache")


def test_the_directory_may_go_only_while_nothing_needs_it(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    shutil.rmtree(tmp_path / "m")
    assert embedder.embed_query("hello").shape == (32,)
    with pytest.raises(ModelUnavailable, match="no directory"):
        open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
