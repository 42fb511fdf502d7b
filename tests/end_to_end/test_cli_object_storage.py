"""One machine indexes into object storage, others search there: two homes, one server on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command, Result

# In a process of its own: its connections and threads are none of this one's.
_SERVER = """
import logging, sys
logging.getLogger("werkzeug").setLevel(logging.ERROR)
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
url = "http://%s:%d" % server.get_host_and_port()
import boto3
boto3.client("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket="indexes")
print(url, flush=True)
sys.stdin.read()
server.stop()
"""
_KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "hush-hush-secret"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    environment = {**os.environ, **_KEYS}
    argv, pipe = [sys.executable, "-c", _SERVER], subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, env=environment) as child:
        assert child.stdout is not None
        yield child.stdout.readline().strip()
        child.communicate()


Machine = Callable[..., Result]


@pytest.fixture
def machine(server: str, tmp_path: Path, model_cache: Path) -> Callable[[str], Machine]:
    """A machine of its own by name: a home with its configuration, and the index in the bucket."""

    def made(name: str) -> Machine:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        environment = {
            **_KEYS,
            "AWS_ENDPOINT": server,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "SS_INDEX_DIR": "s3://indexes/team",
        }

        def run(*args: str | Path, status: int = 0, **more: str) -> Result:
            return Command()(*args, env={**environment, **more}, status=status)

        return run

    return made


def test_one_machine_indexes_and_another_searches_its_own_checkout(
    machine: Callable[[str], Machine], tmp_path: Path
) -> None:
    notes: dict[str, str | bytes] = {
        "retry.md": "# Retry\n\nThe gateway retries five times.\n",
        "garden.md": "# Garden\n\nSeedlings go outdoors in May.\n",
    }
    theirs = write_tree(tmp_path / "ci" / "notes", notes)
    mine = shutil.copytree(theirs, tmp_path / "me" / "notes")
    writer, reader = machine("ci"), machine("me")

    writer("add", theirs)
    summary = writer("index").summary
    assert (summary["filesProcessed"], summary["pendingVectors"]) == (2, 0)

    reader("config", "readOnly", "true")
    reader("config", "folderPaths", f'{{"notes": "{mine}"}}')
    (first, *_) = reader("search", "how often does the gateway try again", "--json").document
    assert (first["filePath"], first["folder"], first["stale"]) == (str(mine / "retry.md"), "notes", False)
    assert "read-only" in reader("index", mine, status=2).stderr

    write_tree(theirs, {"retry.md": "# Retry\n\nThe gateway gives up after a single zebra.\n"})
    writer("index")
    (first, *_) = reader("search", "zebra", "--json").document
    assert first["text"].endswith("zebra.")
    assert first["stale"]
    status = reader("status", "--json").document
    assert [(folder["path"], folder["files"]) for folder in status["folders"]] == [(str(mine), 2)]
    assert status["indexPath"].startswith("s3://indexes/team#index-")
    assert not list((tmp_path / "me" / "data").rglob("*.lance*"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(_KEYS["AWS_SECRET_ACCESS_KEY"].encode() in path.read_bytes() for path in files)


def test_a_machine_that_has_configured_the_folder_needs_no_mapping(
    machine: Callable[[str], Machine], tmp_path: Path
) -> None:
    theirs = write_tree(tmp_path / "ci" / "papers", {"a.md": "# Heron\n\nHerons stand in shallow water.\n"})
    mine = shutil.copytree(theirs, tmp_path / "me" / "papers")
    writer, reader = machine("ci"), machine("me")
    writer("add", theirs)
    writer("index", "--no-embed", SS_INDEX_DIR="s3://indexes/papers")
    reader("add", mine)
    found = reader("search", "herons", "--json", SS_INDEX_DIR="s3://indexes/papers", SS_READ_ONLY="1")
    assert found.document[0]["filePath"] == str(mine / "a.md")


def test_what_cannot_be_reached_is_told_in_a_line(machine: Callable[[str], Machine]) -> None:
    me = machine("me")
    for environment, expected in (
        ({"SS_INDEX_DIR": "s3://nowhere/team"}, "no such bucket"),
        ({"SS_INDEX_DIR": "ftp://indexes/team"}, "SS_INDEX_DIR must be"),
        ({"SS_STORE_BACKEND": "sqlite"}, "needs the store lancedb"),
    ):
        failed = me("search", "anything", status=2, **environment)
        assert expected in failed.stderr
        assert "Traceback" not in failed.stderr
