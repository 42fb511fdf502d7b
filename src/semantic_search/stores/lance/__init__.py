"""The LanceDB store: tables in a directory or at a URI. Needs the extra `lancedb`."""

import os

# The library below LanceDB writes warnings about itself to stderr, in the middle of our output. It reads
# these when it is first imported, by whichever module here that is.
os.environ.setdefault("LANCEDB_LOG", "error")
os.environ.setdefault("LANCE_LOG", "error")
os.environ.setdefault("RUST_LOG", "error")
