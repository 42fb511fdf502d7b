"""JSON shapes: the same for `--json` and for MCP. Keys are camelCase."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .languages import page_word
from .output import harmless_json, shown, valid

if TYPE_CHECKING:
    from .tools.index import Run
    from .tools.status import Status
    from .tools.transfer import Transfer
    from .types import Hit

Json = dict[str, Any]


def dumps(value: object) -> str:
    """One line of JSON, valid UTF-8 whatever is in it, that says what it says on a terminal too."""
    return harmless_json(json.dumps(value, ensure_ascii=False))


def hit_json(hit: Hit) -> Json:
    """A hit: the five keys every client reads, then the others."""
    chunk = hit.chunk
    shape: Json = {
        "filePath": shown(hit.absolute),
        "text": valid(chunk.text),
        "score": round(hit.score, 6),
        "offset": chunk.start,
        "startLine": chunk.first_line,
        "endLine": chunk.last_line,
        "folder": shown(hit.folder_name),
        "path": shown(hit.path),
        "language": hit.language,
        "stale": hit.stale,
    }
    for key, value in (
        ("heading", chunk.heading),
        ("symbol", chunk.symbol),
        ("kind", chunk.kind),
        (page_word(hit.language), chunk.page),
    ):
        if value:
            shape[key] = value
    if hit.duplicates:
        shape["duplicates"] = [shown(os.path.join(folder, path)) for folder, path in hit.duplicates]
    if hit.links:
        shape["links"] = [shown(os.path.join(hit.folder, *link.split("/"))) for link in hit.links]
    if hit.explain is not None:
        shape["explain"] = {key: round(value, 6) for key, value in hit.explain.items()}
    return shape


def hits_json(hits: Sequence[Hit]) -> list[Json]:
    """Hits, best first."""
    return [hit_json(hit) for hit in hits]


def run_json(run: Run) -> Json:
    """The summary of an index run.

    `filesSkipped` counts files that were seen and not indexed: unchanged ones and those without passages;
    `skipped` has the latter by reason.
    """
    reasons: dict[str, int] = {}
    for report in run.reports:
        for reason, count in report.skipped.items():
            reasons[reason] = reasons.get(reason, 0) + count
    unchanged = sum(r.unchanged + r.touched for r in run.reports)
    return {
        "filesProcessed": sum(r.processed for r in run.reports),
        "filesSkipped": unchanged + sum(reasons.values()),
        "filesDeleted": sum(r.deleted for r in run.reports),
        "chunksWritten": sum(r.chunks for r in run.reports),
        "truncated": run.truncated,
        "filesUnchanged": unchanged,
        "filesFailed": sum(r.failed for r in run.reports),
        "skipped": reasons,
        "vectorsWritten": run.vectors,
        "pendingVectors": run.pending,
        "interrupted": run.interrupted,
        "foldersFailed": [{"folder": shown(r.path), "error": valid(r.error)} for r in run.failed],
        "directoriesUnread": sum(len(r.unread) for r in run.reports),
        "notes": [valid(note) for note in run.notes]
        + [valid(f"{report.name}: {note}") for report in run.reports for note in report.notes],
        "seconds": round(run.seconds, 3),
    }


def transfer_json(done: Transfer) -> Json:
    """What was exported or imported."""
    return {
        "file": shown(done.file),
        "bytes": done.size,
        "folders": [{"name": shown(f.name), "path": shown(f.path)} for f in done.folders],
        "files": done.copied.files,
        "chunks": done.copied.chunks,
        "vectors": done.copied.vectors,
        "notes": list(done.notes),
    }


def status_json(status: Status, *, indexing: bool, with_skipped: bool) -> Json:
    """The state of the index."""
    shape: Json = {
        "folders": [
            {
                "name": shown(folder.name),
                "path": shown(folder.path),
                "files": folder.files,
                "chunks": folder.chunks,
                "pendingVectors": folder.pending,
                "skipped": folder.skipped,
                "lastRun": folder.last_run or None,
                "configured": folder.configured,
                "missing": folder.missing,
            }
            for folder in status.folders
        ],
        "model": status.model,
        "store": status.store,
        "indexPath": shown(status.index_path),
        "indexBytes": status.index_bytes,
        "current": status.current,
        "indexing": indexing,
    }
    if with_skipped:
        shape["skippedFiles"] = [
            {
                "folder": shown(skip.folder),
                "path": shown(skip.path),
                "reason": skip.reason.value,
                "detail": valid(skip.detail),
            }
            for skip in status.skipped
        ]
    return shape
