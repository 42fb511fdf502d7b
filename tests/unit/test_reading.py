"""A listed file becomes a document."""

from __future__ import annotations

import hashlib
import io
import os
import random
import socket
import string
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from semantic_search.listing import ListingRules, list_files
from semantic_search.reading import CannotOpen, confined_open, read, read_bytes
from semantic_search.types import Document, Skip, Skipped, SourceFile

RULES = ListingRules()


def source_of(folder: Path, path: str) -> SourceFile:
    """As the listing gave it, whatever stands there now."""
    return SourceFile(os.path.realpath(folder), path, 0, 0, 0, 0)


def outcome(folder: Path, path: str, rules: ListingRules = RULES) -> Document | Skip:
    result = read(source_of(folder, path), rules)
    return result.reason if isinstance(result, Skipped) else result


def document(folder: Path, path: str, content: bytes, rules: ListingRules = RULES) -> Document:
    (folder / path).write_bytes(content)
    result = outcome(folder, path, rules)
    assert isinstance(result, Document)
    return result


def test_a_document_has_text_hash_language_and_the_stamp_of_the_open_file(tmp_path: Path) -> None:
    found = document(tmp_path, "a.py", b"x = 1\r\n")
    status = os.stat(tmp_path / "a.py")
    assert (found.text, found.language, found.pages, found.notes) == ("x = 1\n", "python", (), ())
    assert found.sha256 == hashlib.sha256(b"x = 1\r\n").hexdigest()
    assert found.source.stamp == (7, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def test_content_12_hash_and_text_are_of_one_read(tmp_path: Path) -> None:
    versions = [b"a" * 200_000, b"b" * 200_000]
    hashes = {hashlib.sha256(version).hexdigest(): version.decode() for version in versions}
    path = tmp_path / "f.txt"
    path.write_bytes(versions[0])
    done = threading.Event()

    def swap() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            fresh = tmp_path / "fresh"
            fresh.write_bytes(versions[turn % 2])
            os.replace(fresh, path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(100):
            found = outcome(tmp_path, "f.txt")
            assert isinstance(found, Document)
            assert hashes[found.sha256] == found.text
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Skip.EMPTY),
        (b" \n\t\r\n\xc2\xa0", Skip.EMPTY),
        (b"\xef\xbb\xbf", Skip.EMPTY),
        (b"text\0text", Skip.BINARY),
        (bytes(range(1, 8)) * 50, Skip.UNDECODABLE),
        (random.Random(1).randbytes(3000).replace(b"\0", b""), Skip.UNDECODABLE),
    ],
)
def test_content_01_files_without_text(tmp_path: Path, content: bytes, reason: Skip) -> None:
    (tmp_path / "f").write_bytes(content)
    assert outcome(tmp_path, "f") is reason


def test_utf16_with_a_bom_is_text(tmp_path: Path) -> None:
    assert document(tmp_path, "a.txt", "Привіт\n".encode("utf-16")).text == "Привіт\n"


def test_encoding_06_bad_bytes_are_told(tmp_path: Path) -> None:
    found = document(tmp_path, "a.txt", "гарний текст ".encode() + b"\xff\xfe")
    assert found.notes == ("2 bytes are not valid utf-8 and were replaced",)


def test_content_10_a_sparse_file_is_read_up_to_its_limit_only(tmp_path: Path) -> None:
    (tmp_path / "big.txt").touch()
    os.truncate(tmp_path / "big.txt", 10 << 30)
    assert outcome(tmp_path, "big.txt") is Skip.TOO_LARGE
    assert outcome(tmp_path, "big.txt", ListingRules(max_file_bytes=10)) is Skip.TOO_LARGE


def test_the_limit_is_inclusive(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 10)
    found = read_bytes(source_of(tmp_path, "a.txt"), 10)
    assert isinstance(found, tuple)
    assert found[1] == b"x" * 10
    assert isinstance(read_bytes(source_of(tmp_path, "a.txt"), 9), Skipped)


def test_documents_are_extracted_not_sniffed(tmp_path: Path) -> None:
    body = (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p>'
        "<w:r><w:t>Звіт за рік</w:t></w:r></w:p></w:body></w:document>"
    )
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName='
        '"/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.'
        'document.main+xml"/></Types>'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
        'Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", relations)
        archive.writestr("word/document.xml", body)
    found = document(tmp_path, "Report.DOCX", packed.getvalue(), ListingRules(max_file_bytes=10))
    assert "Звіт за рік" in found.text
    assert found.language == "docx"


def test_a_damaged_document_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"this is no PDF")
    assert outcome(tmp_path, "a.pdf") is Skip.DAMAGED


def body(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(random.Random(length).choices(alphabet, k=length))


KEY = "-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    "text",
    [
        KEY.format(kind="", body=body(64)),
        KEY.format(kind="RSA ", body=f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{body(64)}"),
        KEY.format(kind="OPENSSH ", body=body(70)),
        '{"private_key": "' + KEY.format(kind="", body=body(64)).replace("\n", "\\n") + '"}',
        "key = (\n  '-----BEGIN EC PRIVATE KEY-----\\n'\n  '" + body(64) + "')",
        f"token: ghp_{body(36)}",
        f"export GITHUB_TOKEN=github_pat_{body(22)}_{body(59)}",
        f"glpat-{body(20)}",
        f"xoxb-{body(12, string.digits)}-{body(24)}",
        f"STRIPE=sk_live_{body(24)}",
        f"//registry.npmjs.org/:_authToken=npm_{body(36)}",
        f"sk-ant-api03-{body(93)}",
    ],
)
def test_secrets_by_content(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(f"some text\n{text}\nmore\n")
    assert outcome(tmp_path, "notes.md") is Skip.SECRET
    assert isinstance(outcome(tmp_path, "notes.md", ListingRules(index_secrets=True)), Document)


@pytest.mark.parametrize(
    "text",
    [
        'if line.startswith("-----BEGIN RSA PRIVATE KEY-----"):\n    return load_private_key(line)\n',
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + body(64),
        "-----BEGIN CERTIFICATE-----\n" + body(64),
        "ghp_" + "x" * 36,
        "ghp_EXAMPLE" + body(29),
        "sk_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "task-and-risk-analysis sk-learn hf_transfer npm_config_registry ghs_headers",
        "sha256 " + body(64, "0123456789abcdef"),
    ],
)
def test_what_only_resembles_a_secret_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.md").write_text(text)
    assert isinstance(outcome(tmp_path, "notes.md"), Document)


def test_a_hostile_key_header_takes_no_time(tmp_path: Path) -> None:
    text = "-----BEGIN PRIVATE KEY-----" + "Version: Version: " * 5000 + "\n" + "\\n " * 5000 + "!"
    assert document(tmp_path, "a.md", text.encode()).text == text


def test_symlinks_01_links_are_refused_at_every_part(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep/secret.md").write_text("secret")
    folder = tmp_path / "folder"
    (folder / "real").mkdir(parents=True)
    (folder / "real/a.md").write_text("mine")
    (folder / "leak.md").symlink_to(outside / "deep/secret.md")
    (folder / "dir").symlink_to(outside)
    (folder / "inner").symlink_to("real")
    for path in ("leak.md", "dir/deep/secret.md", "inner/a.md"):
        assert outcome(folder, path) is Skip.SYMLINK
    assert isinstance(outcome(folder, "real/a.md"), Document)


@pytest.mark.parametrize(
    "path", ["../outside.md", "a/../../outside.md", "/etc/hostname", "", ".", "a//b", "nul\0"]
)
def test_symlinks_01_paths_that_lead_out_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.md").write_text("secret")
    (tmp_path / "folder/a").mkdir(parents=True)
    with pytest.raises(CannotOpen) as caught:
        confined_open(str(tmp_path / "folder"), path)
    assert caught.value.reason is Skip.VANISHED


@pytest.mark.parametrize("swapped", ["file", "directory"])
def test_symlinks_04_a_swap_for_a_link_never_leaks(tmp_path: Path, swapped: str) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place, text in ((folder / "d", "mine"), (outside, "secret")):
        place.mkdir(parents=True)
        (place / "f.md").write_text(text)
    done = threading.Event()

    def flip() -> None:
        path = folder / "d/f.md" if swapped == "file" else folder / "d"
        while not done.is_set():
            os.rename(path, tmp_path / "aside")
            os.symlink(outside / "f.md" if swapped == "file" else outside, path)
            os.unlink(path)
            os.rename(tmp_path / "aside", path)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        found = [outcome(folder, "d/f.md") for _ in range(3000)]
    finally:
        done.set()
        thread.join()
    texts = {each.text if isinstance(each, Document) else each for each in found}
    assert texts <= {"mine", Skip.SYMLINK, Skip.VANISHED}


def test_fsobjects_what_is_no_regular_file_is_never_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert outcome(tmp_path, "pipe") is Skip.SPECIAL
        assert outcome(tmp_path, "socket") is Skip.SPECIAL
    assert outcome(Path("/dev"), "zero") is Skip.SPECIAL
    (tmp_path / "folder").mkdir()
    assert outcome(tmp_path, "folder") is Skip.VANISHED


def test_fsobjects_03_what_vanished_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in ("gone.md", "gone/a.md", "file/a.md"):
        assert outcome(tmp_path, path) is Skip.VANISHED
    assert outcome(tmp_path / "nowhere", "a.md") is Skip.VANISHED


def test_permissions_02_an_unreadable_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "f.md").write_text("x")
    (tmp_path / "f.md").chmod(0)
    code = (
        "import sys; from semantic_search.listing import *; from semantic_search.reading import read\n"
        "(source,) = list_files(sys.argv[1], ListingRules()).files\n"
        "found = read(source, ListingRules())\n"
        "print(found.reason, found.reason.transient, found.detail)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--", *command]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert out == "unreadable True Permission denied\n"


def test_filenames_02_names_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb") as file:
        file.write(b"text")
    (source,) = list_files(str(tmp_path), RULES).files
    found = read(source, RULES)
    assert isinstance(found, Document)
    assert (found.text, found.source) == ("text", source)


def test_no_file_stays_open(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "link").symlink_to("a.md")
    before = len(os.listdir("/dev/fd"))
    for path in ("a.md", "link", "gone", "a.md/x"):
        outcome(tmp_path, path)
    assert len(os.listdir("/dev/fd")) == before


def test_a_template_stays_what_it_is_and_a_page_is_read(tmp_path: Path) -> None:
    template = "{% extends 'base.html' %}\n<p>{{ title }}</p>\n"
    shell = "<html><script src=app.js></script><div id=app></div></html>\n"
    files = {"template.html": template, "shell.html": shell, "page.html": "<h1>Title</h1><p>Text</p>"}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = {name: read(source_of(tmp_path, name), ListingRules()) for name in files}
    texts = {name: (each.text, each.language) for name, each in found.items() if isinstance(each, Document)}
    assert texts == {
        "template.html": (template, "html-source"),
        "shell.html": (shell, "html-source"),
        "page.html": ("# Title\n\nText", "html"),
    }


def test_a_source_is_held_to_the_limit_of_text(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("{{ x }}" * 1000, encoding="utf-8")
    rules = ListingRules(max_file_bytes=1000, document_extensions=frozenset((".html",)))
    found = read(source_of(tmp_path, "a.html"), rules)
    assert isinstance(found, Skipped) and found.reason is Skip.TOO_LARGE
