"""flashinfer-bench: an evaluator whose check_correctness() judges by contract.

from flashinfer_bench.bench.evaluators import registry
from tokitai.harnesses.flashinfer_bench import install
install(registry)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ._judgement import Judgement, raised, unknown
from ._reference import Unrecognised, named, recognise

# The kinds of definitions whose references may be one op.
OP_TYPES = frozenset(("gemm", "linear", "softmax", "gelu", "embedding", "cross_entropy"))


def judge_solution(
    definition: Any,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    *,
    op: str | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
) -> Judgement:
    """The verdict on one output of a definition's solution. The op is that of the definition's reference, or `op`.

    A reference is code of the definition, `run(...)`, which the harness executes too.
    """
    if len(outputs) != 1:
        return unknown(
            f"the definition {definition.name} has {len(outputs)} outputs; those that are recognised have one", op
        )
    try:
        recognised = (
            named(op, inputs, attributes) if op is not None else recognise(lambda: reference_of(definition)(*inputs))
        )
    except Unrecognised as reason:
        return unknown(str(reason), op)
    return recognised.judge(outputs[0], numerics=numerics, domain=domain)


def reference_of(definition: Any) -> Callable[..., Any]:
    """The function `run` of a definition."""
    names: dict[str, Any] = {"__name__": f"reference of {definition.name}"}
    exec(compile(definition.reference, f"<{definition.name}>", "exec"), names)
    run: Callable[..., Any] = names["run"]
    return run


def make_evaluator(
    base: type,
    *,
    ops: Mapping[str, str] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
) -> type:
    """A subclass of flashinfer-bench's DefaultEvaluator; `ops` names the ops of definitions, by the definition's name.

    check_correctness() runs the solution on copies of each trial's inputs and judges the outputs. REFUTED is
    INCORRECT_NUMERICAL, with the reason in the log. Where the verdict is UNKNOWN the base class decides. What was
    found is in Correctness.extra["tokitai"].
    """
    known = dict(ops or {})
    defaults: Any = import_module(base.__module__)

    def can_evaluate(cls: Any, definition: Any) -> bool:
        return definition.name in known or definition.op_type in OP_TYPES

    def check_correctness(
        cls: Any,
        definition: Any,
        sol_runnable: Any,
        inputs: Sequence[Sequence[Any]],
        ref_outputs: Sequence[Sequence[Any]],
        cfg: Any,
        log_path: str,
        device: str,
    ) -> Any:
        parent: Any = super(evaluator, cls)
        correctness, evaluation = parent.check_correctness(
            definition=definition,
            sol_runnable=sol_runnable,
            inputs=[_copies(trial) for trial in inputs],
            ref_outputs=ref_outputs,
            cfg=cfg,
            log_path=log_path,
            device=device,
        )
        if correctness is None:
            return correctness, evaluation  # it did not run, or has another shape or type
        judgement = unknown("no inputs were given")
        for trial in inputs:
            try:
                outputs = _run(defaults, definition, sol_runnable, trial, device)
            except Exception as error:
                judgement = raised("the solution", error, known.get(definition.name))
                break
            judgement = judge_solution(
                definition, trial, outputs, op=known.get(definition.name), numerics=numerics, domain=domain
            )
            if not judgement:
                break
        if judgement.verdict == "UNKNOWN":
            extra = {"tokitai": f"{judgement}; by the tolerance"}
            return _with_extra(correctness, extra), _with_evidence(evaluation, extra)
        extra = {"tokitai": str(judgement)}
        correctness = _with_extra(correctness, extra)
        if judgement.held:
            return correctness, None
        return correctness, defaults.make_eval(
            status=defaults.EvaluationStatus.INCORRECT_NUMERICAL,
            device=device,
            log_path=log_path,
            correctness=correctness,
            extra_msg=str(judgement),
        )

    members: dict[str, Any] = {
        "__module__": __name__,
        "can_evaluate": classmethod(can_evaluate),
        "check_correctness": classmethod(check_correctness),
    }
    evaluator = type("ContractEvaluator", (base,), members)
    return evaluator


def _copies(inputs: Sequence[Any]) -> list[Any]:
    """A solution may write into its inputs; the contract is about what it was given."""
    return [value.clone() if hasattr(value, "clone") else value for value in inputs]


def _run(defaults: Any, definition: Any, solution: Any, inputs: Sequence[Any], device: str) -> list[Any]:
    torch: Any = import_module("torch")
    given = _copies(inputs)
    with torch.no_grad():
        if solution.metadata.destination_passing_style:
            outputs: list[Any] = defaults.allocate_outputs(definition, given, device)
            solution(*given, *outputs)
        else:
            outputs = defaults.normalize_result(definition, solution(*given), device)
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
    return outputs


def _with_extra(correctness: Any, extra: Mapping[str, str]) -> Any:
    return correctness.model_copy(update={"extra": {**(correctness.extra or {}), **extra}})


def _with_evidence(evaluation: Any, extra: Mapping[str, str]) -> Any:
    if evaluation is None or evaluation.correctness is None:
        return evaluation
    return evaluation.model_copy(update={"correctness": _with_extra(evaluation.correctness, extra)})


def install(
    registry: Any, *, ops: Mapping[str, str] | None = None, numerics: str | None = None, domain: str | None = None
) -> type:
    """Makes an evaluator of the registry's default one and puts it before the others; returns it."""
    evaluator = make_evaluator(registry._DEFAULT_EVALUATOR, ops=ops, numerics=numerics, domain=domain)
    registry._EVALUATORS.insert(0, evaluator)
    return evaluator
