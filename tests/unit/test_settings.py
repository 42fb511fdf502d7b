from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import configure

from semantic_search.errors import SettingsError
from semantic_search.settings import (
    KEYS,
    load_settings,
    load_usable_settings,
    read_config,
    set_key,
    update_config,
)


def write_config(home: Path, text: str) -> Path:
    path = home / "config" / "semantic-search" / "config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_without_a_file() -> None:
    settings = load_settings()
    assert (settings.model, settings.store, settings.top_k, settings.hybrid, settings.rrf_k) == (
        "multilingual-e5-small",
        "sqlite",
        5,
        True,
        60,
    )
    assert (settings.chunk_target, settings.chunk_overlap, settings.max_file_bytes) == (200, 35, 500_000)
    assert settings.threads >= 1
    assert set(settings.origins.values()) == {"default"}


def test_the_file_then_the_environment(own_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_config(
        own_environment,
        json.dumps({"modelName": "all-MiniLM-L6-v2", "defaultTopK": 9, "chunk": {"targetTokens": 120}}),
    )
    settings = load_settings()
    assert (settings.model, settings.top_k, settings.chunk_target) == ("all-MiniLM-L6-v2", 9, 120)
    assert settings.origins["chunk.targetTokens"] == "file"
    monkeypatch.setenv("SS_MODEL_NAME", "some/other")
    monkeypatch.setenv("SS_AUTO_REFRESH", "no")
    settings = load_settings()
    assert (settings.model, settings.refresh) == ("some/other", False)
    assert settings.origins["modelName"] == "environment"


def test_places_follow_xdg_and_our_variables(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    settings = load_settings(home | {"XDG_CONFIG_HOME": "/x/c", "XDG_DATA_HOME": "/x/d"})
    assert settings.paths.config_file == "/x/c/semantic-search/config.json"
    assert settings.paths.index_directory == "/x/d/semantic-search"
    assert settings.paths.model_cache == "/x/d/semantic-search/models"
    own = {"SS_CONFIG_PATH": "/o/c.json", "SS_INDEX_DIR": "/o/i", "SS_MODEL_CACHE_DIR": "/o/m"}
    settings = load_settings(home | own)
    assert (settings.paths.config_file, settings.paths.index_directory, settings.paths.model_cache) == (
        "/o/c.json",
        "/o/i",
        "/o/m",
    )


def test_config_06_a_relative_xdg_path_is_ignored(
    own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert os.path.isabs(load_settings().paths.index_directory)
    assert "relative" not in load_settings().paths.index_directory


def test_config_06_a_tilde_in_roots_is_the_home(own_environment: Path) -> None:
    write_config(own_environment, '{"defaultRoots": ["~/notes"]}')
    assert load_settings().roots == (os.path.realpath(own_environment / "notes"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ('{"defaultTopK": 5', "not valid JSON"),
        ("null", "one JSON object"),
        ("[]", "one JSON object"),
        ('{"defaultTopK": NaN}', "NaN"),
        ('{"defaultTopK": "five"}', "defaultTopK must be a number"),
        ('{"defaultTopK": true}', "defaultTopK must be a number"),
        ('{"defaultTopK": 0}', "defaultTopK must be"),
        ('{"hybridSearch": 1}', "hybridSearch must be true or false"),
        ('{"defaultRoots": "/a"}', "defaultRoots must be a list"),
        ('{"defaultRoots": [1]}', "defaultRoots must be a list"),
        ('{"storeBackend": "chroma"}', "storeBackend must be one of"),
        ('{"chunk": 5}', "chunk must be an object"),
        ('{"chunk": {"targetTokens": 500}}', "must not exceed"),
        ('{"chunk": {"overlapTokens": 150}}', "at most half"),
    ],
)
def test_config_02_a_bad_file_is_named_and_never_overwritten(
    own_environment: Path, text: str, message: str
) -> None:
    path = write_config(own_environment, text)
    with pytest.raises(SettingsError, match=message) as caught:
        load_settings()
    assert str(path) in str(caught.value)
    if "JSON" in message:
        with pytest.raises(SettingsError):
            update_config(str(path), lambda content: content.update(defaultTopK=3))
    assert path.read_text() == text


def test_config_02_a_byte_order_mark_is_no_harm(own_environment: Path) -> None:
    path = write_config(own_environment, "")
    path.write_bytes(b"\xef\xbb\xbf" + b'{"defaultTopK": 7}')
    assert load_settings().top_k == 7


def test_config_04_unknown_keys_are_kept_and_reported(own_environment: Path) -> None:
    path = write_config(own_environment, '{"future": {"a": 1}, "defaultRots": [], "chunk": {"size": 1}}')
    assert load_settings().unknown == ("future", "defaultRots (did you mean defaultRoots?)", "size")
    set_key(str(path), "defaultTopK", 3)
    content = json.loads(path.read_text())
    assert content["future"] == {"a": 1}
    assert content["defaultTopK"] == 3


@pytest.mark.parametrize("variable", ["SS_STORE_BACKEND", "SS_AUTO_REFRESH", "SS_ALLOW_DOWNLOAD"])
def test_a_bad_variable_is_named(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "nonsense")
    with pytest.raises(SettingsError, match=variable):
        load_settings()


def test_setting_an_unknown_key_or_a_wrong_value_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    with pytest.raises(SettingsError, match="did you mean modelName"):
        set_key(str(path), "modelNam", "x")
    with pytest.raises(SettingsError, match="rrfK must be"):
        set_key(str(path), "rrfK", "sixty")
    assert not path.exists()
    set_key(str(path), "chunk.targetTokens", 100)
    assert json.loads(path.read_text()) == {"chunk": {"targetTokens": 100}}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_permissions_03_what_we_write_is_private(own_environment: Path) -> None:
    before = os.umask(0)
    try:
        path = own_environment / "config" / "semantic-search" / "config.json"
        set_key(str(path), "rrfK", 10)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_shared_directory_that_holds_the_config_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    set_key(str(shared / "c.json"), "rrfK", 10)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o777


_ADDER = """
import sys
from semantic_search.errors import IndexBusy
from semantic_search.settings import update_config
while True:
    try:
        update_config(sys.argv[1], lambda content: content.setdefault("defaultRoots", []).append(sys.argv[2]))
        break
    except IndexBusy:  # whoever has not had its turn for long is told to try again
        continue
"""


def test_config_01_twenty_processes_add_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "config.json")
    children = [subprocess.Popen([sys.executable, "-c", _ADDER, path, f"/f{n}"]) for n in range(20)]
    for child in children:
        assert child.wait() == 0
    assert sorted(read_config(path)["defaultRoots"]) == sorted(f"/f{n}" for n in range(20))


def test_every_key_accepts_its_default() -> None:
    for name, key in KEYS.items():
        default = list(key.default) if isinstance(key.default, tuple) else key.default
        assert key.accepts(default), name


def test_a_folder_name_that_is_not_utf8_survives_the_config(tmp_path: Path) -> None:
    path = str(tmp_path / "config.json")
    name = b"/data/\xff".decode("utf-8", "surrogateescape")
    set_key(path, "defaultRoots", [name])
    assert read_config(path)["defaultRoots"] == [name]


def test_an_index_may_be_at_a_uri(own_environment: Path) -> None:
    settings = load_settings({**os.environ, "SS_INDEX_DIR": "s3://bucket/prefix"})
    assert (settings.index_location, settings.store) == ("s3://bucket/prefix", "lancedb")
    assert settings.origins["indexLocation"] == "environment"
    assert settings.paths.index_directory == str(own_environment / "data" / "semantic-search")
    for wrong in ("ftp://bucket", "://bucket"):
        with pytest.raises(SettingsError, match="SS_INDEX_DIR must be"):
            load_settings({**os.environ, "SS_INDEX_DIR": wrong})


def test_an_index_at_a_uri_in_the_config_file(own_environment: Path) -> None:
    configure(own_environment, indexLocation="gs://bucket", readOnly=True, folderPaths={"a": "/b"})
    settings = load_settings()
    assert (settings.index_location, settings.store, settings.read_only) == ("gs://bucket", "lancedb", True)
    assert settings.folder_paths == {"a": "/b"}
    configure(own_environment, indexLocation="gs://bucket", storeBackend="sqlite")
    with pytest.raises(SettingsError, match="needs the store lancedb"):
        load_settings()
    configure(own_environment, folderPaths={"a": 1})
    with pytest.raises(SettingsError, match="folderPaths"):
        load_settings()


def test_what_is_wrong_is_told_at_once_and_the_rest_is_used(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(
        '{"defaultTopK": "many", "rrfK": 30, "storeBackend": "papyrus", "defaultRoots": ["/a"], '
        '"readOnly": 1}'
    )
    environment = {"SS_CONFIG_PATH": str(config), "SS_AUTO_REFRESH": "perhaps"}
    found, faults = load_usable_settings(environment)
    assert (found.top_k, found.rrf_k, found.store, found.refresh) == (5, 30, "sqlite", True)
    assert len(faults) == 4
    for name in ("storeBackend", "readOnly", "defaultTopK", "SS_AUTO_REFRESH"):
        assert sum(name in fault for fault in faults) == 1
    config.write_text("{")
    found, faults = load_usable_settings(environment)
    assert found.roots == () and len(faults) == 2 and "not valid JSON" in faults[0]
    config.write_text('{"rrfK": 30}')
    assert load_usable_settings({"SS_CONFIG_PATH": str(config)}) == (
        load_settings({"SS_CONFIG_PATH": str(config)}),
        [],
    )
