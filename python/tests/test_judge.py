"""judge(): given outputs, and what is said where they do not fit the contract."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import pytest

import tokitai
from tokitai._arrays import LONG_NAMES, framework_has

np = pytest.importorskip("numpy")
functions = pytest.importorskip("functions")

SEED = 7


def drawn(*shape: int, dtype: str = "float16") -> Any:
    return np.random.default_rng(SEED).standard_normal(shape).astype(dtype)


def test_right_outputs_hold() -> None:
    x = drawn(20, 30)
    certificate = tokitai.judge("softmax_fwd", inputs=[x], outputs=[functions.softmax(x)])
    assert certificate.verdict == "HELD" and certificate.elements == 600
    assert certificate.headline.startswith("HELD for one case: rows=20 cols=30, inputs and outputs given")
    assert certificate.predicate["run"]["kind"] == "given"


def test_one_wrong_element_is_found() -> None:
    x = drawn(20, 30)
    y = functions.softmax(x)
    y[7, 11] *= 2
    certificate = tokitai.judge("softmax_fwd", {"x": x}, {"y": y})
    assert certificate.verdict == "REFUTED" and certificate.worst is not None
    assert certificate.worst["index"] == 7 * 30 + 11 and certificate.worst["output"] == "y"
    assert certificate.worst["got"] == float(y[7, 11])


def test_inputs_and_outputs_are_left_alone() -> None:
    x = drawn(20, 30)
    y = functions.softmax(x)
    x.flags.writeable = y.flags.writeable = False
    before = x.tobytes() + y.tobytes()
    assert tokitai.judge("softmax_fwd", [x], [y]).held
    assert x.tobytes() + y.tobytes() == before


def test_elementwise_ops_take_any_shape() -> None:
    x = drawn(2, 3, 4, dtype="float32")
    wide = x.astype(np.float64)
    y = (0.5 * wide * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))).astype(np.float32)
    assert tokitai.judge("gelu_fwd", [x], [y]).held
    with pytest.raises(tokitai.BadArgument, match="gelu_fwd has tensors of one shape"):
        tokitai.judge("gelu_fwd", [x], [y.reshape(4, 6)])


def test_several_outputs_and_attributes() -> None:
    logits, target = drawn(6, 9), np.arange(6) % 9
    options = {"label_smoothing": 0.125, "scale": 0.5, "ignore_index": 3}
    outputs = functions.xent(logits, target, **options)
    for index in ("int64", "int32"):
        held = tokitai.judge("xent", [logits, target.astype(index)], outputs, attributes=options)
        assert held.held, held
    refuted = tokitai.judge("xent", [logits, target], outputs, attributes={**options, "scale": 1.0})
    assert refuted.verdict == "REFUTED" and "grad_logits" in refuted.reason


def test_results_of_a_wider_type() -> None:
    a, b = drawn(4, 5), drawn(5, 6)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert tokitai.judge("gemm", [a, b], [exact.astype(np.float32)]).dtype == "f16-f32"
    assert tokitai.judge("gemm", [a, b], [exact.astype(np.float32)]).held
    assert tokitai.judge("gemm", [a, b], [exact.astype(np.float16)]).held


def test_bf16_as_patterns_and_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(8, 16, generator=torch.Generator().manual_seed(SEED)).bfloat16()
    y = torch.softmax(x.float(), 1).bfloat16().requires_grad_()
    assert tokitai.judge("softmax_fwd", [x], [y]).dtype == "bf16"
    bits = [t.detach().view(torch.int16).numpy().view(np.uint16) for t in (x, y)]
    certificate = tokitai.judge("softmax_fwd", bits[:1], bits[1:])
    assert certificate.held and certificate.dtype == "bf16"


def test_patterns_of_16_bits_are_bf16(tmp_path: pathlib.Path) -> None:
    x, y = np.array([0x3F80, 0], "uint16"), np.array([0x3F57, 0], "uint16")  # 1, 0; 0.8398, 0
    for kind in ("uint16", "V2"):  # the latter is how NumPy stores the bfloat16 of ml_dtypes
        np.save(tmp_path / "x.npy", x.view(kind))
        certificate = tokitai.judge("gelu_fwd", [np.load(tmp_path / "x.npy")], [y])
        assert certificate.held and certificate.dtype == "bf16"
    with pytest.raises(tokitai.BadArgument, match="x of float16 and y of bfloat16"):
        tokitai.judge("gelu_fwd", [x.view("float16")], [y])


@pytest.mark.parametrize("dtype", ["f8_e4m3", "f8_e5m2"])
@pytest.mark.parametrize("overflow", ["nan", "saturate"])
def test_outputs_of_8_bits(dtype: str, overflow: str) -> None:
    x, y = functions.gelu_of_8_bits(dtype, overflow)
    certificate = tokitai.judge("gelu_fwd", [x], [y], dtype=dtype, attributes={"overflow": overflow})
    assert certificate.held and certificate.elements == 256 and certificate.dtype == dtype, certificate.reason
    assert f"overflow={overflow}" in certificate.headline
    if importlib.util.find_spec("torch") and framework_has("torch", dtype):
        torch: Any = importlib.import_module("torch")
        typed = [torch.from_numpy(t).view(getattr(torch, LONG_NAMES[dtype])) for t in (x, y)]
        assert tokitai.judge("gelu_fwd", typed[:1], typed[1:], attributes={"overflow": overflow}).held
    for wrong in (0x21, 0x47, 0x70):  # normal numbers whose results are normal
        spoilt = y.copy()
        spoilt[wrong] += 1
        assert tokitai.judge("gelu_fwd", [x], [spoilt], dtype=dtype, attributes={"overflow": overflow}).worst["index"] == wrong  # type: ignore[index]
    if dtype == "f8_e5m2":  # +inf is its own result, or the largest number
        other = {"nan": "saturate", "saturate": "nan"}[overflow]
        refuted = tokitai.judge("gelu_fwd", [x], [y], dtype=dtype, attributes={"overflow": other})
        assert refuted.verdict == "REFUTED" and "y[124] is" in refuted.reason
    with pytest.raises(tokitai.BadArgument, match="gelu_fwd does not take u8; .*; dtype= says what bytes stand for"):
        tokitai.judge("gelu_fwd", [x], [y])


def test_tensors_that_attributes_leave_out() -> None:
    x, w, bias = drawn(4, 6), drawn(5, 6), drawn(5)
    y = x.astype(np.float64) @ w.astype(np.float64).T
    plain, biased = y.astype(np.float16), (y + bias).astype(np.float16)
    assert tokitai.judge("linear_fwd", [x, w], [plain], attributes={"epilogue": "none"}).held
    assert tokitai.judge("linear_fwd", [x, w, bias], [biased], attributes={"epilogue": "bias"}).held
    assert tokitai.judge("linear_fwd", [x, w, bias, None], [biased, None]).held
    assert tokitai.judge("linear_fwd", {"x": x, "w": w, "bias": bias}, {"y": biased}).held
    with pytest.raises(tokitai.BadArgument, match="bias must not be given with these attributes"):
        tokitai.judge("linear_fwd", {"x": x, "w": w, "bias": bias}, [plain], attributes={"epilogue": "none"})
    with pytest.raises(tokitai.BadArgument, match="the input bias is missing"):
        tokitai.judge("linear_fwd", {"x": x, "w": w}, [biased])


@pytest.mark.parametrize(
    "inputs, outputs, message",
    [
        ([drawn(3, 4)], [drawn(3, 5)], r"cols is 4 by x and 5 by y, of shape \(3, 5\)"),
        ([drawn(3, 4)], [drawn(12)], r"y has the shape \(12,\); softmax_fwd takes y\[rows, cols\], 2 axes"),
        ([drawn(3, 4)], [drawn(3, 4, dtype="float32")], "has these of one type; given: x of float16 and y of float32"),
        ([drawn(3, 4)], [], "has the outputs y; 0 were given"),
        ([drawn(3, 4), drawn(3, 4)], [drawn(3, 4)], "has the inputs x; 2 were given"),
        ({"z": drawn(3, 4)}, [drawn(3, 4)], "softmax_fwd has no input 'z'; it has x"),
        (drawn(3, 4), [drawn(3, 4)], r"inputs is one array; give a list: inputs=\[\.\.\.\]"),
        ([drawn(4, 3).T], [drawn(3, 4)], "x is not contiguous"),
        ([drawn(3, 4).astype(">f2")], [drawn(3, 4)], "x is big-endian"),
        ([drawn(3, 4).astype("float64")], [drawn(3, 4)], "x has elements of type float64"),
        ([drawn(3, 4).astype("int32")], [drawn(3, 4).astype("int32")], "softmax_fwd does not take i32"),
    ],
)
def test_what_does_not_fit_is_explained(inputs: Any, outputs: Any, message: str) -> None:
    with pytest.raises(tokitai.BadArgument, match=message):
        tokitai.judge("softmax_fwd", inputs, outputs)


def test_indices_out_of_range_are_refused() -> None:
    with pytest.raises(tokitai.Error, match="index"):
        tokitai.judge("embedding_fwd", [np.array([0, 9]), drawn(4, 3)], [drawn(2, 3)])


def test_an_unknown_op_is_named() -> None:
    with pytest.raises(tokitai.UnknownOp, match="unknown op 'soft_max'"):
        tokitai.judge("soft_max", [drawn(3, 4)], [drawn(3, 4)])


@pytest.mark.parametrize("inputs", [None, 5, "x", b"x", {1}])
def test_what_is_no_list_is_refused(inputs: Any) -> None:
    with pytest.raises(tokitai.BadArgument, match="give a list or a dict of arrays"):
        tokitai.judge("gelu_fwd", inputs, [np.zeros(1, np.float16)])
