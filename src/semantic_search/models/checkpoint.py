"""Reads a model directory as sentence-transformers and the Hugging Face hub lay it out.

`config.json` gives the encoder's sizes, `model.safetensors` the weights, `tokenizer.json` the tokenizer;
`modules.json`, `1_Pooling/config.json` and `sentence_bert_config.json` say how a text becomes one vector.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from .rows import ModelRow, known_prefixes
from .scripts import trained_scripts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .graph import Encoder

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
NEEDED = (CONFIG, TOKENIZER, WEIGHTS)
OPTIONAL = (
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
)

_ROBERTA = frozenset({"roberta", "xlm-roberta"})
_MODEL_TYPES = frozenset({"bert"}) | _ROBERTA
_SIZES = {
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "feed_forward": "intermediate_size",
    "vocabulary": "vocab_size",
    "positions": "max_position_embeddings",
}
_MAX_JSON = 100_000_000
_MAX_SIZE = 1 << 22


class Checkpoint:
    """An opened model directory: `encoder`, and by `tensor` the weights.

    Raises ModelUnavailable naming the file where one is missing, damaged, or of a model this code cannot run.
    """

    def __init__(self, directory: Path) -> None:
        from .safetensors import Safetensors

        self.directory = directory
        require_files(directory)
        self.encoder = read_encoder(directory)
        self._weights = Safetensors(directory / WEIGHTS)
        suffix = "embeddings.word_embeddings.weight"
        found = [name for name in self._weights.names() if name.endswith(suffix)]
        if len(found) != 1:
            raise ModelUnavailable(
                f"{directory / WEIGHTS} holds no BERT encoder: {len(found)} tensors are named {suffix}"
            )
        self._prefix = found[0].removesuffix(suffix)
        self._check_shapes()

    def tensor(self, name: str) -> NDArray[np.float32]:
        """A weight by its name in a BERT checkpoint, without the `bert.` or `roberta.` before it."""
        try:
            return self._weights.tensor(self._prefix + name)
        except KeyError as error:
            raise ModelUnavailable(
                f"{self._weights.path} lacks the tensor {name}; download the model again"
            ) from error

    def rows(self, name: str, start: int, end: int) -> NDArray[np.float32]:
        """Some rows of a matrix, read without the others."""
        return self._weights.rows(self._prefix + name, start, end)

    def _check_shapes(self) -> None:
        sizes = self.encoder
        types = self._shape("embeddings.token_type_embeddings.weight")
        for name, shape in _shapes(sizes, types[0] if types else 1):
            if self._shape(name) != shape:
                raise ModelUnavailable(
                    f"{self._weights.path} does not fit config.json: "
                    f"{name} is {self._shape(name)}, not {shape}"
                )

    def _shape(self, name: str) -> tuple[int, ...]:
        try:
            return self._weights.shape(self._prefix + name)
        except KeyError as error:
            raise ModelUnavailable(
                f"{self._weights.path} lacks the tensor {name}; download the model again"
            ) from error


def _shapes(sizes: Encoder, types: int) -> list[tuple[str, tuple[int, ...]]]:
    """Every tensor of an encoder and its shape; linear weights are (outputs, inputs)."""
    hidden, wide = sizes.hidden, sizes.feed_forward
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("embeddings.word_embeddings.weight", (sizes.vocabulary, hidden)),
        ("embeddings.position_embeddings.weight", (sizes.positions, hidden)),
        ("embeddings.token_type_embeddings.weight", (types, hidden)),
        ("embeddings.LayerNorm.weight", (hidden,)),
        ("embeddings.LayerNorm.bias", (hidden,)),
    ]
    square = [f"attention.{part}" for part in ("self.query", "self.key", "self.value", "output.dense")]
    linear = [(name, hidden, hidden) for name in square]
    linear += [("intermediate.dense", wide, hidden), ("output.dense", hidden, wide)]
    for layer in range(sizes.layers):
        before = f"encoder.layer.{layer}"
        for name, outputs, inputs in linear:
            shapes += [(f"{before}.{name}.weight", (outputs, inputs)), (f"{before}.{name}.bias", (outputs,))]
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes += [(f"{before}.{name}.{kind}", (hidden,)) for kind in ("weight", "bias")]
    return shapes


def require_files(directory: Path) -> None:
    """Raises ModelUnavailable unless a directory holds the files that a model needs."""
    missing = [name for name in NEEDED if not (directory / name).is_file()]
    if not missing:
        return
    hint = ""
    if WEIGHTS in missing and ((directory / "pytorch_model.bin").exists()):
        hint = " (pytorch_model.bin is not read: it is a pickle, which can run code)"
    raise ModelUnavailable(
        f"{directory} lacks {', '.join(missing)}{hint}. It must hold a BERT "
        "sentence-transformers model as on the Hugging Face hub."
    )


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises ModelUnavailable naming it."""
    try:
        if path.stat().st_size > _MAX_JSON:
            raise ValueError("it is larger than 100 MB")
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelUnavailable(f"{path} cannot be read: {error}. Download or copy it again.") from error


def _read_object(path: Path) -> dict[str, Any]:
    value = read_json(path)
    if not isinstance(value, dict):
        raise ModelUnavailable(f"{path} is not a JSON object. Download or copy it again.")
    return value


def read_encoder(directory: Path) -> Encoder:
    """The encoder that config.json describes, with mean pooling."""
    from .graph import Encoder

    path = directory / CONFIG
    config = _read_object(path)
    kind = config.get("model_type")
    if kind not in _MODEL_TYPES:
        raise ModelUnavailable(
            f"{path}: models of type {kind!r} are not supported; BERT, RoBERTa and XLM-RoBERTa encoders are"
        )
    for key, wanted in (("hidden_act", ("gelu",)), ("position_embedding_type", ("absolute", None))):
        if config.get(key, wanted[0]) not in wanted:
            raise ModelUnavailable(f"{path}: {key} {config[key]!r} is not supported, only {wanted[0]!r}")
    sizes = {ours: _size(config.get(theirs)) for ours, theirs in _SIZES.items()}
    wrong = [_SIZES[ours] for ours, size in sizes.items() if not size]
    epsilon = config.get("layer_norm_eps", 1e-12)
    if wrong or sizes["hidden"] % sizes["heads"] or not isinstance(epsilon, float):
        raise ModelUnavailable(
            f"{path} has impossible sizes ({', '.join(wrong) or 'hidden_size, layer_norm_eps'})"
        )
    padding = config.get("pad_token_id", 1)
    first = padding + 1 if kind in _ROBERTA and isinstance(padding, int) else 0
    return Encoder(
        hidden=sizes["hidden"],
        layers=sizes["layers"],
        heads=sizes["heads"],
        feed_forward=sizes["feed_forward"],
        vocabulary=sizes["vocabulary"],
        positions=sizes["positions"],
        epsilon=epsilon,
        first_position=first,
    )


def _size(value: object) -> int:
    return value if type(value) is int and 0 < value <= _MAX_SIZE else 0


def describe(directory: Path, name: str) -> ModelRow:
    """The row of a model that is not in the table, from its directory's files.

    Raises ModelUnavailable for modules or pooling that this code does not run.
    """
    require_files(directory)
    encoder = read_encoder(directory)
    _check_modules(directory)
    query, passage = _read_prefixes(directory, name)
    return ModelRow(
        name=name,
        dimension=encoder.hidden,
        window=_read_window(directory, encoder),
        pooling=_read_pooling(directory),
        query_prefix=query,
        passage_prefix=passage,
        scripts=trained_scripts(_vocabulary(directory)),
    )


def fit(row: ModelRow, encoder: Encoder) -> Encoder:
    """The encoder with the row's pooling. Raises ModelUnavailable where the two contradict each other."""
    if encoder.hidden != row.dimension:
        raise ModelUnavailable(
            f"{row.name} has {row.dimension} dimensions, but these weights have {encoder.hidden}"
        )
    return replace(encoder, pooling=row.pooling)


def _check_modules(directory: Path) -> None:
    path = directory / "modules.json"
    if not path.is_file():
        return
    modules = read_json(path)
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules if isinstance(module, dict)]
    unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Normalize")]
    if unknown:
        raise ModelUnavailable(f"{path}: modules of type {', '.join(unknown)} are not supported")


def _read_pooling(directory: Path) -> str:
    path = directory / "1_Pooling" / "config.json"
    if not path.is_file():
        return "mean"
    config = _read_object(path)
    modes = [
        key.removeprefix("pooling_mode_")
        for key, on in config.items()
        if key.startswith("pooling_mode_") and on is True
    ]
    pooling = {"mean_tokens": "mean", "cls_token": "cls"}.get(" ".join(modes))
    if pooling is None:
        raise ModelUnavailable(
            f"{path}: pooling by {' and '.join(modes) or 'nothing'} is not supported, only mean or cls"
        )
    return pooling


def _read_window(directory: Path, encoder: Encoder) -> int:
    longest = encoder.positions - encoder.first_position
    path = directory / "sentence_bert_config.json"
    if path.is_file():
        window = _read_object(path).get("max_seq_length")
        if type(window) is int and 8 <= window <= longest:
            return window
    return longest


def _read_prefixes(directory: Path, name: str) -> tuple[str, str]:
    path = directory / "config_sentence_transformers.json"
    prompts = _read_object(path).get("prompts") if path.is_file() else None
    if isinstance(prompts, dict):
        query = prompts.get("query")
        passage = prompts.get("passage", prompts.get("document"))
        if isinstance(query, str) or isinstance(passage, str):
            return (query if isinstance(query, str) else "", passage if isinstance(passage, str) else "")
    return known_prefixes(name)


def _vocabulary(directory: Path) -> list[str]:
    model = _read_object(directory / TOKENIZER).get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, dict):
        return list(vocabulary)
    if isinstance(vocabulary, list):
        return [
            entry[0]
            for entry in vocabulary
            if isinstance(entry, list) and entry and isinstance(entry[0], str)
        ]
    raise ModelUnavailable(f"{directory / TOKENIZER} holds no vocabulary. Download or copy it again.")
