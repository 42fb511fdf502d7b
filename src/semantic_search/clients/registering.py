"""What registering with a client changes, worked out before anything is written."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SettingsError
from ..private_files import make_private_directory, write_atomically
from . import jsonc, toml
from .rows import CLIENTS, SERVER, Client

BEGIN = "<!-- semantic-search: begin -->"
END = "<!-- semantic-search: end -->"
INSTRUCTIONS = f"""{BEGIN}
## Finding things in this project

The `semantic-search` MCP server searches this project by meaning and by word. Prefer it to reading files \
one by one:

- `gather` with a question in plain words, to read the passages that answer it. One call is usually enough.
- `search` for where something is (path, lines, score) when the text itself is not needed.
- `grep` for an exact identifier, message or pattern; `cat_file` with a range of lines for more of one file.

Open whole files only to edit them, or when two such calls did not help.
{END}
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it is to be; None stands for no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def needed(self) -> bool:
        """Whether anything differs."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The difference, in the unified form."""
        old, new = (
            (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for data in (self.before, self.after)
        )
        lines = difflib.unified_diff(
            old,
            new,
            self.path if self.before is not None else os.devnull,
            self.path if self.after is not None else os.devnull,
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def command_line(*, shared: bool) -> list[str]:
    """The program that starts us: by name where a file may be shared, else by its path on this machine.

    A client that is started from a menu may have another PATH than the user's shell.
    """
    found = shutil.which(SERVER)
    beside = shutil.which(SERVER, path=os.path.dirname(sys.executable))
    if shared and found:
        return [SERVER]
    path = beside or found
    return [os.path.abspath(path)] if path else [sys.executable, "-m", "semantic_search"]


def target(client: Client, directory: str, *, user: bool, environment: Mapping[str, str]) -> str:
    """The file to be changed. Raises SettingsError where the client has none of that kind."""
    if user:
        if client.user is None:
            raise SettingsError(
                f"{client.title}: servers for all projects are added by its own command: "
                f"claude mcp add --scope user {SERVER} -- {SERVER} mcp"
            )
        return client.user(environment)
    if not client.project:
        raise SettingsError(f"{client.title} has no file for one project: leave out --project")
    return client.project_file(directory)


def entry_for(client: Client, directory: str | None, *, user: bool) -> dict[str, Any]:
    """How the server is written: for a project, or (directory None) for the configured folders."""
    command = [*command_line(shared=not user and bool(client.root)), "mcp"]
    if directory is not None:
        command += ["--root", directory if user or not client.root else client.root]
    return client.entry(command)


def registration(client: Client, path: str, entry: dict[str, Any] | None) -> Change:
    """The change that adds the server to a file, or (entry None) takes it out.

    Raises SettingsError when the file cannot be understood; it is then left alone.
    """
    before = _read(path)
    bom, text, ending = _text(path, before)
    try:
        changed = _edited(client, text, entry)
    except (jsonc.Malformed, toml.Malformed) as error:
        raise SettingsError(
            f"{path} cannot be edited: {error}. It was left as it is; mend it, or add the server by hand"
        ) from error
    if changed == text:
        return Change(path, before, before)
    if entry is None and _holds_nothing(client, changed):
        return Change(path, before, None)
    return Change(path, before, bom + changed.replace("\n", ending).encode("utf-8", "surrogateescape"))


def _edited(client: Client, text: str, entry: dict[str, Any] | None) -> str:
    keys = (*client.keys, SERVER)
    if client.toml:
        outer = client.keys[0]
        if entry is None:
            return toml.remove_table(text, outer, SERVER)
        present = toml.loads(text).get(outer, {}).get(SERVER, {})
        return text if _covers(present, entry) else toml.set_table(text, outer, SERVER, entry)
    if entry is None:
        return jsonc.remove_member(text, keys) if text.strip() else text
    content = jsonc.loads(text) if text.strip() else {}
    found = content
    for key in keys:
        found = found.get(key, {}) if isinstance(found, dict) else {}
    if _covers(found, entry):
        return text
    if not text.strip():
        for key, value in client.fresh:
            text = jsonc.set_member(text, (key,), value)
    # What the user added to our entry, such as variables, stays.
    kept = found if isinstance(found, dict) else {}
    return jsonc.set_member(text, keys, {**kept, **entry})


def _covers(present: object, entry: dict[str, Any]) -> bool:
    return isinstance(present, dict) and all(present.get(key) == value for key, value in entry.items())


def _holds_nothing(client: Client, text: str) -> bool:
    if "//" in text.replace("://", "") or "/*" in text or "#" in text:
        return False
    content = toml.loads(text) if client.toml else jsonc.loads(text)
    return (
        isinstance(content, dict)
        and all(content.get(k) == v for k, v in client.fresh)
        and (len(content) <= len(client.fresh))
    )


def registered(directory: str, environment: Mapping[str, str] | None = None) -> list[tuple[Client, str]]:
    """The clients that know of the server, each with its file: in a project, and the user's own (as the
    environment has it, this process's by default)."""
    environment = os.environ if environment is None else environment
    found: list[tuple[Client, str]] = []
    for client in CLIENTS.values():
        places = [client.project_file(directory)] if client.project else []
        places += [client.user(environment)] if client.user else []
        for path in places:
            with contextlib.suppress(SettingsError):
                if registration(client, path, None).needed:
                    found.append((client, path))
    return found


def instructions(client: Client, directory: str, *, remove: bool) -> Change:
    """The change that adds our paragraph to the file of instructions, or takes it out."""
    path = os.path.join(directory, *client.instructions.split("/"))
    before = _read(path)
    bom, text, ending = _text(path, before)
    start, stop = text.find(BEGIN), text.find(END)
    if start >= 0 and stop > start:
        after = text[stop + len(END) :].removeprefix("\n")
        head = text[:start]
        changed = (head.rstrip("\n") + "\n" * bool(head.strip()) if remove else head + INSTRUCTIONS) + after
    elif remove:
        changed = text
    else:
        changed = text + ("" if not text else "\n" if text.endswith("\n") else "\n\n") + INSTRUCTIONS
    if changed == text:
        return Change(path, before, before)
    if remove and not changed.strip():
        return Change(path, before, None)
    return Change(path, before, bom + changed.replace("\n", ending).encode("utf-8", "surrogateescape"))


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from error


def _text(path: str, data: bytes | None) -> tuple[bytes, str, str]:
    """The byte order mark, the text with plain line ends, and the line end that the file has."""
    data = data or b""
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = data[len(bom) :].decode()
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text: it was left as it is") from error
    ending = "\r\n" if "\r\n" in text else "\n"
    if ending == "\r\n" and text.replace("\r\n", "").count("\n"):
        raise SettingsError(f"{path} has line ends of two kinds: make them one, and run this again")
    return bom, text.replace("\r\n", "\n"), ending


def apply(change: Change, backups: str) -> str:
    """Writes a change, whole or not at all; returns where the file as it was is kept (empty: there was none).

    Raises SettingsError when the file changed since it was read, or cannot be written.
    """
    path = os.path.realpath(change.path)
    if _read(path) != change.before:
        raise SettingsError(f"{path} was changed by somebody else meanwhile: run this again")
    kept = ""
    if change.before is not None:
        make_private_directory(os.path.dirname(backups))
        make_private_directory(backups)
        kept = _free_name(backups, os.path.basename(path))
        write_atomically(kept, change.before)
    if change.after is None:
        os.unlink(path)
        return kept
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = os.stat(path).st_mode & 0o7777 if change.before is not None else _usual_mode()
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror or error}") from error
    write_atomically(path, change.after)
    os.chmod(path, mode)
    return kept


def _free_name(backups: str, name: str) -> str:
    base = os.path.join(backups, f"{time.strftime('%Y%m%d-%H%M%S')}-{name}")
    return next(path for n in itertools.count() if not os.path.exists(path := f"{base}.{n}" if n else base))


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
