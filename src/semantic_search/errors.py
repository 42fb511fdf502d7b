"""The error tree. Every message names the cause and the next step.

SemanticSearchError
├── SettingsError        a config file or environment value that cannot be used
├── FolderError          a folder that is missing, refused or not ours
│   └── ListingError     a folder whose files cannot be listed safely (git failed)
├── QueryError           a query or pattern that cannot be used
├── ModelUnavailable     no weights, damaged weights, or no way to fetch them
└── StoreError           an index that cannot be opened or written
    ├── IndexBusy        another process is writing and did not finish in time
    ├── IndexReplaced    another process replaced what was being read; it can be asked again
    └── NoIndex          nothing has been indexed yet
"""

from __future__ import annotations


class SemanticSearchError(Exception):
    """Base of every error that is told to the user in one line."""


class SettingsError(SemanticSearchError):
    """A config file or an environment value that cannot be used."""


class FolderError(SemanticSearchError):
    """A folder, or a path in one, that is missing, refused or not ours."""


class ListingError(FolderError):
    """A folder whose files cannot be listed safely."""


class QueryError(SemanticSearchError):
    """A query or pattern that cannot be used."""


class ModelUnavailable(SemanticSearchError):
    """No weights, damaged weights, or no way to fetch them."""


class StoreError(SemanticSearchError):
    """An index that cannot be opened or written."""


class IndexBusy(StoreError):
    """Another process is writing the index and did not finish in time."""


class IndexReplaced(StoreError):
    """Another process replaced what was being read; it can be asked again."""


class NoIndex(StoreError):
    """Nothing has been indexed yet."""
