from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from semantic_search.chunking import Budget, chunk_document, code
from semantic_search.chunking.grammars import ATTACHED, CONTINUED, KINDS, SINGLE_WRAPPERS, WRAPPERS
from semantic_search.languages import grammar_of, languages
from semantic_search.types import Chunk, Document, SourceFile


def _chunks(text: str, language: str, budget: Budget | None = None) -> list[Chunk]:
    document = Document(SourceFile("/folder", "file", 0, 0, 0, 0), "", text, language)
    starts = [match.start() for match in re.finditer(r"\w+|\S", text)]
    chunks = chunk_document(document, starts, budget or Budget())
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    return chunks


def _outline(text: str, language: str, target: int) -> list[tuple[int, int, str, str]]:
    """First line, last line, symbol, kind."""
    chunks = _chunks(text, language, Budget(target, 0, 200))
    return [(chunk.first_line, chunk.last_line, chunk.symbol, chunk.kind) for chunk in chunks]


PYTHON = '''\
"""Sessions."""
import os

TIMEOUT = 30


# Opens one.
@cached
def open_session(user, password):
    """Opens a session for the user."""
    return Session(user, password, TIMEOUT)


class Session(Base):
    """A session of one user with the server."""

    kind: str = "plain"

    def close(self):
        """Closes it and forgets the user at once."""
        self.user = None

    @property
    async def age(self):
        """Seconds since the session was opened."""
        return now() - self.opened
'''

TYPESCRIPT = """\
import { x } from "y";

/** A cache of things that were read. */
export class Cache<T> extends Base<T> {
  private items = new Map<string, T>();

  get(id: string): T | undefined {
    return this.items.get(id) ?? this.load(id);
  }

  drop = (id: string) => {
    this.items.delete(id); this.emit("drop", id);
  };
}

export interface Options { size: number; onDrop(id: string): void; timeout: number }

export const makeCache = async (options: Options) => {
  return new Cache(options.size, options.timeout);
};
"""

GO = """\
package store

// Store keeps rows in memory until they are flushed.
type Store struct {
	rows map[string]Row
	size int
}

// Put adds a row and counts it.
func (s *Store) Put(key string, row Row) error {
	s.rows[key] = row
	s.size++
	return nil
}

func New(size int) *Store {
	return &Store{rows: make(map[string]Row, size)}
}
"""

RUST = """\
use std::fmt;

/// A point in the plane, with whole coordinates.
#[derive(Debug, Clone)]
pub struct Point<T> {
    x: T,
    y: T,
}

impl<T> Point<T> {
    /// The origin of all points that there are.
    pub fn origin() -> Self {
        Point { x: zero(), y: zero() }
    }

    pub fn shifted(&self, by: T) -> Self {
        Point { x: self.x + by, y: self.y + by }
    }
}

impl<T> fmt::Display for Point<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { write!(f, "{} {}", self.x, self.y) }
}
"""

JAVA = """\
package a.b;

import java.util.List;

/** Reads orders from the queue, one after the other. */
@Service
public class Orders extends Base {
  private int count = 0;

  /** Takes the next one. */
  @Override
  public Order next(Queue queue) {
    count += 1; return queue.take();
  }

  enum State { OPEN, PAID, SENT, LOST, BACK, OTHER, UNKNOWN, BROKEN }
}
"""

RUBY = """\
module Web
  class Server < Base
    # Answers a request with what the routes say.
    def call(env)
      route(env).call(env, @settings, @logger, self)
    end

    def self.start(port, host, settings, logger)
      new(settings, logger).listen(port, host)
    end
  end
end
"""


@pytest.mark.parametrize(
    ("language", "text", "target", "expected"),
    [
        (
            "python",
            PYTHON,
            45,
            [
                (1, 4, "TIMEOUT", "constant"),
                (7, 11, "open_session", "function"),
                (14, 17, "Session, Session.kind", "class"),
                (19, 21, "Session.close", "method"),
                (23, 26, "Session.age", "method"),
            ],
        ),
        (
            "typescript",
            TYPESCRIPT,
            40,
            [
                (1, 1, "", ""),
                (3, 5, "Cache", "class"),
                (7, 9, "Cache.get", "method"),
                (11, 14, "Cache.drop", "method"),
                (16, 16, "Options, Options.onDrop", "interface"),
                (18, 20, "makeCache", "function"),
            ],
        ),
        (
            "go",
            GO,
            40,
            [(1, 7, "Store", "struct"), (9, 14, "Store.Put", "method"), (16, 18, "New", "function")],
        ),
        (
            "rust",
            RUST,
            45,
            [
                (1, 8, "Point", "struct"),
                (10, 14, "Point, Point.origin", "impl"),
                (16, 19, "Point.shifted", "method"),
                (21, 21, "Point", "impl"),
                (22, 23, "Point.fmt", "method"),
            ],
        ),
        (
            "java",
            JAVA,
            40,
            [
                (1, 3, "", ""),
                (5, 8, "Orders", "class"),
                (10, 14, "Orders.next", "method"),
                (16, 17, "Orders.State", "enum"),
            ],
        ),
        (
            "ruby",
            RUBY,
            40,
            [(1, 6, "Web, Web.Server, Web.Server.call", "module"), (8, 12, "Web.Server.start", "method")],
        ),
    ],
)
def test_definitions_by_syntax(
    language: str, text: str, target: int, expected: list[tuple[int, int, str, str]]
) -> None:
    assert _outline(text, language, target) == expected


@pytest.mark.parametrize(
    ("language", "text", "symbols"),
    [
        (
            "c",
            "#define MAX 3\n/* doc */\nint add(int a) { return a; }\nstruct point { int x; };",
            "add, point, MAX",
        ),
        ("c", "typedef int (*callback)(int);\nchar *name(void) { return 0; }", "callback, name"),
        ("cpp", "namespace n {\ntemplate <typename T> class Foo { int get() { } };\n}", "n, Foo, Foo.get"),
        ("cpp", "int Foo::size() const { return 1; }", "Foo.size"),
        ("csharp", "namespace X { class Foo { int P { get; } void Go<T>() {} } }", "X, Foo, Foo.Go, Foo.P"),
        ("kotlin", "class Foo {\n  fun go(): Int = 1\n}\nfun String.ext(): Int = 1\n", "Foo, Foo.go, ext"),
        ("php", "<?php\nnamespace A;\nclass Foo { public function get() { return 1; } }", "A, Foo, Foo.get"),
        ("swift", "struct Foo { init() {} }\nextension Foo { func ext() {} }", "Foo, Foo.init, Foo.ext"),
        ("scala", "object Foo { def apply() = 1 }\ntrait T { def f: Int }", "Foo, Foo.apply, T, T.f"),
        ("haskell", "foo :: Int\nfoo = 1\ninstance (X a) => C (T a) where\n  m _ = 1\n", "foo, C T, C T.m"),
        (
            "elixir",
            "defmodule My.App do\n  def get(id) when id > 0 do\n    id\n  end\nend\n",
            "My.App, My.App.get",
        ),
        ("lua", "local M = {}\nfunction M.foo(a) return a end\nfunction M:bar() end\n", "M.foo, M.bar, M"),
        ("zig", "pub const Foo = struct {\n    pub fn init() void {}\n};\n", "Foo, Foo.init"),
        ("bash", "X=1\nfoo() { echo; }\nfunction bar { echo; }\n", "foo, bar, X"),
        ("sql", "CREATE TABLE users (id int);\nCREATE VIEW v AS SELECT 1;", "users, v"),
        ("dart", "class Foo { int go(int x) { return x; } }\nvoid main() { }", "Foo, Foo.go, main"),
        ("ocaml", "let foo a = a\nmodule M = struct let inner = 1 end\n", "foo, M, M.inner"),
        ("clojure", "(defn foo [a] a)\n(def x 1)\n", "foo, x"),
        ("julia", "function foo(x) x end\nstruct S a end\n", "foo, S"),
        ("r", "foo <- function(x) x\ny <- 1\n", "foo"),
        (
            "proto",
            'syntax = "proto3";\nmessage A { int32 x = 1; }\nservice S { rpc Get (A) returns (A); }',
            "A, S, S.Get",
        ),
        ("graphql", "type A { x: Int }\nenum E { Q }", "A, E"),
        ("hcl", 'resource "aws_x" "name" { a = 1 }', "resource.aws_x.name"),
        ("erlang", "-module(a).\nfoo(0) -> 1;\nfoo(N) -> N.\nbar() -> ok.\n", "foo, bar"),
        ("objective-c", "@implementation Foo\n- (void)go { }\n@end\n", "Foo, Foo.go"),
        ("javascript", 'describe("cart", () => { it("adds", () => { add(1); }); });', "cart, cart.adds"),
        ("javascript", "(function () {\n  function inner() { return 1; }\n})();", "inner"),
        ("solidity", "contract C { function f() public {} }", "C, C.f"),
    ],
)  # fmt: skip
def test_names_in_other_languages(language: str, text: str, symbols: str) -> None:
    [chunk] = _chunks(text, language)
    assert chunk.symbol == symbols


def test_a_class_that_fits_is_one_chunk() -> None:
    text = PYTHON[PYTHON.index("class Session") :]
    [chunk] = _chunks(text, "python", Budget(120, 0, 200))
    assert (chunk.symbol, chunk.kind) == ("Session, Session.close, Session.age, Session.kind", "class")


def test_a_long_function_is_split_at_statements_and_keeps_its_name() -> None:
    body = "".join(f"    value_{number} = compute(value, {number})\n" for number in range(120))
    text = f"def before():\n    pass\n\n\ndef long(value):\n{body}    return value\n"
    chunks = [chunk for chunk in _chunks(text, "python") if "long" in chunk.symbol]
    assert len(chunks) > 3
    assert all(chunk.symbol == "long" and chunk.kind == "function" for chunk in chunks[1:])
    assert all(chunk.text.startswith("    value_") for chunk in chunks[1:])
    assert all(0 < one.end - other.start < 200 for one, other in pairwise(chunks))


def test_a_definition_is_not_cut_for_its_neighbour() -> None:
    functions = [
        f"def name_{number}(a, b):\n    return call(a, b, {number}, a, b, a)\n\n\n" for number in range(30)
    ]
    for chunk in _chunks("".join(functions), "python", Budget(60, 0, 200)):
        assert chunk.text.startswith("def name_")
        assert chunk.text.endswith("a)")


def test_offsets_are_characters_also_behind_other_scripts() -> None:
    text = '# Пошук 検索 😀\nНАЗВА = "ї😀"\n\n\ndef знайти(слово):\n    return "ґ" + слово\n\n\n'
    text += 'class Клас:\n    x = "é"\n'
    assert _outline(text, "python", 12) == [
        (1, 2, "НАЗВА", "constant"),
        (5, 6, "знайти", "function"),
        (9, 10, "Клас, Клас.x", "class"),
    ]


@pytest.mark.parametrize("language", [name for name in languages() if grammar_of(name)])
def test_text_that_is_no_program_is_cut_all_the_same(language: str) -> None:
    text = "}}} ((( <<< @@@ \x00 \ufffe ґ😀 \f\n" * 60 + "plain words " * 300
    covered = bytearray(len(text))
    for chunk in _chunks(text, language):
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    assert all(covered[at] or char.isspace() for at, char in enumerate(text))


def test_deep_nesting_ends() -> None:
    text = "namespace a { " * 3000 + "int f() { return 1; }" + " }" * 3000
    assert _chunks(text, "cpp")
    assert _chunks("(" * 20_000, "python")


def test_threads_get_the_same_chunks() -> None:
    expected = {"python": _chunks(PYTHON, "python"), "rust": _chunks(RUST, "rust"), "go": _chunks(GO, "go")}
    texts = {"python": PYTHON, "rust": RUST, "go": GO}
    wrong: list[str] = []

    def work() -> None:
        for _ in range(30):
            wrong.extend(name for name, text in texts.items() if _chunks(text, name) != expected[name])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_node_types_exist_in_their_grammars() -> None:
    from semble_grammars import get_language

    every: set[str] = set()
    for grammar, kinds in KINDS.items():
        language = get_language(grammar)
        named = {language.node_kind_for_id(number) for number in range(language.node_kind_count)}
        assert set(kinds) <= named, grammar
        every |= {name for name in named if name}
    assert every >= WRAPPERS | SINGLE_WRAPPERS | ATTACHED | CONTINUED
    assert set(KINDS) <= {grammar_of(name) for name in languages()}


_PERL = "sub hello {{\n    print <<EOF;\n{line}\nEOF\n}}\n\nsub world {{\n    return 1;\n}}\n"


def test_perl_keeps_its_definitions_around_a_here_document() -> None:
    symbols = {chunk.symbol for chunk in _chunks(_PERL.format(line="x" * 150), "perl", Budget(60, 0, 90))}
    assert symbols == {"hello", "world"}


_IN_A_CHILD = """
import sys
sys.path[:0] = {path!r}
from test_chunking_code import _PERL, _chunks
for length in (199, 200, 300, 1000, 2100, 100_000):
    _chunks(_PERL.format(line="x" * length), "perl")
"""


def test_a_text_that_crashes_the_parser_of_perl_is_cut_without_it() -> None:
    """In a process of its own: the crash is that of the whole process."""
    script = _IN_A_CHILD.format(path=[str(Path(__file__).parent), *sys.path])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done


class Stalling:
    """Stands for a parser that finds no end: it asks whether to go on, for ever."""

    def __init__(self) -> None:
        self.reset_done = False

    def parse(
        self, read: Callable[[int, object], bytes], *, progress_callback: Callable[[int, bool], bool]
    ) -> Any:
        assert read(0, None)
        while not progress_callback(0, False):
            pass
        raise ValueError("Parsing failed")

    def reset(self) -> None:
        self.reset_done = True


def test_a_text_that_stalls_its_parser_is_cut_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stalling = Stalling()
    monkeypatch.setattr(code, "_parsers", SimpleNamespace(by_grammar={"python": stalling}))
    chunks = _chunks(PYTHON, "python")
    assert chunks and not any(chunk.symbol for chunk in chunks)
    assert stalling.reset_done
