"""tokitai.torch as custom ops: what torch.compile, export and tensors without memory see. From PyTorch 2.4 on."""

from __future__ import annotations

import shutil
from typing import Any, Callable, Dict, List, Tuple

import pytest

torch = pytest.importorskip("torch")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("torch.library.custom_op is of PyTorch 2.4", allow_module_level=True)

import tokitai.torch as tt  # noqa: E402
from tokitai.torch import _custom, _functions, _loss, _run  # noqa: E402

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs g++")


def drawn(*shape: int, dtype: Any = torch.float32, seed: int = 1119) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


TARGET = torch.tensor([0, 3, -100, 4, 2])
FUNCTIONS: Dict[str, Tuple[Callable[..., Any], List[Tuple[int, ...]]]] = {
    "gelu": (tt.gelu, [(5, 7)]),
    "softmax": (tt.softmax, [(5, 7)]),
    "softmax of another axis": (lambda x: tt.softmax(x, 0), [(5, 7)]),
    "linear": (tt.linear, [(5, 7), (3, 7), (3,)]),
    "linear without bias": (tt.linear, [(2, 5, 7), (3, 7)]),
    "linear with gelu": (lambda x, w, b: tt.linear(x, w, b, activation="gelu"), [(5, 7), (3, 7), (3,)]),
    "embedding": (lambda w: tt.embedding(TARGET.clamp(min=0), w, padding_idx=2), [(5, 7)]),
    "mean": (lambda x: tt.cross_entropy(x, TARGET, label_smoothing=0.25), [(5, 7)]),
    "sum": (lambda x: tt.cross_entropy(x, TARGET, reduction="sum"), [(5, 7)]),
    "none": (lambda x: tt.cross_entropy(x, TARGET, reduction="none"), [(5, 7)]),
    "expected": (lambda x: tt.cross_entropy(x, TARGET, expected_grad=4.0), [(5, 7)]),
    "ignored": (lambda x: tt.cross_entropy(x, TARGET.clamp(min=0), ignore_index=3), [(5, 7)]),
    "far ignored": (lambda x: tt.cross_entropy(x, TARGET.clamp(min=0).int(), ignore_index=1 << 40), [(5, 7)]),
    "images": (lambda x: tt.cross_entropy(x, TARGET.reshape(1, 5), reduction="none"), [(1, 7, 5)]),
    "outside of the graph": (lambda x: tt.cross_entropy(x, TARGET, graph_break=True), [(5, 7)]),
}
# Of a bias' gradient, which PyTorch adds up in an order that depends.
TOLERANCE = {torch.float32: 2.0**-21, torch.bfloat16: 2.0**-7}


def with_gradients(function: Callable[..., Any], shapes: List[Tuple[int, ...]], dtype: Any) -> List[Any]:
    inputs = [drawn(*shape, dtype=dtype, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
    y = function(*inputs)
    y.backward(drawn(*y.shape, dtype=y.dtype, seed=9))
    return [y.detach()] + [i.grad for i in inputs]


def assert_same(got: List[Any], expected: List[Any]) -> None:
    for i, (a, b) in enumerate(zip(got, expected)):
        assert a.dtype == b.dtype and a.shape == b.shape
        if i == 3:
            tolerance = TOLERANCE[a.dtype]
            assert torch.allclose(a, b, rtol=tolerance, atol=tolerance * 2.0**-6)
        else:
            assert torch.equal(a, b)


OPS: Dict[str, Tuple[Any, Callable[[], Tuple[Any, ...]]]] = {
    "gelu": (_custom.gelu, lambda: (drawn(4, 5).requires_grad_(),)),
    "gelu, strides": (_custom.gelu, lambda: (drawn(4, 5).t(),)),
    "gelu_grad": (_custom.gelu_grad, lambda: (drawn(4, 5), drawn(4, 5, seed=2))),
    "softmax": (_custom.softmax, lambda: (drawn(4, 5, dtype=torch.bfloat16).requires_grad_(),)),
    "softmax_grad": (_custom.softmax_grad, lambda: (drawn(4, 5), drawn(4, 5, seed=2))),
    "cross_entropy": (
        _custom.cross_entropy,
        lambda: (drawn(5, 7).requires_grad_(), TARGET, 0.1, -100, "mean", None),
    ),
    "cross_entropy, none": (
        _custom.cross_entropy,
        lambda: (drawn(5, 7).requires_grad_(), TARGET, 0.1, -100, "none", 2.0),
    ),
    "cross_entropy_grad": (
        _custom.cross_entropy_grad,
        lambda: (drawn(5), drawn(5, 7, dtype=torch.bfloat16), TARGET, torch.tensor(0.0), 0.1, -100, "none", None),
    ),
    "cross_entropy_grad, mean": (
        _custom.cross_entropy_grad,
        lambda: (torch.tensor(0.5), drawn(5, 7), TARGET, torch.tensor(4.0), 0.1, -100, "mean", 3.0),
    ),
    "embedding": (_custom.embedding, lambda: (drawn(5, 7).requires_grad_(), TARGET.clamp(min=0), 1)),
    "embedding_grad": (_custom.embedding_grad, lambda: (drawn(5, 7), TARGET.clamp(min=0), 6, None)),
    "linear": (_custom.linear, lambda: (drawn(2, 5, 7).requires_grad_(), drawn(3, 7).requires_grad_(), drawn(3))),
    "linear without bias": (_custom.linear, lambda: (drawn(5, 7).requires_grad_(), drawn(3, 7), None)),
    "linear_gelu": (
        _custom.linear_gelu,
        lambda: (drawn(5, 7).requires_grad_(), drawn(3, 7).requires_grad_(), drawn(3)),
    ),
    "linear_grad_x": (_custom.linear_grad_x, lambda: (drawn(2, 5, 3), drawn(3, 7))),
    "linear_grad_weight": (_custom.linear_grad_weight, lambda: (drawn(2, 5, 3), drawn(2, 5, 7))),
}


@pytest.mark.parametrize("name", OPS)
def test_opcheck(name: str) -> None:
    op, arguments = OPS[name]
    results = torch.library.opcheck(op, arguments())
    assert results and all(result == "SUCCESS" for result in results.values()), results


def test_every_op_is_checked() -> None:
    defined = {name for name, value in vars(_custom).items() if isinstance(value, type(_custom.gelu))}
    assert defined == {name.split(",")[0].split(" ")[0] for name in OPS}


@needs_compiler
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled(name: str, dtype: Any) -> None:
    function, shapes = FUNCTIONS[name]
    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=name != "outside of the graph")
    assert_same(with_gradients(compiled, shapes, dtype), with_gradients(function, shapes, dtype))


@needs_compiler
def test_compiled_with_sizes_that_change() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(
        lambda x, w, b: tt.softmax(tt.linear(x, w, b, activation="gelu")), dynamic=True, fullgraph=True
    )
    for rows in (3, 8, 17):
        x, w, b = drawn(rows, 6).requires_grad_(), drawn(4, 6, seed=2).requires_grad_(), drawn(4, seed=3)
        y = compiled(x, w, b)
        assert torch.equal(y, tt.softmax(tt.linear(x, w, b, activation="gelu")))
        y.sum().backward()


@needs_compiler
def test_compiled_in_autocast() -> None:
    torch._dynamo.reset()

    def function(x: Any, w: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return tt.linear(x, w)

    y = torch.compile(function, fullgraph=True)(drawn(3, 5), drawn(2, 5))
    assert y.dtype == torch.bfloat16 and torch.equal(y, function(drawn(3, 5), drawn(2, 5)))


@pytest.mark.parametrize("options", [{}, {"reduction": "sum"}, {"expected_grad": 8.0}])
def test_compiled_cross_entropy_makes_the_gradient_once(options: Dict[str, Any], monkeypatch: Any) -> None:
    """In backward, and where grad_output is what was expected without a second pass."""
    torch._dynamo.reset()
    passes: List[str] = []
    real_run, real_factor = _run._CpuPlan.run, _loss.factor_of
    monkeypatch.setattr(_run._CpuPlan, "run", lambda plan, *p: passes.append(plan.key[0]) or real_run(plan, *p))
    monkeypatch.setattr(_loss, "factor_of", lambda *a: passes.append("scale") or real_factor(*a))
    logits, target = drawn(6, 9, dtype=torch.bfloat16).requires_grad_(), torch.tensor([0, 8, 1, 1, 2, 3])
    compiled = torch.compile(lambda x: tt.cross_entropy(x, target, **options), backend="aot_eager", fullgraph=True)
    expected = options.get("expected_grad", 1.0)
    for grad, second in ((expected, []), (expected / 2, ["scale"])):
        passes.clear()
        loss = compiled(logits)
        assert passes == ["xent"]
        loss.backward(torch.tensor(grad), retain_graph=True)
        assert passes == ["xent", "xent"] + second
        loss.backward(torch.tensor(grad))  # once more: nothing was given away


def test_compiled_cross_entropy_of_many_rows(monkeypatch: Any) -> None:
    """The loss alone, in groups of rows; the gradient in one piece."""
    torch._dynamo.reset()
    logits, target = drawn(64, 33).requires_grad_(), torch.arange(64) % 33
    tt.cross_entropy(logits, target).backward()
    expected, logits.grad = logits.grad, None
    monkeypatch.setattr(_run, "_UNWANTED_GRADIENT_BYTES", 33 * 4 * 10)
    _run.plans.clear()
    torch.compile(lambda x: tt.cross_entropy(x, target), backend="aot_eager", fullgraph=True)(logits).backward()
    assert torch.equal(logits.grad, expected)


def test_compiled_cross_entropy_with_sizes_that_change() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x, t: tt.cross_entropy(x, t), backend="aot_eager", dynamic=True, fullgraph=True)
    for rows in (3, 8, 17):
        target, results = torch.arange(rows) % 9, []
        for call in (compiled, tt.cross_entropy):
            x = drawn(rows, 9).requires_grad_()
            loss = call(x, target)
            loss.backward()
            results.append((loss.detach(), x.grad))
        assert all(torch.equal(a, b) for a, b in zip(*results))


@needs_compiler
def test_compiled_loss_in_autocast() -> None:
    torch._dynamo.reset()

    def function(x: Any, w: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return tt.cross_entropy(tt.linear(x, w), TARGET)

    results = []
    for call in (function, torch.compile(function, fullgraph=True)):
        x, w = drawn(5, 6).requires_grad_(), drawn(7, 6, seed=2).requires_grad_()
        loss = call(x, w)
        loss.backward()
        results.append((loss.detach(), x.grad, w.grad))
    assert all(torch.equal(a, b) for a, b in zip(*results)) and results[0][0].dtype == torch.float32


def test_exported_loss() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Any, target: Any) -> Any:
            return tt.cross_entropy(x, target), tt.cross_entropy(x, target, reduction="none")

    x = drawn(5, 7)
    program = torch.export.export(Model(), (x, TARGET))
    called = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert called.count("tokitai.cross_entropy.default") == 2
    assert all(torch.equal(a, b) for a, b in zip(program.module()(x, TARGET), Model()(x, TARGET)))


def test_exported() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.layer = tt.Embedding(11, 6), tt.Linear(6, 5, activation="gelu")

        def forward(self, index: Any) -> Any:
            return tt.softmax(self.layer(self.table(index)))

    model, index = Model(), torch.tensor([[1, 2, 10]])
    program = torch.export.export(model, (index,))
    called = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert {"tokitai.embedding.default", "tokitai.linear_gelu.default", "tokitai.softmax.default"} <= called
    assert torch.equal(program.module()(index), model(index))


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("embedding", "outside of the graph")])
def test_tensors_without_memory(name: str) -> None:
    function, shapes = FUNCTIONS[name]
    global TARGET
    target = TARGET
    expected = function(*(drawn(*shape) for shape in shapes))
    try:
        TARGET = TARGET.to("meta")
        y = function(*(torch.empty(shape, device="meta") for shape in shapes))
    finally:
        TARGET = target
    assert y.is_meta and y.shape == expected.shape and y.dtype == expected.dtype


def test_function_transforms_are_refused() -> None:
    """PyTorch does it: its custom ops have no rules for them."""
    with pytest.raises(RuntimeError, match="functorch"):
        torch.func.grad(lambda t: tt.gelu(t).sum())(drawn(4, 5))


PARTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "cross_entropy": lambda x: tt.cross_entropy(x, torch.tensor([0, 1, 2, 3])),
    "linear with gelu": lambda x: tt.linear(x, drawn(3, 5), activation="gelu"),
}


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "outside of the graph"])
def test_no_second_derivative(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(_functions, "_is_plain", lambda *tensors: False)
    function, shapes = FUNCTIONS[name]
    inputs = [drawn(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)]
    y = function(*inputs)
    weights = drawn(*y.shape, seed=5).requires_grad_()
    with pytest.raises(NotImplementedError, match="no second derivative"):
        grads = torch.autograd.grad(y, inputs, weights, create_graph=True)
        torch.autograd.grad(grads[0].sum(), weights)


@pytest.mark.parametrize("name", PARTS)
def test_no_part_of_a_second_derivative_is_lost(name: str, monkeypatch: Any) -> None:
    """Of a gradient that depends on x only by what forward has kept."""
    monkeypatch.setattr(_functions, "_is_plain", lambda *tensors: False)
    x = drawn(4, 5).requires_grad_()
    with pytest.raises(NotImplementedError, match="no second derivative"):
        (grad,) = torch.autograd.grad(PARTS[name](x).sum(), x, create_graph=True)
        assert grad.requires_grad, "a constant, as it seems"
        grad.pow(2).sum().backward()


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "outside of the graph"])
def test_traced_way_is_the_plain_way(name: str, monkeypatch: Any) -> None:
    function, shapes = FUNCTIONS[name]
    plain = with_gradients(function, shapes, torch.float32)
    monkeypatch.setattr(_functions, "_is_plain", lambda *tensors: False)
    assert_same(with_gradients(function, shapes, torch.float32), plain)


def test_all_rows_ignored(monkeypatch: Any) -> None:
    monkeypatch.setattr(_functions, "_is_plain", lambda *tensors: False)
    logits = drawn(5, 7).requires_grad_()
    loss = tt.cross_entropy(logits, torch.full((5,), -100))
    loss.backward()
    assert bool(torch.isnan(loss)) and not logits.grad.any()


def test_modes_see_the_ops() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: List[str] = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        tt.gelu(drawn(3))
    assert "tokitai.gelu.default" in seen


def test_plain_calls_do_not_pass_the_dispatcher(monkeypatch: Any) -> None:
    called: List[Any] = []
    monkeypatch.setattr(_run, "gelu", lambda x, plan: called.append(x) or x)
    x = drawn(3)
    assert tt.gelu(x) is x and called[0] is x
