"""The documentation as a site: it is whole, a dead link ends its build, and it fetches nothing."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pages import ROOT, pages, text_of

CONF = runpy.run_path(str(ROOT / "docs" / "conf.py"))
INCLUDED = [pattern.removesuffix(".md") for pattern in CONF["include_patterns"]]


def build(source: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` does."""
    places = map(str, (source / "docs", "-d", site.with_suffix(".trees"), source, site))
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", *places],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of this repository."""
    place = tmp_path_factory.mktemp("site") / "html"
    done = build(ROOT, place)
    assert done.returncode == 0, done.stderr
    return place


def test_every_page_is_in_the_site_and_in_its_navigation(site: Path) -> None:
    assert {page.removesuffix(".md") for page in pages()} <= set(INCLUDED)
    assert {page for part in CONF["NAVIGATION"].values() for page in part} == set(INCLUDED) - {"docs/index"}
    for page in INCLUDED:
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert re.search(r"<h1>\S", text), page
    first = (site / "docs/index.html").read_text(encoding="utf-8")
    for page in set(INCLUDED) - {"docs/index"}:
        link = page.removeprefix("docs/") if page.startswith("docs/") else f"../{page}"
        assert f'href="{link}.html"' in first, page
    assert 'url=docs/index.html"' in (site / "index.html").read_text(encoding="utf-8")


def test_nothing_of_it_is_fetched_from_elsewhere(site: Path) -> None:
    """A link may lead away; what a browser loads by itself may not."""
    loads = re.compile(
        r"""<(?:script|img|iframe|source|embed)\b[^>]*\bsrc=["']?(?P<src>[^"'\s>]+)"""
        r"""|<link\b[^>]*\bhref=["']?(?P<href>[^"'\s>]+)|@import\s+(?P<import>\S+)|url\((?P<url>[^)]+)\)"""
    )
    seen = 0
    for path in [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.svg")]:
        for found in loads.finditer(path.read_text(encoding="utf-8")):
            target = next(part for part in found.groups() if part).strip("'\"")
            seen += 1
            assert not re.match(r"(https?:)?//", target), f"{path}: {target}"
    assert seen > 100


DEAD = {
    "[gone](gone.md)": "gone.md",
    "[no heading](cli.md#no-such-heading)": "no-such-heading",
    "[no file](../samples/none.tsv)": "none.tsv",
}


def test_a_dead_link_ends_the_build_and_each_is_told(tmp_path: Path) -> None:
    docs = tmp_path / "source" / "docs"
    docs.mkdir(parents=True)
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    conf = re.sub(r"NAVIGATION = \{.*?\n\}", 'NAVIGATION = {"All": ["docs/cli"]}', conf, flags=re.DOTALL)
    (docs / "conf.py").write_text(conf, encoding="utf-8")
    shutil.copyfile(ROOT / "samples" / "queries.tsv", tmp_path / "source" / "queries.tsv")
    (docs / "cli.md").write_text("# Commands\n\n## add\n", encoding="utf-8")
    right = "# First\n\n[a](cli.md) [b](cli.md#add) [c](../queries.tsv)\n"
    (docs / "index.md").write_text(right, encoding="utf-8")
    well = build(docs.parent, tmp_path / "right")
    assert (well.returncode, well.stderr) == (0, "")
    (docs / "index.md").write_text("\n\n".join([right, *DEAD]), encoding="utf-8")
    done = build(docs.parent, tmp_path / "wrong")
    assert done.returncode != 0
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line]
    assert len(warnings) == len(DEAD)
    assert all(any(told in line for line in warnings) for told in DEAD.values()), warnings


def test_every_page_is_linked_from_readme_and_from_the_first_page() -> None:
    for page in pages():
        if page not in ("README.md", "docs/index.md"):
            assert f"]({page})" in text_of("README.md"), page
            assert f"]({page.removeprefix('docs/')})" in text_of("docs/index.md"), page


def test_links_that_lead_away_are_well_formed() -> None:
    found = [
        (page, target)
        for page in [f"{name}.md" for name in INCLUDED]
        for target in re.findall(r"\]\((\w+:[^)]*)\)", text_of(page))
    ]
    assert found
    for page, target in found:
        parts = urlsplit(target)
        assert parts.scheme == "https" and re.fullmatch(r"[a-z0-9.-]+\.[a-z]{2,}", parts.netloc), (
            page,
            target,
        )
        assert not re.search(r"\s", target), (page, target)


def test_every_page_begins_with_its_one_title() -> None:
    for page in pages():
        text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
        assert text.startswith("# "), page
        assert len(re.findall(r"^# ", text, flags=re.MULTILINE)) == 1, page
