"""Local, offline semantic search over your own files."""

__version__ = "0.1.0"
