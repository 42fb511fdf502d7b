"""What the server does while nobody asks: load the model and the index, and make the vectors that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..corpus import Corpus
from ..embedding import LeftOut, fill_vectors, sentence_of
from ..errors import IndexBusy, NoIndex, SemanticSearchError, unforeseen
from .lifecycle import Lifecycle
from .replies import sentence
from .streams import tell
from .workspace import Workspace

if TYPE_CHECKING:
    from .jobs import Jobs

# Seconds: for how long the index is held at a time, left to others in between, and looked at while idle.
SPAN = 1.0
PAUSE = 0.1
IDLE = 15.0
# A client that never stops asking must not keep vectors from being made for ever.
_MOST_YIELDING = 5.0


def embed_what_waits(
    corpus: Corpus,
    life: Lifecycle,
    workspace: Workspace,
    on_progress: Callable[[int, int], None],
    stop: Callable[[], bool],
    *,
    threads: int,
    left_out: LeftOut,
) -> int:
    """Makes vectors until none waits or `stop` says so; returns how many.

    The index is held for a moment at a time, so that other processes write in between, and searches go first.
    Texts that the model fails at go to `left_out` and on waiting. Raises StoreError, ModelUnavailable.
    """
    embedder = corpus.embedder
    done, left = 0, corpus.reading()[0].pending_count()
    total = left
    on_progress(0, total)
    while left > len(left_out) and not stop():
        _give_way(life, workspace)
        try:
            with corpus.writing(wait=SPAN, stop=stop) as store:
                done += fill_vectors(
                    store,
                    embedder,
                    threads=threads,
                    stop=lambda: stop() or workspace.busy(),
                    seconds=SPAN,
                    left_out=left_out,
                )
                left = store.pending_count()
            on_progress(done, max(total, done + left))
        except IndexBusy:
            left = corpus.reading()[0].pending_count()
        life.wait(PAUSE)
    return done


def _give_way(life: Lifecycle, workspace: Workspace) -> None:
    for _ in range(int(_MOST_YIELDING / PAUSE)):
        if not workspace.busy() or life.wait(PAUSE):
            return


class Background:
    """A thread that prepares for the first search and then embeds what waits, with half of the cores."""

    def __init__(self, workspace: Workspace, jobs: Jobs, life: Lifecycle) -> None:
        self._workspace, self._jobs, self._life = workspace, jobs, life
        self._told = ""
        self._left_out: LeftOut = {}

    def start(self) -> None:
        """Begins."""
        self._life.spawn("mcp-background", self._work)

    def _work(self) -> None:
        self._guarded(self._warm_up)
        while not self._life.wait(PAUSE):
            if self._jobs.running is None and not self._workspace.busy():
                self._guarded(self._embed)
            self._life.wait(IDLE)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except NoIndex:
            return
        except SemanticSearchError as error:
            self._tell_once(sentence(error))
        except unforeseen() as error:  # a thread has nobody to raise to, and the server goes on without it
            tell(f"background: {type(error).__name__}: {sentence(error)}")

    def _tell_once(self, text: str) -> None:
        if text != self._told:
            self._told = text
            tell(text)

    def _warm_up(self) -> None:
        with self._workspace.corpus() as corpus:
            store, _ = corpus.reading()
            embedder = corpus.embedder_of(store)
            from ..stores import EVERYTHING

            store.nearest(embedder.embed_query("ready"), EVERYTHING, 1)

    def _embed(self) -> None:
        with self._workspace.corpus() as corpus:
            if not corpus.settings.refresh or not corpus.reading()[1]:
                return
            if not corpus.reading()[0].pending_count():
                return
            embed_what_waits(
                corpus,
                self._life,
                self._workspace,
                lambda _done, _total: None,
                lambda: self._life.stopping() or self._jobs.running is not None,
                threads=max(1, corpus.settings.threads // 2),
                left_out=self._left_out,
            )
            if text := sentence_of(self._left_out):
                self._tell_once(text)
