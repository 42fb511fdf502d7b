"""Embedding on workers: the vectors are those of this process, and a killed worker loses none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import write_tree
from fakes import configure, open_words

from semantic_search.errors import SettingsError
from semantic_search.tools.index import Request, index

# In a process of its own: Ray starts servers that end with it, and warns of what it likes.
_RUN = """
import json, os, signal, sys, threading
import numpy as np
from semantic_search.corpus import Corpus
from semantic_search.embedding import fill_vectors
from semantic_search.engines import ray_workers
from semantic_search.settings import load_settings
from semantic_search.stores import Filter
from semantic_search.tools.index import Request, index

with Corpus(load_settings()) as corpus:
    index(corpus, Request(embed=False))
    embedder = corpus.embedder
    with corpus.writing() as store:
        texts = dict(store.pending(10_000))
        wanted = (corpus.settings.model, embedder.fingerprint, embedder.dimension)
        with ray_workers("ray", *wanted, threads=2) as workers:
            some = list(texts.values())[::10]
            equal = np.array_equal(workers.embed_passages(some), embedder.embed_passages(some))
            before = workers.process_ids()
            def kill(done, total, killed=[]):
                # After the first commit; whenever it is killed, a part of the next batch is on its way in it.
                if done and not killed:
                    killed.append(before[0])
                    os.kill(before[0], signal.SIGSTOP)
                    threading.Timer(0.05, os.kill, (before[0], signal.SIGKILL)).start()
            written = fill_vectors(store, workers, threads=1, batch_size=64, on_progress=kill)
            after = workers.process_ids()
        pending = store.pending_count()
        apart = 0.0
        for id_, text in list(texts.items())[:12] + list(texts.items())[-12:]:
            here = embedder.embed_passages([text])[0]
            found = store.nearest(here, Filter(), 1)
            there = store.vector_of(found[0][0])
            apart = max(apart, 1 - float(here @ there))
print(json.dumps({"texts": len(texts), "written": written, "pending": pending, "equal": equal, "apart": apart,
                  "workers": [len(before), len(after)], "replaced": len(set(after) - set(before))}))
"""


def test_two_workers_make_the_same_vectors_and_one_that_is_killed_loses_nothing(
    tmp_path: Path, own_environment: Path
) -> None:
    notes = {
        f"{n}.md": f"# Note {n}\n\n" + f"The pump of unit {n} is serviced in week {n % 50}. " * (1 + n % 7)
        for n in range(240)
    }
    configure(own_environment, [write_tree(tmp_path / "notes", dict(notes))])
    done = subprocess.run([sys.executable, "-c", _RUN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["texts"] >= 240
    assert (told["written"], told["pending"]) == (told["texts"], 0)
    assert told["equal"]
    assert told["workers"] == [2, 2]
    assert told["replaced"] == 1
    # What a stored vector differs from its own by: it is kept in eight bits.
    assert told["apart"] < 0.001


def test_without_the_extra_the_hint_says_what_to_install(own_environment: Path, tmp_path: Path) -> None:
    configure(own_environment, [write_tree(tmp_path / "notes", {"a.md": "# A\n\nSome text.\n"})])
    script = "import sys; sys.modules['ray'] = None; from semantic_search.__main__ import main; main()"
    argv = [sys.executable, "-c", script, "index", "--engine", "ray"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 2
    assert "pip install 'semantic-search-mcp[ray]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_engine_that_is_none_is_refused_at_once(own_environment: Path, tmp_path: Path) -> None:
    configure(own_environment, [write_tree(tmp_path / "notes", {"a.md": "# A\n\nSome text.\n"})])
    with open_words() as corpus, pytest.raises(SettingsError, match="local, ray"):
        index(corpus, Request(engine="spark"))
