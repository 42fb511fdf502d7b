"""Builds the ONNX graph of a BERT encoder with int8 matrix products.

The encoder is that of Devlin et al., "BERT" (2019): post-LayerNorm transformer layers, GELU by erf.

It takes one text a run. Dynamic quantisation has one scale for a whole tensor, so the texts of a batch would
change each other's vectors, and batches of 1, 4 and 8 run equally fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from . import onnx_wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Weights keep 7 bits of the 8. On x86-64 processors without VNNI, onnxruntime adds two products of an 8-bit
# activation and a weight in 16 bits, saturating: 2 * 255 * 127 does not fit, 2 * 255 * 64 does. So every
# machine computes the same. It costs little: the cosine to e5-small's own engine, over seven languages, is
# 0.9954 to 0.9975; with 127 it would be 0.9965 to 0.9979.
WEIGHT_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Encoder:
    """The sizes of a BERT encoder, and what happens to its last layer.

    `first_position` is the row of the position table that the first token uses: 0 in BERT, padding index + 1
    in RoBERTa and XLM-RoBERTa. `pooling` is `mean` or `cls`.
    """

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float
    first_position: int = 0
    pooling: str = "mean"


TensorReader = Callable[[str], "Floats"]


def quantise_columns(weight: Floats, limit: int) -> tuple[NDArray[np.int8], Floats]:
    """A matrix as int8 in [-limit, limit] and one float32 scale per column: weight ≈ ints * scales."""
    scales = np.abs(weight).max(axis=0) / limit
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)
    return np.rint(weight / scales).astype(np.int8), scales


@dataclass(slots=True)
class _Graph:
    nodes: list[bytes] = field(default_factory=list)
    tensors: list[bytes] = field(default_factory=list)
    count: int = 0

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: onnx_wire.Attribute) -> str:
        """Adds a node; gives the name of its first output (further ones end in `:1`, `:2`)."""
        self.count += 1
        name = f"{operator}_{self.count}"
        names = [name, *(f"{name}:{index}" for index in range(1, outputs))]
        self.nodes.append(onnx_wire.node(operator, inputs, names, **attributes))
        return name

    def constant(self, name: str, array: NDArray[np.generic]) -> str:
        self.tensors.append(onnx_wire.tensor(name, array))
        return name

    def linear(self, x: str, name: str, weight: Floats, bias: Floats) -> str:
        """x @ weight + bias with dynamically quantised x.

        In this order of nodes onnxruntime fuses the whole into one DynamicQuantizeMatMul.
        """
        ints, scales = quantise_columns(weight, WEIGHT_LIMIT)
        quantised = self.add("DynamicQuantizeLinear", x, outputs=3)
        product = self.add("MatMulInteger", quantised, self.constant(f"{name}.int8", ints), f"{quantised}:2")
        scale = self.add("Mul", f"{quantised}:1", self.constant(f"{name}.scale", scales))
        scaled = self.add("Mul", self.add("Cast", product, to=1), scale)
        return self.add("Add", scaled, self.constant(f"{name}.bias", bias))

    def layer_norm(self, x: str, name: str, read: TensorReader, epsilon: float) -> str:
        weight = self.constant(f"{name}.weight", read(f"{name}.weight"))
        bias = self.constant(f"{name}.bias", read(f"{name}.bias"))
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)


def build(encoder: Encoder, read: TensorReader) -> bytes:
    """The encoder as an ONNX file.

    `read` gives a float32 tensor by its name in a Hugging Face BERT checkpoint, without the `bert.` prefix.
    The graph's input `words` is (tokens, hidden) word embeddings; its output `vector` is (hidden,)
    and of unit length.
    """
    graph = _Graph()
    _constants(graph, encoder)
    x = _embeddings(graph, encoder, read)
    for index in range(encoder.layers):
        name = f"encoder.layer.{index}"
        x = _attention(graph, encoder, read, x, f"{name}.attention")
        x = _feed_forward(graph, encoder, read, x, name)
    _pooled(graph, encoder, x)
    return onnx_wire.model(
        "encoder",
        nodes=graph.nodes,
        tensors=graph.tensors,
        inputs=[onnx_wire.value("words", ["tokens", encoder.hidden])],
        outputs=[onnx_wire.value("vector", [encoder.hidden])],
    )


def _constants(graph: _Graph, encoder: Encoder) -> None:
    head = encoder.hidden // encoder.heads
    graph.constant("by_head", np.array([0, 3 * encoder.heads, head], np.int64))
    graph.constant("by_token", np.array([0, encoder.hidden], np.int64))
    graph.constant("sqrt_2", np.array(math.sqrt(2), np.float32))
    graph.constant("half", np.array(0.5, np.float32))
    graph.constant("one", np.array(1, np.float32))


def _embeddings(graph: _Graph, encoder: Encoder, read: TensorReader) -> str:
    positions = read("embeddings.position_embeddings.weight")[encoder.first_position :]
    graph.constant("positions", positions + read("embeddings.token_type_embeddings.weight")[0])
    start = graph.constant("start", np.array([0], np.int64))
    count = graph.add(
        "Slice", graph.add("Shape", "words"), start, graph.constant("end", np.array([1], np.int64))
    )
    rows = graph.add("Slice", "positions", start, count)
    return graph.layer_norm(graph.add("Add", "words", rows), "embeddings.LayerNorm", read, encoder.epsilon)


def _attention(graph: _Graph, encoder: Encoder, read: TensorReader, x: str, name: str) -> str:
    # One product for query, key and value: x is quantised once, and a wide product is faster than three.
    # 1/sqrt(head size) goes into the query's weights.
    factor = np.float32(1 / math.sqrt(encoder.hidden // encoder.heads))
    parts = (
        (f"{name}.self.query", factor),
        (f"{name}.self.key", np.float32(1)),
        (f"{name}.self.value", np.float32(1)),
    )
    weight = np.concatenate([read(f"{part}.weight").T * by for part, by in parts], axis=1)
    bias = np.concatenate([read(f"{part}.bias") * by for part, by in parts])
    joined = graph.linear(x, f"{name}.qkv", weight, bias)
    by_head = graph.add("Transpose", graph.add("Reshape", joined, "by_head"), perm=(1, 0, 2))
    query = graph.add("Split", by_head, outputs=3, axis=0)  # each (heads, tokens, head size)
    key = graph.add("Transpose", f"{query}:1", perm=(0, 2, 1))
    shares = graph.add("Softmax", graph.add("MatMul", query, key), axis=-1)
    context = graph.add("Transpose", graph.add("MatMul", shares, f"{query}:2"), perm=(1, 0, 2))
    context = graph.add("Reshape", context, "by_token")
    name = f"{name}.output"
    output = graph.linear(
        context, f"{name}.dense", read(f"{name}.dense.weight").T, read(f"{name}.dense.bias")
    )
    return graph.layer_norm(graph.add("Add", output, x), f"{name}.LayerNorm", read, encoder.epsilon)


def _feed_forward(graph: _Graph, encoder: Encoder, read: TensorReader, x: str, name: str) -> str:
    wide = graph.linear(
        x,
        f"{name}.intermediate.dense",
        read(f"{name}.intermediate.dense.weight").T,
        read(f"{name}.intermediate.dense.bias"),
    )
    erf = graph.add("Erf", graph.add("Div", wide, "sqrt_2"))
    gelu = graph.add("Mul", graph.add("Mul", wide, graph.add("Add", erf, "one")), "half")
    name = f"{name}.output"
    narrow = graph.linear(gelu, f"{name}.dense", read(f"{name}.dense.weight").T, read(f"{name}.dense.bias"))
    return graph.layer_norm(graph.add("Add", narrow, x), f"{name}.LayerNorm", read, encoder.epsilon)


def _pooled(graph: _Graph, encoder: Encoder, x: str) -> None:
    if encoder.pooling == "cls":
        pooled = graph.add("Gather", x, graph.constant("first", np.array(0, np.int64)), axis=0)
    else:
        pooled = graph.add("ReduceMean", x, axes=(0,), keepdims=0)
    length = graph.add("ReduceL2", pooled, axes=(0,), keepdims=1)
    shortest = graph.constant("shortest", np.array([1e-12], np.float32))
    graph.nodes.append(onnx_wire.node("Div", [pooled, graph.add("Max", length, shortest)], ["vector"]))
