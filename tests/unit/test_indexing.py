"""A folder's files into passages: what is read again, what is not, and what becomes of the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import source, write_tree
from fakes import WordsModels, configure, let_time_pass, open_words, run_folder

from semantic_search.changes import RACY_NS, changed_files
from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError
from semantic_search.outcomes import BATCH_BYTES, BATCH_FILES, batches
from semantic_search.runs import FolderReport
from semantic_search.stores import Filter, Known, Store
from semantic_search.terms import query_terms
from semantic_search.types import Skip

NOTES: dict[str, str | bytes] = {
    "retry.md": "# Retry\n\nThe gateway retries five times.\n",
    "garden.md": "# Garden\n\nTomatoes go outdoors in May.\n",
    "src/ledger.py": "def close_ledger(month):\n    return month\n",
}


@pytest.fixture
def folder(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(tmp_path / "notes", NOTES)
    configure(own_environment, [root])
    return root


@pytest.fixture
def corpus(folder: Path) -> Iterator[Corpus]:
    with open_words() as opened:
        yield opened


@pytest.fixture
def store(corpus: Corpus) -> Iterator[Store]:
    with corpus.writing() as opened:
        yield opened


def found(store: Store, query: str) -> list[str]:
    """The paths of the files that a query's words are in."""
    passages = store.passages([id_ for id_, _ in store.match(query_terms(query), Filter(), 100)])
    return sorted({passage.path for passage in passages.values()})


def test_a_first_run_reads_everything(corpus: Corpus, store: Store, folder: Path) -> None:
    run = run_folder(corpus, store, folder)
    assert sorted(run.paths) == sorted(NOTES)
    assert (run.report.processed, run.report.unchanged, run.report.chunks) == (3, 0, 3)
    assert found(store, "gateway") == ["retry.md"]
    assert store.counts()[0].last_run


def test_nothing_changed_reads_nothing(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    run = run_folder(corpus, store, folder)
    assert run.paths == []
    assert (run.report.processed, run.report.unchanged, run.report.touched) == (0, 3, 0)


def test_a_file_written_just_before_it_was_read_is_hashed_again(
    corpus: Corpus, store: Store, folder: Path
) -> None:
    run_folder(corpus, store, folder)
    run = run_folder(corpus, store, folder)
    assert sorted(run.paths) == sorted(NOTES)
    assert (run.report.processed, run.report.touched, run.report.chunks) == (0, 3, 0)


def test_freshness_an_edit_of_same_size_and_time_is_seen(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    place = folder / "retry.md"
    stamp = place.stat()
    place.write_text(str(NOTES["retry.md"]).replace("gateway", "doorway"))
    os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    run = run_folder(corpus, store, folder)
    assert run.paths == ["retry.md"]
    assert found(store, "gateway") == []
    assert found(store, "doorway") == ["retry.md"]


def test_a_file_put_in_the_place_of_another_is_seen(corpus: Corpus, store: Store, folder: Path) -> None:
    """What `mv` and `git checkout` do: the inode differs whatever the times say."""
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    place, other = folder / "retry.md", folder / "retry.new"
    stamp = place.stat()
    other.write_text(str(NOTES["retry.md"]).replace("gateway", "doorway"))
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.replace(place)
    assert run_folder(corpus, store, folder).paths == ["retry.md"]
    assert found(store, "doorway") == ["retry.md"]


def test_a_touched_file_is_hashed_once_and_then_left_alone(
    corpus: Corpus, store: Store, folder: Path
) -> None:
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    os.utime(folder / "retry.md", (1, 1))
    run = run_folder(corpus, store, folder)
    assert run.paths == ["retry.md"]
    assert (run.report.processed, run.report.touched, run.report.unchanged) == (0, 1, 2)
    let_time_pass(store, folder)
    assert run_folder(corpus, store, folder).paths == []


def test_force_reads_and_writes_everything(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    run = run_folder(corpus, store, folder, force=True)
    assert (run.report.processed, run.report.touched, run.report.unchanged) == (3, 0, 0)


def test_a_vanished_file_goes(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    (folder / "retry.md").unlink()
    run = run_folder(corpus, store, folder)
    assert run.report.deleted == 1
    assert found(store, "gateway") == []
    assert sorted(store.known(str(folder))) == ["garden.md", "src/ledger.py"]


def test_an_ignored_file_goes(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    (folder / ".indexignore").write_text("retry.md\n")
    run = run_folder(corpus, store, folder)
    assert run.report.deleted == 1
    assert found(store, "gateway") == []


def test_content_02_an_emptied_file_loses_its_passages(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    (folder / "retry.md").write_text("")
    run = run_folder(corpus, store, folder)
    assert run.report.skipped == {"empty": 1}
    assert found(store, "gateway") == []
    let_time_pass(store, folder)
    assert run_folder(corpus, store, folder).paths == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Skip.EMPTY),
        (b" \n\t\n", Skip.EMPTY),
        (b"gateway\0\1\2", Skip.BINARY),
        (b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 64 + b"\n-----END PRIVATE KEY-----\n", Skip.SECRET),
    ],
)
def test_what_has_no_text_is_read_once(
    corpus: Corpus, store: Store, folder: Path, content: bytes, reason: Skip
) -> None:
    (folder / "odd.md").write_bytes(content)
    run = run_folder(corpus, store, folder)
    assert run.report.skipped == {reason.value: 1}
    assert (run.report.processed, run.report.failed) == (3, 0)
    let_time_pass(store, folder)
    assert run_folder(corpus, store, folder).paths == []
    (skipped,) = store.skipped()
    assert (skipped.path, skipped.reason) == ("odd.md", reason)


def test_a_file_that_grows_too_large_loses_its_passages(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    (folder / "retry.md").write_text("gateway " * 100_000)
    run = run_folder(corpus, store, folder)
    assert run.report.skipped == {"too-large": 1}
    assert found(store, "gateway") == []


def test_a_skipped_file_that_has_text_now_is_indexed(corpus: Corpus, store: Store, folder: Path) -> None:
    (folder / "late.md").write_text("")
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    (folder / "late.md").write_text("zeppelin\n")
    assert run_folder(corpus, store, folder).paths == ["late.md"]
    assert found(store, "zeppelin") == ["late.md"]
    assert store.skipped() == []


def test_other_limits_give_skipped_files_another_chance(
    folder: Path, own_environment: Path, corpus: Corpus
) -> None:
    """Files that a rule skipped when they were read have an unchanged stamp when the rule is another."""
    key = "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n-----END PRIVATE KEY-----\n"
    (folder / "howto.md").write_text(key + "zeppelin\n")
    with corpus.writing() as store:
        assert run_folder(corpus, store, folder).report.skipped == {"secret": 1}
        let_time_pass(store, folder)
        assert run_folder(corpus, store, folder).paths == []
    configure(own_environment, [folder], indexSecrets=True)
    with open_words() as changed, changed.writing() as store:
        assert run_folder(changed, store, folder).paths == ["howto.md"]
        assert found(store, "zeppelin") == ["howto.md"]


def test_text_that_is_refused_from_now_on_goes(folder: Path, own_environment: Path, corpus: Corpus) -> None:
    """Whoever turns `indexSecrets` off again means what is in the index too, though no file changed."""
    key = "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n-----END PRIVATE KEY-----\n"
    (folder / "howto.md").write_text(key + "zeppelin\n")
    configure(own_environment, [folder], indexSecrets=True)
    with open_words() as willing, willing.writing() as store:
        run_folder(willing, store, folder)
        let_time_pass(store, folder)
    with corpus.writing() as store:
        run = run_folder(corpus, store, folder)
        assert run.report.skipped == {"secret": 1}
        assert (run.report.processed, run.report.touched) == (0, 3)
        assert found(store, "zeppelin") == []
        let_time_pass(store, folder)
        assert run_folder(corpus, store, folder).paths == []


@pytest.mark.parametrize("options", [{"within": "src"}, {"max_files": 1}, {"stop": lambda: True}])
def test_another_chance_is_not_used_up_by_a_run_that_saw_only_a_part(
    folder: Path, own_environment: Path, corpus: Corpus, options: dict[str, object]
) -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n-----END PRIVATE KEY-----\n"
    (folder / "howto.md").write_text(key + "zeppelin\n")
    with corpus.writing() as store:
        run_folder(corpus, store, folder)
        let_time_pass(store, folder)
    (folder / "a.md").write_text("first\n")
    (folder / "b.md").write_text("second\n")
    configure(own_environment, [folder], indexSecrets=True)
    with open_words() as changed, changed.writing() as store:
        run_folder(changed, store, folder, **options)
        run_folder(changed, store, folder)
        assert found(store, "zeppelin") == ["howto.md"]


def test_max_files_counts_what_it_indexed(corpus: Corpus, store: Store, folder: Path) -> None:
    first = run_folder(corpus, store, folder, max_files=2)
    assert (first.report.processed, first.report.truncated) == (2, True)
    assert store.counts()[0].last_run == ""
    # Files just written are hashed again; that must not use up the number, or nothing would ever go on.
    second = run_folder(corpus, store, folder, max_files=2)
    assert (second.report.processed, second.report.truncated) == (1, False)
    assert len(store.known(str(folder))) == 3


def test_max_files_does_not_forget(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    (folder / "garden.md").unlink()
    write_tree(folder, {"a.md": "one\n", "b.md": "two\n"})
    run = run_folder(corpus, store, folder, max_files=1)
    assert (run.report.processed, run.report.deleted, run.report.truncated) == (1, 0, True)
    assert "garden.md" in store.known(str(folder))


def test_max_files_that_is_just_enough_is_no_truncation(corpus: Corpus, store: Store, folder: Path) -> None:
    run = run_folder(corpus, store, folder, max_files=3)
    assert (run.report.processed, run.report.truncated) == (3, False)


def test_a_stopped_run_keeps_what_it_wrote_and_the_next_goes_on(
    corpus: Corpus, store: Store, folder: Path
) -> None:
    write_tree(folder, {f"many/{n:03}.md": f"note number {n}\n" for n in range(2 * BATCH_FILES)})
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return bool(store.known(str(folder)))

    run = run_folder(corpus, store, folder, stop=stop)
    assert run.report.interrupted
    assert 0 < run.report.processed < len(NOTES) + 2 * BATCH_FILES
    assert store.counts()[0].last_run == ""
    let_time_pass(store, folder)
    rest = run_folder(corpus, store, folder)
    assert rest.report.processed + run.report.processed == len(NOTES) + 2 * BATCH_FILES
    assert not rest.report.interrupted


def test_a_run_that_is_stopped_at_once_gets_on(corpus: Corpus, store: Store, folder: Path) -> None:
    """A look before a search has little time, and must not begin with the same files for ever."""
    for n in range(len(NOTES)):
        run = run_folder(corpus, store, folder, stop=lambda: True)
        assert run.report.processed == 1
        assert run.report.interrupted is (n < len(NOTES) - 1)
        let_time_pass(store, folder)
    assert len(store.known(str(folder))) == len(NOTES)


def test_a_stopped_run_forgets_nothing(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    (folder / "retry.md").unlink()
    (folder / "new.md").write_text("new\n")
    run = run_folder(corpus, store, folder, stop=lambda: True)
    assert (run.report.interrupted, run.report.deleted) == (True, 0)
    assert "retry.md" in store.known(str(folder))


def test_within_sees_its_directory_alone(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    let_time_pass(store, folder)
    (folder / "garden.md").unlink()
    write_tree(folder, {"retry.md": "other\n", "src/new.py": "x = 1\n", "srcs/near.md": "near\n"})
    (folder / "src/ledger.py").unlink()
    run = run_folder(corpus, store, folder, within="src")
    assert run.paths == ["src/new.py"]
    assert run.report.deleted == 1
    assert sorted(store.known(str(folder))) == ["garden.md", "retry.md", "src/new.py"]


def test_roots_07_most_of_a_folder_vanishing_is_not_believed(
    corpus: Corpus, store: Store, folder: Path
) -> None:
    write_tree(folder, {f"many/{n}.md": f"number {n}\n" for n in range(40)})
    run_folder(corpus, store, folder)
    shutil.rmtree(folder / "many")
    run = run_folder(corpus, store, folder)
    assert "40 of 43" in run.report.error
    assert run.report.deleted == 0
    assert len(store.known(str(folder))) == 43
    forced = run_folder(corpus, store, folder, force=True)
    assert (forced.report.deleted, forced.report.error) == (40, "")


def test_a_renamed_directory_is_not_a_loss_and_embeds_nothing(
    corpus: Corpus, store: Store, folder: Path
) -> None:
    write_tree(folder, {f"many/{n}.md": f"number {n}\n" for n in range(40)})
    run_folder(corpus, store, folder)
    waiting = store.pending_count()
    (folder / "many").rename(folder / "few")
    run = run_folder(corpus, store, folder)
    assert (run.report.deleted, run.report.error) == (40, "")
    assert store.pending_count() == waiting


def test_a_missing_folder_is_an_error_and_loses_nothing(corpus: Corpus, store: Store, folder: Path) -> None:
    run_folder(corpus, store, folder)
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(FolderError, match="does not exist"):
        run_folder(corpus, store, folder)
    assert len(store.known(str(folder))) == 3


def test_git_06_a_broken_repository_loses_nothing(corpus: Corpus, store: Store, folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    run_folder(corpus, store, folder)
    (folder / ".git" / "HEAD").write_text("nonsense")
    with pytest.raises(FolderError):
        run_folder(corpus, store, folder)
    assert len(store.known(str(folder))) == 3


def test_what_git_ignores_from_now_on_goes(corpus: Corpus, store: Store, folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    run_folder(corpus, store, folder)
    (folder / ".gitignore").write_text("/garden.md\n")
    run_folder(corpus, store, folder)
    assert sorted(store.known(str(folder))) == [".gitignore", "retry.md", "src/ledger.py"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_symlinks_05_a_file_replaced_by_a_link_loses_its_passages(
    corpus: Corpus, store: Store, folder: Path, tmp_path: Path
) -> None:
    run_folder(corpus, store, folder)
    secret = tmp_path / "outside.md"
    secret.write_text("zeppelin\n")
    (folder / "retry.md").unlink()
    (folder / "retry.md").symlink_to(secret)
    run = run_folder(corpus, store, folder)
    assert run.report.skipped == {"symlink": 1}
    assert found(store, "gateway") == found(store, "zeppelin") == []


def test_notes_of_a_document_name_it(corpus: Corpus, store: Store, folder: Path) -> None:
    (folder / "broken.md").write_bytes("Садок і город. ".encode() * 40 + b"\xff\xfe" + b" tail\n")
    run = run_folder(corpus, store, folder)
    assert any(note.startswith("broken.md: ") for note in run.report.notes), run.report.notes


def test_steps_count_up_to_the_whole(corpus: Corpus, store: Store, folder: Path) -> None:
    (folder / "odd.md").write_text("")
    run = run_folder(corpus, store, folder)
    assert [step.done for step in run.steps] == [1, 2, 3, 4]
    assert {step.total for step in run.steps} == {4}
    last = run.steps[-1]
    assert last.done_bytes == last.total_bytes == sum(len(text) for text in NOTES.values())
    assert {step.path: step.outcome for step in run.steps}["odd.md"] is Skip.EMPTY


def test_unchanged_text_is_embedded_once(folder: Path) -> None:
    from semantic_search.embedding import fill_vectors

    models = WordsModels()
    with open_words(models) as corpus, corpus.writing() as store:
        run_folder(corpus, store, folder)
        assert fill_vectors(store, corpus.embedder, threads=1) == 3
        run_folder(corpus, store, folder, force=True)
        assert store.pending_count() == 0
        assert fill_vectors(store, corpus.embedder, threads=1) == 0
        assert len(models.embedded) == 3


def known(reason: Skip | None = None, *, seen_ns: int = 10**12, mtime_ns: int = 1) -> Known:
    return Known(source(mtime_ns=mtime_ns).stamp, seen_ns, "", reason, 0)


@pytest.mark.parametrize(
    ("row", "retry_skipped", "changed"),
    [
        (None, False, True),
        (known(), False, False),
        (known(mtime_ns=2), False, True),
        (known(seen_ns=1 + RACY_NS), False, True),
        (known(seen_ns=2 + RACY_NS), False, False),
        (known(seen_ns=0), False, True),
        (known(Skip.EMPTY), False, False),
        (known(Skip.EMPTY), True, True),
        (known(Skip.UNREADABLE), False, True),
        (known(Skip.TIMED_OUT), False, True),
    ],
)
def test_when_a_file_is_read(row: Known | None, *, retry_skipped: bool, changed: bool) -> None:
    file = source()
    rows = {} if row is None else {file.path: row}
    assert changed_files([file], rows, retry_skipped=retry_skipped) == ([file] if changed else [])
    assert changed_files([file], rows, everything=True) == [file]


def test_what_failed_may_be_left_for_another_time() -> None:
    file = source()
    assert changed_files([file], {file.path: known(Skip.TIMED_OUT)}, retry_failed=False) == []
    assert changed_files([file], {file.path: known(Skip.TIMED_OUT, mtime_ns=2)}, retry_failed=False) == [file]


def test_batches_are_bounded_and_lose_nothing() -> None:
    files = [source(f"{n:04}.md", size=BATCH_BYTES // 10 if n % 3 else 10) for n in range(500)]
    files.insert(7, source("large.md", size=3 * BATCH_BYTES))
    parts = list(batches(files))
    assert [file for part in parts for file in part] == files
    for part in parts:
        assert 0 < len(part) <= BATCH_FILES
        assert len(part) == 1 or sum(file.size for file in part) <= BATCH_BYTES
    assert list(batches([])) == []


def test_a_report_starts_empty() -> None:
    report = FolderReport("notes", "/somewhere/notes")
    assert (report.processed, report.skipped, report.notes, report.error) == (0, {}, [], "")
