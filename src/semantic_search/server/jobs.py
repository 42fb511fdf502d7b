"""Index runs in the background of the server: one at a time, told of, and stopped with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from ..corpus import Corpus
from ..embedding import sentence_of
from ..errors import ModelUnavailable, NoIndex, QueryError, SemanticSearchError, unforeseen
from ..folders import Folder
from ..runs import FolderReport, Step
from ..tools.index import Request, Run, Watcher, index
from ..wire import Json, run_json
from .background import embed_what_waits
from .lifecycle import Lifecycle
from .replies import sentence
from .streams import tell
from .workspace import Workspace


@dataclass(slots=True)
class Progress:
    """How far a run is. `total` grows while folders are listed, and again when vectors are counted."""

    phase: str = "waiting"
    folder: str = ""
    files: int = 0
    files_total: int = 0
    vectors: int = 0
    vectors_total: int = 0

    @property
    def done(self) -> int:
        """Steps taken: files and vectors."""
        return self.files + self.vectors

    @property
    def total(self) -> int:
        """Steps there are, as far as is known."""
        return self.files_total + self.vectors_total

    @property
    def message(self) -> str:
        """In words."""
        if self.phase == "embedding":
            return f"{self.vectors} of {self.vectors_total} vectors; every file can be searched by words"
        if self.phase == "reading":
            return f"{self.folder}: {self.files} of {self.files_total} files"
        return self.phase


class Job(Watcher):
    """An index run in a thread of its own."""

    def __init__(self, request: Request, workspace: Workspace, life: Lifecycle) -> None:
        self.request = request
        self.progress = Progress()
        self.searchable = threading.Event()
        self.finished = threading.Event()
        self._workspace, self._life = workspace, life
        self._cancelled = threading.Event()
        self._before = 0
        self.run: Run | None = None
        self.error = ""
        self.waiters = 0

    def start(self) -> None:
        """Begins."""
        self._life.spawn("mcp-index", self._work)

    def cancel(self) -> None:
        """Asks the run to stop; what was committed stays."""
        self._cancelled.set()

    def stopping(self) -> bool:
        """Whether the run is to stop."""
        return self._cancelled.is_set() or self._life.stopping()

    def _work(self) -> None:
        try:
            with self._workspace.corpus() as corpus:
                self._index(corpus)
        except SemanticSearchError as error:
            self.error = sentence(error)
        except unforeseen() as error:  # a thread has nobody to raise to
            self.error = f"a fault of ours: {type(error).__name__}: {sentence(error)}"
            tell(f"index: {self.error}")
        finally:
            self.progress.phase = "failed" if self.error else "stopped" if self.stopping() else "done"
            self.searchable.set()
            self.finished.set()

    def _index(self, corpus: Corpus) -> None:
        request = self.request
        in_place = _in_place(corpus)
        # In place, vectors follow in spans that let others write; an index that is to take another's place is
        # finished in one go.
        text = Request(request.path, request.force, request.max_files, request.threads, embed=not in_place)
        self.run = index(corpus, text, self, self.stopping)
        self.searchable.set()
        if in_place and not self.run.interrupted:
            try:
                self.run.vectors = embed_what_waits(
                    corpus,
                    self._life,
                    self._workspace,
                    self.embedding,
                    self.stopping,
                    threads=request.threads,
                    left_out=self.run.left_out,
                )
                self.run.notes += filter(None, [sentence_of(self.run.left_out)])
            except ModelUnavailable as error:
                # Without a model the run is over, and what was read found by its words.
                if not any(str(error) in note for note in self.run.notes):
                    self.run.notes.append(f"no vectors for now: {error}")
            self.run.pending = corpus.reading()[0].pending_count()
            self.run.interrupted = self.stopping()

    # What is told during a run

    def folder_starts(self, number: int, total: int, folder: Folder) -> None:
        """See `Watcher`."""
        self.progress.phase, self.progress.folder = "reading", folder.name
        self._before = self.progress.files

    def step(self, step: Step) -> None:
        """See `Watcher`."""
        self.progress.files_total = max(self.progress.files_total, self._before + step.total)
        self.progress.files = self._before + step.done

    def folder_ends(self, report: FolderReport) -> None:
        """See `Watcher`."""
        if report.error:
            tell(f"{report.name}: {report.error}")

    def embedding(self, done: int, total: int) -> None:
        """See `Watcher`."""
        self.searchable.set()
        if total:
            self.progress.phase = "embedding"
            self.progress.vectors, self.progress.vectors_total = done, max(total, done)

    def state(self) -> Json:
        """The run as JSON: the summary once it is over, how far it is before."""
        if self.finished.is_set():
            if self.run is None:
                return {"running": False, "error": self.error}
            return {**run_json(self.run), "running": False, **({"error": self.error} if self.error else {})}
        p = self.progress
        return {
            "running": True,
            "phase": p.phase,
            "folder": p.folder,
            "files": p.files,
            "filesTotal": p.files_total,
            "vectors": p.vectors,
            "vectorsTotal": p.vectors_total,
        }


def _in_place(corpus: Corpus) -> bool:
    try:
        return corpus.reading()[1]
    except NoIndex:
        return True


class Jobs:
    """The index runs of a server, of which one is under way at most."""

    def __init__(self, workspace: Workspace, life: Lifecycle) -> None:
        self._workspace, self._life = workspace, life
        self._lock = threading.Lock()
        self.current: Job | None = None

    def start(self, make: Callable[[], Request]) -> Job:
        """A run of a request: a new one, or the one under way when it is of the same request.

        Raises QueryError while another run is under way.
        """
        request = make()
        with self._lock:
            if self.current is not None and not self.current.finished.is_set():
                if self.current.request == request:
                    return self.current
                raise QueryError(
                    f"another index run is under way ({self.current.progress.message}); "
                    "ask index_status, and call index again when it is over"
                )
            self.current = Job(request, self._workspace, self._life)
            self.current.start()
            return self.current

    @property
    def running(self) -> Job | None:
        """The run under way."""
        job = self.current
        return None if job is None or job.finished.is_set() else job
