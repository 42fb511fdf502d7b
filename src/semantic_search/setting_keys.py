"""Every key of the config file: its default, what a value must be, and what it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the config file: its attribute in `Settings`, its default, and what a value must be.

    `meaning` is what it does, as the documentation says it, in Markdown. `variable` goes before the file.
    """

    attribute: str
    default: Any
    expects: str
    accepts: Callable[[Any], bool]
    meaning: str
    variable: str = ""
    choices: tuple[str, ...] = ()

    def refusal(self, value: object) -> str:
        """What a value must be and is not, with the choice that was meant."""
        meant = did_you_mean(value, self.choices) if isinstance(value, str) else ""
        return f"must be {self.expects}, not {json.dumps(value)}{meant}"


def _integer(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _paths_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) and v for pair in value.items() for v in pair)


def _is_uri(text: str) -> bool:
    return "://" in text


def _location(value: object) -> bool:
    return value == "" or (isinstance(value, str) and _is_uri(value) and value.split("://")[0] in URI_SCHEMES)


# Object storage of three kinds, and a LanceDB cluster.
URI_SCHEMES = ("s3", "s3+ddb", "gs", "az", "abfss", "db")

_SCHEMES = ", ".join(f"{scheme}://" for scheme in URI_SCHEMES)

STORE_BACKENDS = ("sqlite", "lancedb")

KEYS: dict[str, Key] = {
    "defaultRoots": Key(
        "roots",
        (),
        "a list of folder paths",
        _texts,
        "the folders; `add` and `remove` change it",
    ),
    "modelName": Key(
        "model",
        "multilingual-e5-small",
        "a model's name",
        _name,
        "a model's name, a directory, or a hub repository `owner/name`",
        "SS_MODEL_NAME",
    ),
    "allowDownload": Key(
        "allow_download",
        False,
        "true or false",
        _flag,
        "whether a model that is not on this machine may be fetched from the Hugging Face hub",
        "SS_ALLOW_DOWNLOAD",
    ),
    "storeBackend": Key(
        "store",
        "sqlite",
        "one of " + ", ".join(STORE_BACKENDS),
        lambda v: v in STORE_BACKENDS,
        "where the index is kept",
        "SS_STORE_BACKEND",
        STORE_BACKENDS,
    ),
    "indexLocation": Key(
        "location",
        "",
        f"empty, or a URI ({_SCHEMES})",
        _location,
        "where the index is kept instead of in the index directory",
    ),
    "readOnly": Key(
        "read_only",
        False,
        "true or false",
        _flag,
        "whether another machine writes the index: searches then change nothing",
        "SS_READ_ONLY",
    ),
    "folderPaths": Key(
        "folder_paths",
        {},
        "an object of folder names and paths",
        _paths_by_name,
        'where folders of the index are on this machine, by name: `{"notes": "/home/me/notes"}`',
    ),
    "chunk.targetTokens": Key(
        "chunk_target",
        200,
        "a number from 16 to 4096",
        _integer(16, 4096),
        "how large a passage aims to be, in tokens of the model",
    ),
    "chunk.overlapTokens": Key(
        "chunk_overlap",
        35,
        "a number from 0 to 1024",
        _integer(0, 1024),
        "how much a split repeats: at most half of the target",
    ),
    "chunk.hardTokenLimit": Key(
        "chunk_limit",
        254,
        "a number from 32 to 8192",
        _integer(32, 8192),
        "what no passage exceeds, at least the target; the model's own window if that is less",
    ),
    "maxFileSizeBytes": Key(
        "max_file_bytes",
        500_000,
        "a number of bytes, at least 1",
        _integer(1, 2**40),
        "larger text files are skipped",
    ),
    "maxDocumentBytes": Key(
        "max_document_bytes",
        50_000_000,
        "a number of bytes, at least 1",
        _integer(1, 2**40),
        "larger documents (PDF, Office, mail and the like) are skipped",
    ),
    "indexSecrets": Key(
        "index_secrets",
        False,
        "true or false",
        _flag,
        "whether files that look like credentials or private keys are indexed too",
    ),
    "defaultIgnorePatterns": Key(
        "ignore_patterns",
        (),
        "a list of gitignore patterns",
        _texts,
        "what to leave out in every folder",
    ),
    "binaryExtensions": Key(
        "binary_extensions",
        (),
        "a list of extensions such as .dat",
        _texts,
        "further extensions that are never read",
    ),
    "ocrLanguages": Key(
        "ocr_languages",
        (),
        "a list of language codes of tesseract, such as eng",
        _texts,
        "scanned pages of PDF files are recognised in these languages",
    ),
    "ocrSeconds": Key(
        "ocr_seconds",
        50,
        "a number from 1 to 3600",
        _integer(1, 3600),
        "for how long in each file",
    ),
    "defaultTopK": Key(
        "top_k",
        5,
        "a number from 1 to 1000",
        _integer(1, 1000),
        "how many results where `-k` is not given",
    ),
    "hybridSearch": Key(
        "hybrid",
        True,
        "true or false",
        _flag,
        "`false`: vectors alone, except where the model cannot read the question",
    ),
    "rrfK": Key(
        "rrf_k",
        60,
        "a number from 1 to 10000",
        _integer(1, 10_000),
        "the constant of reciprocal rank fusion",
    ),
    "autoRefresh": Key(
        "refresh",
        True,
        "true or false",
        _flag,
        "whether a search looks for changed files first",
        "SS_AUTO_REFRESH",
    ),
    "editor": Key(
        "editor",
        "",
        "a command, or empty",
        lambda value: isinstance(value, str),
        "the command of `--editor`, such as `code` or `emacsclient -nw`; empty: `$VISUAL`, else `$EDITOR`",
    ),
    "concurrency": Key(
        "concurrency",
        0,
        "a number of threads, 0 for one a core",
        _integer(0, 256),
        "how many threads, and up to three processes that cut text; 0 is one for each usable core",
    ),
}
