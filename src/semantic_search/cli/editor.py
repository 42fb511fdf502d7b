"""A file opened at a line in the user's editor."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping

from ..errors import SettingsError

# How an editor is told of a line: arguments in which {file} and {line} stand for themselves.
_PLUS = ("+{line}", "{file}")
_COLON = ("{file}:{line}",)
_GOTO = ("--goto", "{file}:{line}")
_LINE = ("--line", "{line}", "{file}")
_SHORT_LINE = ("-l", "{line}", "{file}")

EDITORS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("vim", "nvim", "vi", "gvim", "nano", "emacs", "emacsclient", "kak", "micro"), _PLUS),
    **dict.fromkeys(("joe", "mg", "ne", "jed", "pico", "gedit", "pluma", "xed", "gnome-text-editor"), _PLUS),
    **dict.fromkeys(("hx", "helix", "subl", "zed", "zeditor", "lapce"), _COLON),
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor", "windsurf", "positron"), _GOTO),
    **dict.fromkeys(("idea", "pycharm", "webstorm", "phpstorm", "goland", "clion", "rider"), _LINE),
    **dict.fromkeys(("rubymine", "rustrover", "datagrip", "fleet", "studio", "kate"), _LINE),
    **dict.fromkeys(("mate", "geany"), _SHORT_LINE),
    "notepad++": ("-n{line}", "{file}"),
}
"""The known editors by the name of their program, and what follows it."""

# What `cmd.exe`, which runs batch files, would take for more than a part of a name.
_ACTS_IN_BATCH = re.compile(r'["%&|<>^!\r\n]')


def editor_command(setting: str, environment: Mapping[str, str]) -> list[str]:
    """The program and its own arguments: of the setting, else of $VISUAL, else of $EDITOR.

    Raises SettingsError where there is none, or it is not there.
    """
    sources = {"editor": setting, "VISUAL": environment.get("VISUAL"), "EDITOR": environment.get("EDITOR")}
    source, text = next(((name, text) for name, text in sources.items() if text and text.strip()), ("", ""))
    if not text:
        raise SettingsError(
            "no editor is known: set $VISUAL or $EDITOR, or `semantic-search config editor NAME`, "
            "such as nano or code"
        )
    words = _words(text)
    program = shutil.which(os.path.expanduser(words[0]), path=environment.get("PATH"))
    if program is None:
        named = f"the setting {source}" if source == "editor" else f"${source}"
        raise SettingsError(f"the editor {words[0]} of {named} is not there: install it, or name another")
    return [program, *words[1:]]


def _words(text: str) -> list[str]:
    """The program and its arguments. A path with blanks in it that is a file needs no quotes."""
    if os.path.isfile(os.path.expanduser(text)):
        return [text]
    try:
        # On Windows a backslash is a part of a path.
        words = shlex.split(text) if os.name == "posix" else _unquoted(shlex.split(text, posix=False))
    except ValueError as error:
        raise SettingsError(f"the editor {text} is not a command: {error}") from error
    if not words:
        raise SettingsError("the editor is an empty command")
    return words


def _unquoted(words: list[str]) -> list[str]:
    return [word.strip('"') for word in words]


def place_arguments(program: str, path: str, line: int | None) -> list[str]:
    """What an editor is given to open a file, at a line (from 1) where it knows lines."""
    name = os.path.basename(program).casefold()
    stem = name.rpartition(".")[0] if name.endswith((".exe", ".cmd", ".bat", ".sh")) else name
    form = EDITORS.get(stem) or EDITORS.get(re.sub(r"(?<=.)(?:64|[-_.]?\d[\d.]*)$", "", stem))
    if line is None or form is None:
        return [path]
    return [part.replace("{line}", str(line)).replace("{file}", path) for part in form]


def open_in_editor(command: list[str], path: str, line: int | None) -> None:
    """Opens an absolute path and waits until the editor's program ends. Raises SettingsError when it fails.

    The child gets a list of arguments: nothing in a file's name can act.
    """
    arguments = place_arguments(command[0], path, line)
    if command[0].casefold().endswith((".cmd", ".bat")) and _ACTS_IN_BATCH.search(path):
        raise SettingsError(
            f"{path}: a batch file cannot be given this name; choose an editor that is a program"
        )
    try:
        status = subprocess.run([*command, *arguments], check=False).returncode
    except OSError as error:
        raise SettingsError(f"the editor {command[0]} cannot be run: {error.strerror or error}") from error
    if status:
        raise SettingsError(f"the editor {command[0]} ended with exit status {status}")
