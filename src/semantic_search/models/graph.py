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
# machine computes the same. It costs little: over eleven texts the lowest cosine to float32 is 0.9988 for
# e5-small and 0.9886 for all-MiniLM-L6-v2 (Hebrew, which it cannot read; 0.993 on English and code); with 127
# it would be 0.9988 and 0.9918.
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
    scales = (np.abs(weight).max(axis=0) / limit).astype(np.float32)
    scales[scales <= 0] = 1.0
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

    def linear(self, x: str, name: str, weight: Floats, bias: Floats, *, by_row: bool = False) -> str:
        """x @ weight + bias with dynamically quantised x.

        In this order of nodes onnxruntime fuses the product, and without `by_row` all of it, into one kernel.
        `by_row`, for GELU's output, divides each row of x by its largest number (but no number becomes less
        than -1) and multiplies the product by it again.
        """
        if by_row:
            largest = self.add("Max", self.add("ReduceMax", x, axes=(-1,), keepdims=1), "gelu_floor")
            x = self.add("Mul", x, self.add("Reciprocal", largest))
        ints, scales = quantise_columns(weight, WEIGHT_LIMIT)
        quantised = self.add("DynamicQuantizeLinear", x, outputs=3)
        product = self.add("MatMulInteger", quantised, self.constant(f"{name}.int8", ints), f"{quantised}:2")
        scale = self.add("Mul", f"{quantised}:1", self.constant(f"{name}.scale", scales))
        scaled = self.add("Mul", self.add("Cast", product, to=1), scale)
        if by_row:
            scaled = self.add("Mul", scaled, largest)
        return self.add("Add", scaled, self.constant(f"{name}.bias", bias))

    def smooth_linear(self, x: str, name: str, weight: Floats, bias: Floats, reach: Floats) -> str:
        """As `linear`, with the columns of x evened out by `smoothing`."""
        factors = smoothing(reach, weight)
        inverse = self.constant(f"{name}.smooth", 1 / factors)
        return self.linear(self.add("Mul", x, inverse), name, weight * factors[:, np.newaxis], bias)

    def layer_norm(self, x: str, name: str, read: TensorReader, epsilon: float) -> str:
        weight = self.constant(f"{name}.weight", read(f"{name}.weight"))
        bias = self.constant(f"{name}.bias", read(f"{name}.bias"))
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)


def smoothing(reach: Floats, weight: Floats) -> Floats:
    """Factors f such that x / f and weight * f[:, None] lose little in int8; their product is the same.

    One scale serves a whole activation, so a few columns that reach far leave the others few of its 256
    steps. The factors move half of that, on a logarithmic scale, into the weights: Xiao et al.,
    "SmoothQuant" (2023), with alpha = 0.5. `reach` is how far each column of x goes; it is estimated from the
    weights before it, so that no sample texts are needed.
    """
    largest = np.abs(weight).max(axis=1)
    usable = (reach > 0) & (largest > 0)
    factors = np.sqrt(np.where(usable, reach, 1) / np.where(usable, largest, 1))
    return np.asarray(factors / np.exp(np.log(factors).mean()), np.float32)


def build(encoder: Encoder, read: TensorReader) -> bytes:
    """The encoder as an ONNX file.

    `read` gives a float32 tensor by its name in a Hugging Face BERT checkpoint, without the `bert.` prefix.
    The graph's input `words` is (tokens, hidden) word embeddings; its output `vector` is (hidden,)
    and of unit length.
    """
    graph = _Graph()
    _constants(graph, encoder)
    x = _embeddings(graph, encoder, read)
    norm = "embeddings.LayerNorm"
    for index in range(encoder.layers):
        name = f"encoder.layer.{index}"
        x = _attention(graph, encoder, read, x, f"{name}.attention", norm)
        x = _feed_forward(graph, encoder, read, x, name)
        norm = f"{name}.output.LayerNorm"
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
    graph.constant("gelu_floor", np.array(0.17, np.float32))


def _embeddings(graph: _Graph, encoder: Encoder, read: TensorReader) -> str:
    positions = read("embeddings.position_embeddings.weight")[encoder.first_position :]
    graph.constant("positions", positions + read("embeddings.token_type_embeddings.weight")[0])
    start = graph.constant("start", np.array([0], np.int64))
    count = graph.add(
        "Slice", graph.add("Shape", "words"), start, graph.constant("end", np.array([1], np.int64))
    )
    rows = graph.add("Slice", "positions", start, count)
    return graph.layer_norm(graph.add("Add", "words", rows), "embeddings.LayerNorm", read, encoder.epsilon)


def _attention(graph: _Graph, encoder: Encoder, read: TensorReader, x: str, name: str, norm: str) -> str:
    # One product for query, key and value: x is quantised once, and a wide product is faster than three.
    # 1/sqrt(head size) goes into the query's weights.
    factor = np.float32(1 / math.sqrt(encoder.hidden // encoder.heads))
    weights = {part: read(f"{name}.self.{part}.weight").T for part in ("query", "key", "value")}
    biases = {part: read(f"{name}.self.{part}.bias") for part in weights}
    after = read(f"{name}.output.dense.weight").T
    # The values' columns are the next product's input: they are smoothed here, at no cost.
    smooth = smoothing(_reach_behind(read, norm, weights["value"], biases["value"]), after)
    by: dict[str, Floats | np.float32] = {
        "query": factor,
        "key": np.float32(1),
        "value": np.float32(1) / smooth,
    }
    weight = np.concatenate([weights[part] * by[part] for part in by], axis=1)
    bias = np.concatenate([biases[part] * by[part] for part in by])
    joined = graph.smooth_linear(x, f"{name}.qkv", weight, bias, _reach(read, norm))
    by_head = graph.add("Transpose", graph.add("Reshape", joined, "by_head"), perm=(1, 0, 2))
    query = graph.add("Split", by_head, outputs=3, axis=0)  # each (heads, tokens, head size)
    key = graph.add("Transpose", f"{query}:1", perm=(0, 2, 1))
    shares = graph.add("Softmax", graph.add("MatMul", query, key), axis=-1)
    context = graph.add("Transpose", graph.add("MatMul", shares, f"{query}:2"), perm=(1, 0, 2))
    context = graph.add("Reshape", context, "by_token")
    name = f"{name}.output"
    output = graph.linear(context, f"{name}.dense", after * smooth[:, np.newaxis], read(f"{name}.dense.bias"))
    return graph.layer_norm(graph.add("Add", output, x), f"{name}.LayerNorm", read, encoder.epsilon)


def _feed_forward(graph: _Graph, encoder: Encoder, read: TensorReader, x: str, name: str) -> str:
    norm = f"{name}.attention.output.LayerNorm"
    wide, narrow = f"{name}.intermediate.dense", f"{name}.output.dense"
    weight, bias = read(f"{wide}.weight").T, read(f"{wide}.bias")
    hidden = graph.smooth_linear(x, wide, weight, bias, _reach(read, norm))
    erf = graph.add("Erf", graph.add("Div", hidden, "sqrt_2"))
    gelu = graph.add("Mul", graph.add("Mul", hidden, graph.add("Add", erf, "one")), "half")
    # A few tokens reach many times as far here as all others; by rows, they take none of the others' steps.
    # It takes 4 % of the time; without it and `smoothing` the lowest cosines would be 0.991 and 0.981.
    output = graph.linear(gelu, narrow, read(f"{narrow}.weight").T, read(f"{narrow}.bias"), by_row=True)
    return graph.layer_norm(graph.add("Add", output, x), f"{name}.output.LayerNorm", read, encoder.epsilon)


def _reach(read: TensorReader, norm: str) -> Floats:
    """How far each column behind a LayerNorm goes: three standard deviations from its mean."""
    reach: Floats = np.abs(read(f"{norm}.bias")) + 3 * np.abs(read(f"{norm}.weight"))
    return reach


def _reach_behind(read: TensorReader, norm: str, weight: Floats, bias: Floats) -> Floats:
    """How far each column of a product goes whose input stands behind a LayerNorm."""
    mean = read(f"{norm}.bias") @ weight + bias
    deviation = np.sqrt((read(f"{norm}.weight")[:, np.newaxis] ** 2 * weight**2).sum(axis=0))
    reach: Floats = np.abs(mean) + 3 * deviation
    return reach


def _pooled(graph: _Graph, encoder: Encoder, x: str) -> None:
    if encoder.pooling == "cls":
        pooled = graph.add("Gather", x, graph.constant("first", np.array(0, np.int64)), axis=0)
    else:
        pooled = graph.add("ReduceMean", x, axes=(0,), keepdims=0)
    length = graph.add("ReduceL2", pooled, axes=(0,), keepdims=1)
    shortest = graph.constant("shortest", np.array([1e-12], np.float32))
    graph.nodes.append(onnx_wire.node("Div", [pooled, graph.add("Max", length, shortest)], ["vector"]))
