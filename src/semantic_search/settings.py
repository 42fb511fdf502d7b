"""Settings: defaults, then the config file, then the environment. The only reader of our variables."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from .errors import SettingsError
from .private_files import OWN_NAME, locked, make_private_directory, write_atomically
from .setting_keys import KEYS as KEYS
from .setting_keys import STORE_BACKENDS as STORE_BACKENDS
from .setting_keys import Key as Key
from .suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Paths:
    """Where things are on this machine, all absolute."""

    config_file: str
    index_directory: str
    model_cache: str

    @property
    def own(self) -> tuple[str, ...]:
        """Files and directories of ours that no folder may list."""
        return (self.index_directory, self.model_cache, self.config_file, self.config_file + ".lock")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting's value in force. `origins` says where each came from: default, file or environment."""

    paths: Paths
    roots: tuple[str, ...]
    model: str
    allow_download: bool
    store: str
    location: str
    read_only: bool
    folder_paths: Mapping[str, str]
    chunk_target: int
    chunk_overlap: int
    chunk_limit: int
    max_file_bytes: int
    max_document_bytes: int
    index_secrets: bool
    ignore_patterns: tuple[str, ...]
    binary_extensions: tuple[str, ...]
    ocr_languages: tuple[str, ...]
    ocr_seconds: int
    top_k: int
    hybrid: bool
    rrf_k: int
    refresh: bool
    editor: str
    concurrency: int
    origins: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @property
    def index_location(self) -> str:
        """Where the index is: a URI, or the index directory, in which locks and models always are."""
        return self.location or self.paths.index_directory

    @property
    def threads(self) -> int:
        """How many threads to use: `concurrency`, or one for each core this process may use."""
        if self.concurrency:
            return self.concurrency
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings in force for an environment (this process's by default).

    Raises SettingsError naming the file or variable, the key and what it must be.
    """
    return _load(os.environ if environment is None else environment, nullcontext)


def load_usable_settings(environment: Mapping[str, str] | None = None) -> tuple[Settings, list[str]]:
    """Settings with the default for each one that is wrong, and what is wrong, a sentence each.

    For looking at what is wrong with an installation, not for work: with other settings than the user's own
    another index would be used. Raises SettingsError where a place is no absolute path.
    """
    faults: list[str] = []

    @contextmanager
    def keeping() -> Iterator[None]:
        try:
            yield
        except SettingsError as error:
            faults.append(str(error))

    return _load(os.environ if environment is None else environment, keeping), faults


def _load(env: Mapping[str, str], part: Callable[[], AbstractContextManager[None]]) -> Settings:
    paths = find_paths(env)
    content: dict[str, Any] = {}
    with part():
        content = read_config(paths.config_file)
    values: dict[str, Any] = {key.attribute: key.default for key in KEYS.values()}
    origins = dict.fromkeys(KEYS, "default")
    for name, key in KEYS.items():
        with part():
            value, origins[name] = _value_of(name, key, content, env, paths.config_file)
            values[key.attribute] = tuple(value) if isinstance(value, list) else value
    roots, values["roots"] = values["roots"], ()
    with part():
        values["roots"] = tuple(_root(root, env) for root in roots)
    with part():
        _check_chunks(values, paths.config_file)
    with part():
        if "://" in env.get("SS_INDEX_DIR", ""):
            values["location"] = _from_variable(
                replace(KEYS["indexLocation"], variable="SS_INDEX_DIR"), env["SS_INDEX_DIR"]
            )
            origins["indexLocation"] = "environment"
    with part():
        _settle_store(values, origins)
    return Settings(paths=paths, origins=origins, unknown=unknown_keys(content), **values)


def _settle_store(values: dict[str, Any], origins: Mapping[str, str]) -> None:
    """An index at a URI is one of LanceDB's."""
    if not values["location"] or values["store"] == "lancedb":
        return
    if origins["storeBackend"] != "default":
        raise SettingsError(
            f"an index at {values['location']} needs the store lancedb, not {values['store']}"
        )
    values["store"] = "lancedb"


def find_paths(env: Mapping[str, str]) -> Paths:
    """Our places: `SS_*` variables first, then absolute XDG ones, then the platform's own custom."""
    config = _absolute(env, "SS_CONFIG_PATH") or os.path.join(
        _base(env, "XDG_CONFIG_HOME", "user_config_path"), "config.json"
    )
    at_uri = "://" in env.get("SS_INDEX_DIR", "")
    index = ("" if at_uri else _absolute(env, "SS_INDEX_DIR")) or _base(
        env, "XDG_DATA_HOME", "user_data_path"
    )
    models = _absolute(env, "SS_MODEL_CACHE_DIR") or os.path.join(index, "models")
    return Paths(config, index, models)


def _absolute(env: Mapping[str, str], variable: str) -> str:
    value = env.get(variable, "")
    return os.path.abspath(_expand(value, env)) if value else ""


def _base(env: Mapping[str, str], variable: str, platform_path: str) -> str:
    value = env.get(variable, "")
    # The XDG specification says a relative path is invalid and to be ignored.
    if value and os.path.isabs(value):
        return os.path.join(value, OWN_NAME)
    import platformdirs

    path = str(getattr(platformdirs.PlatformDirs(OWN_NAME, appauthor=False), platform_path))
    if path.startswith("~"):
        raise SettingsError(
            "no home directory is known: set HOME, or SS_CONFIG_PATH and SS_INDEX_DIR to absolute paths"
        )
    return path


def _expand(path: str, env: Mapping[str, str]) -> str:
    if path == "~" or path.startswith("~/"):
        home = env.get("HOME") or os.path.expanduser("~")
        return home + path[1:]
    return path


def _root(root: str, env: Mapping[str, str]) -> str:
    return os.path.realpath(_expand(root, env))


def read_config(path: str) -> dict[str, Any]:
    """The config file's object, {} where there is none. Raises SettingsError with file and position."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the config file {path} cannot be read: {error}") from error
    try:
        content = json.loads(text, parse_constant=_no_constant)
    except (json.JSONDecodeError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"the config file {path} is not valid JSON: {error}. Mend it, or move it away to start afresh."
        ) from error
    if not isinstance(content, dict):
        raise SettingsError(f"the config file {path} must hold one JSON object, such as {{}}")
    return content


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON value")


def _value_of(
    name: str, key: Key, content: Mapping[str, Any], env: Mapping[str, str], config_file: str
) -> tuple[Any, str]:
    if key.variable and env.get(key.variable):
        return _from_variable(key, env[key.variable]), "environment"
    value: Any = content
    for part in name.split("."):
        if not isinstance(value, Mapping):
            raise SettingsError(f"{config_file}: {name.split('.')[0]} must be an object")
        if part not in value:
            return key.default, "default"
        value = value[part]
    if not key.accepts(value):
        raise SettingsError(f"{config_file}: {name} {key.refusal(value)}")
    return value, "file"


def _from_variable(key: Key, text: str) -> Any:
    value: Any = text
    if isinstance(key.default, bool):
        value = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.strip().lower()
        )
    if not key.accepts(value):
        raise SettingsError(f"the variable {key.variable} {key.refusal(text)}")
    return value


def _check_chunks(values: Mapping[str, Any], config_file: str) -> None:
    if values["chunk_target"] > values["chunk_limit"]:
        raise SettingsError(f"{config_file}: chunk.targetTokens must not exceed chunk.hardTokenLimit")
    if values["chunk_overlap"] * 2 > values["chunk_target"]:
        raise SettingsError(f"{config_file}: chunk.overlapTokens must be at most half of chunk.targetTokens")


def unknown_keys(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of a config file that nothing here reads, with a suggestion where one is close."""
    known_chunk = [name.split(".")[1] for name in KEYS if "." in name]
    known = [name for name in KEYS if "." not in name] + ["chunk"]
    found = [(name, known) for name in content if name not in known]
    inner = content.get("chunk")
    if isinstance(inner, Mapping):
        found += [(name, known_chunk) for name in inner if name not in known_chunk]
    return tuple(name + did_you_mean(name, names) for name, names in found)


def update_config(path: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Reads the config file, applies a change and writes it back whole, one process at a time.

    Keys we do not know stay. A file that cannot be read is never overwritten (SettingsError).
    """
    make_private_directory(os.path.dirname(path))
    with locked(path + ".lock", what="the config file"):
        content = read_config(path)
        before = json.dumps(content)
        change(content)
        if json.dumps(content) != before or not os.path.exists(path):
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            # A path that is not UTF-8 is kept by JSON's own escape of the lone surrogate.
            write_atomically(
                path, text.encode("utf-8", "surrogatepass") if _plain(text) else _escaped(content)
            )


def _plain(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _escaped(content: object) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode("ascii")


def known_key(name: str) -> Key:
    """The key of a name. Raises SettingsError, with the name that was meant where one is close."""
    if name not in KEYS:
        raise SettingsError(
            f"there is no setting {name}{did_you_mean(name, KEYS)}; `semantic-search config` lists them"
        )
    return KEYS[name]


def set_key(path: str, name: str, value: Any) -> None:
    """Sets one key of the config file.

    Raises SettingsError for an unknown key, a wrong value, or one that does not go with the others there;
    the file is then as it was.
    """
    key = known_key(name)
    if not key.accepts(value):
        raise SettingsError(f"{name} {key.refusal(value)}")

    def change(content: dict[str, Any]) -> None:
        place = content
        *outer, last = name.split(".")
        for part in outer:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise SettingsError(f"{path}: {part} must be an object")
        place[last] = value
        values = {k.attribute: _value_of(n, k, content, {}, path)[0] for n, k in KEYS.items()}
        _check_chunks(values, path)

    update_config(path, change)
