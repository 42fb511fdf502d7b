"""The graph that is written without the `onnx` package is valid ONNX, and onnxruntime fuses it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from semantic_search.models import graph, onnx_wire


def _build(tiny_bert: Any, pooling: str) -> bytes:
    tensors = tiny_bert.tensors_of(3)
    encoder = graph.Encoder(
        hidden=32,
        layers=2,
        heads=4,
        feed_forward=64,
        vocabulary=40,
        positions=64,
        epsilon=1e-12,
        pooling=pooling,
    )
    return graph.build(encoder, tensors.__getitem__)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_onnx_accepts_the_graph(tiny_bert: Any, pooling: str) -> None:
    content = _build(tiny_bert, pooling)
    onnx.checker.check_model(content, full_check=True)
    model = onnx.load_from_string(content)
    assert model.opset_import[0].version == onnx_wire.OPSET
    assert [value.name for value in model.graph.input] == ["words"]
    assert [value.name for value in model.graph.output] == ["vector"]


def test_onnxruntime_fuses_every_product(tmp_path: Path, tiny_bert: Any) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(_build(tiny_bert, "mean"), options, providers=["CPUExecutionProvider"])
    operators = Counter(node.op_type for node in onnx.load(tmp_path / "optimised.onnx").graph.node)
    assert operators["DynamicQuantizeMatMul"] == 2 * 4
    assert operators["Gelu"] == 2
    assert "MatMulInteger" not in operators and "DynamicQuantizeLinear" not in operators


def test_weights_fit_the_sixteen_bits_of_processors_without_vnni(tiny_bert: Any) -> None:
    model = onnx.load_from_string(_build(tiny_bert, "mean"))
    matrices = [
        numpy_helper.to_array(t) for t in model.graph.initializer if t.data_type == onnx.TensorProto.INT8
    ]
    assert len(matrices) == 2 * 4
    for matrix in matrices:
        assert np.abs(matrix.astype(int)).max() == 64
        assert 2 * 255 * np.abs(matrix.astype(int)).max() < 1 << 15


def test_quantised_columns_are_near_the_weights() -> None:
    weight = np.random.default_rng(1).normal(size=(20, 7)).astype(np.float32)
    weight[:, 3] = 0
    ints, scales = graph.quantise_columns(weight, 64)
    assert ints.dtype == np.int8 and scales.shape == (7,)
    assert (np.abs(ints * scales - weight) <= scales / 2 + 1e-7).all()
    assert (ints[:, 3] == 0).all()


def test_smoothing_changes_no_product_and_evens_out_columns() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 12)).astype(np.float32)
    x[:, 4] *= 100
    weight = rng.normal(size=(12, 7)).astype(np.float32)
    weight[3] = 0
    reach = np.abs(x).max(axis=0)
    reach[8] = 0
    factors = graph.smoothing(reach, weight)
    np.testing.assert_allclose((x / factors) @ (weight * factors[:, None]), x @ weight, rtol=1e-3, atol=1e-3)
    assert np.isfinite(factors).all() and (factors > 0).all()
    assert np.ptp(np.log(np.abs(x / factors).max(axis=0))) < np.ptp(np.log(np.abs(x).max(axis=0))) * 0.7


@pytest.mark.parametrize(
    "array",
    [
        np.array(0.5, np.float32),
        np.array([-1, 1 << 40], np.int64),
        np.arange(-6, 6, dtype=np.int8).reshape(2, 3, 2),
        np.zeros((0, 4), np.float32),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    ],
)
def test_tensors_are_read_back(array: Any) -> None:
    read = onnx.TensorProto.FromString(onnx_wire.tensor("name", array))
    np.testing.assert_array_equal(numpy_helper.to_array(read), array)
    assert read.name == "name"


def test_attributes_are_read_back() -> None:
    read = onnx.NodeProto.FromString(
        onnx_wire.node("Op", ["a", "b"], ["c"], axis=-1, perm=(1, 0, 300), epsilon=0.5)
    )
    values = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in read.attribute}
    assert values == {"axis": -1, "perm": [1, 0, 300], "epsilon": 0.5}
    assert (list(read.input), list(read.output), read.op_type) == (["a", "b"], ["c"], "Op")
