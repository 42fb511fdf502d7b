"""The verbs as an agent calls them: plain arguments in, text within a budget out. No protocol in here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..corpus import Corpus
from ..errors import FolderError, IndexBusy, NoIndex, QueryError
from ..output import harmless, one_line, shown
from ..tools.cat import cat
from ..tools.gather import gather, to_markdown
from ..tools.grep import Search, grep
from ..tools.index import Request
from ..tools.related import related
from ..tools.scope import folders_in, resolve_filter, resolve_scopes, served_folders
from ..tools.search import Answer, Question, search
from ..tools.status import lock_held, status
from ..wire import dumps, hits_json, status_json
from .jobs import Job, Jobs
from .replies import (
    BYTES_A_TOKEN,
    budget,
    globs,
    hits_that_fit,
    lines_that_fit,
    listed,
    prefix_that_fits,
    wire_size,
)
from .workspace import Workspace

# Seconds: for a grep, and for the first index when a search comes before it.
GREP_SECONDS = 8.0
FIRST_INDEX_SECONDS = 15.0
MOST_LINES = 1000
MOST_FILE_LINES = 10**9

NO_FOLDER = (
    "no folder is served: ask the user to run `semantic-search add PATH`, "
    "or to start this server with --root PATH"
)

Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool found, and what the reader should know beside it (may be empty)."""

    text: str
    notes: tuple[str, ...] = ()


class Verbs:
    """Every tool but `index`, which is a job. Each call comes from a thread of its own."""

    def __init__(self, workspace: Workspace, jobs: Jobs) -> None:
        self._workspace, self._jobs = workspace, jobs

    # Search

    def search(
        self, query: str, k: int, folder: str, glob: str, language: str, tag: str, max_tokens: int, stop: Stop
    ) -> Reply:
        """The JSON array of hits, as `search --json` prints it."""
        room = budget(max_tokens)
        with self._workspace.searching(), self._workspace.corpus() as corpus:
            question = self._question(corpus, query, k, folder, glob, language, tag, stop)
            answer = search(corpus, question)
        return self._hits(answer, room)

    def find_related(self, path: str, line: int, k: int, folder: str, max_tokens: int, stop: Stop) -> Reply:
        """The passages like the one at a line of a file, in other files, as the JSON array of `search`."""
        room = budget(max_tokens)
        with self._workspace.searching(), self._workspace.corpus() as corpus:
            question = self._question(corpus, "", k, folder, "", "", "", stop)
            answer = related(corpus, path, line, question.k, folders=question.folders, look=question.refresh)
        return self._hits(answer, room)

    def _hits(self, answer: Answer, room: int) -> Reply:
        text, left_out = hits_that_fit(hits_json(answer.hits), room, dumps)
        notes = self._notes(answer)
        if left_out:
            notes.append(
                f"{left_out} more results were left out to keep the reply short: "
                "narrow with folder or glob, raise maxTokens, or use gather"
            )
        return Reply(text, tuple(notes))

    def gather(
        self,
        query: str,
        k: int,
        context_lines: int,
        folder: str,
        glob: str,
        language: str,
        tag: str,
        max_tokens: int,
        stop: Stop,
    ) -> Reply:
        """One Markdown block with a heading for each passage."""
        room = budget(max_tokens)
        with self._workspace.searching(), self._workspace.corpus() as corpus:
            question = self._question(corpus, query, k, folder, glob, language, tag, stop)
            tokens = room // BYTES_A_TOKEN
            while True:
                found = gather(corpus, question, context_lines=context_lines, max_tokens=tokens)
                text = to_markdown(found)
                over = wire_size(text) - room
                if over <= 0 or tokens <= 32:
                    break
                # Line ends and quotes take two bytes on the wire.
                tokens = max(32, tokens - over // BYTES_A_TOKEN - 32)
                question = replace(question, refresh=False)
        notes = tuple(self._notes(found.answer))
        if not found.spans:
            return Reply("nothing found", notes)
        return Reply(prefix_that_fits(text, room + 2000), notes)

    def _question(
        self, corpus: Corpus, query: str, k: int, folder: str, glob: str, language: str, tag: str, stop: Stop
    ) -> Question:
        _require_folders(corpus)
        if k < 0:
            raise QueryError("k must be at least 1, or 0 for the default")
        question = Question(
            query,
            min(k or corpus.settings.top_k, 1000),
            (folder,) if folder else None,
            globs(glob),
            listed(language),
            listed(tag),
        )
        self._index_first(corpus, question, stop)
        wanted = resolve_filter(corpus, question.folders, (), ())
        reached = [found.path for found in folders_in(corpus, wanted)]
        # An index run of ours reads what changed anyway, and holds the index while it does.
        job = self._jobs.running
        reading = job is not None and job.progress.phase in ("reading", "waiting")
        return replace(question, refresh=not reading and self._workspace.worth_a_look(reached))

    def _index_first(self, corpus: Corpus, question: Question, stop: Stop) -> None:
        """Has what is served indexed, as far as a moment allows, when it never was. Raises NoIndex."""
        if not corpus.settings.refresh or not self._missing(corpus, question):
            return
        job = self._first_job(corpus)
        if job is not None:
            _await(job, FIRST_INDEX_SECONDS, stop)
        try:
            corpus.reading()
        except NoIndex as error:
            trouble = job.error if job is not None and job.finished.is_set() else ""
            state = (
                f"the first index is being made ({job.progress.message})" if job is not None else str(error)
            )
            raise NoIndex(trouble or f"{state}; ask again in a moment, or call index_status") from error

    def _missing(self, corpus: Corpus, question: Question) -> bool:
        try:
            indexed = set(corpus.reading()[0].folders())
        except NoIndex:
            return True
        wanted = resolve_filter(corpus, question.folders, (), ())
        return any(folder.path not in indexed and not folder.missing for folder in folders_in(corpus, wanted))

    def _first_job(self, corpus: Corpus) -> Job | None:
        running = self._jobs.running
        if running is not None:
            return running
        last = self._jobs.current
        if last is not None and last.request.path is None and not last.request.force:
            return None  # it was tried: what is missing is missing for a reason
        try:
            return self._jobs.start(lambda: Request(threads=corpus.settings.threads))
        except (QueryError, IndexBusy):
            return self._jobs.running

    def _notes(self, answer: Answer) -> list[str]:
        notes = list(answer.notes)
        if answer.pending:
            notes.append(f"{answer.pending} passages have no vector yet and are found by their words only")
        if not answer.hits:
            notes.append(
                "nothing found: try other words, a wider folder or glob, or grep for an exact string"
            )
        job = self._jobs.running
        if job is not None and job.progress.phase == "reading":
            notes.append(f"an index run is under way ({job.progress.message}): newer files may be missing")
        return notes

    # Files

    def list_folders(self) -> Reply:
        """A line for each folder: name and absolute path."""
        with self._workspace.corpus() as corpus:
            folders = served_folders(corpus)
        if not folders:
            return Reply(NO_FOLDER)
        return Reply(
            "\n".join(
                f"{one_line(shown(folder.name))}  ·  {one_line(shown(folder.path))}"
                + ("  ·  missing on disk" if folder.missing else "")
                for folder in folders
            )
        )

    def cat_file(self, path: str, start: int, end: int) -> Reply:
        """Lines of a file, cut to the budget at a line end."""
        room = budget(0)
        if start < 0 or end < 0 or max(start, end) > MOST_FILE_LINES:
            raise QueryError("startLine and endLine count from 1; leave endLine out for the end of the file")
        with self._workspace.corpus() as corpus:
            _require_folders(corpus)
            excerpt = cat(corpus, path, start or 1, end or None)
        text = harmless(excerpt.text)
        fits = prefix_that_fits(text, room)
        whole = f"the file has {excerpt.lines} lines"
        if len(fits) == len(text):
            partial = excerpt.first_line > 1 or excerpt.last_line < excerpt.lines
            return Reply(
                text, (f"lines {excerpt.first_line}-{excerpt.last_line}; {whole}",) if partial else ()
            )
        last = excerpt.first_line + fits.count("\n")
        if text[len(fits)] != "\n":
            return Reply(fits, (f"cut within line {last}, which is very long; {whole}",))
        return Reply(
            fits,
            (f"cut after line {last} to keep the reply short; {whole}: go on with startLine={last + 1}",),
        )

    def grep(
        self,
        pattern: str,
        folder: str,
        glob: str,
        case_sensitive: bool,
        literal: bool,
        most: int,
        stop: Stop,
    ) -> Reply:
        """A line for each match: `name  ·  path:line  text`."""
        if not 1 <= most <= MOST_LINES:
            raise QueryError(f"maxResults must be from 1 to {MOST_LINES}")
        end = time.monotonic() + GREP_SECONDS
        with self._workspace.searching(), self._workspace.corpus() as corpus:
            _require_folders(corpus)
            wanted = Search(
                pattern, (folder,) if folder else None, globs(glob), case_sensitive, literal, most
            )
            found = grep(corpus, wanted, lambda: stop() or time.monotonic() > end)
        lines = [
            f"{one_line(shown(line.folder_name))}  ·  {one_line(shown(line.source.path))}:{line.number}  "
            f"{one_line(line.text.strip())}"
            for line in found.lines
        ]
        fitting = lines_that_fit(lines, budget(0))
        notes = found.notes[:10]
        if fitting < len(lines) or found.more:
            notes.append(
                f"there are more matches than these {fitting}: narrow with folder, fileGlob or a longer "
                f"pattern, or raise maxResults (at most {MOST_LINES})"
            )
        return Reply("\n".join(lines[:fitting]) or "no match", tuple(notes))

    # The index

    def request(self, root: str, force: bool, max_files: int, concurrency: int) -> Request:
        """What an `index` call asks for. Raises FolderError, QueryError."""
        if max_files < 0 or not 0 <= concurrency <= 256:
            raise QueryError("maxFiles must be 0 (no limit) or more, concurrency from 0 (one a core) to 256")
        with self._workspace.corpus() as corpus:
            _require_folders(corpus)
            if root:
                resolve_scopes(corpus, root)
            return Request(root or None, force, max_files or None, concurrency or corpus.settings.threads)

    def index_status(self) -> Reply:
        """The state of the index and of the run under way, as JSON."""
        with self._workspace.corpus() as corpus:
            job = self._jobs.current
            held = self._jobs.running is not None or lock_held(corpus)
            shape = status_json(status(corpus), indexing=held, with_skipped=False)
        shape["job"] = None if job is None else job.state()
        return Reply(dumps(shape))


def _require_folders(corpus: Corpus) -> None:
    if not served_folders(corpus):
        raise FolderError(NO_FOLDER)


def _await(job: Job, seconds: float, stop: Stop) -> None:
    end = time.monotonic() + seconds
    while not job.searchable.wait(0.1) and time.monotonic() < end and not stop():
        pass
