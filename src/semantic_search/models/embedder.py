"""Turns texts into unit vectors with a model of the cache."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ..errors import ModelUnavailable
from ..priority import give_way
from . import scripts
from .cache import ReadyModel
from .conversion import ENCODER, SCALES, TOKENIZER, WORDS
from .library import from_json
from .pieces import Segmenter, SpecialIds
from .unigram import UnigramTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .rows import ModelRow
    from .tokenizer import Tokenizer

    Floats = NDArray[np.float32]

T = TypeVar("T")


class _Lazy(Generic[T]):
    """A part of the model that is loaded once, at its first use, whatever thread asks."""

    def __init__(self, model: ReadyModel, load: Callable[[], T]) -> None:
        self._model = model
        self._load = load
        self._lock = Lock()
        self._value: list[T] = []

    @property
    def loaded(self) -> bool:
        return bool(self._value)

    def get(self) -> T:
        if not self._value:
            with self._lock:
                if not self._value:
                    self._value.append(self._checked_load())
        return self._value[0]

    def _checked_load(self) -> T:
        try:
            return self._load()
        except ModelUnavailable:
            raise
        except Exception as error:
            # onnxruntime's and tokenizers' errors have no common base.
            raise ModelUnavailable(
                f"{self._model.row.name} cannot be loaded: {error}. "
                f"Delete {self._model.folder}; it is built again."
            ) from error


class Embedder:
    """A model that is ready to run; tokenizer and session load at their first use, each by itself.

    May be used from several threads. Raises ModelUnavailable where a file of the cache cannot be loaded.
    """

    def __init__(self, model: ReadyModel) -> None:
        self._model = model
        self._lock = Lock()
        self._pool: tuple[int, ThreadPoolExecutor] | None = None
        self._tokenizer: _Lazy[Tokenizer] = _Lazy(model, self._load_tokenizer)
        self._words = _Lazy(model, self._load_words)
        self._session = _Lazy(model, self._load_session)

    @property
    def row(self) -> ModelRow:
        """What the model is."""
        return self._model.row

    @property
    def fingerprint(self) -> str:
        """The identity of the vectors, 64 hex digits: equal fingerprints, comparable vectors."""
        return self._model.fingerprint

    @property
    def folder(self) -> Path:
        """The directory of its files in the model cache."""
        return self._model.folder

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.row.dimension

    @property
    def window(self) -> int:
        """The longest input in tokens, special ones and prefix included."""
        return self.row.window

    @property
    def max_text_tokens(self) -> int:
        """How many tokens of a passage's own the model sees."""
        tokens = self._tokenizer.get()
        return self.window - tokens.special - tokens.count(self.row.passage_prefix)

    def can_read(self, text: str) -> bool:
        """Whether the model was trained on the scripts that the text is written in."""
        return scripts.can_read(text, self.row.scripts)

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the offsets at which its tokens start: see `tokenizer.Tokenizer`."""
        return self._tokenizer.get().token_starts(texts)

    def embed_query(self, text: str) -> Floats:
        """The unit vector of a query, float32 (dimension,)."""
        inputs = self._tokenizer.get().inputs([text], prefix=self.row.query_prefix, window=self.window)
        return self._run(inputs[0])

    def embed_passages(
        self,
        texts: Sequence[str],
        *,
        threads: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Floats:
        """The unit vectors of passages, float32 (texts, dimension), in the order of the texts.

        Passages longer than `max_text_tokens` are cut. `threads` is by default the number of usable cores.
        `cancelled` is asked before each passage, from any thread; once it says yes, CancelledError (of
        concurrent.futures) is raised.
        """
        vectors = np.empty((len(texts), self.dimension), np.float32)
        if not texts:
            return vectors
        inputs = self._tokenizer.get().inputs(texts, prefix=self.row.passage_prefix, window=self.window)
        # The longest first, so that no thread is left with a long one at the end.
        waiting = deque(sorted(range(len(inputs)), key=lambda index: -len(inputs[index])))
        stop = Event()

        def work() -> None:
            try:
                while not stop.is_set():
                    try:
                        index = waiting.popleft()
                    except IndexError:
                        return
                    if cancelled and cancelled():
                        raise CancelledError("embedding was cancelled")
                    vectors[index] = self._run(inputs[index])
            except BaseException:
                stop.set()  # the other threads stop as well
                raise

        workers = min(threads or usable_cores(), len(texts))
        try:
            for future in self._submit(work, workers):
                future.result()
        finally:
            stop.set()
        return vectors

    def verify(self) -> str:
        """The name of the first file of the model that is damaged, by reading all; empty when all is well."""
        return self._model.verify()

    def close(self) -> None:
        """Ends the threads. The embedder may be used again and starts new ones."""
        with self._lock:
            if self._pool:
                self._pool[1].shutdown(cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Embedder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(self, work: Callable[[], None], workers: int) -> list[Future[None]]:
        """Starts the work in so many threads, which give way to others; they stay for the next call."""
        with self._lock:
            if self._pool is None or self._pool[0] < workers:
                old, self._pool = self._pool, (workers, ThreadPoolExecutor(workers, "embedding", give_way))
                if old:
                    old[1].shutdown(wait=False)
            return [self._pool[1].submit(work) for _ in range(workers)]

    def _run(self, ids: list[int]) -> Floats:
        table, scales = self._words.get()
        try:
            words = table[ids].astype(np.float32) * scales[ids, np.newaxis]
        except IndexError as error:
            raise ModelUnavailable(
                f"the tokenizer in {self._model.folder} does not fit its word table; delete that folder"
            ) from error
        session = self._session.get()
        try:
            vector: Floats = session.run(None, {"words": words})[0]
        except Exception as error:
            # onnxruntime's errors have no common base; one of them is how it says that memory is short.
            said = str(error) or type(error).__name__
            raise ModelUnavailable(f"{self.row.name} could not be run: {said}") from error
        return vector

    def _load_tokenizer(self) -> Tokenizer:
        folder, facts = self._model.folder, self._model.tokenizer
        if "longest" not in facts:
            return from_json(folder / TOKENIZER, facts.get("unknown"))
        special = SpecialIds(facts["begin"], facts["end"], facts["unknown"])
        return UnigramTokenizer(Segmenter(folder, special, facts["longest"]), special)

    def _load_words(self) -> tuple[NDArray[np.int8], Floats]:
        scales: Floats = np.fromfile(self._model.folder / SCALES, "<f4")
        return np.memmap(
            self._model.folder / WORDS, np.int8, "r", shape=(len(scales), self.dimension)
        ), scales

    def _load_session(self) -> Any:
        return open_session(str(self._model.folder / ENCODER))


def open_session(path: str) -> Any:
    """An onnxruntime session for one-threaded runs; many threads may run it at once.

    Two threads inside one run are slower than one; two runs in two threads are twice as fast as one. The
    memory arena never shrinks, but here it takes less than the system's allocator does (188 MB against 315 at
    most, two threads, inputs of 4 to 512 tokens in any order), and 2 to 10 % less time.
    """
    onnxruntime = _quiet_runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # plans memory by input shape, and here nearly every shape is new
    options.log_severity_level = 3  # errors; warnings would go to stderr past every setting of ours
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _quiet_runtime() -> Any:
    """onnxruntime, told before it is loaded to report nothing to its maker.

    From 1.32 on, its official builds otherwise write a device identifier below the home directory and send
    events over HTTPS, both from the moment of the import (its Privacy.md). The variable's name differs
    between versions; on Windows, only the call ends the system's own collection.
    """
    for name in ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"):
        os.environ[name] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def usable_cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
