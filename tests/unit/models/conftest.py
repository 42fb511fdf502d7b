"""A tiny BERT on disk, and its forward pass in plain numpy."""

from __future__ import annotations

import pytest
from tiny_bert import TinyBert


@pytest.fixture
def tiny_bert() -> TinyBert:
    return TinyBert()


@pytest.fixture
def messages() -> list[str]:
    return []
