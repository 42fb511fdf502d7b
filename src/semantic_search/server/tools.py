"""The tools as the protocol shows them: names, parameters with what they mean, and hints."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from . import descriptions
from .app import Server
from .replies import DEFAULT_TOKENS, MOST_TOKENS
from .verbs import MOST_LINES

_READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Query = Annotated[str, Field(description="What to look for, in words or as an identifier, in any language.")]
Count = Annotated[int, Field(description="How many passages; 0: the configured number, 5.")]
Folder = Annotated[str, Field(description="Only this folder: its name, or a path in it. Empty: all.")]
Glob = Annotated[
    str,
    Field(
        description="Only files like this, e.g. src/**/*.{ts,tsx}; !GLOB excludes; commas between several."
    ),
]
Tag = Annotated[str, Field(description="Only notes with this tag; commas between several.")]
Language = Annotated[str, Field(description="Only this language, e.g. python; commas between several.")]
FilePath = Annotated[
    str, Field(description="Absolute, relative to a folder, or beginning with a folder's name.")
]
Tokens = Annotated[
    int, Field(description=f"Size of the reply in tokens, at most {MOST_TOKENS}; 0: {DEFAULT_TOKENS}.")
]


def register(server: Server) -> None:
    """Gives the server its tools."""
    _register_search(server)
    _register_files(server)
    _register_index(server)


def _register_search(server: Server) -> None:
    verbs = server.verbs

    async def search(
        query: Query,
        k: Count = 0,
        folder: Folder = "",
        glob: Glob = "",
        language: Language = "",
        tag: Tag = "",
        maxTokens: Tokens = 0,  # noqa: N803 - the name in the protocol
    ) -> CallToolResult:
        return await server.work(
            lambda stop: verbs.search(query, k, folder, glob, language, tag, maxTokens, stop)
        )

    async def gather(
        query: Query,
        k: Count = 0,
        contextLines: Annotated[int, Field(description="Lines around each passage, at most 500.")] = 0,  # noqa: N803
        folder: Folder = "",
        glob: Glob = "",
        language: Language = "",
        tag: Tag = "",
        maxTokens: Tokens = 0,  # noqa: N803
    ) -> CallToolResult:
        return await server.work(
            lambda stop: verbs.gather(query, k, contextLines, folder, glob, language, tag, maxTokens, stop)
        )

    async def find_related(
        filePath: FilePath,  # noqa: N803
        line: Annotated[int, Field(description="A line of the passage, from 1.")],
        k: Count = 0,
        folder: Folder = "",
        maxTokens: Tokens = 0,  # noqa: N803
    ) -> CallToolResult:
        return await server.work(lambda stop: verbs.find_related(filePath, line, k, folder, maxTokens, stop))

    _add(server, search, "Search", descriptions.SEARCH)
    _add(server, gather, "Gather passages", descriptions.GATHER)
    _add(server, find_related, "Find related passages", descriptions.FIND_RELATED)


def _register_files(server: Server) -> None:
    verbs = server.verbs

    async def list_folders() -> CallToolResult:
        return await server.work(lambda _: verbs.list_folders())

    async def cat_file(
        filePath: FilePath,  # noqa: N803
        startLine: Annotated[int, Field(description="First line, from 1.")] = 1,  # noqa: N803
        endLine: Annotated[int, Field(description="Last line; 0: the end of the file.")] = 0,  # noqa: N803
    ) -> CallToolResult:
        return await server.work(lambda _: verbs.cat_file(filePath, startLine, endLine))

    async def grep(
        pattern: Annotated[str, Field(description="A regular expression (RE2), matched within lines.")],
        folder: Folder = "",
        fileGlob: Glob = "",  # noqa: N803
        caseSensitive: Annotated[bool, Field(description="Tell upper from lower case.")] = False,  # noqa: N803
        maxResults: Annotated[int, Field(description=f"How many lines, at most {MOST_LINES}.")] = 50,  # noqa: N803
        literal: Annotated[bool, Field(description="Take the pattern as an exact string.")] = False,
    ) -> CallToolResult:
        return await server.work(
            lambda stop: verbs.grep(pattern, folder, fileGlob, caseSensitive, literal, maxResults, stop)
        )

    _add(server, list_folders, "List folders", descriptions.LIST_FOLDERS)
    _add(server, cat_file, "Show a file", descriptions.CAT_FILE)
    _add(server, grep, "Find a pattern", descriptions.GREP)


def _register_index(server: Server) -> None:
    verbs = server.verbs

    async def index(
        context: Context[None],
        root: Annotated[str, Field(description="One folder, or a path in it. Empty: all folders.")] = "",
        force: Annotated[bool, Field(description="Read every file again.")] = False,
        maxFiles: Annotated[int, Field(description="Stop after so many new files; 0: no limit.")] = 0,  # noqa: N803
        concurrency: Annotated[int, Field(description="Threads; 0: one a core.")] = 0,
    ) -> CallToolResult:
        return await server.index(lambda: verbs.request(root, force, maxFiles, concurrency), context)

    async def index_status() -> CallToolResult:
        return await server.work(lambda _: verbs.index_status())

    _add(server, index, "Update the index", descriptions.INDEX, _WRITES)
    _add(server, index_status, "State of the index", descriptions.INDEX_STATUS)


def _add(
    server: Server, function: object, title: str, description: str, hints: ToolAnnotations = _READ_ONLY
) -> None:
    assert callable(function)
    server.add_tool(
        function, title=title, description=description, annotations=hints, structured_output=False
    )
