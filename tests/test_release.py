"""What is released: one version, archives with what they should hold, the same bytes whoever builds them."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import semantic_search

ROOT = Path(__file__).parents[1]
STEM = f"semantic_search_mcp-{semantic_search.__version__}"


def build(tree: Path, place: Path) -> tuple[Path, Path]:
    """The sdist and the wheel of a tree."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(place)],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place / f"{STEM}.tar.gz", place / f"{STEM}-py3-none-any.whl"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel of this checkout."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


def test_the_version_is_said_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    said = re.findall(
        r'^__version__ = "(.+)"$', (ROOT / "src/semantic_search/__init__.py").read_text(), re.MULTILINE
    )
    assert said == [semantic_search.__version__]


def test_the_sdist_gives_the_same_sdist_and_wheel_byte_by_byte(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    """Unpacked elsewhere, by somebody else's umask, with the times of another day."""
    with tarfile.open(built[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    tree = tmp_path / STEM
    for path in tree.rglob("*"):
        path.chmod(path.stat().st_mode | 0o070)
        os.utime(path, (86400.0, 86400.0))
    again = build(tree, tmp_path / "again")
    assert [sha256(path) for path in again] == [sha256(path) for path in built]


def test_the_wheel_holds_the_package_and_the_manual_page_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"{STEM}.dist-info/METADATA").decode()
    source = ROOT / "src"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "src/semantic_search"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        files = {os.fsdecode(name).removeprefix("src/") for name in listed.stdout.split(b"\0") if name}
    else:  # no checkout: what an sdist has
        found = (path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        files = {path.relative_to(source).as_posix() for path in found}
    facts = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
    texts = {"licenses/LICENSE", "licenses/THIRD_PARTY_NOTICES.md"}
    assert names == {
        *files,
        f"{STEM}.data/data/share/man/man1/semantic-search.1",
        *(f"{STEM}.dist-info/{name}" for name in facts | texts),
    }
    assert f"\nVersion: {semantic_search.__version__}\n" in metadata
    assert "\nLicense-Expression: MIT\n" in metadata


def test_the_sdist_holds_what_the_tests_and_the_pages_need(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        names = {name.removeprefix(f"{STEM}/") for name in archive.getnames()}
    needed = ["Makefile", "README.md", "docs/semantic-search.1", "docs/cli.md", "samples/demo.sh"]
    needed += ["tests/conftest.py", "tests/try_wheel.sh", "requirements-dev.lock", ".indexignore.example"]
    assert set(needed) <= names
    assert not [name for name in names if re.search(r"__pycache__|\.pyc$|\.sqlite3$|\.egg-info|^dist/", name)]
