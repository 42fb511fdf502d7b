from __future__ import annotations

import pytest

from semantic_search.languages import (
    grammar_of,
    kind_of,
    language_of,
    language_of_script,
    languages,
    resolve_language,
)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("web/App.tsx", "tsx"),
        ("web/app.d.ts", "typescript"),
        ("LIB/MAIN.RS", "rust"),
        ("include/x.h", "cpp"),
        ("a/Dockerfile", "dockerfile"),
        ("a/Dockerfile.dev", "dockerfile"),
        ("Makefile.am", "make"),
        ("CMakeLists.txt", "cmake"),
        ("notes/план.md", "markdown"),
        ("docs/guide.rst", "rst"),
        ("report.PDF", "pdf"),
        ("brief.docx", "docx"),
        (".gitignore", "ignore-list"),
        ("tsconfig.json", "jsonc"),
        ("yarn.lock", "lock"),
        ("README", "text"),
        ("README.md", "markdown"),
        ("x.unknown", "text"),
        ("a.py/notes", "text"),
        ("v1.2/plain", "text"),
        ("", "text"),
        ("odd\udcff.go", "go"),
    ],
)
def test_language_of(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("language", "kind"),
    [
        ("python", "code"),
        ("markdown", "docs"),
        ("yaml", "config"),
        ("json", "data"),
        ("text", "text"),
        ("no-such", "text"),
    ],
)
def test_kind_of(language: str, kind: str) -> None:
    assert kind_of(language) == kind


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("py", "python"),
        (" TS ", "typescript"),
        ("c++", "cpp"),
        ("c#", "csharp"),
        ("md", "markdown"),
        (".rs", "rust"),
        ("Go", "go"),
        ("shell", "bash"),
        ("klingon", None),
        ("", None),
    ],
)
def test_resolve_language(name: str, language: str | None) -> None:
    assert resolve_language(name) == language


def test_every_grammar_is_bundled() -> None:
    from semble_grammars import available_languages

    bundled = set(available_languages())
    assert {grammar for name in languages() if (grammar := grammar_of(name))} <= bundled
    assert grammar_of("no-such") is None


def test_every_language_resolves_to_itself_and_has_a_kind() -> None:
    for name in languages():
        assert resolve_language(name) == name
        assert kind_of(name) in {"code", "docs", "config", "data", "text"}
    assert len(set(languages())) == len(languages())


def test_no_extension_is_claimed_twice() -> None:
    from semantic_search import languages as module

    extensions = [extension for row in module._ROWS for extension in row.extensions.split()]
    assert len(extensions) == len(set(extensions))
    names = [name for row in module._ROWS for name in row.names.split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#! /usr/bin/env bash -e", "bash"),
        ("#!/usr/bin/env -S python3.12 -u", "python"),
        ("#!/usr/bin/env LC_ALL=C perl", "perl"),
        ("#!/usr/local/bin/node", "javascript"),
        ("#!/usr/bin/make -f", "make"),
        ("#!/opt/strange/interpreter", "text"),
        ("# /bin/sh", "text"),
        ("", "text"),
    ],
)
def test_a_script_is_known_by_its_interpreter(first_line: str, language: str) -> None:
    assert language_of_script(first_line + "\necho hello\n") == language
