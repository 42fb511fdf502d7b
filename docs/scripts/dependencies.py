"""Writes `docs/dependencies.md`: what `pip install semantic-search-mcp` brings along, with licences.

    python docs/scripts/dependencies.py

It says what is installed here, beside this Python. A test holds names and licences current, not versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pages import ROOT

PACKAGE = "semantic-search-mcp"
PAGE = ROOT / "docs" / "dependencies.md"

# How packages name the same licence.
_FAMILIES = {
    "Apache": r"apache",
    "BSD": r"bsd",
    "ISC": r"\bisc\b",
    "MIT": r"\bmit\b",
    "MPL": r"\bmpl\b|mozilla public",
    "PSF": r"\bpsf\b|python software foundation",
    "Unlicense": r"unlicense",
}

_HEAD = """\
# Dependencies

What `pip install semantic-search-mcp` installs on Linux with Python 3.11, beside the program itself; another
system or Python needs one or two more or fewer. `us` is the program. A release comes with a bill of materials
in CycloneDX that has the versions too. What of others is in our own files:
[THIRD_PARTY_NOTICES](../THIRD_PARTY_NOTICES.md).

| package | licence | needed by |
|---|---|---|
"""


def edges(*extras: str) -> Iterator[tuple[str, Distribution]]:
    """What our package needs with some of its extras, and all that these need, as far as it is installed.

    Each with the name of what needs it; a package comes once for each that does.
    """
    waiting, seen = [(PACKAGE, frozenset(extras))], set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        for text in distribution(name).requires or []:
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is not None and not any(marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                continue
            try:
                found = distribution(requirement.name)
            except PackageNotFoundError:
                continue  # for another system or Python
            needed = canonicalize_name(requirement.name)
            waiting.append((needed, frozenset(requirement.extras)))
            if needed != PACKAGE:
                yield name, found


def closure(*extras: str) -> list[Distribution]:
    """All that is installed with our package and some of its extras, by name."""
    found = {canonicalize_name(each.metadata["Name"]): each for _, each in edges(*extras)}
    return [found[name] for name in sorted(found)]


def licence_of(found: Distribution) -> str:
    """What a package says of its licence: the expression, else classifiers, else the text's first line."""
    facts = found.metadata
    if expression := (facts.get_all("License-Expression") or [""])[0]:
        return str(expression)
    classified = [line for line in facts.get_all("Classifier") or [] if line.startswith("License ::")]
    if classified:
        return "; ".join(line.rpartition(" :: ")[2] for line in classified)
    return str((facts.get_all("License") or [""])[0]).strip().split("\n")[0]


def families_of(licence: str) -> frozenset[str]:
    """The licences that a text names. Releases of a package word them differently."""
    return frozenset(family for family, said in _FAMILIES.items() if re.search(said, licence, re.IGNORECASE))


def page() -> str:
    """The page, for what is installed here."""
    needing: dict[str, set[str]] = {}
    for name, needed in edges():
        needing.setdefault(canonicalize_name(needed.metadata["Name"]), set()).add(name)
    rows = [
        f"| {name} | {licence_of(found)} | {', '.join(sorted(needing[name])).replace(PACKAGE, 'us')} |"
        for found in closure()
        for name in [canonicalize_name(found.metadata["Name"])]
    ]
    return _HEAD + "\n".join(rows) + "\n"


def listed() -> dict[str, str]:
    """The packages of the page, each with its licence."""
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.+?) \| .+ \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: licence for name, licence in rows if name != "package"}


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
