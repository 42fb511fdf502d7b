from __future__ import annotations

from email.message import EmailMessage

import pytest
from document_samples import message

from semantic_search.formats import Extracted, mail, mbox


def text_of(data: bytes) -> str:
    outcome = mail.extract(data)
    assert isinstance(outcome, Extracted), outcome
    return outcome.text


def test_html_where_there_is_no_plain_text() -> None:
    data = b"Subject: s\nContent-Type: text/html; charset=windows-1251\n\n<h1>A</h1><p>" + "слово".encode(
        "cp1251"
    )
    assert text_of(data) == "# s\n\n# A\n\nслово"


def test_of_alternatives_the_plain_one_unless_it_is_empty() -> None:
    assert "**" not in text_of(message("s", "plain words", "<p>rich words"))
    assert "rich words" not in text_of(message("s", "plain words", "<p>rich words"))
    assert "rich words" in text_of(message("s", "\n", "<p>rich words"))


@pytest.mark.parametrize("charset", ["us-ascii", "utf-8", "nonsense", "koi8-r"])
def test_a_body_in_another_encoding_than_it_says(charset: str) -> None:
    text = "Зустріч перенесено на четвер, о десятій ранку"
    data = f"Subject: s\nContent-Type: text/plain; charset={charset}\n\n".encode()
    encoded = text.encode("koi8-u") if charset == "koi8-r" else text.encode("cp1251")
    read = text_of(data + encoded)
    assert "перенесено на четвер" in read


def test_headers_are_decoded_however_they_are_written() -> None:
    words = "=?koi8-r?B?8NLJ18XU?= =?utf-8?q?_=D1=81=D0=B2=D1=96=D1=82?="
    assert text_of(f"Subject: {words}\n\nx".encode()).startswith("# Привет світ\n")
    assert text_of("Subject: Сирий заголовок\nFrom: Ада <a@b>\n\nx".encode()).startswith(
        "# Сирий заголовок\n\nFrom: Ада"
    )
    assert text_of(b"Subject: =?utf-8?b?broken\n folded\n\nx").startswith("# =?utf-8?b?broken folded")


def test_attached_messages_are_read_and_attachments_named() -> None:
    outer = EmailMessage()
    outer["Subject"] = "Fwd"
    outer.set_content("See below.")
    inner = EmailMessage()
    inner["Subject"] = "Inner subject"
    inner["From"] = "ira@example.org"
    inner.set_content("Inner words")
    outer.add_attachment(inner)
    outer.add_attachment("a,b\n1,2\n", subtype="csv", filename="таблиця.csv")
    inside = "## Inner subject\n\nFrom: ira@example.org\n\nInner words"
    assert text_of(outer.as_bytes()) == f"# Fwd\n\nSee below.\n\n{inside}\n\nAttachments: таблиця.csv"


def test_a_message_without_a_subject_or_body() -> None:
    assert text_of(b"From: a@b\n\nwords") == "# (no subject)\n\nFrom: a@b\n\nwords"
    assert text_of(b"Subject: only\n\n") == "# only"


def test_a_mailbox_is_parted_at_lines_that_begin_a_message_and_no_others() -> None:
    first = b"From a@b Mon\nSubject: one\n\nFrom here on\n>From there\n"
    outcome = mbox.extract(first + b"\nFrom c@d Tue\r\nSubject: two\r\n\r\nwords\r\n")
    assert isinstance(outcome, Extracted)
    assert outcome.text == "# one\n\nFrom here on\nFrom there\n\n# two\n\nwords"
    assert outcome.pages == (0, outcome.text.index("# two"))
