"""Nothing outside of what is served is ever shown, indexed or told of."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from fakes import configure, open_words
from mcp_agents import Agent, agent

from semantic_search.errors import FolderError
from semantic_search.tools.index import Request, index

CANARY = "CANARY-7f3a"


@pytest.fixture
def places(tmp_path: Path, own_environment: Path) -> Path:
    """A served folder, and canaries everywhere around it."""
    write_tree(
        tmp_path,
        {
            "data/inside.md": "an inside page about walruses\n",
            "data/.gitignore": "ignored.md\n",
            "data/ignored.md": f"walrus {CANARY} ignored\n",
            "data/.env": f"walrus={CANARY}\n",
            "data/.git-credentials": f"https://u:{CANARY}@walrus\n",
            "data/node_modules/m.js": f"walrus {CANARY} module\n",
            "data/blob.png": b"walrus " + CANARY.encode() + b"\x00",
            "data-private/s.txt": f"walrus {CANARY} prefix\n",
            "elsewhere/secret.md": f"walrus {CANARY} elsewhere\n",
        },
    )
    (tmp_path / "data" / "leak.md").symlink_to(tmp_path / "elsewhere" / "secret.md")
    (tmp_path / "data" / "way").symlink_to(tmp_path / "elsewhere")
    configure(own_environment, [tmp_path / "data"])
    return tmp_path


@pytest.fixture
def ai(places: Path) -> Iterator[Agent]:
    with agent() as found:
        found.ok("index")
        yield found


def everything(ai: Agent) -> str:
    """All that the tools will say about walruses and canaries."""
    said = []
    for word in ("walrus", CANARY):
        said += ai.call("search", query=word, k=1000).blocks
        said += ai.call("gather", query=word, k=1000, contextLines=500).blocks
        said += ai.call("grep", pattern=word, maxResults=1000).blocks
    return "\n".join(said)


def test_only_listed_files_are_ever_shown(ai: Agent) -> None:
    said = everything(ai)
    assert "inside.md" in said
    assert f"{CANARY} " not in said and "secret.md" not in said


NAMES = [
    "../elsewhere/secret.md",
    "data/../../elsewhere/secret.md",
    "{root}/data/../elsewhere/secret.md",
    "{root}/data/inside.md/../../elsewhere/secret.md",
    "{root}/elsewhere/secret.md",
    "{root}/data-private/s.txt",
    "{root}/data//..//data-private//s.txt",
    "../data-private/s.txt",
    "-private/s.txt",
    "leak.md",
    "{root}/data/leak.md",
    "way/secret.md",
    "{root}/data/way/secret.md",
    "ignored.md",
    ".env",
    ".git-credentials",
    "node_modules/m.js",
    "blob.png",
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/environ",
    "/proc/self/cwd",
    "/dev/zero",
    "/dev/stdin",
    "~/../../etc/passwd",
    "~root/.bashrc",
    "file:///etc/passwd",
    "{root}/data/inside.md\x00.png",
    "\x00",
    ".",
    "..",
    "/",
    "{root}/data",
    "-rf",
    "--help",
    "$HOME",
    "`id`",
    "a" * 5000,
    "{root}/data/" + "../" * 60 + "etc/passwd",
    "//etc/passwd",
    "\\\\server\\share",
    "C:\\Windows\\win.ini",
    "{root}/data/\\xff",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_outside_is_refused(ai: Agent, places: Path, name: str) -> None:
    text = ai.refused("cat_file", filePath=name.format(root=places))
    assert CANARY not in text and "root:" not in text


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_outside_is_neither_searched_nor_indexed(ai: Agent, places: Path, name: str) -> None:
    path = name.format(root=places)
    for tool, arguments in (
        ("search", {"query": "walrus", "folder": path}),
        ("gather", {"query": "walrus", "folder": path}),
        ("grep", {"pattern": "walrus", "folder": path}),
        ("index", {"root": path}),
    ):
        found = ai.call(tool, **arguments)
        assert f"{CANARY} " not in "\n".join(found.blocks)
    (folder,) = ai.ok("index_status").json["folders"]
    assert folder["name"] == "data" and folder["files"] == 2  # the page, and .gitignore


@pytest.mark.parametrize(
    "place",
    ["elsewhere", "data-private", "data/way", "nowhere", "data/../elsewhere", "/etc", "/root/.ssh"],
)
def test_security_01_a_folder_outside_cannot_be_indexed(ai: Agent, places: Path, place: str) -> None:
    assert "There are: data" in ai.refused("index", root=str(places / place))


def test_a_refusal_says_the_same_of_what_exists_and_what_does_not(ai: Agent, places: Path) -> None:
    there, absent = str(places / "elsewhere" / "secret.md"), str(places / "elsewhere" / "absent.md")
    assert ai.refused("cat_file", filePath=there) == ai.refused("cat_file", filePath=absent).replace(
        absent, there
    )
    for tool, name in (("index", "root"), ("grep", "folder"), ("search", "folder")):
        more = {"pattern": "x"} if tool == "grep" else {"query": "x"} if tool == "search" else {}
        first = ai.refused(tool, **more, **{name: str(places / "elsewhere")})
        second = ai.refused(tool, **more, **{name: str(places / "absence")})
        assert first == second.replace("absence", "elsewhere")


def test_what_was_indexed_but_is_not_configured_is_not_shown(places: Path) -> None:
    with open_words() as corpus:
        index(corpus, Request(str(places / "elsewhere")))
        index(corpus, Request(None))
    with agent() as ai:
        assert CANARY not in everything(ai)
        text = ai.refused("cat_file", filePath=str(places / "elsewhere" / "secret.md"))
        assert CANARY not in text
        status = json.dumps(ai.ok("index_status").json["folders"])
        assert "elsewhere" not in status
        for name in ("elsewhere", str(places / "elsewhere")):
            assert "There are: data" in ai.refused("search", query="walrus", folder=name)
            assert "There are: data" in ai.refused("index", root=name)
        resources = [resource.uri for resource in ai.run("list_resources").resources]
        assert resources == ["semantic-search://folder/data"]


def test_a_root_inside_a_configured_folder_narrows_it_and_doubles_nothing(
    places: Path, own_environment: Path
) -> None:
    write_tree(places / "data" / "sub", {"deep.md": "a deep page about walruses\n"})
    with open_words() as corpus:
        index(corpus, Request(None))
    with agent(places / "data" / "sub") as ai:
        assert ai.ok("list_folders").text == f"sub  ·  {os.path.realpath(places / 'data' / 'sub')}"
        assert [hit["path"] for hit in ai.ok("search", query="walruses", k=9).json] == ["sub/deep.md"]
        assert "inside.md" not in everything(ai)
        assert ai.ok("cat_file", filePath="deep.md").text == "a deep page about walruses"
        assert "no indexed file" in ai.refused("cat_file", filePath=str(places / "data" / "inside.md"))
        assert "no indexed file" in ai.refused("cat_file", filePath="../inside.md")
        write_tree(places / "data", {"unseen.md": "not to be indexed from the subdirectory\n"})
        assert ai.ok("index", force=True).json["filesProcessed"] == 1
        assert ai.run("read_resource", "semantic-search://folder/sub").contents[0].text == "deep.md"
    with open_words() as corpus:
        folders = corpus.reading()[0].folders()
    assert folders == [os.path.realpath(places / "data")]


def test_a_root_around_a_configured_folder_serves_both(places: Path) -> None:
    write_tree(places, {"outer.md": "an outer page about walruses\n"})
    with agent(places) as ai:
        found = {hit["path"] for hit in ai.ok("search", query="page about walruses", k=50).json}
    assert {"inside.md", "outer.md"} <= found


def test_roots_take_the_place_of_the_configured_folders(places: Path) -> None:
    with agent(places / "elsewhere") as ai:
        ai.ok("index")
        found = ai.ok("search", query="walrus", k=50).json
        assert [hit["path"] for hit in found] == ["secret.md"]
        assert "no indexed file" in ai.refused("cat_file", filePath=str(places / "data" / "inside.md"))


@pytest.mark.parametrize("root", ["nowhere", "data/inside.md", "/"])
def test_a_root_that_is_none_is_refused_at_the_start(places: Path, root: str) -> None:
    with pytest.raises(FolderError), agent(places / root):
        pass


def test_a_folder_and_one_inside_it_hold_every_file_once(places: Path, own_environment: Path) -> None:
    write_tree(places / "data" / "sub", {"deep.md": "a deep page about walruses\n"})
    configure(own_environment, [places / "data", places / "data" / "sub"])
    with agent() as ai:
        ai.ok("index")
        found = [
            hit["filePath"] for hit in ai.ok("search", query="page about walruses", k=50, glob="*.md").json
        ]
        assert sorted(found) == sorted(
            [str(places / "data" / "inside.md"), str(places / "data" / "sub" / "deep.md")]
        )
        assert ai.ok("grep", pattern="walruses").text.count("\n") == 1


@pytest.mark.parametrize(
    "uri",
    [
        "semantic-search://file/data/..%2F..%2Felsewhere%2Fsecret.md",
        "semantic-search://file/data/../../elsewhere/secret.md",
        "semantic-search://file/data/leak.md",
        "semantic-search://file/data/ignored.md",
        "semantic-search://file/elsewhere/secret.md",
        "semantic-search://folder/elsewhere",
        "semantic-search://folder/data%2F..%2Felsewhere",
        "semantic-search://file/data/%00",
        "file:///etc/passwd",
        "file://elsewhere/etc/passwd",
        "http://example.org/",
        "semantic-search://file/",
    ],
)
def test_resources_are_confined_as_files_are(ai: Agent, uri: str) -> None:
    with pytest.raises(Exception, match=r"no such|no indexed|not shown") as refusal:
        ai.run("read_resource", uri)
    assert CANARY not in str(refusal.value)


def test_folders_and_files_are_resources(ai: Agent, places: Path) -> None:
    write_tree(places / "data", {"a b/c#d?.md": "strange name\n"})
    (resource,) = ai.run("list_resources").resources
    (template,) = ai.run("list_resource_templates").resource_templates
    assert template.uri_template == "semantic-search://file/{folder}/{+path}"
    listed = ai.run("read_resource", resource.uri).contents[0].text.split("\n")
    assert listed == [".gitignore", "a b/c#d?.md", "inside.md"]
    for uri in (
        "semantic-search://file/data/a%20b/c%23d%3F.md",
        (places / "data" / "a b" / "c#d?.md").as_uri(),
    ):
        assert ai.run("read_resource", uri).contents[0].text == "strange name"


def test_a_file_swapped_for_a_link_between_check_and_open_never_leaks(ai: Agent, places: Path) -> None:
    flipped, kept = places / "data" / "flip.md", places / "kept.md"
    kept.write_text("harmless walrus\n")
    secret = places / "elsewhere" / "secret.md"
    over = threading.Event()

    def flip() -> None:
        spare = places / "spare"
        while not over.is_set():
            spare.write_text("harmless walrus\n")
            os.replace(spare, flipped)
            spare.symlink_to(secret)
            os.replace(spare, flipped)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        said = []
        for _ in range(60):
            said += ai.call("cat_file", filePath="flip.md").blocks
            said += ai.call("grep", pattern="walrus").blocks
            said += ai.call("gather", query="walrus", contextLines=5).blocks
    finally:
        over.set()
        thread.join()
    assert f"{CANARY} " not in "\n".join(said)


def test_a_directory_swapped_for_a_link_leads_nowhere(ai: Agent, places: Path) -> None:
    write_tree(places / "data" / "dir", {"secret.md": "harmless walrus\n"})
    ai.ok("index")
    os.rename(places / "data" / "dir", places / "moved")
    (places / "data" / "dir").symlink_to(places / "elsewhere")
    assert f"{CANARY} " not in everything(ai)
    assert CANARY not in ai.refused("cat_file", filePath="dir/secret.md")


def test_a_file_replaced_by_a_link_after_indexing_shows_what_was_indexed(
    ai: Agent, places: Path, own_environment: Path
) -> None:
    configure(own_environment, [places / "data"], autoRefresh=False)
    os.unlink(places / "data" / "inside.md")
    (places / "data" / "inside.md").symlink_to(places / "elsewhere" / "secret.md")
    found = ai.ok("gather", query="inside page", contextLines=5).text
    assert "an inside page about walruses" in found and "changed on disk" in found
    assert CANARY not in found


@pytest.mark.parametrize("name", ["-x", "--force", "-rf"])
def test_names_like_options_are_names(tmp_path: Path, own_environment: Path, name: str) -> None:
    folder = write_tree(tmp_path / name, {"--help.md": "walrus help\n", "-rf": "walrus rf\n"})
    configure(own_environment, [folder])
    with agent() as ai:
        assert ai.ok("index", root=name).json["filesProcessed"] == 2
        assert ai.ok("grep", pattern="walrus", folder=name).text.count("\n") == 1
        assert ai.ok("cat_file", filePath="--help.md").text == "walrus help"


def test_credentials_of_a_repository_are_never_listed(git_repository: Path, own_environment: Path) -> None:
    write_tree(git_repository, {".git/config-of-mine": f"token = {CANARY}\n", "page.md": "walrus page\n"})
    configure(own_environment, [git_repository])
    with agent() as ai:
        assert ai.ok("grep", pattern=CANARY).text == "no match"
        assert CANARY not in ai.refused("cat_file", filePath=".git/config-of-mine")
        assert CANARY not in ai.refused("cat_file", filePath=str(git_repository / ".git" / "config-of-mine"))
