"""The Tab key in real shells: each sources what `completion` prints, and completes lines with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from command_line import PATIENCE, PROGRAM, Command, environment

pytestmark = pytest.mark.skipif(os.name != "posix", reason="these shells are POSIX's")

# What is typed before the Tab key, and the line that it becomes.
LINES = [
    ("sea", ["search"]),
    ("comp", ["completion"]),
    ("search --expl", ["search", "--explain"]),
    ("index --no-e", ["index", "--no-embed"]),
    ("config defaultT", ["config", "defaultTopK"]),
    ("config chunk.h", ["config", "chunk.hardTokenLimit"]),
    ("config hybridSearch f", ["config", "hybridSearch", "false"]),
    ("config storeBackend la", ["config", "storeBackend", "lancedb"]),
    ("config modelName mul", ["config", "modelName", "multilingual-e5-small"]),
    ("config editor emacsc", ["config", "editor", "emacsclient"]),
    ("remove gard", ["remove", "garden"]),
    ("search --in my", ["search", "--in", "my notes"]),
    ("search --in garden/tom", ["search", "--in", "garden/tomatoes/"]),
    ("search --lang pyth", ["search", "--lang", "python"]),
    ("status --store la", ["status", "--store", "lancedb"]),
    ("init --client curs", ["init", "--client", "cursor"]),
    ("index --engine loc", ["index", "--engine", "local"]),
    ("completion fi", ["completion", "fish"]),
    ("cat garden/сі", ["cat", "garden/сівба.md"]),
    ("export expor", ["export", "exported.sse"]),
    ("add elsew", ["add", "elsewhere/"]),
]


@pytest.fixture
def place(tmp_path: Path, run: Command) -> Path:
    """A directory with a file and a directory, and two configured folders elsewhere."""
    garden = write_tree(tmp_path / "garden", {"сівба.md": "peas\n", "tomatoes/a.md": "tomatoes\n"})
    run("add", garden, write_tree(tmp_path / "my notes", {"a.md": "a note\n"}))
    return write_tree(tmp_path / "here", {"exported.sse": "x", "elsewhere/b.md": "b\n"})


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def shell_environment(home: Path) -> dict[str, str]:
    path = os.pathsep.join([os.path.dirname(PROGRAM), os.environ["PATH"]])
    return environment({"PATH": path, "HOME": str(home), "TERM": "xterm", "LC_ALL": "C.UTF-8", "PS1": "> "})


class Session:
    """A shell on a pseudo-terminal, typed at."""

    def __init__(self, argv: list[str], cwd: Path, env: dict[str, str]) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._outer, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 400, 0, 0))
        self.child = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=inner, stdout=inner, stderr=inner, start_new_session=True
        )
        os.close(inner)
        self._shown = ""

    def type(self, text: str) -> None:
        os.write(self._outer, text.encode())

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The first match of a pattern in what is shown from here on."""
        import select

        while True:
            found = re.search(pattern, self._shown)
            if found:
                self._shown = self._shown[found.end() :]
                return found
            assert select.select([self._outer], [], [], PATIENCE)[0], f"the shell waits after {self._shown!r}"
            self._shown += os.read(self._outer, 65536).decode(errors="replace")

    def completed(self, line: str) -> list[str]:
        """The words of a line after the Tab key: the shell is made to print them, each in brackets."""
        self.type(f"semantic-search {line}\t")
        self.type("\x01printf '<%s>' LI\\NE \x05 EN\\D\n")
        return re.findall("<([^>]*)>", self.wait_for(r"<LINE><semantic-search>((?:<[^>]*>)*?)<END>")[1])

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        os.close(self._outer)


@pytest.fixture(params=["bash", "zsh"])
def session(
    request: pytest.FixtureRequest, place: Path, own_environment: Path, run: Command
) -> Iterator[Session]:
    name: str = request.param
    program = shell(name)
    script = own_environment / f"completion.{name}"
    script.write_text(run("completion", name).stdout)
    argv = [program, "--norc", "--noprofile", "-i"] if name == "bash" else [program, "-f", "-i"]
    started = Session(argv, place, shell_environment(own_environment))
    try:
        if name == "bash":
            started.type("bind 'set bell-style none' 'set enable-bracketed-paste off'\n")
        else:
            started.type("unsetopt BEEP; autoload -Uz compinit && compinit -u -D\n")
        started.type(f"source '{script}' && echo REA''DY\n")
        started.wait_for("READY")
        yield started
    finally:
        started.close()


def test_bash_and_zsh_complete(session: Session) -> None:
    # Zsh takes the slash after a directory away again when something else is typed.
    without_slash = {typed: [word.rstrip("/") for word in session.completed(typed)] for typed, _ in LINES}
    assert without_slash == {typed: [word.rstrip("/") for word in line] for typed, line in LINES}


def test_after_a_slash_the_path_goes_on(session: Session) -> None:
    assert session.completed("search --in garden/tom\tX") == ["search", "--in", "garden/tomatoes/X"]
    assert session.completed("cat gard\tсі\t1") == ["cat", "garden/сівба.md", "1"]
    assert session.completed("import x --map gard\tB") == ["import", "x", "--map", "garden=B"]


def test_fish_completes(place: Path, own_environment: Path, run: Command) -> None:
    """`complete -C` does what its Tab key does, and shows every choice."""
    fish = shell("fish")
    script = own_environment / "completion.fish"
    script.write_text(run("completion", "fish").stdout)
    asked = "\n".join(f"echo LINE; complete -C 'semantic-search {typed}'" for typed, _ in LINES)
    done = subprocess.run(
        [fish, "--no-config", "-c", f"source '{script}'\n{asked}"],
        cwd=place,
        env=shell_environment(own_environment),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [part.strip().split("\n") for part in done.stdout.decode().split("LINE\n")[1:]]
    offered = [[line.split("\t")[0] for line in answer] for answer in answers]
    assert len(offered) == len(LINES)
    for (typed, line), words in zip(LINES, offered, strict=True):
        assert line[-1] in words, typed


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_script_is_one_that_its_shell_reads_without_complaint(
    run: Command, tmp_path: Path, name: str
) -> None:
    script = tmp_path / "script"
    script.write_text(run("completion", name).stdout)
    done = subprocess.run(
        [shell(name), "-n", str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_completing_with_a_configuration_that_cannot_be_read_offers_nothing_and_says_nothing(
    run: Command, own_environment: Path
) -> None:
    config = own_environment / "config" / "semantic-search" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text("{")
    asked = {
        "_SEMANTIC_SEARCH_COMPLETE": "zsh_complete",
        "COMP_WORDS": "semantic-search remove ",
        "COMP_CWORD": "2",
    }
    done = run(env=asked)
    assert (done.stdout, done.stderr) == ("dir\n\n_\n", "")


def test_names_that_no_shell_can_be_told_are_left_out(run: Command, tmp_path: Path) -> None:
    odd = [os.fsencode(tmp_path / "line\nend"), os.fsencode(tmp_path) + b"/\xff"]
    for path in odd:
        os.mkdir(path)
    run("add", *odd, write_tree(tmp_path / "plain", {"a.md": "a\n"}))
    asked = {
        "_SEMANTIC_SEARCH_COMPLETE": "fish_complete",
        "COMP_WORDS": "semantic-search remove ",
        "COMP_CWORD": "",
    }
    offered = run(env=asked).lines
    assert [line.split("\t")[0] for line in offered] == ["dir,", "plain,plain"]
