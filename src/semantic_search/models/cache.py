"""The model cache: a model's weights, turned once into the files that `embedder` runs.

`<cache>/<name>-<first 8 hex digits of the fingerprint>/` holds `encoder.onnx`, the word table (`words.i8`,
`words.f32`), the tokenizer, and `manifest.json`, which is written last and lists the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import ModelUnavailable
from .rows import ModelRow
from .sources import Source, sha256_of, stamp_of

MANIFEST = "manifest.json"
FORMAT = 1  # of these files: to be raised when the same weights would give others, or other vectors
LAYOUT = 2  # which files there are: to be raised when others are needed for the same vectors
LOCK_TIMEOUT = 900.0  # seconds: the longest conversion takes under a minute

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ReadyModel:
    """A model's folder in the cache, its row and fingerprint, and what its tokenizer needs to know."""

    folder: Path
    row: ModelRow
    fingerprint: str
    tokenizer: dict[str, int]
    files: dict[str, dict[str, Any]]
    sources: dict[str, dict[str, Any]]
    location: str

    def sizes_match(self) -> str:
        """The name of the first file that is missing or has a wrong size; empty when all is well."""
        for name, facts in self.files.items():
            try:
                if os.stat(self.folder / name).st_size != facts["size"]:
                    return name
            except OSError:
                return name
        return ""

    def verify(self) -> str:
        """As `sizes_match`, but reads every byte and compares hashes: some 100 ms a 100 MB."""
        wrong = self.sizes_match()
        if wrong:
            return wrong
        return next(
            (name for name, facts in self.files.items() if sha256_of(self.folder / name) != facts["sha256"]),
            "",
        )


def fingerprint(row: ModelRow, digests: dict[str, str]) -> str:
    """The identity of the vectors that a model gives, 64 hex digits.

    Covers the weights and the tokenizer (by the hashes of the source's files), the row's facts that change a
    vector, and the version of the conversion.
    """
    facts = {
        "format": FORMAT,
        "files": {name: digests[name] for name in sorted(_deciding(digests))},
        "dimension": row.dimension,
        "window": row.window,
        "pooling": row.pooling,
        "prefixes": [row.query_prefix, row.passage_prefix],
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def folder_name(name: str, mark: str) -> str:
    """The name of a model's folder in the cache."""
    return f"{_safe(name)}-{mark[:8]}"


def ready_models(cache_dir: Path) -> list[ReadyModel]:
    """The models in the cache that this version can run, the newest first. None where it cannot be read."""
    found = []
    with contextlib.suppress(OSError):
        for path in cache_dir.glob(f"[!.]*/{MANIFEST}"):
            model = read_ready(path.parent)
            if model:
                found.append((stamp_of(path)[1], str(path), model))
    return [model for _, _, model in sorted(found, key=lambda entry: entry[:2], reverse=True)]


def read_ready(folder: Path) -> ReadyModel | None:
    """The model in a folder of the cache; None unless its manifest is whole and of this version."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        if manifest["format"] != FORMAT or manifest.get("layout") != LAYOUT:
            return None
        facts = manifest["row"]
        row = ModelRow(**{**facts, "scripts": frozenset(facts["scripts"])})
        source = manifest["source"]
        return ReadyModel(
            folder=folder,
            row=row,
            fingerprint=str(manifest["fingerprint"]),
            tokenizer=dict(manifest["tokenizer"]),
            files={
                str(name): {"size": int(f["size"]), "sha256": str(f["sha256"])}
                for name, f in manifest["files"].items()
            },
            sources={str(name): dict(facts) for name, facts in source["files"].items()},
            location=str(source["location"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def remembered_fingerprint(source: Source, cache_dir: Path) -> str | None:
    """The fingerprint of a source's model, None where files would have to be read to know it."""
    digests = _known_digests(source, cache_dir)
    return None if _deciding(source.files()) - digests.keys() else fingerprint(source.row, digests)


def _known_digests(source: Source, cache_dir: Path) -> dict[str, str]:
    """The hashes of a source's files that the row knows, or the cache since it last read the same files."""
    remembered = [model.sources for model in ready_models(cache_dir) if model.location == str(source.path)]
    digests = {}
    for name, path in source.files().items():
        expected = source.expected(name)
        if expected:
            digests[name] = expected.sha256
            continue
        stamp = stamp_of(path)
        same = (files[name] for files in remembered if name in files and files[name].get("stamp") == stamp)
        if known := next(same, None):
            digests[name] = str(known["sha256"])
    return digests


def _deciding(names: Iterable[str]) -> set[str]:
    """Those of a source's files that the vectors depend on beyond what the row says."""
    return {name for name in names if name.endswith((".safetensors", ".bin", "tokenizer.json"))}


def prepare(source: Source, cache_dir: Path, on_progress: Progress) -> ReadyModel:
    """The model of a source, from the cache or converted into it.

    Two processes may ask at once: one converts, the other waits for it. Raises ModelUnavailable when the
    source is damaged or the cache cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        digests = _known_digests(source, cache_dir)
        for name in _deciding(source.files()) - digests.keys():
            digests[name] = sha256_of(source.files()[name])
        mark = fingerprint(source.row, digests)
        folder = cache_dir / folder_name(source.row.name, mark)
        model = _usable(folder, mark)
        if model:
            _remember_source(model, source, digests)
            return model
        os.makedirs(cache_dir, mode=0o700, exist_ok=True)
        with FileLock(cache_dir / f".{folder.name}.lock", timeout=LOCK_TIMEOUT, mode=0o600):
            model = _usable(folder, mark)
            if model is None:
                _tell_why(folder, source, on_progress)
                _convert(source, folder, mark, on_progress)
                model = _usable(folder, mark)
    except Timeout as error:
        raise ModelUnavailable(
            f"another process has been preparing {source.row.name} for too long; try again"
        ) from error
    except OSError as error:
        raise ModelUnavailable(
            f"{source.row.name} could not be prepared in {cache_dir}: {error.strerror or error}. "
            "Free some space there, or set SS_MODEL_CACHE_DIR to a directory that can be written."
        ) from error
    if model is None:
        raise ModelUnavailable(f"{folder} was changed while it was written; try again")
    return model


def _usable(folder: Path, mark: str) -> ReadyModel | None:
    model = read_ready(folder)
    return model if model and model.fingerprint == mark and not model.sizes_match() else None


def _tell_why(folder: Path, source: Source, on_progress: Progress) -> None:
    model = read_ready(folder)
    if model:
        on_progress(f"{folder / model.sizes_match()} is damaged; building it again from {source.path}")
    on_progress(f"preparing {source.row.name} (once)")


def _convert(source: Source, folder: Path, mark: str, on_progress: Progress) -> None:
    from .conversion import convert

    for old in folder.parent.glob(f".{folder.name}.new-*"):
        shutil.rmtree(old, ignore_errors=True)  # of a conversion that was killed; the lock is ours now
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))
    try:
        digests = _checked_digests(source, on_progress)
        tokenizer = convert(source, new, on_progress)
        _write_manifest(new, source, mark, digests, tokenizer)
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _checked_digests(source: Source, on_progress: Progress) -> dict[str, str]:
    """The hash of each file, read whole. Raises ModelUnavailable where it is not the expected one."""
    on_progress("checking the weights")
    digests = {name: sha256_of(path) for name, path in source.files().items()}
    for name, path in source.files().items():
        expected = source.expected(name)
        if expected and digests[name] != expected.sha256:
            raise source.damaged(path, "its SHA-256 is not the expected one")
    return digests


def _write_manifest(
    new: Path, source: Source, mark: str, digests: dict[str, str], tokenizer: dict[str, int]
) -> None:
    names = sorted(os.listdir(new))
    row = asdict(source.row)
    for key in ("wheel", "hub_files"):
        row.pop(key)
    manifest = {
        "format": FORMAT,
        "layout": LAYOUT,
        "fingerprint": mark,
        "row": {**row, "scripts": sorted(source.row.scripts)},
        "tokenizer": tokenizer,
        "source": _source_facts(source, digests),
        "files": {
            name: {"size": os.stat(new / name).st_size, "sha256": sha256_of(new / name)} for name in names
        },
    }
    (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    for name in (*names, MANIFEST):
        os.chmod(new / name, 0o600)


def _source_facts(source: Source, digests: dict[str, str]) -> dict[str, Any]:
    files = source.files().items()
    return {
        "location": str(source.path),
        "files": {
            name: {"stamp": stamp_of(path), "sha256": digests[name]}
            for name, path in files
            if name in digests
        },
    }


def _remember_source(model: ReadyModel, source: Source, digests: dict[str, str]) -> None:
    """Notes where the same weights lie now, so that the next time they need not be read."""
    facts = _source_facts(source, digests)
    known = {name: model.sources.get(name) for name in facts["files"]}
    if facts == {"location": model.location, "files": known}:
        return
    manifest = {**json.loads((model.folder / MANIFEST).read_bytes()), "source": facts}
    with contextlib.suppress(OSError):  # a cache that cannot be written is still good to read
        with tempfile.NamedTemporaryFile("w", dir=model.folder, encoding="utf-8", delete=False) as file:
            json.dump(manifest, file, indent=1)
        os.replace(file.name, model.folder / MANIFEST)


def _safe(name: str) -> str:
    """A name as part of a file name; a path or `owner/name` keeps its last part."""
    last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
    return re.sub(r"[^\w.-]", "_", last)[:80] or "model"
