"""Local, offline semantic search over your own files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import index, open_corpus, search

__version__ = "0.1.0"
__all__ = ["__version__", "index", "open_corpus", "search"]


def __getattr__(name: str) -> Any:
    # Looked up when first used: the command line imports this package and nothing else of it.
    if name in ("index", "open_corpus", "search"):
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
