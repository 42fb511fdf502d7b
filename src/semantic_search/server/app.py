"""The server: the tools and the folders' files as resources, over the official SDK."""

from __future__ import annotations

import traceback
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, Resource, ResourceTemplate, TextContent
from pydantic import AnyUrl, ValidationError

from .. import __version__
from ..errors import SemanticSearchError, unforeseen
from ..output import valid
from ..wire import dumps
from .background import Background
from .descriptions import INSTRUCTIONS
from .jobs import Job, Jobs
from .lifecycle import Lifecycle
from .replies import sentence
from .resources import FileResources
from .streams import tell
from .verbs import Reply, Stop, Verbs
from .workspace import Workspace

if TYPE_CHECKING:
    from ..tools.index import Request

# How many calls work at a time; others wait their turn and can be cancelled meanwhile.
WORKERS = 8
# Seconds after which a call of `index` comes back while the run goes on, and between two looks at it.
INDEX_SECONDS = 20.0
_LOOK = 0.1
_PROGRESS = 0.5


class Server(MCPServer[None]):
    """The SDK's server with our errors, and with resources that come and go with the config."""

    def __init__(
        self, workspace: Workspace, life: Lifecycle, *, index_seconds: float = INDEX_SECONDS
    ) -> None:
        self.workspace, self.life = workspace, life
        self.jobs = Jobs(workspace, life)
        self.verbs = Verbs(workspace, self.jobs)
        self._files = FileResources(workspace)
        self._index_seconds = index_seconds
        self._limiter: anyio.CapacityLimiter | None = None
        self._asked = anyio.Event()
        super().__init__(
            "semantic-search",
            title="Semantic search",
            version=__version__,
            instructions=INSTRUCTIONS,
            log_level="ERROR",
            lifespan=_prepare,
        )

    async def list_tools(self) -> list[Any]:
        """See `MCPServer`. The handshake is over with it: what is heavy may load now."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = plain(tool.input_schema)
        self._asked.set()
        return tools

    async def prepare(self) -> None:
        """Loads the model and the index in the background, once the client has what it needs to begin."""
        with anyio.move_on_after(2):
            await self._asked.wait()
        Background(self.workspace, self.jobs, self.life).start()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """See `MCPServer`. Arguments that do not fit come back as one sentence."""
        # Agents send null for what they leave out.
        given = {key: value for key, value in arguments.items() if value is not None}
        try:
            return await super().call_tool(name, given, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return failure(f"{name}: {_misfits(error.__cause__)}")
            return failure(sentence(error))

    async def work(self, verb: Callable[[Stop], Reply]) -> CallToolResult:
        """Runs a verb in a thread and wraps up what it found. Cancellation asks the verb to stop."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(WORKERS)
        cancelled = False

        def stop() -> bool:
            return cancelled

        try:
            reply = await anyio.to_thread.run_sync(
                lambda: _guarded(lambda: verb(stop)), abandon_on_cancel=True, limiter=self._limiter
            )
        finally:
            cancelled = True
        return reply if isinstance(reply, CallToolResult) else success(reply)

    async def index(self, make: Callable[[], Request], context: Context[None, Any]) -> CallToolResult:
        """Starts an index run, or joins the one of the same request, and tells of it for a while."""
        begun: list[Job] = []

        def start(_: Stop) -> Reply:
            begun.append(self.jobs.start(make))
            return Reply("")

        refusal = await self.work(start)
        if not begun:
            return refusal
        job = begun[0]
        job.waiters += 1
        try:
            await self._tell_of(job, context)
        except anyio.get_cancelled_exc_class():
            if job.waiters == 1:
                job.cancel()
            raise
        finally:
            job.waiters -= 1
        state = job.state()
        if job.error:
            return failure(job.error)
        if state["running"]:
            state["note"] = "goes on in the background; searches answer from what is there; see index_status"
        return success(Reply(dumps(state)))

    async def _tell_of(self, job: Job, context: Context[None, Any]) -> None:
        told = -1
        since = _PROGRESS
        with anyio.move_on_after(self._index_seconds):
            while not job.finished.is_set():
                if since >= _PROGRESS and job.progress.done > told:
                    told, since = job.progress.done, 0.0
                    await context.report_progress(told, job.progress.total or None, job.progress.message)
                await anyio.sleep(_LOOK)
                since += _LOOK
        if job.finished.is_set() and job.progress.done > told:
            await context.report_progress(job.progress.done, job.progress.total, job.progress.message)

    # Resources

    async def list_resources(self) -> list[Resource]:
        """See `MCPServer`."""
        return await anyio.to_thread.run_sync(self._files.folders)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """See `MCPServer`."""
        return self._files.templates()

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """See `MCPServer`."""
        return await anyio.to_thread.run_sync(self._files.read, str(uri), abandon_on_cancel=True)


@asynccontextmanager
async def _prepare(server: MCPServer[None]) -> AsyncIterator[None]:
    assert isinstance(server, Server)
    async with anyio.create_task_group() as group:
        group.start_soon(server.prepare)
        yield
        group.cancel_scope.cancel()


def _guarded(verb: Callable[[], Reply]) -> Reply | CallToolResult:
    try:
        return verb()
    except SemanticSearchError as error:
        return failure(sentence(error))
    except unforeseen():  # the boundary: an agent gets a sentence, the owner the traceback
        number = uuid.uuid4().hex[:8]
        tell(f"fault {number}\n{traceback.format_exc()}")
        return failure(
            f"a fault of the server, number {number}: its stderr has the details; please report it"
        )


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that pydantic makes of names: they tell an agent nothing."""
    properties = {
        name: {key: value for key, value in facts.items() if key != "title"}
        for name, facts in schema.get("properties", {}).items()
    }
    return {key: value for key, value in schema.items() if key != "title"} | {"properties": properties}


def success(reply: Reply) -> CallToolResult:
    """A reply as blocks of text: what was found, then the notes, so that the first can be parsed alone."""
    blocks = [reply.text, *(["\n".join(reply.notes)] if reply.notes else [])]
    return CallToolResult(content=[TextContent(type="text", text=valid(text)) for text in blocks])


def failure(text: str) -> CallToolResult:
    """An error as an agent reads it."""
    return CallToolResult(content=[TextContent(type="text", text=valid(text))], is_error=True)


def _misfits(error: ValidationError) -> str:
    parts = []
    for fault in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in fault["loc"])
        parts.append(f"{name}: {fault['msg'].lower()}")
    return "; ".join(parts)


Work = Callable[[Callable[[Stop], Reply]], Awaitable[CallToolResult]]
