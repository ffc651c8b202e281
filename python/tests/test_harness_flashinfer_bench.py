"""The adapter for flashinfer-bench, with an imitation of its evaluators: what they are given and what they return."""

from __future__ import annotations

import dataclasses
import enum
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tokitai.harnesses import flashinfer_bench  # noqa: E402

SEED = 20261118

# --- an imitation of flashinfer_bench.data and flashinfer_bench.bench.evaluators.default --------------------------


class EvaluationStatus(str, enum.Enum):
    PASSED = "PASSED"
    INCORRECT_SHAPE = "INCORRECT_SHAPE"
    INCORRECT_NUMERICAL = "INCORRECT_NUMERICAL"
    RUNTIME_ERROR = "RUNTIME_ERROR"


class Model:
    """model_copy() as pydantic's models have it."""

    def model_copy(self, update: dict[str, Any]) -> Any:
        return dataclasses.replace(self, **update)  # type: ignore[type-var]


@dataclasses.dataclass
class Correctness(Model):
    max_relative_error: float = 0.0
    max_absolute_error: float = 0.0
    extra: dict[str, Any] | None = None


@dataclasses.dataclass
class Evaluation(Model):
    status: EvaluationStatus
    log: str = ""
    correctness: Correctness | None = None

    def __post_init__(self) -> None:
        with_figures = (EvaluationStatus.PASSED, EvaluationStatus.INCORRECT_NUMERICAL)
        if (self.correctness is not None) != (self.status in with_figures):
            raise ValueError(f"correctness does not go with {self.status}")


def make_eval(
    status: EvaluationStatus,
    device: str,
    log_path: str | None = None,
    correctness: Correctness | None = None,
    performance: Any = None,
    extra_msg: str | None = None,
) -> Evaluation:
    return Evaluation(status, extra_msg or "", correctness)


@dataclasses.dataclass
class Definition:
    name: str
    op_type: str
    reference: str
    outputs: int = 1


def allocate_outputs(definition: Definition, inputs: list[Any], device: str) -> list[Any]:
    return [torch.full((inputs[0].shape[0], inputs[1].shape[0]), 7.0) for _ in range(definition.outputs)]


def normalize_result(definition: Definition, result: Any, device: str) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


@dataclasses.dataclass
class Runnable:
    function: Any
    metadata: Any

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class DefaultEvaluator:
    @classmethod
    def can_evaluate(cls, definition: Definition) -> bool:
        return True

    @classmethod
    def check_correctness(
        cls,
        definition: Definition,
        sol_runnable: Runnable,
        inputs: list[list[Any]],
        ref_outputs: list[list[Any]],
        cfg: Any,
        log_path: str,
        device: str,
    ) -> tuple[Correctness | None, Evaluation | None]:
        worst = 0.0
        for given, expected in zip(inputs, ref_outputs):
            try:
                if sol_runnable.metadata.destination_passing_style:
                    found = allocate_outputs(definition, given, device)
                    sol_runnable(*given, *found)
                else:
                    found = normalize_result(definition, sol_runnable(*given), device)
            except Exception:
                return None, make_eval(EvaluationStatus.RUNTIME_ERROR, device, log_path)
            for output, reference in zip(found, expected):
                if output.shape != reference.shape:
                    return None, make_eval(EvaluationStatus.INCORRECT_SHAPE, device, log_path)
                worst = max(worst, float((output - reference).abs().max()))
        correctness = Correctness(worst, worst)
        if worst > cfg.atol:
            return correctness, make_eval(EvaluationStatus.INCORRECT_NUMERICAL, device, log_path, correctness)
        return correctness, None


class SamplingEvaluator(DefaultEvaluator):
    @classmethod
    def can_evaluate(cls, definition: Definition) -> bool:
        return definition.op_type == "sampling"


def imitation() -> Any:
    registry = types.SimpleNamespace(_EVALUATORS=[SamplingEvaluator], _DEFAULT_EVALUATOR=DefaultEvaluator)

    def resolve_evaluator(definition: Definition) -> Any:
        matches = [evaluator for evaluator in registry._EVALUATORS if evaluator.can_evaluate(definition)]
        if len(matches) > 1:
            raise ValueError("several evaluators")
        return matches[0] if matches else registry._DEFAULT_EVALUATOR

    registry.resolve_evaluator = resolve_evaluator
    return registry


# --- tests ----------------------------------------------------------------------------------------------------------

GEMM = Definition("gemm_n5_k6", "gemm", "import torch\n\ndef run(A, B):\n    return torch.matmul(A, B.T)\n")
SWISH = Definition("swish", "gemm", "import torch\n\ndef run(A, B):\n    return torch.sigmoid(A @ B.T)\n")
OPAQUE = Definition("opaque", "mine", "import torch\n\ndef run(x):\n    return torch.from_numpy(x.numpy().copy())\n")
CONFIG = types.SimpleNamespace(atol=1e-2, rtol=1e-2)


def inputs(trials: int = 2) -> list[list[Any]]:
    generator = torch.Generator().manual_seed(SEED)
    return [[torch.randn(4, 6, generator=generator), torch.randn(5, 6, generator=generator)] for _ in range(trials)]


def evaluate(registry: Any, definition: Definition, solution: Any, destination: bool = False, given: Any = None) -> Any:
    given = given if given is not None else inputs()
    run = flashinfer_bench.reference_of(definition)
    runnable = Runnable(solution, types.SimpleNamespace(destination_passing_style=destination))
    return registry.resolve_evaluator(definition).check_correctness(
        definition=definition,
        sol_runnable=runnable,
        inputs=given,
        ref_outputs=[normalize_result(definition, run(*trial), "cpu") for trial in given],
        cfg=CONFIG,
        log_path="",
        device="cpu",
    )


def nearly(a: Any, b: Any) -> Any:
    return (a @ b.T) * 1.0001


def test_a_tolerance_lets_pass_what_the_contract_refutes() -> None:
    registry = imitation()
    assert evaluate(registry, GEMM, nearly)[1] is None
    evaluator = flashinfer_bench.install(registry)
    assert registry.resolve_evaluator(GEMM) is evaluator and issubclass(evaluator, DefaultEvaluator)
    correctness, evaluation = evaluate(registry, GEMM, nearly)
    assert evaluation.status == EvaluationStatus.INCORRECT_NUMERICAL and "GEMM.ERR" in evaluation.log
    assert correctness.extra["tokitai"].startswith("REFUTED: gemm f32: ")
    correctness, evaluation = evaluate(registry, GEMM, lambda a, b: a @ b.T)
    assert evaluation is None and correctness.extra["tokitai"].startswith("HELD: gemm for one case")


def test_destination_passing_style() -> None:
    registry = imitation()
    flashinfer_bench.install(registry)

    def right(a: Any, b: Any, c: Any) -> None:
        c.copy_(a @ b.T)

    def incomplete(a: Any, b: Any, c: Any) -> None:
        c[:-1] = (a @ b.T)[:-1]

    assert evaluate(registry, GEMM, right, True)[1] is None
    assert evaluate(registry, GEMM, incomplete, True)[1].status == EvaluationStatus.INCORRECT_NUMERICAL


def test_right_infinities_are_right() -> None:
    registry = imitation()
    flashinfer_bench.install(registry)
    given = inputs(1)
    given[0][0][1, 2] = float("inf")
    assert evaluate(registry, GEMM, lambda a, b: a @ b.T, given=given)[1] is None
    assert evaluate(registry, GEMM, lambda a, b: torch.nan_to_num(a @ b.T), given=given)[1] is not None


def test_a_solution_that_writes_into_its_inputs_is_judged_by_what_it_was_given() -> None:
    registry = imitation()
    flashinfer_bench.install(registry)

    def cheat(a: Any, b: Any) -> Any:
        a.zero_()
        return torch.zeros(a.shape[0], b.shape[0])

    assert evaluate(registry, GEMM, cheat)[1].status == EvaluationStatus.INCORRECT_NUMERICAL


def test_what_does_not_run_is_the_harness_business() -> None:
    registry = imitation()
    flashinfer_bench.install(registry)

    def broken(a: Any, b: Any) -> Any:
        raise RuntimeError("no")

    assert evaluate(registry, GEMM, broken)[1].status == EvaluationStatus.RUNTIME_ERROR
    assert evaluate(registry, GEMM, lambda a, b: a)[1].status == EvaluationStatus.INCORRECT_SHAPE


def test_a_solution_that_raises_when_it_is_judged_is_unknown() -> None:
    registry = imitation()
    flashinfer_bench.install(registry)
    calls: list[int] = []

    def once(a: Any, b: Any) -> Any:
        calls.append(1)
        if len(calls) > len(inputs()):
            raise RuntimeError("only so often")
        return a @ b.T

    correctness, evaluation = evaluate(registry, GEMM, once)
    assert evaluation is None
    assert correctness.extra["tokitai"] == "UNKNOWN: the solution raised RuntimeError: only so often; by the tolerance"


def test_unknown_is_left_to_the_tolerance_and_said() -> None:
    registry = imitation()
    flashinfer_bench.install(registry)
    correctness, evaluation = evaluate(registry, SWISH, lambda a, b: torch.sigmoid(a @ b.T))
    assert evaluation is None
    assert correctness.extra["tokitai"].startswith("UNKNOWN: the reference is a composition (matmul, sigmoid)")
    assert correctness.extra["tokitai"].endswith("by the tolerance")
    correctness, evaluation = evaluate(registry, SWISH, lambda a, b: torch.sigmoid(a @ b.T) + 1)
    assert evaluation.status == EvaluationStatus.INCORRECT_NUMERICAL
    assert "UNKNOWN" in evaluation.correctness.extra["tokitai"]
    assert registry.resolve_evaluator(Definition("s", "sampling", "")) is SamplingEvaluator
    assert registry.resolve_evaluator(Definition("m", "mla_paged", "")) is DefaultEvaluator


def test_ops_can_be_named_by_definition() -> None:
    registry = imitation()
    assert registry.resolve_evaluator(OPAQUE) is DefaultEvaluator
    flashinfer_bench.install(registry, ops={"opaque": "softmax_fwd"})
    given = [[torch.zeros(2, 4)]]
    correctness, evaluation = evaluate(registry, OPAQUE, lambda x: torch.full_like(x, 0.25), given=given)
    assert evaluation is None and correctness.extra["tokitai"].startswith("HELD: softmax_fwd")
    assert evaluate(registry, OPAQUE, lambda x: x, given=given)[1].status == EvaluationStatus.INCORRECT_NUMERICAL


def test_several_outputs_are_unknown() -> None:
    two = Definition("two", "gemm", "def run(a, b):\n    return a, b\n", outputs=2)
    assert flashinfer_bench.judge_solution(two, [1, 2], [3, 4]).verdict == "UNKNOWN"
