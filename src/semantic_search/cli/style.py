"""Colours and links on a terminal: whether they are wanted, and how they are written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_from_bytes

WHEN = ("auto", "always", "never")

_PLACE = "36"
_MATCH = "1;31"
_RESET = "\x1b[0m"

# Terminals by $TERM_PROGRAM, with the first version that knows links (https://github.com/Alhadis/OSC8-Adoption).
_PROGRAMS = {
    "iTerm.app": (3, 1),
    "WezTerm": (20200620,),
    "vscode": (1, 72),
    "ghostty": (0,),
    "zed": (0,),
    "Hyper": (0,),
    "rio": (0,),
    "tabby": (0,),
    "mintty": (0,),
    "WarpTerminal": (0,),
}
_TERMS = re.compile(r"xterm-kitty|xterm-ghostty|alacritty|foot|contour|rio|wezterm")
# GNOME's library says 0.50.0 as 5000; that release crashes on links.
_FIRST_VTE = 5001
_FIRST_KONSOLE = 201200


@dataclass(frozen=True, slots=True)
class Style:
    """What an output may have beside its text."""

    colour: bool = False
    links: bool = False
    host: str = ""

    def place(self, text: str, path: str) -> str:
        """The place of a result, which leads to a file (absolute path) where links are wanted."""
        if self.links:
            text = f"\x1b]8;;{file_uri(path, self.host)}\x1b\\{text}\x1b]8;;\x1b\\"
        return f"\x1b[{_PLACE}m{text}{_RESET}" if self.colour else text

    def marked(self, text: str, spans: Iterable[tuple[int, int]]) -> str:
        """A text with matches brought out; `spans` are (start, end) in order, none into another."""
        if not self.colour:
            return text
        parts, after = [], 0
        for start, end in spans:
            parts += [text[after:start], f"\x1b[{_MATCH}m", text[start:end], _RESET]
            after = end
        return "".join([*parts, text[after:]])


def style_for(when: str, environment: Mapping[str, str], *, terminal: bool) -> Style:
    """What is wanted of an output: `when` is one of WHEN, what a user asked for on the command line."""
    colour = colour_wanted(when, environment, terminal=terminal)
    if not (colour and links_wanted(environment, terminal=terminal)):
        return Style(colour)
    return Style(colour, links=True, host=_host(environment))


def colour_wanted(when: str, environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to colour: as asked, else as $NO_COLOR and $FORCE_COLOR say, else on a terminal that can.

    See https://no-color.org and https://force-color.org.
    """
    if when != "auto":
        return when == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return _is_on(environment["FORCE_COLOR"])
    return terminal and environment.get("TERM") != "dumb"


def links_wanted(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to write links (OSC 8): as $FORCE_HYPERLINK says, else on a terminal known to have them.

    One that has not may show the address as text, so an unknown one is taken for such.
    """
    if environment.get("FORCE_HYPERLINK"):
        return _is_on(environment["FORCE_HYPERLINK"])
    # GNU screen drops links or shows parts of them, whatever terminal it is in.
    if not terminal or environment.get("CI") or environment.get("STY"):
        return False
    if any(environment.get(name) for name in ("WT_SESSION", "KITTY_WINDOW_ID", "DOMTERM")):
        return True
    if _number(environment.get("VTE_VERSION")) >= _FIRST_VTE:
        return True
    if _number(environment.get("KONSOLE_VERSION")) >= _FIRST_KONSOLE:
        return True
    first = _PROGRAMS.get(environment.get("TERM_PROGRAM", ""))
    if first is not None:
        version = re.findall(r"\d+", environment.get("TERM_PROGRAM_VERSION", ""))
        return tuple(int(part) for part in version) >= first or first == (0,)
    return _TERMS.match(environment.get("TERM", "")) is not None


def file_uri(path: str, host: str) -> str:
    """The `file:` URI of an absolute path, with every byte that is no plain character percent-encoded.

    `host` names this machine, so that a terminal that shows another one's output opens no file of its own.
    """
    if os.name == "nt":
        return "file:///" + quote(path.replace("\\", "/"), safe="/:")
    return f"file://{host}{quote_from_bytes(os.fsencode(path), safe='/')}"


def _host(environment: Mapping[str, str]) -> str:
    distribution = environment.get("WSL_DISTRO_NAME")
    if distribution:
        return f"wsl$/{quote(distribution)}"
    import socket

    return quote(socket.gethostname())


def _is_on(value: str) -> bool:
    return value.strip().lower() not in ("0", "false", "no", "off")


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
