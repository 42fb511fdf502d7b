"""What is secret stays where it is: not in an index, an answer, a message or a file that others can read."""

from __future__ import annotations

import json
import os
import random
import stat
import string
import subprocess
import sys
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command, index_directory
from mcp_agents import NO_MODEL, Wire

from semantic_search.stores import STORES, open_store

CANARY = "correcthorsebatterystaple"

_NAMES = """
.env .env.local .env.production .netrc _netrc .git-credentials .pypirc .pgpass .my.cnf .htpasswd .dockercfg
.boto .s3cfg .npm-token .envrc credentials credentials.json credentials.yaml secrets.json secrets.yml
secret.yaml service-account.json client_secret_1.json id_rsa id_ed25519 id_ecdsa id_dsa server.key server.pem
store.jks keys.p12 keys.pfx key.ppk vault.kdbx login.keychain host.keytab terraform.tfstate vpn.ovpn
.ssh/config .gnupg/private.txt .aws/config .docker/config.json .kube/config .config/gh/hosts.yml
.password-store/a.txt
"""
NAMES = _NAMES.split()


def tokens() -> dict[str, str]:
    """Files that are secret by what is in them, not by their names. Made by chance: none is a real one."""
    draw = random.Random(20)

    def some(count: int, letters: str = string.ascii_letters + string.digits) -> str:
        return "".join(draw.choices(letters, k=count))

    key = "-----BEGIN {}PRIVATE KEY-----\n{}\n-----END {}PRIVATE KEY-----\n"
    keys = [
        key.format(kind, some(64), kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ")
    ]
    keys.append(json.dumps({"private_key": key.format("", some(64), "")}))
    keys.append("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n" + some(64))
    services = [
        *(f"gh{kind}_{some(36)}" for kind in "pousr"),
        f"github_pat_{some(22)}_{some(59)}",
        f"glpat-{some(20)}",
        f"xoxb-{some(11, string.digits)}-{some(24)}",
        f"xoxp-{some(11, string.digits)}-{some(24)}",
        *(f"{kind}k_live_{some(24)}" for kind in "rs"),
        f"sk-ant-api03-{some(90)}",
        f"sk-{some(20)}T3BlbkFJ{some(20)}",
        f"npm_{some(36)}",
        f"pypi-AgEIcHlwaS5vcmc{some(60)}",
        f"hf_{some(34)}",
        f"SG.{some(22)}.{some(43)}",
        f"GOCSPX-{some(28)}",
        f"dop_v1_{some(64, '0123456789abcdef')}",
    ]
    return {f"notes{n}.txt": f"{CANARY}\n{text}\n" for n, text in enumerate([*keys, *services])}


def everything_in(directory: Path, backend: str) -> bytes:
    """Every byte of an index, and everything in it that is compressed there."""
    raw = b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())
    (place,) = (path for path in directory.glob("index-*") if path.suffix in (".sqlite3", ".lancedb"))
    store = open_store(backend, str(place))
    with store.snapshot():
        kept = "".join(repr(row) for folder in store.folders() for row in store.contents(folder))
        skipped = repr(store.skipped())
    store.close()
    return raw + kept.encode("utf-8", "replace") + skipped.encode("utf-8", "replace")


SHOWING = [
    ["search", "-k", "100", "walnut key"],
    ["gather", "walnut key"],
    ["status", "--skipped"],
    ["cat", "{folder}/.env"],
    ["cat", "{folder}/notes3.txt"],
]


@pytest.mark.parametrize("backend", sorted(STORES))
def test_secrets_are_in_no_index_no_answer_and_no_message(
    run: Command, tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)
    monkeypatch.setenv("SS_STORE_BACKEND", backend)
    monkeypatch.setenv("SS_DEBUG", "1")
    contents = tokens()
    assert len(NAMES) >= 40 and len(contents) >= 25
    folder = write_tree(
        tmp_path / "f",
        {"page.md": "a walnut page\n", **dict.fromkeys(NAMES, f"{CANARY}\n"), **contents},
    )
    said = [run("add", folder), run("index", "--verbose")]
    assert said[-1].summary["skipped"] == {"secret": len(NAMES) + len(contents)}
    said += [
        run(*(arg.format(folder=folder) for arg in args), status=None)
        for args in SHOWING[: None if backend == "sqlite" else 1]
    ]
    answers = "".join(result.stdout + result.stderr for result in said)
    assert answers.count(CANARY) == 0, answers
    assert run("grep", CANARY, status=1).stdout == ""
    with Wire() as wire:
        wire.initialize()
        for tool, arguments in (
            ("search", {"query": "walnut key", "k": 100}),
            ("gather", {"query": "walnut key", "contextLines": 100}),
            ("grep", {"pattern": "correct[a-z]*"}),
            ("cat_file", {"filePath": "notes3.txt"}),
            ("cat_file", {"filePath": ".env"}),
        ):
            wire.ask(tool, **arguments)
        assert wire.close() == 0
    assert CANARY.encode() not in bytes(wire.bytes_out) + bytes(wire.stderr)
    kept = everything_in(index_directory(own_environment), backend)
    assert b"walnut page" in kept
    assert CANARY.encode() not in kept
    for text in contents.values():
        assert text.split("\n")[1].encode() not in kept


@pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")
def test_no_file_of_an_index_of_lancedb_can_be_read_by_others(
    notes: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)
    monkeypatch.setenv("SS_STORE_BACKEND", "lancedb")
    open_handed = Command(["sh", "-c", 'umask 0; exec "$@"', "sh"])
    open_handed("add", notes)
    open_handed("index")
    top = index_directory(own_environment)
    places = [top, *top.rglob("*")]
    assert len(places) > 10
    assert [str(place) for place in places if stat.S_IMODE(place.stat().st_mode) & 0o077] == []


_KEYS = """
core.fsmonitor core.sshCommand core.editor core.pager core.askPass core.gitProxy diff.external
credential.helper gpg.program sequence.editor uploadpack.packObjectsHook filter.evil.clean filter.evil.smudge
filter.evil.process diff.evil.textconv diff.evil.command merge.evil.driver pager.ls-files
pager.check-ignore pager.config
interactive.diffFilter trailer.x.command init.templateDir
"""
PROGRAMS = {
    **dict.fromkeys(_KEYS.split(), "{script}"),
    "core.hooksPath": "{hooks}",
    "alias.ls-files": "!{script}",
    "alias.rev-parse": "!{script}",
    "alias.check-ignore": "!{script}",
    "alias.config": "!{script}",
    "core.alternateRefsCommand": "{script}",
}
HOOKS = ("post-index-change", "pre-auto-gc", "post-checkout", "fsmonitor-watchman", "query-watchman")


@pytest.mark.skipif(sys.platform == "win32", reason="programs of POSIX shells")
def test_no_program_that_a_repository_names_is_ever_run(
    run: Command, git_repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)
    marker, script = tmp_path / "marker", tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{marker}'\ncat\n")
    script.chmod(0o755)
    write_tree(
        git_repository,
        {".gitattributes": "* filter=evil diff=evil merge=evil\n", ".gitignore": "x\n", "a.md": "walnut\n"},
    )
    subprocess.run(["git", "-C", git_repository, "add", "-A"], check=True)
    for directory in (git_repository / ".git" / "hooks", tmp_path / "hooks"):
        directory.mkdir(exist_ok=True)
        for name in HOOKS:
            (directory / name).write_bytes(script.read_bytes())
            (directory / name).chmod(0o755)
    for name, value in PROGRAMS.items():
        line = value.format(script=script, hooks=tmp_path / "hooks")
        subprocess.run(["git", "-C", git_repository, "config", name, line], check=True)
    subprocess.run(["git", "-C", git_repository, "config", "core.untrackedCache", "true"], check=True)
    marker.unlink(missing_ok=True)
    # So that the test can fail: git itself runs what the repository names.
    subprocess.run(["git", "-C", git_repository, "status"], capture_output=True, check=False)
    assert marker.exists()
    marker.unlink()
    (git_repository / "b.md").write_text("walnut b\n")
    run("add", git_repository)
    for args in (
        ["index"],
        ["search", "walnut"],
        ["gather", "walnut"],
        ["grep", "walnut"],
        ["cat", str(git_repository / "a.md")],
        ["related", f"{git_repository / 'a.md'}:1"],
        ["status"],
        ["doctor"],
        ["index", "--force"],
    ):
        run(*args, status=None)
    with Wire() as wire:
        wire.initialize()
        for tool, arguments in (
            ("search", {"query": "walnut"}),
            ("gather", {"query": "walnut"}),
            ("grep", {"pattern": "walnut"}),
            ("cat_file", {"filePath": "a.md"}),
            ("index", {"force": True}),
        ):
            assert "walnut" in wire.ask(tool, **arguments).text or tool == "index"
        assert wire.close() == 0
    assert not marker.exists(), marker.read_text()
