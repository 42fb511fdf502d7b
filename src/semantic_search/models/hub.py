"""The Hugging Face hub: its cache on this machine, and downloads by plain HTTPS when they are asked for.

Of the environment it honours what `huggingface_hub` does: HF_ENDPOINT, HF_HUB_OFFLINE, HF_TOKEN,
HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, and the proxy variables that urllib reads.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from .checkpoint import NEEDED, OPTIONAL
from .rows import ModelFile, ModelRow

if TYPE_CHECKING:
    from urllib.error import HTTPError

TIMEOUT = 15.0  # seconds without an answer or a further byte
_PIECE = 1 << 20
_STEPS = 10  # messages for a large file
_LARGE = 10_000_000
_TRUE = frozenset({"1", "on", "yes", "true"})

Progress = Callable[[str], None]


def offline() -> bool:
    """Whether the user forbade every connection to the hub."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in _TRUE


def endpoint() -> str:
    """The hub's address: https://huggingface.co or the mirror that HF_ENDPOINT names."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def cached_snapshot(row: ModelRow) -> Path | None:
    """The directory in which another program left the whole model, None where there is none."""
    folder = _cache() / f"models--{row.repo.replace('/', '--')}"
    revisions = [row.revision]
    with contextlib.suppress(OSError, ValueError):
        revisions.append((folder / "refs" / "main").read_text(encoding="ascii").strip())
    for revision in revisions:
        snapshot = folder / "snapshots" / revision
        if re.fullmatch(r"[\w.-]+", revision) and _fits(row, snapshot):
            return snapshot
    return None


def download(row: ModelRow, target: Path, on_progress: Progress) -> None:
    """Fetches a model's files into the directory `target`, which exists only when all of them are there.

    Files whose hash the row knows are checked. Raises ModelUnavailable for a refusal, no connection, a
    missing or damaged file, OSError when the disk does not take it.
    """
    if offline():
        raise ModelUnavailable(
            f"HF_HUB_OFFLINE is set, so {row.repo} is not fetched. Unset it to fetch the model."
        )
    os.makedirs(target.parent, mode=0o700, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
    try:
        for name in (*NEEDED, *OPTIONAL):
            path = new / name
            path.parent.mkdir(exist_ok=True)
            expected = next((file for file in row.hub_files if file.path == name), None)
            if not _fetch(row, name, path, expected, on_progress) and name in NEEDED:
                raise ModelUnavailable(f"{endpoint()} has no file {name} in {row.repo} at {row.revision}")
        shutil.rmtree(target, ignore_errors=True)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _cache() -> Path:
    environ = os.environ
    if environ.get("HF_HUB_CACHE"):
        return Path(environ["HF_HUB_CACHE"]).expanduser()
    base = environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    return Path(environ.get("HF_HOME") or os.path.join(base, "huggingface"), "hub").expanduser()


def _fits(row: ModelRow, snapshot: Path) -> bool:
    sizes = {file.path: file.size for file in row.hub_files}
    for name in NEEDED:
        try:
            size = os.stat(snapshot / name).st_size
        except OSError:
            return False
        if size != sizes.get(name, size):
            return False
    return True


def _fetch(row: ModelRow, name: str, path: Path, expected: ModelFile | None, on_progress: Progress) -> bool:
    """Fetches one file; False where the hub has none of that name."""
    # Here, not above: most runs ask whether a model is cached and fetch nothing.
    import http.client
    import urllib.error

    url = f"{endpoint()}/{row.repo}/resolve/{row.revision}/{name}"
    try:
        with _open(url) as response, open(path, "xb") as file:
            digest, size = _copy(response, file.write, f"{row.repo}/{name}", on_progress)
            announced = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        with error:
            if error.code == http.HTTPStatus.NOT_FOUND:
                return False
            raise _refused(row, url, error) from error
    except (
        urllib.error.URLError,
        http.client.HTTPException,
        TimeoutError,
        ConnectionError,
        ValueError,
    ) as error:
        raise ModelUnavailable(f"{url} could not be fetched: {getattr(error, 'reason', error)}") from error
    if announced is not None and announced.isdigit() and int(announced) != size:
        raise ModelUnavailable(f"{url} broke off after {size} of {announced} bytes; try again")
    if expected and (size, digest) != (expected.size, expected.sha256):
        raise ModelUnavailable(
            f"{url} is not the expected file: its SHA-256 is {digest}, not {expected.sha256}"
        )
    return True


def _open(url: str) -> Any:
    import urllib.parse
    import urllib.request

    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("https", "http"):
        raise ModelUnavailable(f"HF_ENDPOINT must be an https address, not {endpoint()!r}")
    request = urllib.request.Request(url, headers={"User-Agent": "semantic-search-mcp"})  # noqa: S310 - checked
    token = os.environ.get("HF_TOKEN", "").strip()
    if token and (parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")):
        # Unredirected: large files come from another host, which must not see the token.
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    return urllib.request.urlopen(request, timeout=TIMEOUT)  # noqa: S310 - checked above


def _copy(
    response: Any, write: Callable[[bytes], object], name: str, on_progress: Progress
) -> tuple[str, int]:
    """Copies a response; gives SHA-256 and size in bytes of what came."""
    digest, size = hashlib.sha256(), 0
    total = int(response.headers.get("Content-Length") or 0)
    told = 0
    on_progress(f"fetching {name}" + (f" ({total / 1e6:.0f} MB)" if total > _LARGE else ""))
    while piece := response.read(_PIECE):
        digest.update(piece)
        write(piece)
        size += len(piece)
        if total > _LARGE and size * _STEPS // total > told:
            told = size * _STEPS // total
            on_progress(f"fetching {name}: {100 * size // total} %")
    return digest.hexdigest(), size


def _refused(row: ModelRow, url: str, error: HTTPError) -> ModelUnavailable:
    advice = ""
    if error.code in (401, 403):
        advice = f". {row.repo} does not exist, is private, or a proxy blocks it; a token goes into HF_TOKEN"
    return ModelUnavailable(f"{url} answered {error.code} {error.reason}{advice}")
