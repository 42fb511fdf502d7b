"""What the user decides about listing."""

from __future__ import annotations

from dataclasses import dataclass, fields

_NEVER_WALKED = """
node_modules bower_components jspm_packages .pnpm-store .yarn .npm dist build out coverage htmlcov
vendor target obj DerivedData .gradle .mvn _build .next .nuxt .output .svelte-kit .astro .angular .turbo
.parcel-cache .vercel .netlify .serverless .docusaurus __pycache__ .venv venv virtualenv .tox .nox .eggs
*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .ipynb_checkpoints site-packages .hg .svn
.bzr _darcs .jj CVS .idea .vs .vscode-test .terraform .terragrunt-cache .bundle Pods Carthage .dart_tool
.stack-work .cabal-sandbox elm-stuff deps/_build zig-cache .zig-cache .cache .Trash .Trashes
.Spotlight-V100 .fseventsd .TemporaryItems $RECYCLE.BIN lost+found .local/share/Trash
"""
WALK_IGNORE = tuple(f"{name}/" for name in _NEVER_WALKED.split())


@dataclass(frozen=True, slots=True, repr=False)
class ListingRules:
    """What a folder's listing leaves out. Sizes are bytes, times seconds.

    `document_extensions` (`.pdf`) are files with a format of their own: they are held to
    `max_document_bytes` and never taken for binary. `ignore_patterns` are lines of gitignore syntax relative
    to the folder, in force everywhere; `walk_ignore` the same for what no git repository covers, and a
    directory that is itself a repository is exempt from it. `binary_extensions` add to the built-in ones.
    `config_directory` may hold an `.indexignore` for all folders. `excluded` are absolute paths, files or
    directories; those that are not below the folder have no effect. `git_timeout` is for each call of git.
    With `ocr_languages` (tesseract's codes) scanned pages are recognised, for `ocr_seconds` a document.
    """

    max_file_bytes: int = 500_000
    max_document_bytes: int = 50_000_000
    document_extensions: frozenset[str] = frozenset((".pdf", ".docx"))
    ignore_patterns: tuple[str, ...] = ()
    walk_ignore: tuple[str, ...] = WALK_IGNORE
    binary_extensions: frozenset[str] = frozenset()
    index_secrets: bool = False
    ocr_languages: tuple[str, ...] = ()
    ocr_seconds: int = 50
    config_directory: str | None = None
    excluded: tuple[str, ...] = ()
    git_timeout: float = 60.0

    def limit(self, extension: str) -> int:
        """The size limit for a lower-cased extension with its dot."""
        return self.max_document_bytes if extension in self.document_extensions else self.max_file_bytes

    def __repr__(self) -> str:
        """The same in every process for the same rules: sets are shown sorted, whatever their hashes are."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        shown = (f"{k}={sorted(v) if isinstance(v, frozenset) else v!r}" for k, v in values)
        return f"ListingRules({', '.join(shown)})"
