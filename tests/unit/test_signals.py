from __future__ import annotations

import pytest

from semantic_search import signals


@pytest.mark.parametrize(
    ("query", "symbol"),
    [
        ("getUserById", "getUserById"),
        ("get_user", "get_user"),
        ("Client", "Client"),
        ("http.Client", "Client"),
        ("std::vec::Vec", "Vec"),
        ("Array#map", "map"),
        ("retry()", "retry"),
        ("`save_all`", "save_all"),
        ("users", ""),
        ("how does Client work", ""),
        ("чому", ""),
        ("", ""),
        ("1.2.3", ""),
    ],
)
def test_asked_symbol(query: str, symbol: str) -> None:
    assert signals.asked_symbol(query) == symbol


def test_a_definition_is_found_by_the_last_part_of_its_name() -> None:
    assert signals.defines("save", ["Store.open", "Store.save"])
    assert signals.defines("save", ["save"])
    assert not signals.defines("save", ["save_all", "unsaved", "Save"])


def test_names_are_joined_by_commas() -> None:
    assert signals.names_in("one, Two.three,four") == ["one", "Two.three", "four"]
    assert signals.names_in("") == []


@pytest.mark.parametrize(
    "path",
    [
        "tests/unit/a.py",
        "src/app/test_a.py",
        "a_test.go",
        "src/a.spec.ts",
        "src/__tests__/a.ts",
        "spec/a_spec.rb",
        "src/test/java/FooTest.java",
        "conftest.py",
        "lib/FooSpec.scala",
    ],
)
def test_tests_by_path(path: str) -> None:
    assert signals.is_test(path)


@pytest.mark.parametrize(
    "path", ["src/latest.py", "contest/a.py", "src/attest.go", "testimony.md", "src/inspect.py"]
)
def test_no_tests_by_path(path: str) -> None:
    assert not signals.is_test(path)


def test_examples_and_second_hand_files_by_path() -> None:
    assert signals.is_example("examples/a.py")
    assert signals.is_example("docs_src/tutorial/a.py")
    assert not signals.is_example("src/sampler.py")
    for path in (
        "vendor/a/b.go",
        "app.min.js",
        "yarn.lock",
        "package-lock.json",
        "api_pb2.py",
        "src/_compat.py",
    ):
        assert signals.is_second_hand(path), path
    for path in ("src/locks.py", "compatible.md", "src/generator.py", "older/a.py"):
        assert not signals.is_second_hand(path), path


def test_a_file_is_asked_for_by_its_name() -> None:
    assert signals.is_named(signals.file_names_in("config/kiosk.toml"), "app/config/kiosk.toml")
    assert signals.is_named(signals.file_names_in("what is in `kiosk.toml`?"), "config/kiosk.toml")
    assert signals.is_named(signals.file_names_in("what is in `kiosk.toml`"), "config/kiosk.toml")
    assert signals.is_named(signals.file_names_in("./src/Retry.py"), "src/retry.py")
    assert not signals.is_named(signals.file_names_in("osk.toml"), "config/kiosk.toml")
    assert not signals.is_named(signals.file_names_in("session.save"), "session/save.py")
    assert not signals.is_named(signals.file_names_in("retry"), "src/retry")


def test_declarations_and_hidden_directories_by_path() -> None:
    assert signals.is_declaration("include/uv.h")
    assert signals.is_declaration("types/a.d.ts")
    assert not signals.is_declaration("src/uv.c")
    assert signals.is_second_hand(".github/workflows/ci.yml")
    assert not signals.is_second_hand(".editorconfig")


def test_who_asks_for_tests_gets_them() -> None:
    assert signals.asks_for_test(["test", "retri"])
    assert signals.asks_for_test(["тест"])
    assert not signals.asks_for_test(["contest"])
    assert signals.asks_for_example(["exampl"])


def test_shares_and_coverage() -> None:
    weights = {"rare": 3.0, "common": 1.0}
    assert signals.share_found(weights, {"rare", "other"}) == 0.75
    assert signals.share_found({}, {"rare"}) == 0.0
    assert signals.coverage({"a", "b"}, {"a", "c"}) == 0.5
    assert signals.coverage({"a"}, ()) == 0.0


def test_inverse_frequencies_fall_with_the_count_and_stay_positive() -> None:
    found = signals.inverse_frequencies({"never": 0, "once": 1, "always": 100}, 100)
    assert found["never"] > found["once"] > found["always"] > 0


def test_the_name_of_a_file_that_says_nothing_is_its_directory() -> None:
    billing = signals.terms_of_stem("src/billing.py")
    assert signals.terms_of_stem("src/billing/__init__.py") == billing
    assert signals.terms_of_stem("billing/index.ts") == billing
    assert signals.terms_of_stem("index.ts")
    assert signals.terms_of_stem(".gitlab-ci.yml")
