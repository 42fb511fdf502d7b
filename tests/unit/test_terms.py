from __future__ import annotations

import pytest

from semantic_search.terms import TERMS_VERSION, index_terms, path_terms, query_terms, spans_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "by", "id"]),
        ("get_user_by_id", ["getuserbyid", "get", "user", "by", "id"]),
        ("get-user-by-id", ["getuserbyid", "get", "user", "by", "id"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("MAX_RETRY_COUNT", ["maxretrycount", "max", "retri", "count"]),
        ("__init__", ["init"]),
        ("getHTTPResponseCode", ["gethttpresponsecod", "get", "http", "respons", "code"]),
        ("E0308", ["e0308", "e", "0308"]),
        ("ECONNREFUSED", ["econnrefus"]),
        ("1.2.3", ["1_2_3", "1", "2", "3"]),
        ("ISO-8859-1", ["iso88591", "iso", "8859", "1"]),
        ("sha256", ["sha256", "sha", "256"]),
        ("me@example.org", ["me", "exampl", "org"]),
        ("the and of to", ["the", "and", "of", "to"]),
        ("d", ["d"]),
        ("don't", ["dont"]),
        ("_", []),
        ("", []),
    ],
)
def test_words_and_identifiers(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


@pytest.mark.parametrize("query", ["session", "user session", "createusersession", "create_user_session"])
def test_parts_of_an_identifier_find_it(query: str) -> None:  # tokenise-01
    terms = set(index_terms("const s = createUserSession();"))
    assert all(terms & set(query_terms(word)) for word in query.split())


@pytest.mark.parametrize(
    "forms",
    [
        "сховище сховищі сховища сховищ сховищем",
        "файл файли файлів файлу файлом файлами файлах файлові",
        "об'єкт обʼєкт об’єкт об`єкт об'єкти об'єктів об'єкту",
        "пошук пошуку пошуком пошуки",
        "налаштування налаштуванням налаштуваннями",
        "швидкість швидкості швидкістю",
        "файл файла файлов файлами файлах",
        "книга книги книгу книгой книгами",
        "список списку списком списки списків",
        "хлопець хлопця хлопцеві хлопці хлопців",
        "конец конца концов концам",
        "книжка книжок книжками",
        "урок уроку уроки",
        "українська український українського українські",
        "session sessions",
        "cached caching",
        "ёлка елка ёлки",
    ],
)
def test_tokenise_02_tokenise_08_forms_of_a_word_meet(forms: str) -> None:
    assert len({tuple(index_terms(form)) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("café", "cafe\u0301"),
        ("straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Łódź", "lodz"),
        ("ﬁle", "file"),
        ("ｆｉｌｅ", "file"),
        ("infor\u00admation", "information"),
        ("зам\u043e\u0301к", "замок"),
        ("ґанок", "ганок"),
        ("мой", "мои\u0306"),
        ("كِتَابٌ", "كتاب"),
        ("l'homme", "homme"),
    ],
)
def test_tokenise_08_spellings_of_a_word_meet(one: str, other: str) -> None:
    assert index_terms(one) == index_terms(other)


@pytest.mark.parametrize(("one", "other"), [("йод", "иод"), ("їм", "ім"), ("ліс", "лис"), ("C", "D")])
def test_letters_stay_apart(one: str, other: str) -> None:
    assert index_terms(one) != index_terms(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("検索エンジン", ["検索", "索エ", "エン", "ンジ", "ジン"]),
        ("猫", ["猫"]),
        ("用API查询", ["用", "api", "查询"]),
        ("검색", ["검색"]),
        ("검색엔진", ["검색엔진", "검색", "색엔", "엔진"]),
        ("が", ["が"]),
    ],
)
def test_scripts_without_spaces_are_pairs(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


def test_thai_gives_pairs_that_a_query_shares() -> None:
    assert set(query_terms("ค้นหา")) <= set(index_terms("ระบบค้นหาไฟล์"))


@pytest.mark.parametrize("query", ["", "   ", "???", "😀", "\n", "\x00", "-- ''", "\u0301", "\u200b"])
def test_fts_query_04_nothing_to_match(query: str) -> None:
    assert query_terms(query) == []


def test_fts_query_02_control_characters_split_words_and_vanish() -> None:
    assert query_terms("a\x00b") == ["a", "b"]
    assert index_terms("a\u2028b\x85c\x1cd") == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("passage", "query"),
    [
        ("Die Regulierung der Märkte ist nicht mit dem Wachstum zu vergleichen.", "regulieren"),
        ("Die Häuser und das Dorf sind auf dem Berg.", "Haus"),
        (
            "Los sistemas de la ciudad que más cambian son las escuelas para niños.",
            "sistema escuela niño ciudad",
        ),
        ("The houses of the village are on the hill with caches.", "house cached"),
    ],
)
def test_a_query_meets_the_stems_of_the_language_of_a_passage(passage: str, query: str) -> None:
    passage_terms = set(index_terms(passage))
    assert all(passage_terms & set(query_terms(word)) for word in query.split())


def test_a_word_finds_itself_in_whatever_language_its_passage_is() -> None:
    for word in ("Zeitüberschreitung", "conexiones", "connections", "Siemens", "getSessions"):
        for passage in ("der das und ist mit {}", "el los que para {}", "the of and {}", "{}"):
            assert set(query_terms(word)) & set(index_terms(passage.format(word)))


def test_query_syntax_is_data() -> None:  # fts-query-03
    assert query_terms('"user session" AND col:x* NEAR(y)') == [
        "user",
        "session",
        "and",
        "col",
        "x",
        "near",
        "y",
    ]


def test_a_query_names_each_term_once_and_a_passage_as_often_as_it_stands() -> None:
    assert query_terms("retry " * 1000) == query_terms("retry")
    assert len(set(query_terms("retry retries"))) == len(query_terms("retry retries"))
    assert index_terms("retry retries") == ["retri", "retri"]


def test_paths() -> None:
    assert path_terms("src/user_session/HttpClient.py") == [
        "src", "usersess", "user", "session", "httpclient", "http", "client", "py",
    ]  # fmt: skip
    assert path_terms("odd\udcff/x.go") == ["odd", "x", "go"]


def test_long_words_give_short_terms() -> None:
    blob = "aB3" * 2000
    assert all(len(term) <= 100 for term in index_terms(blob))
    assert len(index_terms(blob)) == 1
    assert max(map(len, index_terms("ж" * 5000))) <= 100


def test_special_tokens_of_models_are_plain_words() -> None:  # encoding-07
    assert index_terms("<|endoftext|> [SEP] [CLS] <s> </s> [MASK]") == [
        "endoftext",
        "sep",
        "cls",
        "s",
        "s",
        "mask",
    ]


def test_version_is_a_positive_number() -> None:
    assert TERMS_VERSION >= 1


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("розсади", "[Розсаду] висаджують, коли [розсада] міцна"),
        ("резервную копию", "[Резервные] [копии], без [резервной] [копии] никак"),
        ("retried", "It was [retrying]; it [retries], and every [retry] waits"),
        ("user", "get[User]ById, get_[user]_by_id, [User]Store and [user]"),
        ("get user", "[getUser]ById and [get_user]_by_id"),
        ("getuserbyid", "the [getUserById] call"),
        ("об'єкт", "[обʼєкти] та [об'єкт]"),
        ("東京", "[東京]都庁の場所、京都"),
        ("café", "[cafe\u0301] and [café], [cafe]"),
        ("retry", "soft [retr\u00adies] and\u200b [retry]"),
        ("zwölf Zahlungen", "die [Zahlung] ist nicht für [zwölf], und der Rest von den [Zahlungen]"),
        ("walnut", "nothing of the kind"),
        ("walnut", ""),
    ],
)
def test_spans_are_where_the_terms_of_a_question_are(question: str, text: str) -> None:
    plain = text.replace("[", "").replace("]", "")
    marked = plain
    for start, end in reversed(spans_of(plain, set(query_terms(question)))):
        marked = f"{marked[:start]}[{marked[start:end]}]{marked[end:]}"
    assert marked == text
