"""The server for agents, with company and in trouble: cases other tools got wrong, by their ids."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from builders import write_tree
from command_line import PATIENCE, Command, index_directory, wait_until
from fakes import WordsEmbedder, WordsModels, configure
from gate import Gate
from mcp_agents import NO_MODEL, Wire, agent
from packaging.requirements import Requirement

from semantic_search.models.embedder import Embedder
from semantic_search.stores import STORES

PACKAGE = "semantic-search-mcp"


@pytest.fixture
def by_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)


@pytest.fixture(params=sorted(STORES))
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SS_STORE_BACKEND", request.param)
    return str(request.param)


def paths(wire: Wire, query: str) -> list[str]:
    """The files that a search through the server finds."""
    answer = wire.ask("search", query=query, k=50)
    assert not answer.is_error, answer.text
    return [hit["path"] for hit in json.loads(answer.text)]


_COMPACT = """
import sys
from datetime import timedelta
from semantic_search.stores import open_store
store = open_store(sys.argv[1], sys.argv[2])
for name in ("entries", "meta"):
    store._optimize(store._named_table(name)[0], timedelta(0), unverified=True)
store.close()
"""


@pytest.mark.usefixtures("by_words_alone")
def test_concurrency_04_a_running_server_sees_what_others_index_and_compact(
    run: Command, folder: Path, own_environment: Path, backend: str
) -> None:
    configure(own_environment, [folder], autoRefresh=False)
    write_tree(folder, {f"{n}.md": f"walnut {n}\n" for n in range(5)})
    run("index")
    (place,) = (
        path for path in index_directory(own_environment).glob("index-*.*") if "-wal" not in path.name
    )
    with Wire() as wire:
        wire.initialize()
        assert paths(wire, "zorb") == []
        write_tree(folder, {"zorb.md": "a zorb\n"})
        run("index")
        assert paths(wire, "zorb") == ["zorb.md"]
        if backend == "lancedb":
            subprocess.run([sys.executable, "-c", _COMPACT, backend, str(place)], check=True)
            versions = len(list((place / "entries.lance" / "_versions").glob("*.manifest")))
            assert versions <= 2
        assert paths(wire, "zorb") == ["zorb.md"]
        (folder / "zorb.md").unlink()
        run("index")
        assert paths(wire, "zorb") == []
        assert wire.close() == 0


@pytest.mark.usefixtures("by_words_alone")
def test_concurrency_05_a_rebuild_is_never_seen_half_made(
    run: Command, folder: Path, own_environment: Path, backend: str
) -> None:
    configure(own_environment, [folder], autoRefresh=False)
    write_tree(folder, {f"{n}.md": f"walnut {n}\n" for n in range(100)})
    run("index")
    run("config", "chunk.targetTokens", "100")
    with Wire() as wire:
        wire.initialize()
        assert len(paths(wire, "walnut")) == 50
        for options in ([], ["--force"])[: 2 if backend == "sqlite" else 1]:
            seen = 0
            with run.start("index", *options) as child:
                while child.poll() is None or not seen:
                    assert len(paths(wire, "walnut")) == 50
                    seen += 1
                _, err = child.communicate(timeout=PATIENCE)
                assert child.returncode == 0, err.decode()
            assert len(paths(wire, "walnut")) == 50
        assert json.loads(wire.ask("index_status").text)["current"] is True
        assert wire.close() == 0
        assert b"Traceback" not in wire.stderr


_NO_FORK = """
import os, sys
def hook(event, arguments):
    if event in ("os.fork", "os.forkpty"):
        os.write(2, b"FORKED\\n")
sys.addaudithook(hook)
"""


def test_concurrency_07_children_are_started_not_forked(run: Command, folder: Path, tmp_path: Path) -> None:
    """With the real model: its threads are there when documents go to children of their own."""
    from document_samples import SAMPLES

    write_tree(folder, {"a.md": "walnut\n"})
    run("index")
    noted = write_tree(tmp_path / "site", {"sitecustomize.py": _NO_FORK})
    with Wire(env={"PYTHONPATH": str(noted)}) as wire:
        wire.initialize()
        assert paths(wire, "walnut") == ["a.md"]
        write_tree(folder, {f"new{suffix}": SAMPLES[suffix].data() for suffix in (".docx", ".odt", ".html")})
        assert wire.index()["filesProcessed"] == 3
        assert wire.close() == 0
    assert bytes(wire.stderr) == b""


@pytest.mark.usefixtures("by_words_alone")
@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
def test_mcp_life_06_a_killed_indexer_is_not_indexing_for_ever(
    run: Command, folder: Path, own_environment: Path, tmp_path: Path
) -> None:
    write_tree(folder, {f"{n:04}.md": f"walnut number {n}\n" for n in range(400)})
    gate = Gate(tmp_path, file="0200.md")
    with Wire() as wire:
        wire.initialize()
        child = run.start("index", "--concurrency", "1", env=gate.env)
        with gate.held(child):
            assert wire.ask("index_status").json["indexing"] is True
            child.kill()
        child.communicate(timeout=PATIENCE)
        assert wire.ask("index_status").json["indexing"] is False
        assert wire.index()["filesProcessed"] > 0
        write_tree(folder, {".indexignore": "*\n"})
        wire.index(force=True)
        status = wire.ask("index_status").json
        assert (status["indexing"], status["job"]["running"]) == (False, False)
        assert wire.close() == 0


class Crashing(WordsEmbedder):
    """A model that fails at every question in a way that nobody thought of."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        raise LookupError("secret detail of the model")


class CrashingModels(WordsModels):
    def open_embedder(self, name: str, **_: object) -> Embedder:
        return cast(Embedder, Crashing(name))


def test_mcp_proto_05_a_fault_is_a_number_and_a_mistake_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tree(folder, {"a.md": "walnut\n"})
    with agent(models=CrashingModels()) as ai:
        ai.ok("index")
        capsys.readouterr()
        said = ai.refused("search", query="walnut")
        (number,) = re.findall(r"number ([0-9a-f]{8})", said)
        assert "secret detail" not in said
        told = capsys.readouterr().err
        assert number in told
        assert "LookupError" in told and "Traceback" in told
        assert "There are: folder" in ai.refused("search", query="walnut", folder="nowhere")
        assert "k: " in ai.refused("search", query="walnut", k="many")
        assert "walnut" in ai.ok("grep", pattern="walnut").text


def test_mcp_proto_06_the_protocol_library_is_within_the_range_that_was_tried() -> None:
    wanted = {
        Requirement(text).name: Requirement(text) for text in importlib.metadata.requires(PACKAGE) or []
    }
    specifier = wanted["mcp"].specifier
    assert specifier.contains(importlib.metadata.version("mcp"))
    assert not specifier.contains("1.99.0")
    assert not specifier.contains("3.0.0")
    for name in ("mcp.server.mcpserver", "mcp.server.lowlevel.helper_types", "mcp_types"):
        assert importlib.import_module(name)


@pytest.fixture
def strange(run: Command, folder: Path) -> Iterator[Wire]:
    """A server of a folder with a picture and a very long log beside a page."""
    write_tree(folder, {"a.md": "walnut\n", "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100)})
    with open(folder / "huge.log", "wb") as log:
        log.write(b"first line\n")
        log.truncate(1 << 30)
        log.seek(0, os.SEEK_END)
        log.write(b"\nlast line\n")
    with Wire() as wire:
        yield wire.initialize()
        assert wire.close() == 0


@pytest.mark.usefixtures("by_words_alone")
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the most memory that was ever resident")
def test_mcp_size_04_what_is_no_text_or_too_much_is_refused_without_reading_it(
    strange: Wire, folder: Path
) -> None:
    def peak() -> int:
        status = Path(f"/proc/{strange.child.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])

    # What these tools load is loaded.
    assert strange.ask("cat_file", filePath="a.md").text == "walnut"
    assert "walnut" in strange.ask("grep", pattern="walnut").text
    before = peak()
    for name, why in (("picture.png", "not text"), ("huge.log", "larger")):
        for more in ({}, {"startLine": 1_000_000}):
            answer = strange.ask("cat_file", filePath=name, **more)
            assert answer.is_error
            assert why in answer.text, answer.text
    assert strange.ask("grep", pattern="line").text == "no match"
    for name in ("/proc/self/maps", "/dev/zero", "/sys/kernel/notes"):
        assert strange.ask("cat_file", filePath=name).is_error
    assert peak() < before + 30_000
    over = threading.Event()

    def grow() -> None:
        with open(folder / "growing.log", "wb", buffering=0) as log:
            while not over.is_set() and log.tell() < 400_000:
                log.write(b"another line\n" * 10)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        wait_until(lambda: (folder / "growing.log").exists() and (folder / "growing.log").stat().st_size > 0)
        for _ in range(5):
            answer = strange.ask("cat_file", filePath="growing.log")
            assert answer.is_error or answer.text.startswith("another line"), answer.text
    finally:
        over.set()
        thread.join()
