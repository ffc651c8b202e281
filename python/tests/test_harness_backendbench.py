"""The adapter for BackendBench, with an imitation of its eval module: the same functions, called in the same way."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import tokitai

torch = pytest.importorskip("torch")

from tokitai.harnesses import backendbench  # noqa: E402

SEED = 20261118
aten = torch.ops.aten


class Test:
    """Arguments that are made anew whenever they are asked for."""

    __test__ = False  # it is none of pytest's

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args, self._kwargs = args, kwargs

    @property
    def args(self) -> list[Any]:
        return [make() for make in self._args]

    @property
    def kwargs(self) -> dict[str, Any]:
        return {name: make() for name, make in self._kwargs.items()}


def imitation() -> Any:
    """A module whose functions find each other, and allclose(), among the module's names."""
    module: Any = types.ModuleType("imitation_of_BackendBench_eval")

    def allclose(a: Any, b: Any, atol: float = 1e-2, rtol: float = 1e-2) -> bool:
        try:
            torch.testing.assert_close(a, b, equal_nan=True, atol=atol, rtol=rtol)
            return True
        except Exception:
            return False

    def eval_correctness_test(op: Any, impl: Any, test: Any) -> Any:
        args, kwargs = test.args, test.kwargs
        ref = op(*args, **kwargs)
        try:
            res = impl(*args, **kwargs)
            return types.SimpleNamespace(op_name=op.__name__, is_correct=module.allclose(ref, res))
        except Exception as error:
            return types.SimpleNamespace(op_name=op.__name__, is_correct=False, error_msg=str(error))

    def eval_correctness(op: Any, impl: Any, tests: Any) -> Any:
        results = [module.eval_correctness_test(op, impl, test) for test in tests]
        return sum(result.is_correct for result in results) / len(results), results

    def eval_performance(op: Any, impl: Any, tests: Any) -> Any:
        speedups = []
        for test in tests:
            args, kwargs = test.args, test.kwargs
            op(*args, **kwargs)  # the one that is timed
            ref = op(*args, **kwargs)
            res = impl(*args, **kwargs)
            speedups.append(2.0 if module.allclose(ref, res) else None)
        return speedups

    def eval_one_op(op: Any, impl: Any, correctness_tests: Any, performance_tests: Any) -> Any:
        score, results = module.eval_correctness(op, impl, correctness_tests)
        return score, module.eval_performance(op, impl, performance_tests), results

    for function in (allclose, eval_correctness_test, eval_correctness, eval_performance, eval_one_op):
        setattr(module, function.__name__, function)
    return module


def drawn(*shape: int) -> Any:
    return lambda: torch.randn(*shape, generator=torch.Generator().manual_seed(SEED + len(shape) + shape[0]))


def index(count: int, most: int) -> Any:
    return lambda: torch.randint(0, most, (count,), generator=torch.Generator().manual_seed(SEED))


def value(number: Any) -> Any:
    return lambda: number


CALLS = [
    ("gelu_fwd", aten.gelu.default, Test(drawn(3, 5), approximate=value("tanh"))),
    ("gelu_bwd", aten.gelu_backward.default, Test(drawn(3, 5), drawn(3, 5), approximate=value("tanh"))),
    ("softmax_fwd", aten._softmax.default, Test(drawn(4, 7), value(1), value(False))),
    ("softmax_fwd", aten.softmax.int, Test(drawn(2, 4, 7), value(1))),
    (
        "softmax_bwd",
        aten._softmax_backward_data.default,
        Test(drawn(4, 7), lambda: drawn(4, 7)().softmax(1), value(1), value(torch.float32)),
    ),
    ("gemm", aten.mm.default, Test(drawn(4, 6), drawn(6, 3))),
    ("gemm", aten.bmm.default, Test(drawn(2, 4, 6), drawn(2, 6, 3))),
    ("linear_fwd", aten.addmm.default, Test(drawn(3), drawn(4, 6), drawn(6, 3))),
    ("embedding_fwd", aten.embedding.default, Test(drawn(9, 4), index(5, 9))),
    (
        "embedding_bwd",
        aten.embedding_dense_backward.default,
        Test(drawn(5, 4), index(5, 9), value(9), value(-1), value(False)),
    ),
]


@pytest.mark.parametrize("op, call, test", CALLS)
def test_calls_have_contracts(op: str, call: Any, test: Test) -> None:
    right = backendbench.judge_call(call, test.args, test.kwargs, call(*test.args, **test.kwargs))
    assert right.verdict == "HELD" and right.op == op, str(right)
    output = call(*test.args, **test.kwargs)
    output.reshape(-1)[-1] += 1e-3
    assert backendbench.judge_call(call, test.args, test.kwargs, output).verdict == "REFUTED"


def test_install_replaces_the_comparison_in_both_evaluations() -> None:
    module = imitation()
    tests = [Test(drawn(4, 7), value(1), value(False)), Test(drawn(8, 5), value(-1), value(False))]

    def nearly(x: Any, dim: int, half_to_float: bool) -> Any:
        return torch.softmax(x, dim) * 1.001

    score, speedups, _ = module.eval_one_op(aten._softmax.default, nearly, tests, tests)
    assert score == 1 and speedups == [2.0, 2.0]
    log = backendbench.install(module)
    score, speedups, results = module.eval_one_op(aten._softmax.default, nearly, tests, tests)
    assert score == 0 and speedups == [None, None] and log.counts() == {"HELD": 0, "REFUTED": 4, "UNKNOWN": 0}
    assert results[0].op_name == aten._softmax.default.__name__
    assert "SOFTMAX_FWD.ERR" in log.judgements[0].message
    assert module.eval_one_op(aten._softmax.default, aten._softmax.default, tests, tests)[:2] == (1, [2.0, 2.0])
    assert log.counts()["HELD"] == 4


def test_calls_without_a_contract_are_compared_as_before() -> None:
    module = imitation()
    log = backendbench.install(module)
    tests = [Test(drawn(4, 7))]
    assert module.eval_correctness(aten.relu.default, aten.relu.default, tests)[0] == 1
    assert module.eval_correctness(aten.relu.default, aten.neg.default, tests)[0] == 0
    assert log.counts() == {"HELD": 0, "REFUTED": 0, "UNKNOWN": 2}
    assert "no contract for aten.relu" in log.judgements[0].message
    assert module.allclose(torch.ones(2), torch.ones(2)) and "not known" in log.judgements[-1].message


@pytest.mark.parametrize(
    "call, test, reason",
    [
        (aten.gelu.default, Test(drawn(3)), "erf form"),
        (aten._softmax.default, Test(drawn(2, 2), value(1), value(True)), "half_to_float"),
        (aten.addmm.default, Test(drawn(3), drawn(4, 6), drawn(6, 3), alpha=value(2)), "no factors"),
        (aten.addmm.default, Test(drawn(4, 3), drawn(4, 6), drawn(6, 3)), "one for each column"),
        (
            aten.embedding_dense_backward.default,
            Test(drawn(5, 4), index(5, 9), value(9), value(2), value(False)),
            "padding_idx",
        ),
    ],
)
def test_reasons(call: Any, test: Test, reason: str) -> None:
    judgement = backendbench.judge_call(call, test.args, test.kwargs, torch.zeros(1))
    assert judgement.verdict == "UNKNOWN" and reason in judgement.message


def test_an_implementation_that_writes_into_its_inputs_is_judged_by_what_it_was_given() -> None:
    module = imitation()
    backendbench.install(module)

    def cheat(a: Any, b: Any) -> Any:
        return torch.mm(a.zero_(), b)

    assert module.eval_correctness(aten.mm.default, cheat, [Test(drawn(4, 6), drawn(6, 3))])[0] == 0


_MODULE = """
import torch

def allclose(a, b):
    return torch.allclose(a, b, atol=1e-2, rtol=1e-2)

def eval_correctness_test(op, impl, test):
    return allclose(op(*test), impl(*test))

def eval_performance(op, impl, tests):
    return [eval_correctness_test(op, impl, test) for test in tests]

def scaled(a, b):
    return torch.mm(a, b) * 1.001

def work(right):
    torch.manual_seed(20261118)
    inputs = torch.randn(4, 6), torch.randn(6, 3)
    return eval_correctness_test(torch.ops.aten.mm.default, torch.mm if right else scaled, inputs)
"""
_SCRIPT = """
import multiprocessing
import imitated_eval
INSTALL
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(imitated_eval.work, [True, False]))
"""


def test_spawned_processes_install_it_too(tmp_path: Path) -> None:
    (tmp_path / "imitated_eval.py").write_text(_MODULE)
    found = []
    for line in ("", "from tokitai.harnesses.backendbench import install; install(imitated_eval)"):
        (tmp_path / "script.py").write_text(_SCRIPT.replace("INSTALL", line))
        path = f"{Path(tokitai.__file__).parent.parent}{os.pathsep}{tmp_path}"
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        found.append(run.stdout.strip())
    assert found == ["[True, True]", "[True, False]"]


def test_names() -> None:
    assert backendbench.aten_name(aten._softmax.default) == "_softmax"
    assert backendbench.aten_name("aten.mm.default") == backendbench.aten_name("mm.default") == "mm"
