"""What an installation takes on disk: the default one and each extra, a distribution a line.

    python benchmarks/footprint.py [--extra NAME ...] [--smallest MB]

Walks the requirements of the installed `semantic-search-mcp` and adds up the files that each distribution
recorded, compiled modules left out (pip makes them anew). Extras that are not installed are told as such. A
requirement that only an extra brings is counted there alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = "semantic-search-mcp"


def wanted(found: Distribution, extras: Iterable[str]) -> dict[str, frozenset[str]]:
    """The requirements of a distribution here, with these of its extras: name to the extras asked of it."""
    needed: dict[str, frozenset[str]] = {}
    for line in found.requires or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            name = canonicalize_name(requirement.name)
            needed[name] = needed.get(name, frozenset()) | frozenset(requirement.extras)
    return needed


def closure(extras: Iterable[str]) -> tuple[dict[str, Distribution], set[str]]:
    """Every distribution needed with these extras, by name, ours too; and what is not installed."""
    found: dict[str, Distribution] = {}
    missing: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(OURS, frozenset(extras))]
    while waiting:
        name, of = waiting.pop()
        if (name, of) in seen:
            continue
        seen.add((name, of))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            missing.add(name)
            continue
        waiting += wanted(found[name], of).items()
    return found, missing


def size(found: Distribution) -> int:
    """Bytes of the files that a distribution installed."""
    total = 0
    for file in found.files or []:
        path = Path(str(file.locate()))
        if path.suffix != ".pyc" and path.is_file():
            total += path.stat().st_size
    return total


def own_size() -> int:
    """Bytes of this package, which an editable installation does not record."""
    import semantic_search

    folder = Path(semantic_search.__file__).parent
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--extra", action="append", help="an extra (default: all but dev)")
    parser.add_argument("--smallest", type=float, default=1.0, help="megabytes; smaller ones are added up")
    options = parser.parse_args()
    names = distribution(OURS).metadata.get_all("Provides-Extra") or []
    default, missing = closure(())
    report("default", default, options.smallest, missing)
    for extra in options.extra or [name for name in names if name != "dev"]:
        more, missing = closure((extra,))
        added = {name: more[name] for name in more.keys() - default.keys()}
        report(f"[{extra}], more than the default", added, options.smallest, missing)


def report(title: str, found: dict[str, Distribution], smallest: float, missing: set[str]) -> None:
    sizes = {name: own_size() if name == OURS else size(each) for name, each in found.items()}
    print(f"{title}: {sum(sizes.values()) / 1e6:.1f} MB in {len(sizes)} distributions")
    small = 0
    for name, bytes_ in sorted(sizes.items(), key=lambda item: -item[1]):
        if bytes_ >= smallest * 1e6:
            print(f"  {bytes_ / 1e6:8.1f}  {name} {found[name].version}")
        else:
            small += bytes_
    print(f"  {small / 1e6:8.1f}  all smaller ones")
    if missing:
        print(f"  not installed: {', '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
