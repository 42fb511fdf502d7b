"""What kind of text a file holds, told by its name alone.

Language names follow GitHub Linguist, in lower case and without spaces where Linguist has them.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class _Row(NamedTuple):
    language: str
    kind: str
    grammar: str | None = None
    extensions: str = ""
    names: str = ""
    aliases: str = ""


def _code(language: str, extensions: str, **more: str) -> _Row:
    return _Row(
        language, "code", more.get("grammar"), extensions, more.get("names", ""), more.get("aliases", "")
    )


# The grammar of a row is a name in the list of the package that bundles the tree-sitter grammars.
_ROWS = (
    _code(
        "python",
        "py pyi pyw pyx pxd",
        grammar="python",
        names="sconstruct sconscript wscript",
        aliases="py python3",
    ),
    _code("typescript", "ts mts cts", grammar="typescript", aliases="ts"),
    _code("tsx", "tsx", grammar="tsx"),
    _code("javascript", "js mjs cjs jsx", grammar="javascript", aliases="js jsx node"),
    _code("go", "go", grammar="go", aliases="golang"),
    _code("rust", "rs", grammar="rust", aliases="rs"),
    _code("java", "java", grammar="java"),
    _code("kotlin", "kt kts", grammar="kotlin", aliases="kt"),
    _code("c", "c", grammar="c"),
    # A header may be C, C++ or Objective-C; the C++ grammar reads the first two.
    _code(
        "cpp", "cc cpp cxx c++ hh hpp hxx h++ h inl ipp tpp cu cuh ino", grammar="cpp", aliases="c++ cxx cc"
    ),
    _code("csharp", "cs csx", grammar="csharp", aliases="c# cs"),
    _code(
        "ruby",
        "rb rake gemspec ru",
        grammar="ruby",
        names="gemfile rakefile vagrantfile podfile",
        aliases="rb",
    ),
    _code("php", "php phtml php5 phpt", grammar="php"),
    _code("swift", "swift", grammar="swift"),
    _code("scala", "scala sc sbt", grammar="scala"),
    _code("haskell", "hs lhs hsc", grammar="haskell", aliases="hs"),
    _code("elixir", "ex exs", grammar="elixir", aliases="ex"),
    _code("heex", "heex leex", grammar="heex"),
    _code("erlang", "erl hrl escript", grammar="erlang", names="rebar.config", aliases="erl"),
    _code("lua", "lua luau rockspec", grammar="lua"),
    _code("zig", "zig zon", grammar="zig"),
    _code(
        "bash",
        "sh bash zsh ksh bats ebuild",
        grammar="bash",
        names=".bashrc .zshrc .profile .bash_profile .zprofile",
        aliases="sh shell zsh",
    ),
    _code("fish", "fish"),
    _code("powershell", "ps1 psm1 psd1", grammar="powershell", aliases="ps1 pwsh"),
    _code("batch", "bat cmd", grammar="batch", aliases="bat"),
    _code("sql", "sql ddl dml psql", grammar="sql"),
    _code("dart", "dart", grammar="dart"),
    _code("ocaml", "ml mli", grammar="ocaml", aliases="ml"),
    _code("fsharp", "fs fsi fsx", aliases="f# fs"),
    _code("clojure", "clj cljs cljc edn", grammar="clojure", aliases="clj"),
    _code("common-lisp", "lisp lsp cl", aliases="lisp"),
    _code("emacs-lisp", "el", names=".emacs", aliases="elisp"),
    _code("scheme", "scm ss sld", grammar="scheme"),
    _code("racket", "rkt", grammar="racket"),
    _code("julia", "jl", grammar="julia", aliases="jl"),
    _code("r", "r", grammar="r"),
    _code("perl", "pl pm t", grammar="perl", aliases="pl"),
    _code("objective-c", "m mm", grammar="objc", aliases="objc objectivec"),
    _code("groovy", "groovy gradle gvy", grammar="groovy", names="jenkinsfile"),
    _code("fortran", "f f90 f95 f03 f08 for", grammar="fortran"),
    _code("nix", "nix", grammar="nix"),
    _code("starlark", "bzl star bazel", grammar="starlark", names="tiltfile", aliases="bazel"),
    _code("solidity", "sol", grammar="solidity", aliases="sol"),
    _code("vim-script", "vim", grammar="vim", names=".vimrc", aliases="vim viml"),
    _code("webassembly", "wat wast", grammar="wat", aliases="wat"),
    _code("assembly", "asm s nasm", aliases="asm"),
    _code("pascal", "pas pp dpr"),
    _code("ada", "adb ads"),
    _code("d", "d"),
    _code("nim", "nim nims"),
    _code("crystal", "cr"),
    _code("v", "vv"),
    _code("gleam", "gleam"),
    _code("elm", "elm"),
    _code("purescript", "purs"),
    _code("coffeescript", "coffee"),
    _code("cobol", "cob cbl"),
    _code("visual-basic", "vb vbs bas", aliases="vb"),
    _code("tcl", "tcl"),
    _code("awk", "awk"),
    _code("matlab", "matlab"),
    _code("verilog", "v vh sv svh", aliases="systemverilog"),
    _code("vhdl", "vhd vhdl"),
    _code("glsl", "glsl vert frag comp geom hlsl wgsl metal", aliases="hlsl wgsl"),
    # A template, or a page that a script fills: its markup is the text.
    _code("html-source", "", grammar="html"),
    _code("css", "css pcss", grammar="css"),
    _code("scss", "scss sass", grammar="scss", aliases="sass"),
    _code("less", "less"),
    _code("vue", "vue", grammar="vue"),
    _code("svelte", "svelte", grammar="svelte"),
    _code("astro", "astro", grammar="astro"),
    _code("embedded-template", "erb ejs eex", grammar="embedded_template", aliases="erb ejs"),
    _code("jinja", "j2 jinja jinja2", grammar="jinja2", aliases="jinja2"),
    _code("handlebars", "hbs handlebars mustache"),
    _code("go-template", "tmpl gotmpl tpl", grammar="gotmpl", aliases="gotmpl"),
    _code("proto", "proto", grammar="proto", aliases="protobuf protocol-buffer"),
    _code("graphql", "graphql gql graphqls", grammar="graphql", aliases="gql"),
    _code("thrift", "thrift"),
    _code("jsonnet", "jsonnet libsonnet", grammar="jsonnet"),
    _code("prisma", "prisma"),
    _Row("hcl", "config", "hcl", "hcl tf tfvars nomad", "", "terraform tf"),
    _Row("make", "config", "make", "mk mak", "makefile gnumakefile bsdmakefile", "makefile"),
    _Row("just", "config", "just", "just", "justfile .justfile"),
    _Row(
        "dockerfile", "config", "dockerfile", "dockerfile containerfile", "dockerfile containerfile", "docker"
    ),
    _Row("cmake", "config", "cmake", "cmake", "cmakelists.txt"),
    _Row("meson", "config", None, "", "meson.build meson_options.txt"),
    _Row("yaml", "config", "yaml", "yaml yml", ".clang-format .clang-tidy", "yml"),
    _Row("toml", "config", "toml", "toml", "pipfile cargo.lock poetry.lock uv.lock"),
    _Row(
        "ini",
        "config",
        "ini",
        "ini cfg conf desktop service editorconfig",
        ".editorconfig .gitconfig .npmrc .pylintrc",
    ),
    _Row("properties", "config", "properties", "properties"),
    _Row("kdl", "config", "kdl", "kdl"),
    _Row(
        "ignore-list",
        "config",
        "gitignore",
        "gitignore",
        ".gitignore .dockerignore .npmignore .indexignore .gitattributes",
    ),
    _Row("go-module", "config", None, "mod", "go.mod go.work"),
    _Row(
        "json",
        "data",
        "json",
        "json geojson webmanifest",
        ".eslintrc .prettierrc .babelrc",
    ),
    _Row("json-lines", "data", None, "jsonl ndjson"),
    _Row("json5", "data", "json5", "json5"),
    _Row("jsonc", "data", "jsonc", "jsonc code-workspace", "tsconfig.json jsconfig.json"),
    _Row("xml", "data", "xml", "xml xsd xsl xslt wsdl plist csproj vbproj fsproj props targets resx svg"),
    _Row("dtd", "data", "dtd", "dtd"),
    _Row("csv", "data", None, "csv tsv psv", "", "tsv"),
    _Row("log", "data", None, "log"),
    _Row("lock", "data", None, "lock sum", "yarn.lock go.sum gemfile.lock composer.lock"),
    _Row("diff", "data", None, "diff patch", "", "patch"),
    _Row("subtitles", "docs", None, "srt vtt", "", "srt vtt"),
    _Row("markdown", "docs", "markdown", "md markdown mdown mkd mkdn qmd rmd", "", "md"),
    _Row("mdx", "docs", "markdown", "mdx"),
    _Row("rst", "docs", "rst", "rst rest", "", "restructuredtext"),
    _Row("asciidoc", "docs", "asciidoc", "adoc asciidoc asc", "", "adoc"),
    _Row("org", "docs", "org", "org", "", "orgmode"),
    _Row("latex", "docs", "latex", "tex ltx sty cls bib", "", "tex"),
    _Row("typst", "docs", "typst", "typ"),
    _Row("textile", "docs", None, "textile"),
    _Row("man-page", "docs", None, "1 2 3 4 5 6 7 8 9 man mdoc roff", "", "man roff"),
    _Row("pdf", "docs", None, "pdf"),
    _Row("docx", "docs", None, "docx docm doc", "", "word"),
    _Row("html", "docs", None, "html htm xhtml"),
    _Row("pptx", "docs", None, "pptx pptm ppt", "", "powerpoint"),
    _Row("xlsx", "data", None, "xlsx xlsm xls", "", "excel"),
    _Row("odt", "docs", None, "odt"),
    _Row("ods", "data", None, "ods"),
    _Row("odp", "docs", None, "odp"),
    _Row("rtf", "docs", None, "rtf"),
    _Row("epub", "docs", None, "epub"),
    _Row("email", "docs", None, "eml mbox", "", "mail"),
    _Row("jupyter-notebook", "docs", None, "ipynb", "", "notebook"),
    _Row(
        "text",
        "text",
        None,
        "txt text",
        "readme license licence copying authors changelog notice news todo",
        "txt plain",
    ),
)

_ROW_OF = {row.language: row for row in _ROWS}
_BY_EXTENSION = {extension: row.language for row in _ROWS for extension in row.extensions.split()}
_BY_NAME = {name: row.language for row in _ROWS for name in row.names.split()}
_BY_ALIAS = (
    _BY_EXTENSION
    | {alias: row.language for row in _ROWS for alias in row.aliases.split()}
    | {row.language: row.language for row in _ROWS}
)


_INTERPRETER = re.compile(
    r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+|\w+=\S+[ \t]+)*)?(?:\S*/)?(?P<name>[\w.+-]+)"
)
_BY_INTERPRETER = {
    **dict.fromkeys(["sh", "bash", "dash", "zsh", "ksh", "ash", "bats", "busybox"], "bash"),
    **dict.fromkeys(["node", "nodejs", "bun"], "javascript"),
    **dict.fromkeys(["deno", "ts-node", "tsx"], "typescript"),
    **dict.fromkeys(["python", "pypy", "uv"], "python"),
    **{name: name for name in ["ruby", "perl", "php", "lua", "elixir", "julia", "scala", "groovy", "make"]},
    "luajit": "lua",
    "rscript": "r",
    "runghc": "haskell",
    "escript": "erlang",
    "pwsh": "powershell",
}


def language_of(path: str) -> str:
    """The language of the file at `path` (parts separated by `/`), by its name, else its extension.

    `text` where neither says anything.
    """
    name = path.rsplit("/", 1)[-1].lower()
    if (language := _BY_NAME.get(name)) is not None:
        return language
    stem, dot, extension = name.rpartition(".")
    if dot:
        if (language := _BY_EXTENSION.get(extension)) is not None:
            return language
        # Dockerfile.dev, Makefile.am, README.old: the well-known name is what stands before the dot.
        return _BY_NAME.get(stem, "text")
    return "text"


def language_of_script(text: str) -> str:
    """The language of a text whose first line names its interpreter (`#!/bin/sh`), else `text`."""
    match = _INTERPRETER.match(text)
    if match is None:
        return "text"
    name = match["name"].lower()
    return _BY_INTERPRETER.get(name) or _BY_INTERPRETER.get(name.rstrip("0123456789."), "text")


def kind_of(language: str) -> str:
    """What the language is for: `code`, `docs`, `config`, `data` or `text` (also where we do not know it)."""
    row = _ROW_OF.get(language)
    return row.kind if row is not None else "text"


def grammar_of(language: str) -> str | None:
    """The name of the bundled tree-sitter grammar that reads the language, or None."""
    row = _ROW_OF.get(language)
    return row.grammar if row is not None else None


def resolve_language(name: str) -> str | None:
    """The language that a user means by `name` (`py`, `TS`, `c++`, `.md`), or None if there is none."""
    return _BY_ALIAS.get(name.strip().lower().removeprefix("."))


_PAGES = {
    "pptx": "slide",
    "odp": "slide",
    "xlsx": "sheet",
    "ods": "sheet",
    "epub": "chapter",
    "email": "message",
    "jupyter-notebook": "cell",
}


def page_word(language: str) -> str:
    """What the pages of a document of this language are: `page`, `slide`, `sheet`, `chapter` …"""
    return _PAGES.get(language, "page")


_SOURCES = {"html": "html-source"}


def language_of_source(language: str) -> str:
    """The language of a file that has the extension of a document and is the source of one."""
    return _SOURCES.get(language, language)


def with_sources(language: str) -> tuple[str, ...]:
    """The languages whose files a user means by `language`: also sources of documents."""
    return (language, _SOURCES[language]) if language in _SOURCES else (language,)


def languages() -> tuple[str, ...]:
    """Every language name, in a fixed order: what a message lists when `resolve_language` gives None."""
    return tuple(_ROW_OF)
