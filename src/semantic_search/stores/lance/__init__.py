"""The LanceDB store: tables in a directory or at a URI. Needs the extra `lancedb`."""

import os

from .allocation import BY_USER, bound_heaps

# The library below LanceDB writes warnings about itself to stderr, in the middle of our output. It reads
# these when it is first imported, by whichever module here that is.
os.environ.setdefault("LANCEDB_LOG", "error")
os.environ.setdefault("LANCE_LOG", "error")
os.environ.setdefault("RUST_LOG", "error")
# How much a scan may read ahead of what is asked for: it takes 2 GB where there is that much.
os.environ.setdefault("LANCE_DEFAULT_IO_BUFFER_SIZE", str(16 * 1024 * 1024))
# One allocator for all, so that what Arrow frees is returned too.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
if not any(name in os.environ for name in BY_USER):
    bound_heaps()
