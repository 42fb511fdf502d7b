"""The model cache: converted once, safe against damage, other processes and full disks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from semantic_search.errors import ModelUnavailable
from semantic_search.models import open_embedder

OPEN = "import sys; from semantic_search.models import open_embedder; " + (
    "print(open_embedder(sys.argv[1], cache_dir=sys.argv[2], on_progress=print).embed_query('hello').sum())"
)


def _folder(cache: Path) -> Path:
    (folder,) = (path for path in cache.iterdir() if path.is_dir())
    return folder


def test_second_opening_converts_nothing(tmp_path: Path, tiny_bert: Any, messages: list[str]) -> None:
    tiny_bert.write(tmp_path / "m")
    cache = tmp_path / "cache"
    first = open_embedder(str(tmp_path / "m"), cache_dir=cache, on_progress=messages.append)
    assert "preparing" in messages[0]
    inodes = {path.name: path.stat().st_ino for path in _folder(cache).iterdir()}
    messages.clear()
    second = open_embedder(str(tmp_path / "m"), cache_dir=str(cache), on_progress=messages.append)
    assert messages == []
    assert {path.name: path.stat().st_ino for path in _folder(cache).iterdir()} == inodes
    assert second.fingerprint == first.fingerprint
    assert _folder(cache).name == f"m-{first.fingerprint[:8]}"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_owner_may_read(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert _folder(tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in _folder(tmp_path / "cache").iterdir()} == {0o600}


def test_manifest_names_source_and_files(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    folder = _folder(tmp_path / "cache")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["files"]) == {path.name for path in folder.iterdir()} - {"manifest.json"}
    for name, facts in manifest["files"].items():
        assert facts["size"] == (folder / name).stat().st_size
    assert "model.safetensors" in manifest["source"]["files"]


@pytest.mark.parametrize("name", ["encoder.onnx", "words.i8", "words.f32", "tokenizer.json", "manifest.json"])
@pytest.mark.parametrize("size", [0, 10, None])
def test_a_damaged_file_is_built_again(
    tmp_path: Path, tiny_bert: Any, messages: list[str], name: str, size: int | None
) -> None:
    tiny_bert.write(tmp_path / "m")
    cache = tmp_path / "cache"
    vector = open_embedder(str(tmp_path / "m"), cache_dir=cache).embed_query("hello")
    path = _folder(cache) / name
    if size is None:
        path.unlink()
    else:
        os.truncate(path, size)
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=cache, on_progress=messages.append)
    assert any(name in message or name == "manifest.json" for message in messages)
    assert (embedder.embed_query("hello") == vector).all()
    assert embedder.verify() == ""


def test_verify_finds_a_changed_byte(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    path = _folder(tmp_path / "cache") / "words.i8"
    data = bytearray(path.read_bytes())
    data[5] ^= 1
    path.write_bytes(data)
    assert embedder.verify() == "words.i8"
    path.unlink()
    assert embedder.verify() == "words.i8"


def test_a_graph_that_onnxruntime_refuses_names_the_remedy(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    embedder = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")
    path = _folder(tmp_path / "cache") / "encoder.onnx"
    path.write_bytes(b"\xff" * path.stat().st_size)
    with pytest.raises(ModelUnavailable, match="Delete"):
        embedder.embed_query("hello")
    assert embedder.token_starts(["hello"]) == [[0]]  # the lexical side does not need the session


def test_two_processes_convert_once(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    command = [sys.executable, "-c", OPEN, str(tmp_path / "m"), str(tmp_path / "cache")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [child.communicate()[0].splitlines() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert len({lines[-1] for lines in outputs}) == 1
    assert sum(any("preparing" in line for line in lines) for lines in outputs) == 1
    assert _folder(tmp_path / "cache")


def test_a_killed_conversion_leaves_nothing_behind(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    cache = tmp_path / "cache"
    name = _fingerprinted_name(tmp_path, cache)
    left = cache / f".{name}.new-dead"
    left.mkdir()
    (left / "words.i8").write_bytes(b"half")
    open_embedder(str(tmp_path / "m"), cache_dir=cache)
    assert not left.exists()


def _fingerprinted_name(tmp_path: Path, cache: Path) -> str:
    open_embedder(str(tmp_path / "m"), cache_dir=cache)
    folder = _folder(cache)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return folder.name


def test_a_cache_that_cannot_be_a_directory(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ModelUnavailable, match="SS_MODEL_CACHE_DIR"):
        open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "cache")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on file sizes")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    child = (
        "import resource, signal, sys\n"
        "from semantic_search.errors import ModelUnavailable\n"
        "from semantic_search.models import open_embedder\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "try:\n    open_embedder(sys.argv[1], cache_dir=sys.argv[2])\n"
        "except ModelUnavailable as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", child, str(tmp_path / "m"), str(tmp_path / "cache")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "could not be prepared" in output and "File too large" in output
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]


def test_only_what_is_asked_for_is_loaded(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    child = (
        "import sys\nfrom semantic_search import models\n"
        "heavy = lambda: sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules))\n"
        "print(heavy())\n"
        "embedder = models.open_embedder(sys.argv[1], cache_dir=sys.argv[2])\n"
        "print(heavy())\n"
        "embedder.token_starts(['hello'])\nprint(heavy())\n"
        "embedder.embed_query('hello')\nprint(heavy())\n"
    )
    command = [sys.executable, "-c", child, str(tmp_path / "m"), str(tmp_path / "cache")]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert output.stdout.splitlines() == [
        "[]",
        "['numpy']",
        "['numpy', 'tokenizers']",
        "['numpy', 'onnxruntime', 'tokenizers']",
    ]
    assert output.stderr == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_forking_after_tokenising_warns_of_nothing(tmp_path: Path, tiny_bert: Any) -> None:
    tiny_bert.write(tmp_path / "m")
    child = (
        "import os, sys\nfrom semantic_search.models import open_embedder\n"
        "open_embedder(sys.argv[1], cache_dir=sys.argv[2]).token_starts(['hello'] * 100)\n"
        "pid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", child, str(tmp_path / "m"), str(tmp_path / "cache")]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert output.stderr == ""
