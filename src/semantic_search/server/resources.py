"""Folders and indexed files as resources, confined as `cat_file` is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource, ResourceTemplate

from ..errors import FolderError, SemanticSearchError
from ..folders import Folder
from ..output import harmless, one_line, shown, valid
from ..tools.cat import cat
from ..tools.documents import listed_files
from ..tools.scope import served_folders
from .replies import BYTES_A_TOKEN, MOST_TOKENS, prefix_that_fits, sentence
from .workspace import Workspace

SCHEME = "semantic-search"


class FileResources:
    """`semantic-search://folder/NAME` lists a folder's files, `semantic-search://file/NAME/PATH` is one of
    them; parts are percent-encoded. `file:///PATH` is understood as well."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def folders(self) -> list[Resource]:
        """A resource for each folder."""
        with self._workspace.corpus() as corpus:
            found = served_folders(corpus)
        return [
            Resource(
                uri=f"{SCHEME}://folder/{_quoted(folder.name, safe='')}",
                name=one_line(shown(folder.name)),
                description=f"The files of {one_line(shown(folder.path))}, a path a line",
                mime_type="text/plain",
            )
            for folder in found
        ]

    def templates(self) -> list[ResourceTemplate]:
        """The form of a file's URI."""
        return [
            ResourceTemplate(
                uri_template=f"{SCHEME}://file/{{folder}}/{{+path}}",
                name="file",
                description="The text of an indexed file by its folder's name and its path in that folder",
                mime_type="text/plain",
            )
        ]

    def read(self, uri: str) -> Iterable[ReadResourceContents]:
        """The text behind a URI. Raises ResourceNotFoundError for all that is not served, ResourceError."""
        try:
            text = self._text(uri)
        except FolderError as error:
            raise ResourceNotFoundError(sentence(error)) from error
        except SemanticSearchError as error:
            raise ResourceError(sentence(error)) from error
        fits = prefix_that_fits(text, MOST_TOKENS * BYTES_A_TOKEN)
        if len(fits) < len(text):
            fits += f"\n… (cut after {fits.count(chr(10)) + 1} lines; cat_file shows the others)"
        return [ReadResourceContents(content=valid(fits), mime_type="text/plain")]

    def _text(self, uri: str) -> str:
        parts = urlsplit(uri)
        path = os.fsdecode(unquote_to_bytes(parts.path))
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            return self._file(path)
        if parts.scheme == SCHEME and parts.netloc == "folder":
            return self._listing(self._folder(uri, path.removeprefix("/")))
        if parts.scheme == SCHEME and parts.netloc == "file":
            # The name is quoted whole, so that the first slash ends it although names may hold some.
            name, _, inside = parts.path.removeprefix("/").partition("/")
            folder = self._folder(uri, os.fsdecode(unquote_to_bytes(name)))
            return self._file(os.path.join(folder.path, os.fsdecode(unquote_to_bytes(inside))))
        raise FolderError(f"{uri}: no such resource; resources/list names the folders")

    def _folder(self, uri: str, name: str) -> Folder:
        with self._workspace.corpus() as corpus:
            for folder in served_folders(corpus):
                if folder.name == name:
                    return folder
        raise FolderError(f"{uri}: no such folder; resources/list names the folders")

    def _file(self, path: str) -> str:
        with self._workspace.corpus() as corpus:
            return harmless(cat(corpus, path).text)

    def _listing(self, folder: Folder) -> str:
        with self._workspace.corpus() as corpus:
            return "\n".join(one_line(shown(path)) for path in listed_files(corpus, folder.path))


def _quoted(text: str, *, safe: str) -> str:
    return quote_from_bytes(os.fsencode(text), safe=safe)
