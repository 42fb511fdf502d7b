"""What was being cut when a process died is known to the next one, and to no other."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from semantic_search.suspects import Suspects

ODD = "caf\udce9\n.md"


def test_nothing_is_left_of_what_was_cut(tmp_path: Path) -> None:
    notes = Suspects(str(tmp_path))
    with notes.cutting([("/f", "a.md")]):
        assert Suspects(str(tmp_path)).of_folder("/f") == {"a.md"}
    assert notes.of_folder("/f") == Suspects(str(tmp_path)).of_folder("/f") == frozenset()
    assert list(tmp_path.iterdir()) == []


def test_an_error_is_no_death(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Suspects(str(tmp_path)).cutting([("/f", "a.md")]):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_what_a_dead_process_was_cutting_stays_until_it_was_cut(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        with Suspects(str(tmp_path)).cutting([("/f", ODD), ("/f", "b.md"), ("/g", "c.md")]):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    notes = Suspects(str(tmp_path))
    assert notes.of_folder("/f") == {ODD, "b.md"} and notes.of_folder("/h") == frozenset()
    with notes.cutting([("/h", "d.md")]):
        assert Suspects(str(tmp_path)).of_folder("/h") == {"d.md"}
    # Cutting something else does not make them forgotten.
    notes.clear("/f")
    again = Suspects(str(tmp_path))
    assert (again.of_folder("/f"), again.of_folder("/g"), again.of_folder("/h")) == (
        frozenset(),
        frozenset({"c.md"}),
        frozenset(),
    )
    again.clear("/g")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_the_note_is_private(tmp_path: Path) -> None:
    with Suspects(str(tmp_path)).cutting([("/f", "a.md")]):
        (note,) = tmp_path.iterdir()
        assert note.stat().st_mode & 0o777 == 0o600


def test_where_nothing_can_be_written_nothing_is_noted(tmp_path: Path) -> None:
    with Suspects(str(tmp_path / "gone")).cutting([("/f", "a.md")]):
        assert Suspects(str(tmp_path / "gone")).of_folder("/f") == frozenset()
