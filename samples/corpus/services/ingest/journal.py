"""The journal: segments of records that are only ever added to."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path


class Journal:
    """A folder of segment files. One line holds a checksum and a record."""

    def __init__(self, folder: Path, segment_bytes: int = 64 << 20) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        folder.mkdir(parents=True, exist_ok=True)

    def append(self, record: dict[str, object]) -> None:
        """Add a record and wait until it is on the disk."""
        body = json.dumps(record, ensure_ascii=False, sort_keys=True).encode()
        line = b"%08x %s\n" % (zlib.crc32(body), body)
        with self._open_segment().open("ab") as segment:
            segment.write(line)
            segment.flush()
            os.fsync(segment.fileno())

    def replay(self) -> Iterator[dict[str, object]]:
        """All records, oldest first. A line cut short by a crash ends its segment."""
        for path in self._segments():
            for line in path.read_bytes().splitlines():
                checksum, _, body = line.partition(b" ")
                if checksum != b"%08x" % zlib.crc32(body):
                    break
                yield json.loads(body)

    def _segments(self) -> list[Path]:
        return sorted(self._folder.glob("*.seg"))

    def _open_segment(self) -> Path:
        segments = self._segments()
        if segments and segments[-1].stat().st_size < self._segment_bytes:
            return segments[-1]
        return self._folder / f"{len(segments):08d}.seg"
