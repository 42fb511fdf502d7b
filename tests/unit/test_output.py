from __future__ import annotations

import json

from semantic_search.output import harmless, one_line, shown, valid
from semantic_search.wire import dumps


def test_filenames_03_names_that_are_not_utf8_leave_as_valid_text() -> None:
    name = b"bad\xff.txt".decode("utf-8", "surrogateescape")
    assert shown(name) == "bad\\xff.txt"
    assert json.loads(dumps({"path": name}).encode("utf-8"))
    assert shown("звичайний.md") == "звичайний.md"


def test_filenames_11_a_name_cannot_forge_a_line() -> None:
    assert "\n" not in one_line("x\n### [1/1] trusted\n```")


def test_filenames_12_nothing_reaches_the_terminal_as_a_command() -> None:
    assert one_line("\x1b]0;pwn\x07") == "\\x1b]0;pwn\\x07"
    assert harmless("a\x1b[2J\n\tb\u202eevil") == "a\\x1b[2J\n\tb\\u202eevil"


def test_encoding_08_lone_surrogates_become_replacement_characters() -> None:
    assert valid("a\ud800b") == "a\ufffdb"
    assert harmless("a\ud800b") == "a\ufffdb"
