"""Cutting in processes of their own: Python cuts on one core only, however many threads it has.

A worker reads, decodes and cuts batches of files and sends the passages back; who asked for them writes them.
It is a plain child that speaks frames over its pipes, not one of `multiprocessing`: that would run the main
module of whoever uses this package as a library, and share the standard streams of the server.
"""

from __future__ import annotations
