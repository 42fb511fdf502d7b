"""The agents that can be told of our server: one row each, and how their files are written."""

from __future__ import annotations

from .rows import CLIENTS, Client

__all__ = ["CLIENTS", "Client"]
