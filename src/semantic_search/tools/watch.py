"""Watch: the index kept current while files change, until it is told to stop."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..corpus import Corpus
from ..errors import IndexBusy
from ..folders import Folder, is_inside
from .index import Request, Run, Watcher, index

# In milliseconds. Writes that follow each other faster than `STEP` are one change; a stream of them is looked
# at after `DEBOUNCE` all the same. `LOOK` is how long a wish to stop, or another configuration, goes unseen.
DEBOUNCE = 2000
STEP = 300
LOOK = 500

# Git writes much into its own directory; only these decide which files count.
_TELLING_OF_GIT = frozenset({"index", "HEAD", "exclude"})

Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Changed:
    """A run that changes brought about, and the names of the folders they were in."""

    folders: tuple[str, ...]
    run: Run


def watch(
    corpus: Corpus,
    request: Request,
    on_run: Callable[[Changed], None],
    *,
    watcher: Watcher | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Indexes what is asked for, then every folder of it in which something changes.

    A run that finds the index being written by another process is made up for later. Returns False when
    `stop` said so, True when the configuration file changed or a folder came or went: call it again with a
    corpus opened anew. Raises what `index` raises.
    """
    config = _stamp(corpus.settings.paths.config_file)
    first = _run(corpus, request, watcher, stop)
    folders = _watched(corpus, request, first)
    there = [folder for folder in folders if os.path.isdir(folder.path)]
    if first is not None:
        on_run(Changed(tuple(folder.name for folder in folders), first))
    # What changed before the watching began is found by one more look.
    waiting = set(there)
    for paths in _changes(corpus, there):
        if stop():
            return False
        if _stamp(corpus.settings.paths.config_file) != config:
            return True
        if [folder for folder in folders if os.path.isdir(folder.path)] != there:
            return True
        waiting |= {folder for folder in there if any(is_inside(path, folder.path) for path in paths)}
        for folder in sorted(waiting, key=lambda folder: folder.path):
            run = _run(corpus, replace(request, path=folder.path, force=False), watcher, stop)
            if run is None:
                break
            waiting.discard(folder)
            if _did_something(run):
                on_run(Changed((folder.name,), run))
    return False


def _did_something(run: Run) -> bool:
    return bool(run.vectors or run.failed) or any(r.processed or r.deleted or r.failed for r in run.reports)


def _run(corpus: Corpus, request: Request, watcher: Watcher | None, stop: Callable[[], bool]) -> Run | None:
    try:
        return index(corpus, request, watcher, stop)
    except IndexBusy:
        if not stop():
            corpus.note("another process is writing the index; changes wait until it is done")
        return None


def _watched(corpus: Corpus, request: Request, run: Run | None) -> list[Folder]:
    if request.path is None or run is None:
        return list(corpus.folders)
    return [Folder(report.name, report.path) for report in run.reports]


def _changes(corpus: Corpus, folders: Sequence[Folder]) -> Iterator[Sequence[str]]:
    """The paths that changed, again and again; an empty list when nothing did for a while."""
    import watchfiles

    own = corpus.settings.paths.own

    def counts(_: watchfiles.Change, path: str) -> bool:
        parts = path.split(os.sep)
        if ".git" in parts and parts[-1] not in _TELLING_OF_GIT:
            return False
        return not any(is_inside(path, each) for each in own)

    def listen(*, poll: bool) -> Iterator[Sequence[str]]:
        found = watchfiles.watch(
            *(folder.path for folder in folders),
            watch_filter=counts,
            debounce=DEBOUNCE,
            step=STEP,
            rust_timeout=LOOK,
            yield_on_timeout=True,
            force_polling=poll or None,
            # A directory that may not be read is left out, as it is by the listing.
            ignore_permission_denied=True,
        )
        for changes in found:
            yield [path for _, path in changes]

    try:
        yield from listen(poll=False)
    except OSError as error:
        # Linux bounds how many directories may be watched at once (fs.inotify.max_user_watches).
        corpus.note(
            f"the system cannot watch so many directories ({error}); looking every few seconds instead"
        )
        yield from listen(poll=True)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
