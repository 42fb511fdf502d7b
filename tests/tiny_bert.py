"""A tiny BERT on disk, and its forward pass in plain numpy."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Tensors = dict[str, Floats]

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 40,
    "max_position_embeddings": 64,
}
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "hello",
    "world",
    "##s",
    "a",
    "b",
    "c",
    ".",
    "query",
    ":",
    "<",
    ">",
]


def tensors_of(seed: int, *, types: int = 2) -> Tensors:
    """Random weights of a BERT of the sizes above, as large as trained ones are."""
    rng = np.random.default_rng(seed)
    hidden, wide = SIZES["hidden_size"], SIZES["intermediate_size"]

    def normal(*shape: int) -> Floats:
        return rng.normal(0, 0.3, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": normal(SIZES["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": normal(SIZES["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": normal(types, hidden),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(SIZES["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        for part in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ):
            tensors[f"{name}.{part}.weight"] = normal(hidden, hidden)
            tensors[f"{name}.{part}.bias"] = normal(hidden)
        tensors[f"{name}.intermediate.dense.weight"] = normal(wide, hidden)
        tensors[f"{name}.intermediate.dense.bias"] = normal(wide)
        tensors[f"{name}.output.dense.weight"] = normal(hidden, wide)
        tensors[f"{name}.output.dense.bias"] = normal(hidden)
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    for name in norms:
        tensors[f"{name}.weight"] = 1 + normal(hidden)
        tensors[f"{name}.bias"] = normal(hidden)
    return tensors


def safetensors_bytes(tensors: Tensors, dtype: str = "F32") -> bytes:
    """Tensors as the content of a .safetensors file of one number type."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    blocks: list[bytes] = []
    offset = 0
    for name, tensor in tensors.items():
        if dtype == "F32":
            data = tensor.astype("<f4").tobytes()
        elif dtype == "F16":
            data = tensor.astype("<f2").tobytes()
        else:
            data = (tensor.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        blocks.append(data)
        offset += len(data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(blocks)


def tokenizer_json(
    *, template: tuple[str, str] = ("[CLS]", "[SEP]"), ids: tuple[int, int] | None = None
) -> dict[str, Any]:
    """A WordPiece tokenizer of the words above, with truncation and padding as published ones carry."""
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    places = ids or (vocabulary[template[0]], vocabulary[template[1]])
    special = {
        name: {"id": name, "ids": [place], "tokens": [name]}
        for name, place in zip(template, places, strict=True)
    }
    return {
        "version": "1.0",
        "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 8},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [
            {
                "id": index,
                "special": True,
                "content": WORDS[index],
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
            }
            for index in range(4)
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": template[0], "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": template[1], "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }


class TinyBert:
    """Writes tiny models and computes what they should give."""

    sizes = SIZES
    words = WORDS
    safetensors_bytes = staticmethod(safetensors_bytes)
    tensors_of = staticmethod(tensors_of)
    tokenizer_json = staticmethod(tokenizer_json)

    def write(
        self,
        directory: Path,
        *,
        seed: int = 1,
        model_type: str = "bert",
        pooling: str = "mean",
        prefix: str = "",
        dtype: str = "F32",
        window: int = 32,
    ) -> Tensors:
        """Writes a model directory; gives its weights."""
        directory.mkdir(parents=True, exist_ok=True)
        types = 1 if model_type == "xlm-roberta" else 2
        tensors = tensors_of(seed, types=types)
        config = {**SIZES, "model_type": model_type, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
        config.update({"type_vocab_size": types, "pad_token_id": 1 if model_type != "bert" else 0})
        named = {prefix + name: tensor for name, tensor in tensors.items()}
        (directory / "config.json").write_text(json.dumps(config))
        (directory / "model.safetensors").write_bytes(safetensors_bytes(named, dtype))
        (directory / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
        (directory / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": window}))
        (directory / "1_Pooling").mkdir(exist_ok=True)
        modes = {
            f"pooling_mode_{mode}": mode.startswith(pooling)
            for mode in ("cls_token", "mean_tokens", "max_tokens")
        }
        (directory / "1_Pooling" / "config.json").write_text(json.dumps(modes))
        return tensors

    @staticmethod
    def forward(
        tensors: Tensors, ids: list[int], *, heads: int, first_position: int = 0, pooling: str = "mean"
    ) -> Floats:
        """The vector of a text's ids, computed in float32 as the BERT paper says, without quantisation."""
        erf = np.vectorize(math.erf, otypes=[np.float32])

        def norm(x: Floats, name: str) -> Floats:
            mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
            scaled: Floats = ((x - mean) / np.sqrt(variance + 1e-12)).astype(np.float32)
            return scaled * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

        def linear(x: Floats, name: str) -> Floats:
            product: Floats = x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
            return product

        count = len(ids)
        x: Floats = tensors["embeddings.word_embeddings.weight"][ids]
        x = x + tensors["embeddings.position_embeddings.weight"][first_position : first_position + count]
        x = norm(x + tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        layer = 0
        while f"encoder.layer.{layer}.output.dense.bias" in tensors:
            name = f"encoder.layer.{layer}"
            query, key, value = (
                linear(x, f"{name}.attention.self.{part}").reshape(count, heads, -1).transpose(1, 0, 2)
                for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            shares /= shares.sum(-1, keepdims=True)
            context = (shares @ value).transpose(1, 0, 2).reshape(count, -1)
            x = norm(
                x + linear(context, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
            )
            wide = linear(x, f"{name}.intermediate.dense")
            wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
            x = norm(x + linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
            layer += 1
        pooled: Floats = x[0] if pooling == "cls" else x.mean(0)
        return pooled / np.linalg.norm(pooled)
