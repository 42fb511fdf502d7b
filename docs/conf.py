"""The site: which pages it has, in which order, and that a dead link ends the build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Pages that are listed by another name than their title.
NAMES = {"README": "README"}

# The pages by the titles under which the site lists them, as paths from the root of the repository.
NAVIGATION = {
    "Use": [
        "docs/quick-start",
        "docs/agents",
        "docs/knowledge-bases",
        "docs/knowledge-bases.uk",
        "docs/python",
    ],
    "Reference": [
        "docs/cli",
        "docs/configuration",
        "docs/models",
        "docs/formats",
        "docs/stores",
        "docs/troubleshooting",
    ],
    "Behind it": ["docs/how-it-works", "docs/ranking", "docs/privacy"],
    "How good, how fast": ["benchmarks/README", "benchmarks/reliability"],
    "The project": [
        "README",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "SECURITY",
        "CHANGELOG",
        "THIRD_PARTY_NOTICES",
        "docs/dependencies",
        "samples/README",
    ],
}

project = "semantic-search"
author = "The semantic-search authors"
copyright = "The semantic-search authors, MIT licence"

# The source is the whole repository, so that a link from page to page is the same here and there.
root_doc = "docs/index"
include_patterns = [
    f"{page}.md" for page in [root_doc, *(page for part in NAVIGATION.values() for page in part)]
]
exclude_patterns = [".*", "build", "dist", "src", "tests", "benchmarks/runs", "samples/corpus"]
extensions = ["myst_parser"]
myst_heading_anchors = 4
smartquotes = False
pygments_style = "friendly"

html_theme = "furo"
html_title = "semantic-search"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def _add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """The lists of pages, which on the first page of the site only the site shows."""
    if page == root_doc:
        trees = []
        for title, names in NAVIGATION.items():
            lines = [f"{NAMES[name]} </{name}>" if name in NAMES else f"/{name}" for name in names]
            head = ["```{toctree}", ":hidden:", f":caption: {title}", ""]
            trees.append("\n".join([*head, *lines, "```"]))
        source[0] += "\n\n" + "\n\n".join(trees) + "\n"


def _add_entrance(app: Sphinx, error: Exception | None) -> None:
    """`index.html`, which a server shows first, leads to the first page."""
    if error is None:
        Path(app.outdir, "index.html").write_text(
            f'<!doctype html><meta charset="utf-8"><title>{project}</title>'
            f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
            f'<a href="{root_doc}.html">{project}</a>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _add_entrance)
