"""Every test has a home, a configuration and an index of its own, no network; what tests count is shown."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP", "VIRTUAL_ENV")


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model cache for the whole run: a model is converted once."""
    return tmp_path_factory.mktemp("model-cache")


@pytest.fixture(autouse=True)
def own_environment(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, model_cache: Path
) -> Iterator[Path]:
    """Redirects everything that code finds through the environment; returns the home directory."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name not in _KEPT and not name.startswith(("PYTEST", "COV_")):
            monkeypatch.delenv(name)
    settings = {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "SS_MODEL_CACHE_DIR": str(model_cache),
        "SEMBLE_GRAMMARS_CACHE_DIR": str(model_cache / "grammars"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@example.org",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.org",
        "HF_HUB_OFFLINE": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    yield home


@pytest.fixture
def git_repository(tmp_path: Path) -> Path:
    """An empty git repository."""
    path = tmp_path / "repo"
    path.mkdir()
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Says something in the summary at the end of the whole run, such as counts, seeds and times."""
    return lambda text: record_property("told", text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows what tests told, passed or failed, in whatever process they ran."""
    told = [
        f"{report.nodeid}: {text}"
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, text in report.user_properties
        if name == "told"
    ]
    if told:
        terminalreporter.section("counted")
        for line in told:
            terminalreporter.line(line)
