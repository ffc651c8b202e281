"""tokitai.torch's functions: values against the C call, gradients against double, and what is refused."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Tuple

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

import tokitai  # noqa: E402
import tokitai.torch as tt  # noqa: E402
import torch_bounds as bounds  # noqa: E402
from tokitai._library import context_for, make_case  # noqa: E402
from tokitai.torch import _eager, _loss, _run  # noqa: E402

DTYPES = [torch.float16, torch.bfloat16, torch.float32]
NAMES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
INTEGERS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32}
SEED = 1119


def drawn(*shape: int, dtype: Any = torch.float32, seed: int = SEED, scale: float = 1.0) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * scale).to(dtype)


def same_bits(a: Any, b: Any) -> bool:
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and bool((a.view(INTEGERS[a.dtype]) == b.view(INTEGERS[b.dtype])).all())
    )


def c_call(
    op: str, dtype: Any, dims: Dict[str, int], tensors: List[Any], index: str = "i64", **attributes: Any
) -> None:
    case = make_case(op, NAMES[dtype], dims, index_dtype=index, attributes=attributes)
    context_for("cpu").run(case, [None if t is None else t.data_ptr() for t in tensors])


# --- values, bit for bit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_is_the_c_call(dtype: Any) -> None:
    x, grad = drawn(3, 41, dtype=dtype), drawn(3, 41, dtype=dtype, seed=2)
    y, grad_x = torch.empty_like(x), torch.empty_like(x)
    c_call("gelu_fwd", dtype, {"n": 123}, [x, y])
    c_call("gelu_bwd", dtype, {"n": 123}, [grad, x, grad_x])
    x.requires_grad_()
    result = tt.gelu(x)
    result.backward(grad)
    assert same_bits(result.detach(), y) and same_bits(x.grad, grad_x)
    with torch.no_grad():
        assert same_bits(tt.gelu(x), y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_softmax_is_the_c_call(dtype: Any) -> None:
    x, grad = drawn(4, 5, 33, dtype=dtype, scale=4), drawn(4, 5, 33, dtype=dtype, seed=2)
    y, grad_x = torch.empty_like(x), torch.empty_like(x)
    c_call("softmax_fwd", dtype, {"rows": 20, "cols": 33}, [x, y])
    c_call("softmax_bwd", dtype, {"rows": 20, "cols": 33}, [grad, y, grad_x])
    x.requires_grad_()
    result = tt.softmax(x)
    result.backward(grad)
    assert same_bits(result.detach(), y) and same_bits(x.grad, grad_x)


@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_entropy_is_the_c_call(dtype: Any, index_dtype: Any) -> None:
    logits, target = drawn(6, 37, dtype=dtype, scale=3), torch.tensor([1, 36, -1, 0, 7, 7], dtype=index_dtype)
    loss, grad = torch.empty(6), torch.empty_like(logits)
    dims = {"rows": 6, "cols": 37}
    c_call(
        "xent", dtype, dims, [logits, target, loss, grad], "i32" if index_dtype == torch.int32 else "i64",
        label_smoothing=0.125, ignore_index=-1,
    )  # fmt: skip
    logits.requires_grad_()
    options = dict(label_smoothing=0.125, ignore_index=-1)
    rows = tt.cross_entropy(logits, target, reduction="none", **options)
    rows.backward(torch.ones(6))
    assert same_bits(rows.detach(), loss) and same_bits(logits.grad, grad)
    with torch.no_grad():
        assert same_bits(tt.cross_entropy(logits, target, reduction="none", **options), loss)
        assert same_bits(tt.cross_entropy(logits, target, reduction="sum", **options), loss.sum())
        assert same_bits(tt.cross_entropy(logits, target, **options), loss.sum() / 5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_embedding_is_the_c_call(dtype: Any) -> None:
    weight, index = drawn(11, 6, dtype=dtype), torch.tensor([[3, 3, 10], [0, 3, 9]], dtype=torch.int32)
    out, grad_weight = torch.empty(2, 3, 6, dtype=dtype), torch.empty_like(weight)
    grad = drawn(2, 3, 6, dtype=dtype, seed=2)
    dims = {"queries": 6, "dim": 6, "vocab": 11}
    c_call("embedding_fwd", dtype, dims, [index, weight, out], "i32")
    c_call("embedding_bwd", dtype, dims, [grad, index, grad_weight], "i32")
    weight.requires_grad_()
    result = tt.embedding(index, weight)
    result.backward(grad)
    assert same_bits(result.detach(), out) and same_bits(weight.grad, grad_weight)


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("activation", [None, "gelu"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_is_the_c_call(dtype: Any, activation: Any, with_bias: bool) -> None:
    x, weight, bias = drawn(2, 3, 9, dtype=dtype), drawn(5, 9, dtype=dtype, seed=2), drawn(5, dtype=dtype, seed=3)
    grad = drawn(2, 3, 5, dtype=dtype, seed=4)
    dims = {"m": 6, "n": 5, "k": 9}
    y, pre, grad_pre = torch.empty_like(grad), torch.empty_like(grad), torch.empty_like(grad)
    grad_x, grad_weight = torch.empty_like(x), torch.empty_like(weight)
    epilogue = {(True, None): "bias", (True, "gelu"): "bias_gelu", (False, None): "none", (False, "gelu"): "gelu"}
    c_call(
        "linear_fwd", dtype, dims, [x, weight, bias if with_bias else None, None, y, pre if activation else None],
        epilogue=epilogue[with_bias, activation],
    )  # fmt: skip
    if activation:
        c_call("gelu_bwd", dtype, {"n": 30}, [grad, pre, grad_pre])
    else:
        grad_pre = grad
    c_call("linear_grad_x", dtype, dims, [grad_pre, weight, None, grad_x])
    c_call("linear_grad_w", dtype, dims, [grad_pre, x, None, grad_weight])
    grad_bias = grad_pre.reshape(6, 5).sum(0, dtype=torch.float32).to(dtype)
    for tensor in (x, weight, bias):
        tensor.requires_grad_()
    result = tt.linear(x, weight, bias if with_bias else None, activation=activation)
    result.backward(grad)
    assert same_bits(result.detach(), y) and same_bits(x.grad, grad_x) and same_bits(weight.grad, grad_weight)
    assert same_bits(bias.grad, grad_bias) if with_bias else bias.grad is None


def test_gradients_that_nobody_wants_are_not_made(monkeypatch: Any) -> None:
    called: List[str] = []
    for name in ("linear_grad_x", "linear_grad_weight", "linear_grad_bias"):
        real = getattr(_run, name)
        monkeypatch.setattr(_run, name, lambda *a, name=name, real=real: called.append(name) or real(*a))
    x, weight, bias = drawn(2, 3), drawn(4, 3, seed=2).requires_grad_(), drawn(4, seed=3)
    tt.linear(x, weight, bias).sum().backward()
    assert called == ["linear_grad_weight"] and x.grad is None and bias.grad is None


# --- gradients, against double -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_keep_the_contracts(dtype: Any) -> None:
    x = drawn(16, 40, dtype=dtype, scale=2).requires_grad_()
    grad = drawn(16, 40, dtype=dtype, seed=2)
    y = tt.gelu(x)
    y.backward(grad)
    exact = x.detach().double()
    bounds.check("gelu", y, bounds.gelu_fwd(exact, dtype))
    bounds.check("gelu's gradient", x.grad, bounds.gelu_bwd(grad.double(), exact, dtype))

    x.grad = None
    y = tt.softmax(x)
    y.backward(grad)
    bounds.check("softmax", y, bounds.softmax_fwd(exact, dtype))
    bounds.check("softmax' gradient", x.grad, bounds.softmax_bwd(grad.double(), exact, dtype))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradient_of_cross_entropy_keeps_the_contract(dtype: Any, smoothing: float) -> None:
    logits, target = drawn(16, 50, dtype=dtype, scale=2).requires_grad_(), torch.arange(16) * 3
    loss = tt.cross_entropy(logits, target, reduction="sum", label_smoothing=smoothing)
    loss.backward()
    rows = tt.cross_entropy(logits, target, reduction="none", label_smoothing=smoothing)
    exact_loss, exact_grad = bounds.xent(logits.detach().double(), target, smoothing, 1.0, dtype)
    bounds.check("loss", rows, exact_loss)
    bounds.check("gradient", logits.grad, exact_grad)
    by_pytorch = logits.detach().double().requires_grad_()
    F.cross_entropy(by_pytorch, target, reduction="sum", label_smoothing=smoothing).backward()
    assert torch.allclose(exact_grad[0], by_pytorch.grad, rtol=0, atol=1e-12)


@pytest.mark.parametrize("activation", [None, "gelu"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_of_linear_keep_the_contracts(dtype: Any, activation: Any) -> None:
    x, weight = drawn(12, 20, dtype=dtype).requires_grad_(), drawn(8, 20, dtype=dtype, seed=2).requires_grad_()
    bias, grad = drawn(8, dtype=dtype, seed=3).requires_grad_(), drawn(12, 8, dtype=dtype, seed=4)
    y = tt.linear(x, weight, bias, activation=activation)
    y.backward(grad)
    x64, weight64, bias64 = (t.detach().double().requires_grad_() for t in (x, weight, bias))
    y64 = F.linear(x64, weight64, bias64)
    pre, dpre = bounds.linear(x64.detach(), weight64.detach(), bias64.detach(), dtype)
    if activation:
        y64 = F.gelu(y64, approximate="tanh")
        # gelu has a slope below 1.13, its derivative one below 1: pre is rounded before its gradient is taken.
        bounds.check("y", y, (y64.detach(), bounds.gelu_fwd(pre, dtype)[1] + 1.13 * dpre))
        grad64, dgrad = bounds.gelu_bwd(grad.double(), pre, dtype)
        dgrad = dgrad + grad.double().abs() * dpre
    else:
        bounds.check("y", y, (y64.detach(), dpre))
        grad64, dgrad = grad.double(), torch.zeros(12, 8, dtype=torch.float64)
    y64.backward(grad.double())
    by_x, by_weight = (
        bounds.product(grad64, weight64.detach(), dtype, dgrad),
        bounds.product(grad64.T, x64.detach(), dtype, dgrad.T),
    )
    by_bias = bounds.product(torch.ones(1, 12, dtype=torch.float64), grad64, dtype)
    bounds.check("by x", x.grad, (x64.grad, by_x[1]))
    bounds.check("by weight", weight.grad, (weight64.grad, by_weight[1]))
    bounds.check("by bias", bias.grad, (bias64.grad, (by_bias[1] + 1.01 * dgrad.sum(0))[0]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradient_of_embedding_keeps_the_contract(dtype: Any) -> None:
    weight, index = drawn(9, 5, dtype=dtype).requires_grad_(), torch.tensor([0, 4, 4, 4, 8, 1, 4, 0])
    grad = drawn(8, 5, dtype=dtype, seed=2)
    tt.embedding(index, weight).backward(grad)
    bounds.check("embedding", weight.grad, bounds.embedding_bwd(grad.double(), index, 9, dtype))
    weight.grad = None
    tt.embedding(index, weight, padding_idx=-5).backward(grad)
    assert not weight.grad[4].any()
    kept = [0, 1, 2, 3, 5, 6, 7, 8]
    exact, bound = bounds.embedding_bwd(grad.double(), index, 9, dtype)
    bounds.check("embedding with padding", weight.grad[kept], (exact[kept], bound[kept]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_judge_holds_outputs_and_gradients(dtype: Any) -> None:
    def judged(op: str, inputs: List[Any], outputs: List[Any], **attributes: Any) -> None:
        tensors = [[t.detach() for t in group] for group in (inputs, outputs)]
        certificate = tokitai.judge(op, *tensors, attributes=attributes)
        assert certificate.verdict == "HELD", (op, certificate)

    x, grad = drawn(8, 24, dtype=dtype, scale=3).requires_grad_(), drawn(8, 24, dtype=dtype, seed=2)
    y = tt.gelu(x)
    y.backward(grad)
    judged("gelu_fwd", [x], [y])
    judged("gelu_bwd", [grad, x], [x.grad])
    x.grad = None
    y = tt.softmax(x)
    y.backward(grad)
    judged("softmax_fwd", [x], [y])
    judged("softmax_bwd", [grad, y], [x.grad])
    x.grad = None
    target = torch.arange(8) * 3
    loss = tt.cross_entropy(x, target, reduction="none", label_smoothing=0.1)
    loss.backward(torch.ones(8))
    judged("xent", [x, target], [loss, x.grad], label_smoothing=0.1)
    x.grad = None
    weight, bias = drawn(24, 24, dtype=dtype, seed=3).requires_grad_(), drawn(24, dtype=dtype, seed=4)
    y = tt.linear(x, weight, bias)
    y.backward(grad)
    judged("linear_fwd", [x, weight, bias], [y])
    judged("linear_grad_x", [grad, weight], [x.grad])
    judged("linear_grad_w", [grad, x], [weight.grad])
    weight.grad = None
    index = target % 5
    out = tt.embedding(index, weight)
    out.backward(grad)
    judged("embedding_fwd", [index, weight], [out])
    judged("embedding_bwd", [grad, index], [weight.grad])


TARGET = torch.tensor([0, 3, -100, 4, 2])
FUNCTIONS: Dict[str, Tuple[Callable[..., Any], List[Tuple[int, ...]]]] = {
    "gelu": (tt.gelu, [(5, 7)]),
    "softmax": (tt.softmax, [(5, 7)]),
    "softmax of another axis": (lambda x: tt.softmax(x, 0), [(5, 7, 2)]),
    "linear": (tt.linear, [(5, 7), (3, 7), (3,)]),
    "linear with gelu": (lambda x, w, b: tt.linear(x, w, b, activation="gelu"), [(5, 7), (3, 7), (3,)]),
    "embedding": (lambda w: tt.embedding(TARGET.clamp(min=0), w), [(5, 7)]),
    "cross_entropy": (lambda x: tt.cross_entropy(x, TARGET, label_smoothing=0.25), [(5, 7)]),
    "cross_entropy of images": (lambda x: tt.cross_entropy(x, TARGET.reshape(1, 5)), [(1, 7, 5)]),
    "cross_entropy of one row": (lambda x: tt.cross_entropy(x, TARGET[1]), [(7,)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_finite_differences(name: str) -> None:
    """The slope along a random direction. Two steps cancel the third derivative; the rest is below 1e-3."""
    function, shapes = FUNCTIONS[name]
    inputs = [drawn(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
    along = [drawn(*shape, seed=100 + i) for i, shape in enumerate(shapes)]
    result = function(*inputs)
    weights = drawn(*result.shape, seed=50)
    (result * weights).sum().backward()
    slope = sum(float((i.grad * a).sum(dtype=torch.float64)) for i, a in zip(inputs, along))

    @torch.no_grad()
    def value(h: float) -> float:
        return float((function(*(i + h * a for i, a in zip(inputs, along))).double() * weights.double()).sum())

    wide, narrow = ((value(h) - value(-h)) / (2 * h) for h in (2.0**-5, 2.0**-6))
    assert (4 * narrow - wide) / 3 == pytest.approx(slope, rel=1e-3, abs=1e-3)


# --- cross_entropy: reductions, factors, what is kept --------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_entropy_means_what_pytorch_means(dtype: Any, reduction: str) -> None:
    logits = drawn(5, 8, dtype=dtype).requires_grad_()
    in_double = logits.detach().double().requires_grad_()
    factor = drawn(5, seed=3) if reduction == "none" else torch.tensor(0.75)
    loss = tt.cross_entropy(logits, TARGET, reduction=reduction, label_smoothing=0.1)
    exact = F.cross_entropy(in_double, TARGET, reduction=reduction, label_smoothing=0.1)
    loss.backward(factor)
    exact.backward(factor.double())
    assert loss.dtype == torch.float32 and loss.shape == exact.shape
    # The loss: its rows are within 40 u of ln 8 + 3, added up five at a time. The gradient: rounded twice, the factor
    # three times.
    assert torch.allclose(loss.double(), exact, rtol=0, atol=1e-4)
    half_unit = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-19}[dtype]
    bound = 2.1 * half_unit * in_double.grad.abs() + 2.0**-22
    assert bool(((logits.grad.double() - in_double.grad).abs() <= bound).all())
    assert not logits.grad[2].any()


def test_gradient_is_handed_on_where_the_factor_is_one(monkeypatch: Any) -> None:
    for dtype, options, passes in [
        (torch.bfloat16, {}, 0),
        (torch.float32, {}, 0),
        (torch.float32, {"reduction": "sum"}, 0),
        (torch.float16, {"reduction": "sum"}, 0),
        (torch.float16, {}, 1),
        (torch.float16, {"expected_grad": 1.0}, 0),
    ]:
        # 49 rows: 49 * (1 / 49) is not 1 in fp32.
        logits, target = drawn(49, 5, dtype=dtype).requires_grad_(), torch.arange(49) % 5
        loss = tt.cross_entropy(logits, target, **options)
        made = loss.grad_fn.grad_logits
        before = made.clone()
        loss.backward()
        assert loss.grad_fn.grad_logits is None
        assert same_bits(made, before) == (passes == 0), (dtype, options)


def test_expected_grad_saves_small_gradients_of_fp16() -> None:
    """A loss scale of 2^16 over 4096 rows: p / 4096 alone is below fp16's smallest number."""
    logits = torch.zeros(4096, 2048, dtype=torch.float16)
    target = torch.zeros(4096, dtype=torch.int64)
    for options in ({}, {"expected_grad": 65536.0}):
        logits.grad = None
        logits.requires_grad_()
        tt.cross_entropy(logits, target, **options).backward(torch.tensor(65536.0))
        assert logits.grad[5, 7].item() == pytest.approx(65536 / 4096 / 2048, rel=2.0**-10)


def test_expected_grad_is_corrected_by_the_real_one() -> None:
    logits = drawn(5, 8).requires_grad_()
    reference = logits.detach().clone().requires_grad_()
    tt.cross_entropy(logits, TARGET, expected_grad=3.0).backward(torch.tensor(7.0))
    F.cross_entropy(reference, TARGET).backward(torch.tensor(7.0))
    assert torch.allclose(logits.grad, reference.grad, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_all_rows_ignored(reduction: str) -> None:
    target = torch.full((5,), -100)
    logits, reference = drawn(5, 8).requires_grad_(), drawn(5, 8).requires_grad_()
    loss, expected = (
        f(t, target, reduction=reduction) for f, t in ((tt.cross_entropy, logits), (F.cross_entropy, reference))
    )
    loss.sum().backward()
    assert torch.equal(torch.isnan(loss), torch.isnan(expected))
    assert not logits.grad.any()


def test_second_backward() -> None:
    logits = drawn(5, 8).requires_grad_()
    loss = tt.cross_entropy(logits, TARGET)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="repeatable=True"):
        loss.backward()
    once = logits.grad.clone()
    logits.grad = None
    loss = tt.cross_entropy(logits, TARGET, repeatable=True)
    loss.backward(torch.tensor(2.0), retain_graph=True)
    loss.backward(torch.tensor(-1.0))
    assert torch.allclose(logits.grad, once, rtol=1e-5, atol=1e-8)


def test_loss_alone_needs_no_gradients_memory(monkeypatch: Any) -> None:
    logits, target = drawn(64, 33), torch.arange(64) % 33
    whole = tt.cross_entropy(logits, target, reduction="none")
    monkeypatch.setattr(_run, "_UNWANTED_GRADIENT_BYTES", 33 * 4 * 10)
    groups: List[int] = []
    real = _run._CpuPlan.run
    monkeypatch.setattr(_run._CpuPlan, "run", lambda plan, *p: groups.append(plan.key[2][0]) or real(plan, *p))
    _run.plans.clear()  # those of the first call, which had the memory
    assert same_bits(tt.cross_entropy(logits, target, reduction="none"), whole)
    assert groups == [10, 10, 10, 10, 10, 10, 4]
    target[55] = 33
    with pytest.raises(IndexError, match="55"):
        tt.cross_entropy(logits, target)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaling_rounds_once(dtype: Any) -> None:
    grad, factor = drawn(4, 9, dtype=dtype), torch.tensor([1.0, 1 / 3, 1.0, 3e-3])
    expected = (grad.float() * factor[:, None]).to(dtype)
    assert same_bits(_loss.scaled(grad, factor), expected)
    before = grad.data_ptr()
    _loss.scale_(grad, factor)
    assert same_bits(grad, expected) and grad.data_ptr() == before
    one = drawn(4, 9, dtype=dtype)
    expected = (one.float() * factor[1]).to(dtype)
    _loss.scale_(one, factor[1])
    assert same_bits(one, expected)


# --- shapes, strides, threads, repeats -----------------------------------------------------------------------------


def test_strides_and_offsets_make_no_difference() -> None:
    wide = drawn(7, 12)
    for x in (wide.t(), wide[:, 1:6], wide[::2], wide[3]):
        assert same_bits(tt.gelu(x), tt.gelu(x.clone(memory_format=torch.contiguous_format)))
        assert same_bits(tt.softmax(x), tt.softmax(x.clone(memory_format=torch.contiguous_format)))
    x = drawn(3, 4, 5).requires_grad_()
    tt.gelu(x.transpose(0, 2)).backward(drawn(5, 4, 3, seed=2))
    reference = x.detach().transpose(0, 2).contiguous().requires_grad_()
    tt.gelu(reference).backward(drawn(5, 4, 3, seed=2))
    assert torch.equal(x.grad.transpose(0, 2), reference.grad)
    weight = drawn(5, 4).t()
    assert same_bits(tt.linear(drawn(2, 5), weight), tt.linear(drawn(2, 5), weight.contiguous()))
    y = tt.softmax(drawn(2, 3, 4).requires_grad_())
    y.sum().backward()  # an expanded gradient
    assert same_bits(
        tt.embedding(torch.arange(6).reshape(2, 3).t(), drawn(6, 4)), drawn(6, 4)[torch.arange(6).reshape(2, 3).t()]
    )


def test_sizes_of_zero_and_one() -> None:
    for shape in ((0,), (0, 4), (4, 0), ()):
        x = drawn(*shape).requires_grad_()
        for function in (tt.gelu, tt.softmax):
            y = function(x)
            assert y.shape == x.shape
            y.sum().backward()
            assert x.grad.shape == x.shape
    weight, bias = drawn(3, 0), drawn(3)
    assert torch.equal(tt.linear(drawn(2, 0), weight, bias), bias.expand(2, 3))
    assert tt.linear(drawn(0, 5), drawn(3, 5)).shape == (0, 3)
    assert tt.embedding(torch.zeros(0, dtype=torch.int64), drawn(4, 3)).shape == (0, 3)
    empty = tt.cross_entropy(drawn(0, 5).requires_grad_(), torch.zeros(0, dtype=torch.int64))
    assert bool(torch.isnan(empty))
    empty.backward()
    assert float(tt.cross_entropy(drawn(0, 5), torch.zeros(0, dtype=torch.int64), reduction="sum")) == 0


def test_axes_of_softmax() -> None:
    x = drawn(3, 4, 5)
    for dim in (-3, -2, -1, 0, 1, 2):
        assert torch.allclose(tt.softmax(x, dim), F.softmax(x, dim), atol=1e-6)
    assert tt.softmax(x.to(torch.bfloat16), dtype=torch.float32).dtype == torch.float32


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_twice_and_for_every_number_of_threads(name: str) -> None:
    function, shapes = FUNCTIONS[name]
    threads = torch.get_num_threads()
    seen = []
    try:
        for count in (1, 2, 1):
            torch.set_num_threads(count)
            inputs = [drawn(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
            y = function(*inputs)
            y.backward(drawn(*y.shape, seed=9))
            seen.append([y.detach()] + [i.grad for i in inputs])
    finally:
        torch.set_num_threads(threads)
    for other in seen[1:]:
        assert all(torch.equal(a, b) for a, b in zip(seen[0], other))


def test_threads_of_their_own() -> None:
    x = drawn(64, 300)
    expected = tt.softmax(x)
    results: List[Any] = [None] * 4

    def work(i: int) -> None:
        for _ in range(20):
            results[i] = tt.softmax(x)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same_bits(result, expected) for result in results)


def test_plans_do_not_pile_up(monkeypatch: Any) -> None:
    monkeypatch.setattr(_run, "_MOST_PLANS", 10)
    _run.plans.clear()
    for n in range(1, 40):
        tt.gelu(torch.zeros(n))
    assert 0 < len(_run.plans) <= 10


def test_what_a_plan_knows_is_checked_all_the_same() -> None:
    """A call of the same kind as an earlier one looks at less; never at so little that wrong use passes."""
    x, w, t = drawn(4, 6), drawn(3, 6, seed=2), torch.tensor([0, 5, 2, 2])
    calls: List[Callable[[Any], Any]] = [
        tt.gelu,
        tt.softmax,
        lambda d: tt.linear(d, w),
        lambda d: tt.cross_entropy(d, t),
        lambda d: tt.embedding(torch.tensor([3]), d),
    ]
    for call in calls:
        expected = [call(x), call(x)]
        assert same_bits(*expected)
        with pytest.raises(TypeError, match="it must be dense"):
            call(x.to_sparse())
        with pytest.raises(TypeError, match="float64"):
            call(x.double())
        with pytest.raises(TypeError, match="list, not a tensor"):
            call(x.tolist())
        assert same_bits(call(torch._neg_view(-x)), expected[0])
        assert same_bits(call(x.t().contiguous().t()), expected[0])
        wanted = x.clone().requires_grad_()
        assert call(wanted).requires_grad
        with torch.no_grad():
            assert not call(wanted).requires_grad
        with torch.autograd.forward_ad.dual_level():
            with pytest.raises(RuntimeError, match="(?i)forward|jvp"):
                call(torch.autograd.forward_ad.make_dual(x, torch.ones_like(x)))
    assert tt.softmax(x, 0).shape == x.shape and not torch.equal(tt.softmax(x, 0), tt.softmax(x))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert tt.linear(x, w).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="does not fit"):
        tt.linear(x, w.t())
    with pytest.raises(ValueError, match="relu"):
        tt.linear(x, w, activation="relu")
    for _ in range(2):
        with pytest.raises(IndexError):
            tt.cross_entropy(x, t + 6)
        with pytest.raises(ValueError, match="must be from 0 to 1"):
            tt.cross_entropy(x, t, label_smoothing=1.5)
        with pytest.raises(ValueError, match="reduction"):
            tt.cross_entropy(x, t, reduction="max")
    smoothing = torch.tensor(0.0)
    before = tt.cross_entropy(x, t, label_smoothing=smoothing)
    smoothing.fill_(0.5)
    assert torch.equal(tt.cross_entropy(x, t, label_smoothing=smoothing), tt.cross_entropy(x, t, label_smoothing=0.5))
    assert not torch.equal(before, tt.cross_entropy(x, t, label_smoothing=smoothing))
    with pytest.raises(RuntimeError):  # a gradient that was asked for in one call is not given in another
        tt.cross_entropy(x, t).backward()


@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("ignore_index", [-100, 3, 1 << 40])
@pytest.mark.parametrize("dtype", DTYPES)
def test_mean_counts_the_rows_that_are_not_ignored(dtype: Any, ignore_index: int, index_dtype: Any) -> None:
    logits = drawn(6, 8, dtype=dtype)
    for target in (torch.tensor([0, 3, 3, 7, 1, 2]), torch.tensor([0, 4, 4, 7, 1, 2])):
        if ignore_index == -100:
            target = torch.where(target == 3, ignore_index, target)
        ours, exact = logits.clone().requires_grad_(), logits.double().requires_grad_()
        loss = tt.cross_entropy(ours, target.to(index_dtype), ignore_index=ignore_index)
        expected = F.cross_entropy(exact, target, ignore_index=ignore_index)
        loss.backward()
        expected.backward()
        assert torch.allclose(loss.double(), expected, rtol=0, atol=1e-5)
        half_unit = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-19}[dtype]
        error = (ours.grad.double() - exact.grad).abs()
        assert bool((error <= 2.1 * half_unit * exact.grad.abs() + 2.0**-24).all())
        with torch.no_grad():
            assert torch.equal(tt.cross_entropy(ours, target.to(index_dtype), ignore_index=ignore_index), loss)


def test_a_loss_may_be_changed_in_place() -> None:
    for reduction in ("mean", "sum", "none"):
        x = drawn(4, 6).requires_grad_()
        loss = tt.cross_entropy(x, torch.tensor([0, 5, 2, 2]), reduction=reduction)
        loss /= 2
        loss.sum().backward()
        y = x.detach().clone().requires_grad_()
        (F.cross_entropy(y, torch.tensor([0, 5, 2, 2]), reduction=reduction) / 2).sum().backward()
        assert torch.allclose(x.grad, y.grad, atol=1e-7)


# --- autocast ------------------------------------------------------------------------------------------------------


def test_autocast() -> None:
    x, weight, bias = (
        drawn(4, 6).requires_grad_(),
        drawn(3, 6, seed=2).requires_grad_(),
        drawn(3, seed=3).requires_grad_(),
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = tt.linear(x, weight, bias)
        assert y.dtype == torch.bfloat16 == F.linear(x, weight, bias).dtype
        assert tt.gelu(x).dtype == torch.float32 == F.gelu(x).dtype
        assert tt.gelu(y).dtype == torch.bfloat16
        assert tt.softmax(y).dtype == F.softmax(y, -1).dtype
        assert tt.embedding(torch.arange(2), weight).dtype == torch.float32
        loss = tt.cross_entropy(y, torch.tensor([0, 2, 1, 1]))
        assert loss.dtype == torch.float32
        with torch.autocast("cpu", enabled=False):
            assert tt.linear(x, weight, bias).dtype == torch.float32
    loss.backward()
    assert x.grad.dtype == weight.grad.dtype == bias.grad.dtype == torch.float32
    low = [t.detach().to(torch.bfloat16).requires_grad_() for t in (x, weight, bias)]
    tt.cross_entropy(tt.linear(*low), torch.tensor([0, 2, 1, 1])).backward()
    assert all(torch.equal(a.grad, b.grad.float()) for a, b in zip((x, weight, bias), low))


# --- refusals ------------------------------------------------------------------------------------------------------

X, W, B, T = torch.zeros(4, 6), torch.zeros(3, 6), torch.zeros(3), torch.zeros(4, dtype=torch.int64)
REFUSALS: Dict[str, Tuple[Callable[[], Any], Any, str]] = {
    "double": (lambda: tt.gelu(X.double()), TypeError, "float64; it must be float16, bfloat16 or float32"),
    "integers": (lambda: tt.softmax(T), TypeError, "int64"),
    "list": (lambda: tt.gelu([1.0]), TypeError, "list, not a tensor"),
    "sparse": (lambda: tt.gelu(X.to_sparse()), TypeError, "it must be dense"),
    "axis": (lambda: tt.softmax(X, 2), IndexError, "dim 2 is out of range"),
    "no fit": (lambda: tt.linear(X, W.t()), ValueError, r"\(4, 6\) does not fit a weight of shape \(6, 3\)"),
    "weight's axes": (lambda: tt.linear(X, W[0]), ValueError, "1 axes"),
    "bias": (lambda: tt.linear(X, W, torch.zeros(6)), ValueError, r"bias of shape \(6,\)"),
    "types": (lambda: tt.linear(X, W.half()), TypeError, "torch.float32 and weight torch.float16"),
    "activation": (lambda: tt.linear(X, W, B, activation="relu"), ValueError, "relu"),
    "table": (lambda: tt.embedding(T, B), ValueError, "1 axes"),
    "index type": (lambda: tt.embedding(T.short(), W), TypeError, "int16; it must be int32 or int64"),
    "index": (lambda: tt.embedding(T + 3, W), IndexError, "embedding_fwd"),
    "negative index": (lambda: tt.embedding(T - 1, W), IndexError, "embedding_fwd"),
    "padding": (lambda: tt.embedding(T, W, padding_idx=3), ValueError, "padding_idx 3 is out of range"),
    "target": (lambda: tt.cross_entropy(X, T + 6), IndexError, "xent"),
    "target's shape": (lambda: tt.cross_entropy(X, T[:3]), ValueError, r"target of shape \(3,\)"),
    "probabilities": (lambda: tt.cross_entropy(X, X), TypeError, "target is torch.float32"),
    "reduction": (lambda: tt.cross_entropy(X, T, reduction="max"), ValueError, "max"),
    "smoothing": (lambda: tt.cross_entropy(X, T, label_smoothing=1.5), ValueError, "1.5"),
    "expected": (lambda: tt.cross_entropy(X, T, expected_grad=0.0), ValueError, "expected_grad"),
    "no classes": (lambda: tt.cross_entropy(torch.tensor(0.0), torch.tensor(0)), ValueError, "no axis of classes"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    call, error, message = REFUSALS[name]
    with pytest.raises(error, match=message):
        call()


def test_bad_index_is_the_librarys_error_too() -> None:
    with pytest.raises(tokitai.BadIndex):
        tt.cross_entropy(X.clone().requires_grad_(), T + 6)


PARTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "cross_entropy": lambda x: tt.cross_entropy(x, torch.tensor([0, 1, 2, 3])),
    "linear with gelu": lambda x: tt.linear(x, drawn(3, 5), activation="gelu"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_second_derivative(name: str) -> None:
    function, shapes = FUNCTIONS[name]
    inputs = [drawn(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
    y = function(*inputs)
    weights = drawn(*y.shape, seed=5).requires_grad_()
    with pytest.raises(NotImplementedError, match="no second derivative"):
        grads = torch.autograd.grad(y, inputs, weights, create_graph=True)
        torch.autograd.grad(grads[0].sum(), weights)


@pytest.mark.parametrize("name", PARTS)
def test_no_part_of_a_second_derivative_is_lost(name: str) -> None:
    """Of a gradient that depends on x only by what forward has kept."""
    x = drawn(4, 5).requires_grad_()
    with pytest.raises(NotImplementedError, match="no second derivative"):
        (grad,) = torch.autograd.grad(PARTS[name](x).sum(), x, create_graph=True)
        assert grad.requires_grad, "a constant, as it seems"
        grad.pow(2).sum().backward()


def test_negations_that_are_put_off() -> None:
    """Such a tensor's memory has the values before the negation."""
    x, grad = drawn(4, 5), drawn(4, 5, seed=1)
    lazy, lazy_grad = torch._neg_view(x), torch._neg_view(grad)
    assert lazy.is_neg() and lazy.data_ptr() == x.data_ptr()
    assert torch.equal(tt.gelu(lazy), tt.gelu(-x))
    assert torch.equal(tt.softmax(lazy), tt.softmax(-x))
    assert torch.equal(tt.linear(lazy, x), tt.linear(-x, x))
    assert torch.equal(tt.embedding(torch.tensor([1]), lazy), -x[1:2])
    target = torch.tensor([0, 1, 2, 3])
    assert torch.equal(tt.cross_entropy(lazy, target), tt.cross_entropy(-x, target))
    for given, same in ((lazy, -x), (x, x)):
        first, second = given.requires_grad_(), same.detach().clone().requires_grad_()
        (by_first,) = torch.autograd.grad(tt.gelu(first), first, lazy_grad)
        (by_second,) = torch.autograd.grad(tt.gelu(second), second, -grad)
        assert torch.equal(by_first, by_second)


WHOLE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gelu": tt.gelu,
    "softmax": tt.softmax,
    "linear": lambda x: tt.linear(x, x.detach()),
    "embedding": lambda x: tt.embedding(torch.arange(2), x),
    "cross_entropy": lambda x: tt.cross_entropy(x, torch.arange(4)),
}


@pytest.mark.parametrize("name", WHOLE)
def test_forward_mode_is_refused(name: str) -> None:
    """A tangent must not get lost in silence; without one the call is as any other."""
    forward_ad: Any = torch.autograd.forward_ad
    x = drawn(4, 5)
    with forward_ad.dual_level():
        assert torch.equal(WHOLE[name](x), WHOLE[name](x.clone().requires_grad_()).detach())
        with pytest.raises((RuntimeError, NotImplementedError), match="forward"):
            WHOLE[name](forward_ad.make_dual(x, torch.ones_like(x)))


@pytest.mark.parametrize("name", WHOLE)
def test_a_trace_has_the_op_or_is_refused(name: str) -> None:
    """Without custom ops a trace would have memory that was never written in place of the op."""
    x = drawn(4, 5)
    if not hasattr(torch.library, "custom_op"):
        with pytest.raises(NotImplementedError, match="2.4 or later"):
            torch.jit.trace(WHOLE[name], x)
        return
    traced = torch.jit.trace(WHOLE[name], x)
    assert torch.equal(traced(x + 1), WHOLE[name](x + 1))


def test_first_derivatives_within_create_graph_are_the_same() -> None:
    x = drawn(4, 5).requires_grad_()
    (with_graph,) = torch.autograd.grad(tt.gelu(x).sum(), x, create_graph=True)
    (without,) = torch.autograd.grad(tt.gelu(x).sum(), x)
    assert torch.equal(with_graph.detach(), without)


def test_synchronize_without_a_device_does_nothing() -> None:
    tt.synchronize("cpu")
    if not torch.cuda.is_available():
        tt.synchronize()


def test_calls_of_a_capture_name_the_remedy(monkeypatch: Any) -> None:
    """No device is needed to see that a first use within a capture is refused before anything is loaded."""
    worker = object.__new__(_run._GpuWorker)
    plan = _run._GpuPlan(("gelu_fwd", torch.float32, (8,), None, (), 0), worker)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(tokitai.Unavailable, match="gelu_fwd of sizes .8,. .* before the capture begins"):
        plan.make_ready()
    assert not plan.is_ready


def test_refusal_names_the_op() -> None:
    assert "tokitai.torch.linear" in str(_eager.refuse_second_derivative("linear"))


def test_forward_mode_is_refused() -> None:
    """The tangent would be lost without a word."""
    forward_ad = torch.autograd.forward_ad
    x, weight = drawn(3, 4), drawn(5, 4)
    target = torch.zeros(3, dtype=torch.int64)
    calls: List[Callable[[Any], Any]] = [
        tt.gelu,
        tt.softmax,
        lambda d: tt.linear(d, weight),
        lambda d: tt.cross_entropy(d, target),
        lambda d: tt.embedding(target, d),
    ]
    with forward_ad.dual_level():
        plain = [call(x) for call in calls]
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        for call in calls:
            with pytest.raises(RuntimeError, match="(?i)forward|jvp"):
                call(dual)
    for call, result in zip(calls, plain):
        assert same_bits(call(x), result)


def test_negated_views() -> None:
    """Their memory holds the elements with the other sign."""
    x = drawn(3, 4)
    negated = torch.complex(x, x)[:1, :1].conj().imag
    assert negated.is_neg() and negated.is_contiguous()
    assert same_bits(tt.gelu(negated), tt.gelu(-x[:1, :1].clone()))
    with pytest.raises(tokitai.BadArgument, match="resolve_neg"):
        tokitai.judge("gelu_fwd", [negated], [tt.gelu(negated)])


def test_the_script_that_measures_overhead() -> None:
    """It runs, and finds the C call of each function; what its figures are depends on the machine."""
    import torch_overhead

    figures = torch_overhead.measure("cpu", 5)
    assert {f.name.split(",")[0].split(" ")[0] for f in figures} == {
        "gelu", "softmax", "linear", "embedding", "cross_entropy"
    }  # fmt: skip
    assert all(f.c_call > 0 and f.without > 0 and f.with_gradient > 0 for f in figures)
    slow = figures[0]._replace(without=torch_overhead.LIMIT_WITHOUT + 1)
    assert "OVER" in torch_overhead.table([slow]) and not slow.is_within_limits
