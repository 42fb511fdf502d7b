"""Damage to index, configuration and model: noticed, named, and mended by one command at most."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from changed_tree import ChangedTree
from faults import KILL
from forking import Ended, Forks
from fresh_equality import Held, fresh_equality

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")

PAGE = 4096


def plain(ended: Ended, *statuses: int) -> str:
    """It ended with one of the statuses and in words for the user, which are given back."""
    assert ended.status in statuses, ended
    assert "Traceback" not in ended.stderr and "ault of ours" not in ended.stderr, ended
    return ended.stderr


def pages(data: bytes, change: Callable[[bytearray], None], seed: int) -> bytes:
    """The content of a file with some pages, not the first, changed."""
    draw = random.Random(seed)
    found = bytearray(data)
    for number in draw.sample(range(1, len(data) // PAGE), 8):
        page = found[number * PAGE : (number + 1) * PAGE]
        change(page)
        found[number * PAGE : (number + 1) * PAGE] = page
    return bytes(found)


def zero(page: bytearray) -> None:
    page[:] = bytes(PAGE)


def flip(page: bytearray) -> None:
    for place in range(8):  # what kind of page it is, and where its content begins
        page[place] ^= 0xFF


STORE_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "one page less": lambda data: data[:-PAGE],
    "cut in half": lambda data: data[: len(data) // 2],
    "cut to a page": lambda data: data[:PAGE],
    "cut in a page": lambda data: data[: len(data) // 2 + 100],
    "emptied": lambda data: b"",
    "other content": lambda data: b"this is no database " * 5000,
    "zero pages": lambda data: pages(data, zero, 1),
    "other zero pages": lambda data: pages(data, zero, 2),
    "flipped bytes": lambda data: pages(data, flip, 3),
    "other flipped bytes": lambda data: pages(data, flip, 4),
    "a wrong header": lambda data: data[:20] + b"\xff" * 40 + data[60:],
    "no header": lambda data: bytes(100) + data[100:],
}


def test_a_damaged_index_is_named_and_mended_by_one_command(tree: ChangedTree, forks: Forks) -> None:
    tree.reset()
    fresh = tree.heal("index")
    sound = tree.index_file.read_bytes()
    name = tree.index_file
    for damage, change in STORE_DAMAGES.items():
        tree.reset()
        for left in name.parent.glob("index-*"):
            left.unlink()
        name.write_bytes(change(sound))
        said = plain(forks("search", "--no-refresh", "hello", env=tree.environment), 0, 1, 2)
        assert plain(forks("doctor", env=tree.environment), 2) is not None, damage
        said += plain(forks("index", env=tree.environment), 0, 2)
        said += plain(forks("index", "--force", env=tree.environment), 0)
        # An empty file is no damaged index, but none.
        assert "damaged" in said or damage == "emptied", damage
        assert fresh_equality(tree.environment, tree.index, fresh=fresh)
        assert len(list(name.parent.glob("*.damaged*"))) <= 2


def wal_of(tree: ChangedTree, forks: Forks, number: int) -> Path:
    """What a killed run leaves of its log."""
    tree.reset()
    ended = forks("index", env=tree.environment, places=tree.places, hook="commit", number=number, how=KILL)
    assert ended.status < 0
    return tree.index_file.with_name(tree.index_file.name + "-wal")


@pytest.mark.parametrize("damage", ["gone", "emptied", "cut", "flipped", "other content", "of another index"])
def test_a_damaged_log_costs_the_batches_in_it_at_most(tree: ChangedTree, forks: Forks, damage: str) -> None:
    log = wal_of(tree, forks, 6)
    data = log.read_bytes()
    assert len(data) > PAGE
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 0xFF
    if damage == "gone":
        log.unlink()
    else:
        log.write_bytes(
            {
                "emptied": b"",
                "cut": data[: len(data) // 2 + 7],
                "flipped": bytes(flipped),
                "other content": b"no log at all" * 1000,
                "of another index": data[:32] + random.Random(5).randbytes(len(data) - 32),
            }[damage]
        )
    plain(forks("search", "--no-refresh", "hello", env=tree.environment), 0, 1)
    tree.heal("index")


CONFIG_DAMAGES: dict[str, bytes] = {
    "cut": b'{"defaultRoots": ["/tm',
    "no JSON": b"defaultRoots = []",
    "a list": b"[]",
    "a number": b"17",
    "no UTF-8": b'{"modelName": "\xff\xfe"}',
    "no JSON value": b'{"rrfK": NaN}',
    "a wrong type": b'{"defaultRoots": 5}',
    "a wrong type within": b'{"defaultRoots": [5], "chunk": {"targetTokens": "many"}}',
    "not an object within": b'{"chunk": []}',
    "too deep": b"[" * 100_000,
    "zeros": bytes(4096),
    "emptied": b"",
}


def test_a_damaged_configuration_is_named_and_left_as_it_is(tree: ChangedTree, forks: Forks) -> None:
    before = {path.name: path.read_bytes() for path in (tree.place / "index").glob("index-*")}
    for damage, content in CONFIG_DAMAGES.items():
        tree.config.write_bytes(content)
        for command in (
            ["index"],
            ["search", "hello"],
            ["add", tree.folders[0]],
            ["list"],
            ["remove", tree.folders[0]],
            ["config", "rrfK", "50"],
            ["status"],
        ):
            said = plain(forks(*command, env=tree.environment), 2)
            assert str(tree.config) in said, (damage, command, said)
            assert "Error:" not in said, (damage, said)
        assert tree.config.read_bytes() == content, damage
    assert {path.name: path.read_bytes() for path in (tree.place / "index").glob("index-*")} == before
    tree.configure()
    tree.reset()
    tree.heal("index")


def test_a_damaged_model_is_built_again_or_named(tree: ChangedTree, forks: Forks) -> None:
    tree.reset()
    fresh: Held = tree.heal("index")
    cached = next(path.parent for path in (tree.place / "models").glob("[!.]*/*.json"))
    kept = tree.place / "kept-model"
    shutil.copytree(cached, kept)
    for name in sorted(path.name for path in kept.iterdir()):
        for content in (None, b"", kept.joinpath(name).read_bytes()[:-1]):
            tree.reset()
            if content is None:
                (cached / name).unlink()
            else:
                (cached / name).write_bytes(content)
            plain(forks("index", env=tree.environment), 0)
            fresh_equality(tree.environment, tree.index, fresh=fresh)
            assert {path.name for path in cached.iterdir()} >= {path.name for path in kept.iterdir()}
    # As large as it was, but none of it right: only reading it all would show, so that the remedy is told.
    for name in sorted(path.name for path in kept.iterdir() if path.suffix == ".onnx"):
        tree.reset()
        (cached / name).write_bytes(bytes((kept / name).stat().st_size))
        said = plain(forks("index", env=tree.environment), 2)
        assert str(cached) in said
        shutil.rmtree(cached)
        fresh_equality(tree.environment, tree.index, fresh=fresh)


def test_weights_that_are_damaged_leave_the_index_alone(tree: ChangedTree, forks: Forks) -> None:
    tree.reset()
    weights = tree.place / "tiny" / "model.safetensors"
    whole = weights.read_bytes()
    for content in (b"", whole[:1000], whole[: len(whole) // 2], b"no weights" * 5000):
        shutil.rmtree(tree.place / "models")
        weights.write_bytes(content)
        said = plain(forks("index", env=tree.environment), 0, 2)
        assert "tiny" in said
        assert "hello" in forks("search", "--no-refresh", "hello", env=tree.environment).stdout
    weights.write_bytes(whole)
    tree.heal("index")
