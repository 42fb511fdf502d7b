"""Embedding on many workers: passages go out to Ray, vectors come back in order.

A worker is this package on another core or machine, with the same model from the same weights: its vectors
are those that would have been made here. What a worker that dies had in hand is done again by the one that
takes its place; what came back is written here, by the one writer.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, cast

from .errors import ModelUnavailable, SettingsError
from .suggestions import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LOCAL = "local"
ENGINES = "local, ray, or ray://HOST:PORT"

# Texts in one task: what a worker that dies does again, and long against the way there and back.
_TASK = 32
# Tasks for each worker between two commits.
_ROUNDS = 8
# How often a worker may be started again, and a task tried: enough for machines that come and go.
_RESTARTS = 100


class RayWorkers:
    """Embeds on workers what an `Embedder` would embed here. `batch` texts keep all of them busy."""

    def __init__(self, ray: Any, actors: Sequence[Any], dimension: int) -> None:
        self._ray, self._actors, self.dimension = ray, actors, dimension
        self.batch = _TASK * _ROUNDS * len(actors)

    def embed_passages(
        self,
        texts: Sequence[str],
        *,
        threads: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> npt.NDArray[np.float32]:
        """The unit vectors of passages, float32 (texts, dimension), in the order of the texts.

        `threads` is for the workers to know. Raises CancelledError once `cancelled` says so, ModelUnavailable
        where a worker cannot embed.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        # Texts of one length together: no worker waits long for another's last one.
        order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
        parts = [order[start : start + _TASK] for start in range(0, len(order), _TASK)]
        found = np.empty((len(texts), self.dimension), np.float32)
        free, left = list(self._actors), iter(parts)
        running: dict[Any, tuple[Any, list[int]]] = {}
        while True:
            while free and (part := next(left, None)) is not None:
                actor = free.pop()
                running[actor.embed.remote([texts[n] for n in part])] = (actor, part)
            if not running:
                return found
            if cancelled is not None and cancelled():
                raise CancelledError
            ready, _ = self._ray.wait(list(running), num_returns=1, timeout=0.5)
            for done in ready:
                actor, part = running.pop(done)
                found[part] = self._result(done)
                free.append(actor)

    def process_ids(self) -> list[int]:
        """The process of each worker, on its own machine."""
        return [int(self._result(actor.process_id.remote())) for actor in self._actors]

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise ModelUnavailable(f"a worker cannot embed: {error.cause}") from error
        except self._ray.exceptions.RayError as error:
            raise ModelUnavailable(f"the workers cannot be used: {_first_line(error)}") from error


class _Worker:
    """On a worker: the model, checked to be the one that is wanted."""

    def __init__(self, model: str, fingerprint: str, allow_download: bool) -> None:
        from .models import open_embedder
        from .settings import load_settings

        cache = load_settings().paths.model_cache
        os.makedirs(cache, mode=0o700, exist_ok=True)
        self._embedder = open_embedder(model, cache_dir=cache, allow_download=allow_download)
        if self._embedder.fingerprint != fingerprint:
            raise ModelUnavailable(f"the weights of {model} on a worker are others than those here")

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of texts; a worker is one thread, and there is one for each core."""
        return self._embedder.embed_passages(texts, threads=1)

    def process_id(self) -> int:
        return os.getpid()


def check_engine(engine: str) -> str:
    """An engine as it is, or SettingsError that says which there are."""
    if engine in (LOCAL, "ray") or engine.startswith("ray://"):
        return engine
    meant = did_you_mean(engine, (LOCAL, "ray"))
    raise SettingsError(f"there is no engine {engine}{meant}: it is {ENGINES}")


@contextlib.contextmanager
def ray_workers(
    engine: str, model: str, fingerprint: str, dimension: int, *, threads: int, allow_download: bool = False
) -> Iterator[RayWorkers]:
    """Workers of a Ray cluster (`ray://HOST:PORT`), of the one that `RAY_ADDRESS` names, or of this machine.

    As many as the cluster has cores; `threads` on this machine. Raises ModelUnavailable where Ray is not
    installed or cannot be reached.
    """
    # Ray tells its makers of its use unless it is told not to, before it is imported.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise ModelUnavailable(
            f"the engine {engine} needs Ray ({error}): pip install 'semantic-search-mcp[ray]'"
        ) from error
    given: dict[str, Any] = {"address": engine} if engine != "ray" else {}
    if engine == "ray" and not os.environ.get("RAY_ADDRESS"):
        given = {"num_cpus": threads, "include_dashboard": False, "object_store_memory": 100_000_000}
    try:
        ray.init(logging_level=logging.ERROR, log_to_driver=False, **given)
    except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        raise ModelUnavailable(f"the engine {engine} cannot be reached: {_first_line(error)}") from error
    try:
        count = max(1, int(cast("Any", ray).cluster_resources().get("CPU", 1)))
        remote = ray.remote(num_cpus=1, max_restarts=_RESTARTS, max_task_retries=_RESTARTS)(_Worker)
        actors = [remote.remote(model, fingerprint, allow_download) for _ in range(count)]
        yield RayWorkers(ray, actors, dimension)
    finally:
        ray.shutdown()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
