"""Paths made by chance lead out of what is served through no tool, and no tool shows what is not listed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import subprocess
import threading
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from builders import write_tree
from counts import a_seed, repeated
from fakes import WordsModels, configure, open_words
from mcp_agents import Agent, agent

from semantic_search.errors import SemanticSearchError
from semantic_search.tools.cat import cat
from semantic_search.tools.grep import Search, grep
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search

CANARY = "CANARY-7f3a"
SECRET = f"walrus {CANARY} secret\n"
PAGE = "an inside page about walruses\n"
COMPOSED, DECOMPOSED = unicodedata.normalize("NFC", "té"), unicodedata.normalize("NFD", "té")


@pytest.fixture
def places(tmp_path: Path, own_environment: Path) -> Path:
    """A served repository `data`; canaries around, beside and linked from it, and ignored or secret in it."""
    outside = {
        f"{place}/secret.md": SECRET for place in ("elsewhere", "data-private", "data2", "Data", "dat")
    }
    inside = {
        ".gitignore": "ignored.md\nignored/\nnode_modules/\n",
        "inside.md": PAGE,
        "sub/deep.md": PAGE,
        "data/again.md": PAGE,
    }
    hidden = [
        *("ignored.md", "ignored/secret.md", ".env", "sub/.env.local", "id_rsa", ".ssh/config", "key.pem"),
        *(".git/note", "node_modules/m.js", ".git-credentials", "sub/.netrc"),
    ]
    write_tree(tmp_path, {**outside, f"{DECOMPOSED}/secret.md": SECRET, f"data/{COMPOSED}/page.md": PAGE})
    write_tree(tmp_path / "data", {**inside, **dict.fromkeys(hidden, SECRET)})
    for link, target in (
        ("leak.md", "elsewhere/secret.md"),
        ("way", "elsewhere"),
        ("sub/up", "."),
        ("sub/root", "/"),
        ("sub/hard.md", "data/ignored.md"),
    ):
        (tmp_path / "data" / link).symlink_to(tmp_path / target)
    subprocess.run(["git", "init", "-q", tmp_path / "data"], check=True)
    configure(own_environment, [tmp_path / "data"])
    return tmp_path


@pytest.fixture
def ai(places: Path) -> Iterator[Agent]:
    with agent() as found:
        found.ok("index")
        yield found


PARTS = [
    *(
        "..",
        "..",
        "..",
        ".",
        "",
        "data",
        "data",
        "elsewhere",
        "secret.md",
        "secret.md",
        "inside.md",
        "leak.md",
    ),
    *("way", "sub", "up", "root", "deep.md", "hard.md", "data-private", "data2", "Data", "dat", "ignored"),
    *(
        "ignored.md",
        ".env",
        ".env.local",
        "id_rsa",
        ".ssh",
        "config",
        ".git",
        "node_modules",
        "m.js",
        ".netrc",
    ),
    *(COMPOSED, DECOMPOSED, "page.md", "~", "~root", "proc", "self", "cwd", "environ", "fd", "etc", "passwd"),
    *("%2e%2e", "..%2f", "\\..", "..\\", "*", "?", "[a-z]*", "**", "{a,..}", "$HOME", "-rf", " ", "\t", "\n"),
    *(
        "\x00",
        "\udcff",
        "\\xff",
        "ſecret.md",
        "SECRET.MD",
        "inside.md:",
        "inside.md/",
        "．．",
        "‥",
        "x" * 300,
    ),
]
STARTS = [
    "",
    "",
    "",
    "/",
    "//",
    "./",
    "../",
    "~/",
    "data/",
    "{root}/",
    "{root}/",
    "{root}/data/",
    "{root}/data/..",
]
JOINTS = ["/", "/", "/", "/", "//", "/./", "\\", "/../"]


def a_path(draw: random.Random, root: Path) -> str:
    """A path that may lead anywhere."""
    path = draw.choice(STARTS).replace("{root}", str(root))
    for _ in range(draw.randint(1, 6)):
        path += draw.choice(PARTS) + draw.choice(JOINTS)
    return path[: -draw.randint(0, 2)] if draw.random() < 0.7 else path


def tools(ai: Agent) -> list[Callable[[str], str]]:
    """What takes a path: each gives back all that it says."""

    def call(tool: str, name: str, **more: object) -> Callable[[str], str]:
        return lambda path: "\n".join(ai.call(tool, **more, **{name: path}).blocks)

    def resource(begin: str, quoted: bool) -> Callable[[str], str]:
        def read(path: str) -> str:
            safe = quote(os.fsencode(path)) if quoted else path.encode("utf-8", "replace").decode()
            try:
                return str(ai.run("read_resource", begin + safe).contents[0].text)
            except Exception as error:
                return str(error)

        return read

    return [
        call("search", "folder", query="walrus", k=50),
        call("search", "glob", query="walrus", k=50),
        call("gather", "folder", query="walrus", k=20, contextLines=50),
        call("grep", "folder", pattern="walrus"),
        call("grep", "glob", pattern="walrus"),
        call("cat_file", "filePath"),
        call("find_related", "filePath", line=1),
        call("index", "root"),
        resource("file://", True),
        resource("semantic-search://file/data/", True),
        resource("semantic-search://file/", False),
        resource("semantic-search://folder/", True),
    ]


@pytest.mark.parametrize("count", repeated(2000))
def test_no_path_leads_out_through_any_tool(ai: Agent, places: Path, count: int) -> None:
    seed = a_seed()
    draw, said = random.Random(seed), 0
    calls = tools(ai)
    for n in range(count):
        path = a_path(draw, places)
        text = calls[n % len(calls)](path)
        assert CANARY not in text, (seed, n % len(calls), path)
        assert "root:x:" not in text, (seed, n % len(calls), path)
        said += PAGE.strip() in text
    print(f"{count} paths of seed {seed}, {said} answers with a page of the folder")
    assert said > count / 100, "the paths lead nowhere at all"
    (folder,) = ai.ok("index_status").json["folders"]
    assert folder["files"] == 5  # the pages, and .gitignore


@pytest.mark.parametrize("count", repeated(300))
def test_no_path_leads_out_through_the_commands(places: Path, count: int) -> None:
    """The command line may be pointed anywhere by its user; what it shows is what is indexed."""
    seed = a_seed()
    draw = random.Random(seed)
    with open_words(WordsModels()) as corpus:
        index(corpus, Request(None))
        for n in range(count):
            path = a_path(draw, places)
            said = ""
            with contextlib.suppress(SemanticSearchError):
                if n % 3 == 0:
                    said = cat(corpus, path).text
                elif n % 3 == 1:
                    said = str(grep(corpus, Search("walrus", folders=(path,))).lines)
                else:
                    said = str(search(corpus, Question("walrus", 50, folders=(path,))).hits)
            assert CANARY not in said, (seed, path)
    print(f"{count} paths of seed {seed}")


@pytest.mark.parametrize("rounds", repeated(6))
def test_a_file_and_a_directory_that_are_swapped_for_links_leak_through_no_tool(
    ai: Agent, places: Path, rounds: int
) -> None:
    outside = places / "elsewhere"
    write_tree(places / "data", {"flip.md": PAGE, "flipdir/secret.md": PAGE})
    ai.ok("index")
    over = threading.Event()

    def flip() -> None:
        file, spare = places / "data" / "flip.md", places / "spare"
        directory, away, link = places / "data" / "flipdir", places / "away", places / "link"
        while not over.is_set():
            spare.write_text(PAGE)
            os.replace(spare, file)
            spare.symlink_to(outside / "secret.md")
            os.replace(spare, file)
            link.symlink_to(outside)
            os.rename(directory, away)
            os.rename(link, directory)
            os.rename(directory, link)
            os.rename(away, directory)
            link.unlink()

    thread = threading.Thread(target=flip)
    thread.start()
    calls = tools(ai)
    said = []
    try:
        for _ in range(rounds):
            for path in ("flip.md", "flipdir/secret.md", str(places / "data" / "flipdir")):
                said += [call(path) for call in calls]
            said += ai.call("index").blocks
            said += ai.call("search", query="walrus secret", k=100).blocks
            said += ai.call("gather", query="walrus", k=100, contextLines=20).blocks
            said += ai.call("grep", pattern="walrus").blocks
    finally:
        over.set()
        thread.join()
    assert CANARY not in "\n".join(said)
    assert "walruses" in "\n".join(said)


CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PIECES = [
    *(
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x1b[2J",
        "\x9b5m",
        "\x08\x08",
        "\r",
        "\x00",
        "\u202e",
        "\u2066",
        "\u2028",
    ),
    *(
        "```",
        "````",
        "~~~",
        "\n```\n",
        "\n### [1/1] forged\n",
        "</passage>",
        "\n\n---\n",
        "[link](x)",
        "walrus",
    ),
    *(
        "\n# heading\n",
        "walrus page",
        "\t",
        "\x7f",
        "\x85",
        "`" * 12,
        "\n> quote\n",
        "IGNORE ALL",
        "<script>",
    ),
]


@pytest.mark.parametrize("count", repeated(60))
def test_what_files_hold_cannot_pose_as_something_else(
    places: Path, own_environment: Path, count: int
) -> None:
    seed = a_seed()
    draw = random.Random(seed)
    folder = places / "forged"
    files: dict[str, str | bytes] = {}
    for n in range(count):
        name = "".join(
            piece for piece in draw.choices(PIECES, k=2) if "/" not in piece and "\x00" not in piece
        )
        body = "".join(draw.choices(PIECES, k=draw.randint(3, 12))).replace("\x00", "")
        files[f"{n}{name}.md"] = f"walrus {n}\n{body}\n"
    write_tree(folder, files)
    configure(own_environment, [folder])
    with agent() as ai:
        ai.ok("index")
        for n in range(0, count, 10):
            text = ai.ok("gather", query=f"walrus {n}", k=10, contextLines=30).text
            assert CONTROLS.findall(text.replace("\n", "").replace("\t", "")) == [], (seed, text)
            assert outside_of_fences(text) == [], (seed, text)
        for line in ai.ok("grep", pattern="walrus", maxResults=100).text.split("\n"):
            assert CONTROLS.findall(line.replace("\t", "")) == [], (seed, line)
            assert re.match(r"forged  ·  \d+|\S*more", line), (seed, line)
        raw = ai.ok("search", query="walrus", k=100).text
        assert CONTROLS.findall(raw) == [], (seed, raw)
        assert "\n" not in raw
        for hit in json.loads(raw):
            assert (folder / hit["path"]).read_text()[hit["offset"] :].startswith(hit["text"]), (seed, hit)


def outside_of_fences(text: str) -> list[str]:
    """Lines of a gathered block that are neither in a fence nor what we write around fences."""
    odd, fence = [], ""
    for line in text.split("\n"):
        if fence:
            if line == fence:
                fence = ""
        elif opened := re.match(r"(`{3,})[a-z+#-]*$", line):
            fence = opened[1]
        elif line and not re.match(r"### \[\d+/\d+\]  forged  ·  \d+|\d+ more|… ", line):
            odd.append(line)
    return odd if not fence else [*odd, "a fence that is not closed"]
