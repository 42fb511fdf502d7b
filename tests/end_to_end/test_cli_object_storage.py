"""One machine indexes into object storage, others search there: two homes, one server on this machine."""

from __future__ import annotations

import base64
import hmac
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from email.utils import formatdate
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from builders import write_tree
from command_line import Command, Result

# In a process of its own: its connections and threads are none of this one's. Google's own dialect of the
# protocol differs from S3's in the headers of who asks and of what must not be there yet.
_SERVER = """
import logging, sys, threading
logging.getLogger("werkzeug").setLevel(logging.ERROR)
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
s3 = DomainDispatcherApplication(create_backend_app)
key = "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/aws4_request"
key += ", SignedHeaders=host, Signature=0"

def both(environ, start):
    if not environ.get("HTTP_AUTHORIZATION", "").startswith("AWS"):
        environ["HTTP_AUTHORIZATION"] = key
    if environ.pop("HTTP_X_GOOG_IF_GENERATION_MATCH", None) == "0":
        environ["HTTP_IF_NONE_MATCH"] = "*"
    more = [("x-goog-generation", "1")]
    return s3(environ, lambda status, headers, *error: start(status, headers + more, *error))

server = make_server("127.0.0.1", 0, both, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d" % server.port
import boto3
boto3.client("s3", endpoint_url=url, region_name="us-east-1").create_bucket(Bucket="indexes")
print(url, flush=True)
sys.stdin.read()
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
def s3(server: str) -> dict[str, str]:
    """How a machine is told of the server: by the environment alone."""
    return {
        **_KEYS,
        "AWS_ENDPOINT": server,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "SS_INDEX_DIR": "s3://indexes/team",
    }


@pytest.fixture
def gs(server: str, tmp_path: Path) -> dict[str, str]:
    """The same for Google's dialect."""
    account = {"gcs_base_url": server, "disable_oauth": True, "client_email": "", "private_key": ""}
    place = tmp_path / "account.json"
    place.write_text(json.dumps({**account, "private_key_id": ""}))
    return {
        "GOOGLE_SERVICE_ACCOUNT": str(place),
        "GOOGLE_ALLOW_HTTP": "true",
        "SS_INDEX_DIR": "gs://indexes/group",
    }


@pytest.fixture
def az(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The same for Azure's protocol, by a server of its own (`npm install -g azurite`)."""
    program = shutil.which("azurite-blob")
    if not program:
        pytest.skip("azurite-blob, a server of Azure's protocol, is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [program, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--disableTelemetry", "--silent"]
    argv += ["--skipApiVersionCheck", "--location", str(tmp_path / "azurite")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert any("successfully listens" in line for line in child.stdout)
        endpoint = f"http://127.0.0.1:{port}/{_AZURE_ACCOUNT}"
        _make_container(endpoint, "indexes")
        yield {
            "AZURE_STORAGE_ACCOUNT_NAME": _AZURE_ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": _AZURE_KEY,
            "AZURE_STORAGE_ENDPOINT": endpoint,
            "AZURE_ALLOW_HTTP": "true",
            "SS_INDEX_DIR": "az://indexes/team",
        }
        child.terminate()


# Published with the server, the same for everybody.
_AZURE_ACCOUNT = "devstoreaccount1"
_AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def _make_container(endpoint: str, name: str) -> None:
    """One signed request: https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    named = "\n".join(f"{key}:{value}" for key, value in sorted(headers.items()))
    resource = f"/{_AZURE_ACCOUNT}/{_AZURE_ACCOUNT}/{name}\nrestype:container"
    signed = "PUT" + "\n" * 12 + f"{named}\n{resource}"
    signature = hmac.digest(base64.b64decode(_AZURE_KEY), signed.encode(), "sha256")
    headers["Authorization"] = f"SharedKey {_AZURE_ACCOUNT}:{base64.b64encode(signature).decode()}"
    address = urlsplit(endpoint)
    connection = HTTPConnection(address.netloc)
    with closing(connection):
        connection.request("PUT", f"{address.path}/{name}?restype=container", headers=headers)
        assert connection.getresponse().status == 201


@pytest.fixture
def machine(s3: dict[str, str], tmp_path: Path, model_cache: Path) -> Callable[..., Machine]:
    """A machine of its own by name: a home with its configuration, and the index in the bucket."""

    def made(name: str, provider: dict[str, str] = s3) -> Machine:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        environment = {
            **provider,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
        }

        def run(*args: str | Path, status: int = 0, **more: str) -> Result:
            return Command()(*args, env={**environment, **more}, status=status)

        return run

    return made


@pytest.mark.parametrize("named", ["s3", "gs", pytest.param("az", marks=pytest.mark.stress)])
def test_one_machine_indexes_and_another_searches_its_own_checkout(
    named: str, request: pytest.FixtureRequest, machine: Callable[..., Machine], tmp_path: Path
) -> None:
    provider: dict[str, str] = request.getfixturevalue(named)
    notes: dict[str, str | bytes] = {
        "retry.md": "# Retry\n\nThe gateway retries five times.\n",
        "garden.md": "# Garden\n\nSeedlings go outdoors in May.\n",
    }
    theirs = write_tree(tmp_path / "ci" / "notes", notes)
    mine = shutil.copytree(theirs, tmp_path / "me" / "notes")
    writer, reader = machine("ci", provider), machine("me", provider)

    writer("add", theirs)
    summary = writer("index").summary
    assert (summary["filesProcessed"], summary["pendingVectors"]) == (2, 0)

    reader("config", "readOnly", "true")
    reader("config", "folderPaths", f'{{"notes": "{mine}"}}')
    found = reader("search", "how often does the gateway try again", "--json")
    (first, *_) = found.document
    assert found.stderr == ""
    assert (first["filePath"], first["folder"], first["stale"]) == (str(mine / "retry.md"), "notes", False)
    assert "read-only" in reader("index", mine, status=2).stderr

    write_tree(theirs, {"retry.md": "# Retry\n\nThe gateway gives up after a single zebra.\n"})
    writer("index")
    (first, *_) = reader("search", "zebra", "--json").document
    assert first["text"].endswith("zebra.")
    assert first["stale"]
    status = reader("status", "--json").document
    assert [(folder["path"], folder["files"]) for folder in status["folders"]] == [(str(mine), 2)]
    assert status["indexPath"].startswith(provider["SS_INDEX_DIR"] + "#index-")
    assert status["indexBytes"] is None
    assert not list((tmp_path / "me" / "data").rglob("*.lance*"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    secrets = [_KEYS["AWS_SECRET_ACCESS_KEY"].encode(), _AZURE_KEY.encode()]
    assert not any(secret in path.read_bytes() for path in files for secret in secrets)


def test_a_machine_that_has_configured_the_folder_needs_no_mapping(
    machine: Callable[..., Machine], tmp_path: Path
) -> None:
    theirs = write_tree(tmp_path / "ci" / "papers", {"a.md": "# Heron\n\nHerons stand in shallow water.\n"})
    mine = shutil.copytree(theirs, tmp_path / "me" / "papers")
    writer, reader = machine("ci"), machine("me")
    writer("add", theirs)
    writer("index", "--no-embed", SS_INDEX_DIR="s3://indexes/papers")
    reader("add", mine)
    found = reader("search", "herons", "--json", SS_INDEX_DIR="s3://indexes/papers", SS_READ_ONLY="1")
    assert found.document[0]["filePath"] == str(mine / "a.md")


def test_what_cannot_be_reached_is_told_in_a_line(machine: Callable[..., Machine]) -> None:
    me = machine("me")
    for environment, expected in (
        ({"SS_INDEX_DIR": "s3://nowhere/team"}, "no such bucket"),
        ({"AWS_ENDPOINT": "http://127.0.0.1:1"}, "cannot be reached: http://127.0.0.1:1: Connection refused"),
        ({"SS_INDEX_DIR": "ftp://indexes/team"}, "SS_INDEX_DIR must be"),
        ({"SS_STORE_BACKEND": "sqlite"}, "needs the store lancedb"),
    ):
        failed = me("search", "anything", status=2, **environment)
        assert expected in failed.stderr
        assert "Traceback" not in failed.stderr
