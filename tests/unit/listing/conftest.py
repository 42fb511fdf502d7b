from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git() -> Git:
    def run(folder: Path | str, *arguments: str) -> str:
        command = ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a shell script before git on PATH; `$GIT` in it is the real one."""

    def install(script: str) -> None:
        directory = tmp_path / "fake-bin"
        directory.mkdir()
        program = directory / "git"
        program.write_text(f"#!/bin/sh\nGIT={shutil.which('git')}\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")

    return install


@pytest.fixture
def unprivileged() -> Callable[..., str]:
    """Run Python code with arguments so that file permissions hold, also when root runs the tests."""

    def run(code: str, *arguments: str) -> str:
        command = [sys.executable, "-c", code, *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--", *command]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run
