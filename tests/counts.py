"""How often tests of chance are run: a few times always, many times under `-m stress`."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

# Read when tests are collected: the variables of a test are its own.
_FACTOR = float(os.environ.get("STRESS", "1"))
_SEED = os.environ.get("STRESS_SEED", "")


def many(number: int) -> int:
    """A number under stress, more or less of it as the variable STRESS says."""
    return max(1, round(number * _FACTOR))


def a_seed() -> int:
    """A seed to draw from and to print; that of the variable STRESS_SEED, to replay a failure."""
    return int(_SEED) if _SEED else random.SystemRandom().randrange(2**32)


def repeated(number: int) -> list[Any]:
    """Parameters of a test: a number, and ten times as much of it under stress."""
    return [number, pytest.param(many(10 * number), marks=pytest.mark.stress)]
