"""The adapter for KernelBench, with an imitation of its eval module: the names, parameters and results that it has."""

from __future__ import annotations

import math
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional
nn = torch.nn

import tokitai  # noqa: E402
from tokitai.harnesses import kernelbench  # noqa: E402
from tokitai.harnesses._reference import Unrecognised, recognise  # noqa: E402

SEED = 20261118


def drawn(*shape: int, dtype: Any = torch.float32) -> Any:
    generator = torch.Generator().manual_seed(SEED + math.prod(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def classes(*shape: int, most: int) -> Any:
    return torch.randint(0, most, shape, generator=torch.Generator().manual_seed(SEED))


class Calls(nn.Module):
    """A model that computes what it is given."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def new_gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


RECOGNISED = [
    ("gelu_fwd", nn.GELU(approximate="tanh"), lambda: [drawn(3, 4, 5)]),
    ("gelu_fwd", Calls(lambda x: F.gelu(x, approximate="tanh")), lambda: [drawn(7)]),
    ("gelu_fwd", Calls(new_gelu), lambda: [drawn(6, 5)]),
    ("softmax_fwd", nn.Softmax(dim=-1), lambda: [drawn(2, 3, 9)]),
    ("softmax_fwd", Calls(lambda x: torch.softmax(x, dim=1)), lambda: [drawn(4, 7)]),
    ("softmax_fwd", Calls(lambda x: F.softmax(x, dim=0)), lambda: [drawn(4, 7)]),
    ("softmax_fwd", Calls(lambda x: x.softmax(-1)), lambda: [drawn(4, 7)]),
    ("linear_fwd", nn.Linear(6, 5), lambda: [drawn(4, 6)]),
    ("linear_fwd", nn.Linear(6, 5, bias=False), lambda: [drawn(2, 4, 6)]),
    ("gemm", Calls(torch.matmul), lambda: [drawn(4, 6), drawn(6, 3)]),
    ("gemm", Calls(lambda a, b: a @ b), lambda: [drawn(4, 6), drawn(6, 3)]),
    ("gemm", Calls(lambda a, b: torch.matmul(a, b.T)), lambda: [drawn(4, 6), drawn(3, 6)]),
    ("gemm", Calls(lambda a, b: torch.mm(a.t(), b)), lambda: [drawn(6, 4), drawn(6, 3)]),
    ("gemm", Calls(lambda a, b: torch.matmul(a, b)), lambda: [drawn(2, 4, 6), drawn(6, 3)]),
    ("gemm", Calls(torch.bmm), lambda: [drawn(3, 4, 6), drawn(3, 6, 2)]),
    ("gemm", Calls(lambda a, b: torch.matmul(a, b)), lambda: [drawn(4, 6), drawn(6)]),
    ("embedding_fwd", nn.Embedding(9, 4), lambda: [classes(5, 2, most=9)]),
    ("xent", nn.CrossEntropyLoss(reduction="none", label_smoothing=0.125), lambda: [drawn(5, 8), classes(5, most=8)]),
]


@pytest.mark.parametrize("op, model, inputs", RECOGNISED)
def test_the_op_is_recognised_and_pytorch_keeps_it(op: str, model: Any, inputs: Any) -> None:
    recognised = kernelbench.recognise_model(model, inputs())
    assert recognised.op == op
    with torch.no_grad():
        expected = model(*inputs())
    assert recognised.shape == tuple(expected.shape)
    judgement = kernelbench.judge_models(model, model, inputs())
    # The composition rounds in between and may miss the bound of gelu_fwd; all others are one call, which keep theirs.
    assert judgement.verdict == "HELD" or model.__dict__.get("function") is new_gelu, str(judgement)
    assert judgement.op == op


@pytest.mark.parametrize("op, model, inputs", RECOGNISED)
def test_one_wrong_element_is_refuted_and_a_tolerance_may_not_see_it(op: str, model: Any, inputs: Any) -> None:
    def wrong(*given: Any) -> Any:
        result = model(*given).clone()
        flat = result.reshape(-1)
        flat[-1] += abs(flat[-1]) * 1e-3 + 1e-5  # one direction, so that the two parts cannot cancel
        return flat.reshape(result.shape)

    with torch.no_grad():
        assert torch.allclose(wrong(*inputs()), model(*inputs()), atol=1e-2, rtol=1e-2)
    judgement = kernelbench.judge_models(model, Calls(wrong), inputs())
    assert judgement.verdict == "REFUTED" and not judgement
    assert "exact" in judgement.message or "only" in judgement.message


UNKNOWN = [
    (nn.GELU(), lambda: [drawn(4)], "erf form"),
    (nn.ReLU(), lambda: [drawn(4)], "computes relu; contracts exist for"),
    (nn.CrossEntropyLoss(), lambda: [drawn(5, 8), classes(5, most=8)], "reduction='mean'"),
    (
        nn.CrossEntropyLoss(reduction="none"),
        lambda: [drawn(5, 8).half().float(), drawn(5, 8).softmax(1)],
        "the contract has rows",
    ),
    (nn.Sequential(nn.Linear(4, 4), nn.GELU(approximate="tanh")), lambda: [drawn(2, 4)], "composition (linear, gelu)"),
    (
        Calls(lambda a, b: torch.matmul(a, b).T),
        lambda: [drawn(4, 6), drawn(6, 3)],
        "does not return the result of matmul",
    ),
    (Calls(lambda x: F.softmax(x, dim=1, dtype=torch.float64)), lambda: [drawn(2, 2)], "its input's type"),
    (Calls(lambda x: 0.5 * x * (1.0 + torch.tanh(0.8 * (x + 0.044715 * x**3)))), lambda: [drawn(4)], "composition"),
    (Calls(lambda x: x.T), lambda: [drawn(4, 3)], "calls no PyTorch function that computes"),
    (nn.Embedding(9, 4, max_norm=1.0), lambda: [classes(5, most=9)], "max_norm"),
    (Calls(lambda a, b: torch.matmul(a, b)), lambda: [drawn(2, 3, 4, 5), drawn(3, 5, 2)], "broadcast"),
]


@pytest.mark.parametrize("model, inputs, reason", UNKNOWN)
def test_what_has_no_contract_is_unknown_with_the_reason(model: Any, inputs: Any, reason: str) -> None:
    judgement = kernelbench.judge_models(model, model, inputs())
    assert judgement.verdict == "UNKNOWN" and not judgement
    assert reason in judgement.message, judgement.message


def test_an_op_can_be_named() -> None:
    opaque = Calls(lambda a, b: torch.from_numpy(a.numpy() @ b.numpy()))
    inputs = [drawn(4, 6), drawn(6, 3)]
    assert kernelbench.judge_models(opaque, opaque, inputs).verdict == "UNKNOWN"
    assert kernelbench.judge_models(opaque, opaque, inputs, op="gemm").verdict == "HELD"
    assert kernelbench.judge_models(opaque, Calls(lambda a, b: (a @ b) * 1.001), inputs, op="gemm").verdict == "REFUTED"
    few = kernelbench.judge_models(opaque, opaque, inputs, op="softmax_fwd")
    assert few.verdict == "UNKNOWN" and "has the inputs x" in few.message


def test_shapes_and_types_of_the_output() -> None:
    model, inputs = Calls(torch.matmul), [drawn(4, 6), drawn(6, 3)]
    double = kernelbench.judge_models(model, Calls(lambda a, b: (a @ b).double()), inputs)
    assert double.verdict == "UNKNOWN" and "float64" in double.message
    for other, why in ((lambda a, b: 3, "is a int, not a tensor"), (lambda a, b: (a @ b).T, "shape (3, 4)")):
        judgement = kernelbench.judge_models(model, Calls(other), inputs)
        assert judgement.verdict == "UNKNOWN" and why in judgement.message


def test_a_kernel_that_writes_into_its_inputs_is_judged_by_what_it_was_given() -> None:
    def cheat(a: Any, b: Any) -> Any:
        a.zero_()
        return torch.zeros(a.shape[0], b.shape[1])

    assert kernelbench.judge_models(Calls(torch.matmul), Calls(cheat), [drawn(4, 6), drawn(6, 3)]).verdict == "REFUTED"


# A problem as KernelBench's files have it, and two answers.
REFERENCE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.layer = nn.Linear(features, classes)

    def forward(self, x):
        return self.layer(x)

def get_inputs():
    return [torch.rand(8, 16)]

def get_init_inputs():
    return [16, 4]
"""
RIGHT = """
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.layer = nn.Linear(features, classes)

    def forward(self, x):
        return SUM
"""


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_pair_of_sources(dtype: Any) -> None:
    exact = RIGHT.replace("SUM", "(x.double() @ self.layer.weight.double().T + self.layer.bias.double()).to(x.dtype)")
    judgement = kernelbench.judge_sources(REFERENCE, exact, dtype=dtype, trials=3)
    assert judgement.verdict == "HELD" and judgement.op == "linear_fwd", str(judgement)
    without_bias = RIGHT.replace("SUM", "x @ self.layer.weight.T")
    assert kernelbench.judge_sources(REFERENCE, without_bias, dtype=dtype).verdict == "REFUTED"


# --- an imitation of kernelbench.eval -----------------------------------------------------------------------------


class KernelExecResult:
    def __init__(self, compiled: bool = False, correctness: bool = False, metadata: Any = None) -> None:
        self.compiled, self.correctness, self.metadata = compiled, correctness, metadata if metadata is not None else {}


def imitation() -> Any:
    """A module with run_and_check_correctness() and a caller of it, which looks it up among the module's names."""
    module = types.ModuleType("imitation_of_kernelbench_eval")

    def run_and_check_correctness(
        original_model_instance: Any,
        new_model_instance: Any,
        get_inputs_fn: Any,
        metadata: Any,
        num_correct_trials: int,
        verbose: bool = False,
        seed: int = 42,
        device: Any = None,
        backend: str = "cuda",
        precision: Any = torch.float32,
    ) -> KernelExecResult:
        passed = 0
        with torch.no_grad():
            for _ in range(num_correct_trials):
                inputs = [value.to(dtype=precision) for value in get_inputs_fn()]
                output = new_model_instance(*inputs)
                passed += torch.allclose(original_model_instance(*inputs), output, atol=1e-2, rtol=1e-2)
        metadata["correctness_trials"] = f"({passed} / {num_correct_trials})"
        return KernelExecResult(True, passed == num_correct_trials, metadata)

    def evaluate(model: Any, model_new: Any, get_inputs: Any, trials: int = 2) -> KernelExecResult:
        result: KernelExecResult = module.run_and_check_correctness(  # type: ignore[attr-defined]
            model, model_new, get_inputs, metadata={}, num_correct_trials=trials, verbose=False, seed=7, device="cpu"
        )
        return result

    module.run_and_check_correctness = run_and_check_correctness  # type: ignore[attr-defined]
    module.evaluate = evaluate  # type: ignore[attr-defined]
    return module


def test_install_replaces_the_tolerance() -> None:
    module = imitation()
    slightly = Calls(lambda x: torch.softmax(x, dim=1) * 1.001)
    model = nn.Softmax(dim=1)
    assert module.evaluate(model, slightly, lambda: [drawn(4, 9)]).correctness
    original = kernelbench.install(module)
    refuted = module.evaluate(model, slightly, lambda: [drawn(4, 9)])
    assert not refuted.correctness and refuted.metadata["tokitai"].startswith("REFUTED: softmax_fwd f32: ")
    assert refuted.metadata["correctness_trials"] == "(2 / 2)"
    held = module.evaluate(model, model, lambda: [drawn(4, 9)])
    assert held.correctness and held.metadata["tokitai"].startswith("HELD: softmax_fwd for one case")
    unknown = module.evaluate(nn.ReLU(), nn.ReLU(), lambda: [drawn(4, 9)])
    assert unknown.correctness and unknown.metadata["tokitai"].startswith("UNKNOWN: the reference computes relu")
    assert original is not module.run_and_check_correctness


def test_what_raises_and_what_cannot_be_judged_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(x: Any) -> Any:
        raise RuntimeError("no kernel image")

    model = nn.Softmax(dim=1)
    judgement = kernelbench.judge_models(model, Calls(broken), [drawn(4, 9)])
    assert judgement.verdict == "UNKNOWN" and judgement.message == "ModelNew raised RuntimeError: no kernel image"
    same = tokitai.certify(broken, "softmax_fwd", dtype="f32", shape=(4, 9), mutants=False)
    assert same.verdict == "UNKNOWN" and "RuntimeError: no kernel image" in same.reason

    class Unmade(nn.Module):
        def __init__(self) -> None:
            raise RuntimeError("no compiler")

    unmade = kernelbench.judge_pair(lambda: nn.Softmax(dim=1), Unmade, lambda: [drawn(4, 9)])
    assert unmade.verdict == "UNKNOWN" and unmade.message == "ModelNew raised RuntimeError: no compiler"
    module = imitation()
    kernelbench.install(module)
    calls: list[int] = []

    def twice(x: Any) -> Any:
        calls.append(1)
        return torch.softmax(x, dim=1) if len(calls) <= 2 else broken(x)

    result = module.evaluate(model, Calls(twice), lambda: [drawn(4, 9)])
    assert result.correctness and result.metadata["tokitai"].startswith("UNKNOWN: ModelNew raised RuntimeError")

    def refuse(*_: Any, **__: Any) -> Any:
        raise tokitai.Unavailable("there is no device")

    monkeypatch.setattr("tokitai.harnesses._judgement.judge", refuse)
    module = imitation()
    kernelbench.install(module)
    result = module.evaluate(model, model, lambda: [drawn(4, 9)])
    assert (
        result.correctness
        and "UNKNOWN: softmax_fwd: it could not be judged: there is no device" in result.metadata["tokitai"]
    )


def test_recognition_says_no_rather_than_guess() -> None:
    def cleared(x: Any) -> Any:
        y = x.softmax(1)
        y[0] = 0
        return y

    def shifted(x: Any) -> Any:
        y = x.softmax(1)
        y += 1
        return y

    for reference in (
        cleared,
        shifted,
        lambda x: x.softmax(1).add_(1),
        lambda x: x.add_(1),
        lambda x: x.softmax(1).topk(1),
    ):
        with pytest.raises(Unrecognised, match="composition|computes add_"):
            x = drawn(3, 4)
            recognise(lambda: reference(x))
    x = drawn(3, 4)
    assert recognise(lambda: x.to(torch.float32).contiguous().softmax(1)).op == "softmax_fwd"
    with pytest.raises(Unrecognised, match="composition"):
        recognise(lambda: torch.matmul(drawn(2, 2) + 1, drawn(2, 2)))
