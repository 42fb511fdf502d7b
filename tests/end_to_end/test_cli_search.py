"""search, gather, grep and cat: what they find, how it looks, and what they say when they find nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command

# Far more than a passage holds, so that what follows is one of its own.
LONG = "".join(
    f"Line {n} says nothing of any interest to anybody at all, now or later.\n" for n in range(1, 31)
)


def test_a_hit_has_the_keys_that_are_promised_in_their_order(run: Command, indexed: Path) -> None:
    hit = run("search", "--json", "seedlings").document[0]
    assert list(hit)[:5] == ["filePath", "text", "score", "offset", "startLine"]
    assert hit["filePath"] == str(indexed / "garden.md")
    assert hit["text"] == (indexed / "garden.md").read_text()[hit["offset"] :][: len(hit["text"])]
    assert (hit["startLine"], hit["endLine"], hit["offset"]) == (1, 3, 0)
    assert (hit["folder"], hit["path"], hit["heading"], hit["stale"]) == (
        "notes",
        "garden.md",
        "Garden",
        False,
    )
    assert isinstance(hit["score"], float)
    code = next(h for h in run("search", "--json", "close_ledger").document if h["language"] == "python")
    assert (code["symbol"], code["kind"]) == ("close_ledger", "function")


def test_a_hit_is_one_line_when_piped(run: Command, indexed: Path) -> None:
    found = run("search", "seedlings", "-k", "1", "--no-refresh")
    (line,) = found.lines
    where, score, place, preview = line.split("\t")
    assert where == f"{indexed}/garden.md:1"
    assert re.fullmatch(r"\d+\.\d{3}", score)
    assert place == "Garden"
    assert "Tomato seedlings" in preview
    assert "wait for a vector" in found.stderr


def test_the_words_of_a_query_may_be_separate_arguments(run: Command, indexed: Path) -> None:
    assert run("search", "tomato", "seedlings").stdout == run("search", "tomato seedlings").stdout


def test_k_is_the_number_of_results_and_has_a_cap(run: Command, tmp_path: Path) -> None:
    many = write_tree(tmp_path / "many", {f"{n}.md": f"walnut number {n}\n" for n in range(12)})
    run("add", many)
    run("index", "--no-embed")
    assert len(run("search", "walnut", "--no-refresh").lines) == 5
    assert len(run("search", "walnut", "-k", "7").lines) == 7
    assert len(run("search", "walnut", "-k", "1000000000").lines) == 12
    assert len(run("search", "walnut", "-k", "1", "--json").document) == 1
    run("config", "defaultTopK", "3")
    assert len(run("search", "walnut").lines) == 3


@pytest.mark.parametrize("command", ["search", "gather"])
@pytest.mark.parametrize("k", ["0", "-1", "abc", "1.5"])
def test_a_number_of_results_that_makes_no_sense(run: Command, command: str, k: str) -> None:
    found = run(command, "walnut", "-k", k, status=2)
    assert found.stdout == ""
    assert "-k" in found.stderr


def test_nothing_found_is_status_1_and_says_so(run: Command, indexed: Path) -> None:
    found = run("search", "--no-refresh", "xylophone", status=1)
    assert found.stdout == ""
    assert "nothing found" in found.stderr
    assert run("search", "--no-refresh", "--json", "xylophone", status=1).document == []
    assert run("gather", "--no-refresh", "xylophone", status=1).stdout == ""
    assert run("gather", "--no-refresh", "--json", "xylophone", status=1).document["passages"] == []
    assert run("grep", "xylophone", status=1).stdout == ""
    assert run("grep", "--json", "xylophone", status=1).document == {"matches": [], "more": False}


def test_nothing_indexed_is_an_error_with_the_next_step(run: Command, notes: Path) -> None:
    for command in ("search", "gather"):
        found = run(command, "seedlings", status=2)
        assert found.stdout == ""
        assert "semantic-search add" in found.stderr


def test_results_can_be_narrowed_to_folders_and_paths(run: Command, indexed: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"ledger.md": "The ledger is closed in June.\n"})
    run("add", other)
    run("index")
    query = "close the ledger"
    assert {"ledger.md", "src/ledger.py"} <= set(run.search(query))
    assert "src/ledger.py" not in run.search(query, "--in", "other")
    assert run.search(query, "--in", "notes")[0] == "src/ledger.py"
    assert run.search(query, "--in", indexed / "src") == ["src/ledger.py"]
    assert set(run.search(query, "--in", indexed / "src", "--in", "other")) == {"ledger.md", "src/ledger.py"}
    assert run.search(query, "--in", indexed / "src/ledger.py") == ["src/ledger.py"]
    assert run.search(query, "--glob", "*.py") == ["src/ledger.py"]
    assert run.search(query, "--glob", "src/**") == ["src/ledger.py"]
    assert "src/ledger.py" not in run.search(query, "--glob", "!*.py")
    assert run.search(query, "-g", "*.py", "-g", "*.md", "--in", "other") == ["ledger.md"]
    assert run.search(query, "--lang", "python") == ["src/ledger.py"]
    assert run.search(query, "--lang", "py") == ["src/ledger.py"]
    assert "src/ledger.py" not in run.search(query, "--lang", "md")
    run("search", query, "--lang", "go", status=1)


def test_a_filter_that_names_nothing_is_an_error(run: Command, indexed: Path) -> None:
    assert "notes" in run("search", "ledger", "--in", "nowhere", status=2).stderr
    assert "klingon" in run("search", "ledger", "--lang", "klingon", status=2).stderr
    assert "notes" in run("grep", "ledger", "--in", "nowhere", status=2).stderr


def test_files_lists_each_file_once(run: Command, indexed: Path) -> None:
    found = run("search", "--files", "seedlings", "-k", "10")
    assert found.lines[0] == str(indexed / "garden.md")
    assert len(found.lines) == len(set(found.lines))
    assert run("search", "--files", "--json", "seedlings", "-k", "10").document == found.lines


def test_context_prints_lines_around_the_passage(run: Command, tmp_path: Path) -> None:
    text = LONG + "\n# Needle\n\nThe quokka is here.\n\n# After\n\n" + LONG
    run("add", write_tree(tmp_path / "long", {"long.md": text}))
    run("index", "--no-embed")
    bare = run("search", "--no-refresh", "quokka", "-k", "1", "-C", "0").stdout
    assert "long.md:32-34  " in bare
    assert "Line 30" not in bare
    around = run("search", "--no-refresh", "quokka", "-k", "1", "-C", "2").stdout
    assert "Line 30 says" in around
    assert "Line 29 says" not in around
    assert "# After" in around


def test_explain_shows_what_a_score_is_made_of(run: Command, notes: Path) -> None:
    run("add", notes)
    run("index")
    found = run("search", "--explain", "seedlings", "-k", "1")
    assert len(found.lines) == 2
    assert found.lines[1].startswith("    ")
    explained = run("search", "--explain", "--json", "seedlings", "-k", "1").document[0]["explain"]
    assert explained
    assert all(isinstance(value, float | int) for value in explained.values())
    assert "explain" not in run("search", "--json", "seedlings", "-k", "1").document[0]


def test_search_in_a_folder_that_is_not_indexed_indexes_it_first(
    run: Command, indexed: Path, tmp_path: Path
) -> None:
    fresh = write_tree(tmp_path / "fresh", {"a.md": "The quokka smiles.\n", "sub/b.md": "A happy animal.\n"})
    found = run("search", "--in", fresh, "--json", "quokka")
    assert found.paths[0] == "a.md"
    assert "indexing it first" in found.stderr
    assert {hit["path"] for hit in found.document} == {"a.md", "sub/b.md"}
    again = run("search", "--in", fresh, "quokka")
    assert "indexing" not in again.stderr
    assert len(run("list").lines) == 1
    assert run.search("animal", "--in", fresh / "sub") == ["sub/b.md"]


def test_search_in_a_folder_that_was_added_but_never_indexed(
    run: Command, notes: Path, tmp_path: Path
) -> None:
    run("add", notes)
    run("index", write_tree(tmp_path / "other", {"z.md": "last\n"}), "--no-embed")
    assert run("search", "--in", "notes", "seedlings").stdout.startswith(f"{notes}/garden.md:1\t")


def test_gather_is_a_block_of_markdown(run: Command, indexed: Path) -> None:
    found = run("gather", "seedlings", "-k", "1").stdout
    head, blank, fence, *body, end = found.rstrip("\n").split("\n")
    assert re.fullmatch(r"### \[1/1\]  notes  ·  garden\.md  ·  line 1  ·  score \d\.\d{3}", head)
    assert (blank, fence, end) == ("", "```markdown", "```")
    assert "\n".join(body).startswith("# Garden\n\nTomato seedlings")


def test_gather_with_lines_around_and_as_json(run: Command, tmp_path: Path) -> None:
    text = LONG + "\n# Needle\n\nThe quokka is here.\n\n# After\n\n" + LONG
    run("add", write_tree(tmp_path / "long", {"long.md": text}))
    run("index", "--no-embed")
    assert "Line 30 says" in run("gather", "--no-refresh", "quokka", "-k", "1", "-C", "2").stdout
    document = run("gather", "--no-refresh", "quokka", "-k", "1", "-C", "2", "--json").document
    (passage,) = document["passages"]
    assert (passage["startLine"], document["leftOut"]) == (30, 0)
    lines = text.split("\n")
    assert passage["text"] == "\n".join(lines[29 : passage["endLine"]])


def test_gather_keeps_to_its_budget_and_says_what_it_left_out(run: Command, tmp_path: Path) -> None:
    many: dict[str, str | bytes] = {
        f"{n}.md": f"# Quokka {n}\n\n" + "The quokka smiles at the camera. " * 10 for n in range(6)
    }
    run("add", write_tree(tmp_path / "many", many))
    run("index", "--no-embed")
    found = run("gather", "quokka", "-k", "6", "--max-tokens", "250").stdout
    assert len(found.encode()) < 250 * 4 + 300
    assert "more passages were left out" in found
    assert run("gather", "quokka", "-k", "6", "--max-tokens", "250", "--json").document["leftOut"] > 0
    run("gather", "quokka", "--max-tokens", "0", status=2)
    assert "context" in run("gather", "quokka", "-C", "100000", status=2).stderr


def test_grep_shows_the_line_where_it_is(run: Command, indexed: Path) -> None:
    assert run("grep", "RETRIES").lines == [
        "notes  ·  retry.md:3  The gateway retries a request five times, then it gives up."
    ]
    document = run("grep", "--json", "def \\w+\\(").document
    assert document == {
        "matches": [
            {
                "filePath": str(indexed / "src/ledger.py"),
                "folder": "notes",
                "path": "src/ledger.py",
                "line": 1,
                "text": "def close_ledger(month):",
            }
        ],
        "more": False,
    }


def test_the_options_of_grep(run: Command, indexed: Path) -> None:
    assert run("grep", "-s", "RETRIES", status=1).stdout == ""
    assert len(run("grep", "-i", "GARDEN").lines) == 1
    assert len(run("grep", "-s", "Garden").lines) == 1
    assert run("grep", "ledger(", status=2).stderr.count("--literal") == 1
    assert run("grep", "-F", "ledger(month)").lines[0].startswith("notes  ·  src/ledger.py:1  ")
    assert len(run("grep", "month|times", "--glob", "*.md").lines) == 1
    assert len(run("grep", "month", "--in", indexed / "src").lines) == 3
    limited = run("grep", "month", "--max", "2")
    assert len(limited.lines) == 2
    assert "--max" in limited.stderr
    assert run("grep", "month", "--max", "2", "--json").document["more"] is True
    assert run("grep", "month", "--max", "3", "--json").document["more"] is False
    assert "empty" in run("grep", "", status=2).stderr
    run("grep", "month", "--max", "0", status=2)


def test_cat_shows_a_file_or_lines_of_it(run: Command, indexed: Path) -> None:
    text = (indexed / "garden.md").read_text()
    assert run("cat", indexed / "garden.md").stdout == text
    assert run("cat", "garden.md", cwd=indexed).stdout == text
    assert run("cat", "notes/garden.md").stdout == text
    assert run("cat", f"{indexed}/garden.md:3").stdout == text.split("\n")[2] + "\n"
    assert run("cat", "garden.md:1-2").stdout == "# Garden\n\n"
    assert run("cat", "garden.md:2-99").stdout == text.split("\n", 1)[1]
    assert run("cat", "garden.md:3", "--json").document == {
        "filePath": str(indexed / "garden.md"),
        "startLine": 3,
        "endLine": 3,
        "lines": 3,
        "text": text.split("\n")[2],
    }


def test_cat_of_lines_that_are_not_there_names_those_that_are(run: Command, indexed: Path) -> None:
    for lines in ("0", "4", "3-2", "999999999999-9999999999999", "0-0"):
        found = run("cat", f"garden.md:{lines}", status=2)
        assert found.stdout == ""
        assert "lines 1 to 3" in found.stderr, lines


def test_cat_shows_nothing_that_the_index_would_not_hold(run: Command, indexed: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("outside\n")
    (indexed / "link.md").symlink_to(outside)
    write_tree(indexed, {".env": "TOKEN=1", ".indexignore": "*.log\n", "a.log": "ignored\n"})
    messages = set()
    for name in (str(outside), str(tmp_path / "nowhere.txt"), "../outside.txt", "link.md", "a.log"):
        found = run("cat", name, status=2, cwd=indexed)
        assert found.stdout == ""
        messages.add(found.stderr.replace(name, "…"))
    assert len(messages) == 1
    assert "credential" in run("cat", ".env", status=2, cwd=indexed).stderr


def test_cat_of_a_file_whose_name_looks_like_a_range(run: Command, indexed: Path) -> None:
    (indexed / "minutes:7").write_text("one\ntwo\n")
    assert run("cat", "minutes:7", cwd=indexed).stdout == "one\ntwo\n"
    assert run("cat", "minutes:7:2", cwd=indexed).stdout == "two\n"
    assert run("cat", "notes/minutes:7").stdout == "one\ntwo\n"


def test_an_empty_query_is_refused(run: Command, indexed: Path) -> None:
    for command, query in (("search", ""), ("gather", "   "), ("search", "\t\n"), ("search", "\x01\x02")):
        found = run(command, query, status=2)
        assert found.stdout == ""
        assert "empty" in found.stderr


def test_a_huge_query_is_cut_and_says_so(run: Command, indexed: Path) -> None:
    found = run("search", "--json", "seedlings " * 10_000)
    assert found.paths[0] == "garden.md"
    assert "4000" in found.stderr


def test_a_query_is_text_and_no_language(run: Command, indexed: Path) -> None:
    for query in (
        '"user session"',
        "NEAR(a b)",
        "a AND NOT",
        "seedlings*",
        "-seedlings",
        "col:x",
        "'; DROP TABLE files;--",
    ):
        found = run("search", "--json", "--no-refresh", "--", query, status=None)
        assert found.returncode in (0, 1), query
        if "seedlings" in query:
            assert found.paths[0] == "garden.md"
    assert "garden.md" in run.search("seedlings")


def test_vectors_alone_when_hybrid_search_is_off(run: Command, notes: Path) -> None:
    run("add", notes)
    run("index")
    run("config", "hybridSearch", "false")
    explained = run("search", "--explain", "--json", "when do the young plants move outside").document
    assert [hit["path"] for hit in explained if hit["explain"]["vectorRank"] == 1] == ["garden.md"]
    assert not any("lexicalRank" in hit["explain"] for hit in explained)


def test_json_is_one_document_and_all_notes_go_to_stderr(run: Command, indexed: Path) -> None:
    config = run("config", "--json").document["configPath"]
    text = Path(config).read_text()
    Path(config).write_text(text.replace("{", '{"oddKey": 1,', 1))
    for command in (
        ["add", str(indexed)],
        ["list"],
        ["config"],
        ["index", "--no-embed"],
        ["search", "seedlings"],
        ["search", "--files", "seedlings"],
        ["search", "-C", "2", "seedlings"],
        ["gather", "seedlings"],
        ["grep", "seedlings"],
        ["cat", "notes/garden.md"],
        ["status", "--skipped"],
        ["remove", "notes"],
    ):
        found = run(*command, "--json")
        assert len(found.lines) == 1, command
        assert isinstance(found.document, list | dict)
        assert "oddKey" in found.stderr or command == ["config"]
