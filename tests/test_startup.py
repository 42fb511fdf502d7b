"""What a command must not load: start-up is quick because nothing heavy is imported before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from builders import write_tree

# Each takes 30 ms to 2 s to import; `urllib.request` and `http` would be the way to a network.
HEAVY = [
    "anyio",
    "charset_normalizer",
    "huggingface_hub",
    "lancedb",
    "mcp",
    "numpy",
    "onnxruntime",
    "pyarrow",
    "pydantic",
    "pypdfium2",
    "ray",
    "re2",
    "rich",
    "semble_grammars",
    "tokenizers",
    "tree_sitter",
    "urllib.request",
]
_CHILD = """
import json, sys
sys.argv[0] = "semantic-search"
from semantic_search.__main__ import main
try:
    main()
except SystemExit as end:
    status = end.code
print(json.dumps({"status": status, "modules": sorted(sys.modules)}), file=sys.stderr)
"""


def run(*args: str) -> tuple[int, set[str], str]:
    """Exit status, the modules that were loaded, and stdout of a command."""
    done = subprocess.run([sys.executable, "-c", _CHILD, *args], capture_output=True, text=True, check=False)
    told = json.loads(done.stderr.splitlines()[-1])
    return told["status"], set(told["modules"]), done.stdout


@pytest.fixture
def notes(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(tmp_path / "notes", {"a.md": "# Retry\n\nThe gateway retries five times.\n"})
    assert run("add", str(root))[0] == 0
    return root


@pytest.mark.parametrize(
    "args",
    [
        ["--help"],
        ["--version"],
        ["search", "--help"],
        ["index", "--help"],
        ["list"],
        ["config"],
        ["config", "defaultTopK", "7"],
        ["status"],
        ["init", "--indexignore"],
    ],
)
def test_these_load_nothing_heavy(notes: Path, args: list[str]) -> None:
    status, modules, stdout = run(*args)
    assert status == 0
    assert stdout
    assert modules & set(HEAVY) == set()


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "sea",
        "search --",
        "search --in no",
        "search --in notes/",
        "config def",
        "config modelName ",
        "index --store ",
        "init --client ",
        "cat notes/",
        "completion ",
    ],
)
def test_completing_loads_nothing_heavy(notes: Path, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """What is typed waits for it: neither a model nor an index nor a renderer."""
    line = f"semantic-search {typed}"
    monkeypatch.setenv("_SEMANTIC_SEARCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    status, modules, stdout = run()
    assert status == 0
    assert stdout.startswith(("plain,", "dir,", "file,"))
    assert modules & {*HEAVY, "sqlite3", "asyncio"} == set()


@pytest.mark.parametrize(
    ("args", "most"),
    [(["--help"], 110), (["list"], 150), (["search", "--help"], 210)],
)
def test_few_modules_are_loaded(notes: Path, args: list[str], most: int) -> None:
    """Each costs about 0.3 ms; how many the standard library has differs a little by version."""
    code = "import json, sys; print(*sys.modules)"
    bare = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(run(*args)[1] - set(bare.stdout.split())) <= most


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, semantic_search; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded & set(HEAVY) == set()
    assert not any(name.startswith("semantic_search.") for name in loaded)


def test_a_search_by_words_alone_loads_no_model(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is not on this machine is told by its name, before any runtime is loaded."""
    monkeypatch.setenv("SS_MODEL_NAME", "paraphrase-multilingual-MiniLM-L12-v2")
    assert run("index")[0] == 0
    status, modules, stdout = run("search", "gateway", "--json")
    assert status == 0
    assert json.loads(stdout)[0]["path"] == "a.md"
    assert (
        modules
        & {
            "onnxruntime",
            "tokenizers",
            "mcp",
            "huggingface_hub",
            "urllib.request",
            "pypdfium2",
        }
        == set()
    )


def test_grep_and_cat_load_no_model(notes: Path) -> None:
    for args in (["grep", "gateway"], ["cat", str(notes / "a.md")]):
        status, modules, stdout = run(*args)
        assert status == 0
        assert "gateway" in stdout
        assert (
            modules & {"numpy", "onnxruntime", "tokenizers", "tree_sitter", "pypdfium2", "mcp", "rich"}
            == set()
        )
