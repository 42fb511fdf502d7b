"""The installed server, byte by byte: its stdout, malformed input, many calls, cancellation."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command, let_time_pass, wait_until
from gate import Gate
from mcp_agents import BUDGET, NO_MODEL, Wire


@pytest.fixture(autouse=True)
def by_words_alone(own_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here is about vectors, but for the one that says so."""
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)


@pytest.fixture
def wire(indexed: Path) -> Iterator[Wire]:
    """A server of the three short files, past the handshake. All of its stdout is messages."""
    with Wire() as found:
        yield found.initialize()
        assert found.close() == 0
    assert found.bytes_out.endswith(b"\n")
    for line in bytes(found.bytes_out).splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert b"Traceback" not in found.stderr


def test_a_session_from_the_handshake_to_the_end(wire: Wire) -> None:
    names = [tool["name"] for tool in wire.answer(wire.request("tools/list"))["result"]["tools"]]
    assert names == [
        *("search", "gather", "find_related", "list_folders", "cat_file", "grep", "index", "index_status")
    ]
    assert json.loads(wire.ask("search", query="retry budget").text)[0]["path"] == "retry.md"
    assert "### [1/" in wire.ask("gather", query="tomato seedlings").text
    assert wire.ask("find_related", filePath="garden.md", line=1).text.startswith("[")
    assert "ledger.py:1" in wire.ask("grep", pattern="close_ledger").text
    assert wire.ask("cat_file", filePath="/etc/passwd").is_error
    assert wire.index()["filesSkipped"] == 3
    assert wire.answer(wire.request("ping"))["result"] == {}


LINES: list[bytes] = [
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x00",
    b"garbage",
    b'""',
    b"[]",
    b"{}",
    b"1",
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"true",
    b"[1]",
    b"[[]]",
    b"[{}]",
    b"{",
    b"}",
    b'{"jsonrpc"}',
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":2.0,"id":1,"method":"ping"}',
    b'{"id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
    b'{"jsonrpc":"2.0","id":[],"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"","method":"ping"}',
    b'{"jsonrpc":"2.0","id":900,"method":null}',
    b'{"jsonrpc":"2.0","id":901,"method":5}',
    b'{"jsonrpc":"2.0","id":902,"method":""}',
    b'{"jsonrpc":"2.0","id":903,"method":"no/such/method"}',
    b'{"jsonrpc":"2.0","id":904,"method":"ping","params":[]}',
    b'{"jsonrpc":"2.0","id":905,"method":"ping","params":"x"}',
    b'{"jsonrpc":"2.0","id":906,"method":"ping","params":null}',
    b'{"jsonrpc":"2.0","id":907,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":908,"method":"tools/call","params":{}}',
    b'{"jsonrpc":"2.0","id":909,"method":"tools/call","params":{"name":5}}',
    b'{"jsonrpc":"2.0","id":910,"method":"tools/call","params":{"name":"search","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":911,"method":"tools/call","params":{"name":"search","arguments":"x"}}',
    b'{"jsonrpc":"2.0","id":912,"method":"tools/call","params":{"name":"search","arguments":{"query":{}}}}',
    b'{"jsonrpc":"2.0","id":913,"method":"tools/call","params":{"name":"../search"}}',
    b'{"jsonrpc":"2.0","id":914,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"\\udcff"}}}',
    b'{"jsonrpc":"2.0","id":915,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"\\ud800x"}}}',
    b'{"jsonrpc":"2.0","id":916,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"\xff"}}}',
    b'{"jsonrpc":"2.0","id":917,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"\\u0000"}}}',
    b'{"jsonrpc":"2.0","id":"\\udcff","method":"ping"}',
    b'{"jsonrpc":"2.0","id":918,"method":"resources/read"}',
    b'{"jsonrpc":"2.0","id":919,"method":"resources/read","params":{"uri":"::"}}',
    b'{"jsonrpc":"2.0","id":920,"method":"resources/read","params":{"uri":"file:///%ff%00"}}',
    b'{"jsonrpc":"2.0","id":921,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":922,"method":"tools/list","params":{"cursor":5}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress"}',
    b'{"jsonrpc":"2.0","method":"no/such/notification"}',
    b'{"jsonrpc":"2.0","id":923,"result":{}}',
    b'{"jsonrpc":"2.0","id":924,"error":{}}',
    b'{"jsonrpc":"2.0","id":925,"error":{"code":"x","message":5}}',
    b'{"jsonrpc":"2.0","id":926,"method":"ping"}{"jsonrpc":"2.0","id":927,"method":"ping"}',
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b'{"jsonrpc":"2.0","id":928,"method":"' + b"x" * 100_000 + b'"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    b"",
    b"   ",
    b"\r",
]


def test_mcp_proto_02_after_every_malformed_line_the_server_answers(wire: Wire) -> None:
    assert len(LINES) >= 65
    for line in LINES:
        wire.send(line + b"\n")
        assert wire.answer(wire.request("ping"))["result"] == {}, line[:80]
    assert wire.ask("grep", pattern="gateway").text.startswith("notes")


def test_mcp_proto_03_a_call_with_text_that_is_no_unicode_is_refused_at_once(wire: Wire) -> None:
    wire.send(
        b'{"jsonrpc":"2.0","id":914,"method":"tools/call",'
        b'"params":{"name":"grep","arguments":{"pattern":"\\udcff"}}}\n'
    )
    assert wire.answer(914)["error"]["code"] == -32600


def test_a_line_beyond_every_measure_is_dropped_whole(wire: Wire) -> None:
    part = b"x" * 1_000_000
    for _ in range(18):
        wire.send(part)
    wire.send(b"\n")
    assert wire.answer(wire.request("ping"))["result"] == {}
    wait_until(lambda: b"longer than the limit" in wire.stderr)


def test_a_query_of_a_hundred_kilobytes(wire: Wire) -> None:
    found = wire.ask("search", query="tomato seedlings " + "lorem ipsum " * 9000)
    assert not found.is_error and "cut to its first" in found.notes
    assert json.loads(found.text)[0]["path"] == "garden.md"
    assert wire.ask("grep", pattern="x" * 100_000).text == "no match"
    assert wire.ask("cat_file", filePath="x" * 100_000).is_error


def test_fifty_calls_in_flight_are_all_answered(wire: Wire) -> None:
    ids = []
    for n in range(50):
        tool, arguments = (
            ("search", {"query": f"retry {n}"}),
            ("gather", {"query": "tomato"}),
            ("grep", {"pattern": "ledger"}),
            ("cat_file", {"filePath": "retry.md"}),
            ("index_status", {}),
        )[n % 5]
        ids.append(wire.call(tool, **arguments))
    ids.append(wire.request("ping"))
    for id_ in ids[:-1]:
        assert not wire.result(id_).is_error
    assert wire.answer(ids[-1])["result"] == {}


def test_mcp_proto_01_whatever_prints_does_not_reach_the_protocol(indexed: Path, tmp_path: Path) -> None:
    noise = write_tree(
        tmp_path / "noise",
        {
            "sitecustomize.py": "import threading, os, time, sys\n"
            "def shout():\n"
            "    while True:\n"
            "        time.sleep(0.02)\n"
            "        if os.path.exists(sys.argv[0] + '.quiet'):\n"
            "            return\n"
            "        if 'semantic_search.server.app' in sys.modules:\n"
            "            os.write(1, b'NOISE written\\n')\n"
            "            print('NOISE printed', flush=True)\n"
            "            os.system('echo NOISE of a child; cat')\n"
            "threading.Thread(target=shout, daemon=True).start()\n"
        },
    )
    env = {"PYTHONPATH": str(noise), "FORCE_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    with Wire(env=env) as wire:
        wire.initialize()
        wait_until(lambda: wire.stderr.count(b"NOISE of a child") > 2)
        assert wire.ask("search", query="retry").text
        wire.close()
    assert b"NOISE" not in wire.bytes_out
    assert b"NOISE written" in wire.stderr and b"NOISE printed" in wire.stderr


def test_children_read_nothing_of_the_input(indexed: Path, tmp_path: Path) -> None:
    """git is asked for the files of a repository, and must not eat the messages that come after."""
    repository = write_tree(tmp_path / "repo", {"a.md": "a walrus in a repository\n"})
    Command()("add", repository)
    os.system(f"git -C {repository} init -q")
    with Wire() as wire:
        wire.initialize()
        ids = [wire.call("grep", pattern="walrus") for _ in range(5)]
        ids += [wire.request("ping") for _ in range(5)]
        assert all("repo  ·  a.md:1" in wire.result(id_).text for id_ in ids[:5])
        assert all(wire.answer(id_)["result"] == {} for id_ in ids[5:])
        assert wire.close() == 0


def test_mcp_size_01_replies_on_the_wire_stay_within_the_budget(
    indexed: Path, wire: Wire, own_environment: Path
) -> None:
    # However little time there is, a look takes in one file; it has to be this one.
    let_time_pass(own_environment)
    write_tree(indexed, {"long.md": "\n\n".join(f'"quoted" \\ walrus {n}\ttab' for n in range(5000))})
    for tool, arguments in (
        ("search", {"query": "walrus quoted", "k": 1000}),
        ("gather", {"query": "walrus", "k": 500, "contextLines": 100}),
        ("cat_file", {"filePath": "long.md"}),
        ("grep", {"pattern": "walrus", "maxResults": 1000}),
    ):
        message = wire.answer(wire.call(tool, **arguments))
        assert BUDGET / 2 < len(json.dumps(message, ensure_ascii=False).encode()) < BUDGET + 500


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
def test_a_cancelled_grep_is_given_up_and_others_go_on(indexed: Path, tmp_path: Path) -> None:
    write_tree(indexed, {f"many/{n}.txt": f"walrus {n}\n" for n in range(20)})
    gate = Gate(tmp_path, file="9.txt")
    with Wire(env=gate.env) as wire:
        wire.initialize()
        id_ = wire.call("grep", pattern="no such thing anywhere")
        with gate.held(wire.child):
            wire.notify("notifications/cancelled", requestId=id_)
            assert wire.answer(wire.request("ping"))["result"] == {}
            assert "retry.md" in wire.ask("grep", pattern="gateway").text
        assert "retry.md" in wire.ask("grep", pattern="gateway").text
        assert wire.close() == 0
    assert all(message.get("id") != id_ for message in wire.messages)


def test_progress_goes_to_the_token_of_the_call(indexed: Path, wire: Wire) -> None:
    write_tree(indexed, {f"many/{n}.txt": f"walrus {n}\n" for n in range(300)})
    id_ = wire.call("index", _token="mine")
    told = wire.until(lambda message: message.get("params", {}).get("progress", 0) > 0)
    assert told["method"] == "notifications/progress"
    assert told["params"]["progressToken"] == "mine" and told["params"]["message"]
    wire.result(id_)
    wait_until(lambda: not wire.job()["running"])
    assert wire.job()["filesProcessed"] == 300
    without = wire.call("index")
    wire.result(without)
    assert all(m.get("params", {}).get("progressToken", "mine") == "mine" for m in wire.messages)


def test_a_root_that_is_none_ends_at_once_with_the_cause(run: Command, tmp_path: Path) -> None:
    found = run("mcp", "--root", tmp_path / "nowhere", status=2)
    assert "there is no such folder" in found.stderr and found.stdout == ""


def test_standard_streams_that_are_closed_end_the_server(indexed: Path) -> None:
    argv = " ".join(str(part) for part in Command().argv("mcp"))
    assert os.system(f"{argv} <&- >&- 2>&-") == 0
    assert os.system(f"{argv} </dev/null >/dev/null") == 0


def test_the_server_needs_no_shell_and_no_home(indexed: Path, tmp_path: Path, own_environment: Path) -> None:
    env = {
        "HOME": None,
        "USERPROFILE": None,
        "SS_CONFIG_PATH": str(own_environment / "config" / "semantic-search" / "config.json"),
        "SS_INDEX_DIR": str(own_environment / "data" / "semantic-search"),
    }
    with Wire(env=env) as wire:
        wire.initialize()
        assert "retry.md" in wire.ask("grep", pattern="gateway").text
        assert wire.close() == 0


def test_mcp_life_05_nothing_heavy_is_imported_before_the_handshake() -> None:
    code = (
        "import sys; import semantic_search.server.stdio, semantic_search.server.app;"
        "import semantic_search.server.tools, semantic_search.server.workspace;"
        "print([name for name in ('numpy', 'onnxruntime', 'sqlite3', 'tree_sitter', 'tokenizers',"
        " 'semantic_search.stores.sqlite', 'charset_normalizer', 'pypdfium2') if name in sys.modules])"
    )
    import subprocess

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
