from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _grammar_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path_factory.mktemp("grammars")))
        yield
