"""BackendBench: the comparison allclose(ref, res) of its eval module, with a contract in the place of the tolerance.

import BackendBench.eval
from tokitai.harnesses.backendbench import install
log = install(BackendBench.eval)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._judgement import Judgement, unknown
from ._reference import Unrecognised, recognise_aten


def aten_name(op: Any) -> str:
    """`_softmax` of torch.ops.aten._softmax.default, of its packet, or of the text aten._softmax.default."""
    text = str(op) if not isinstance(op, str) else op
    parts = text.split(".")
    if parts[0] == "aten" and len(parts) > 1:
        return parts[1]
    return parts[0]


def judge_call(
    op: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    output: Any,
    *,
    numerics: str | None = None,
    domain: str | None = None,
) -> Judgement:
    """The verdict on the output of an implementation of an operator of torch.ops.aten."""
    try:
        recognised = recognise_aten(aten_name(op), args, kwargs)
    except Unrecognised as reason:
        return unknown(str(reason))
    return recognised.judge(output, numerics=numerics, domain=domain)


@dataclass
class Log:
    """What was judged since install(): by contract, or UNKNOWN and then by the tolerance."""

    judgements: list[Judgement] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        found = {"HELD": 0, "REFUTED": 0, "UNKNOWN": 0}
        for judgement in self.judgements:
            found[judgement.verdict] += 1
        return found


def install(module: Any, *, numerics: str | None = None, domain: str | None = None) -> Log:
    """Replaces allclose() in `module`, and has its callers say which call they compare the outputs of.

    eval_correctness_test(op, impl, test) and eval_performance(op, impl, tests) call the reference and then allclose().
    The reference is wrapped, so that its arguments are known there. Calls without a contract are compared as before.
    """
    log = Log()
    close: Callable[..., bool] = module.allclose
    calls: list[tuple[Any, Any, tuple[Any, ...], dict[str, Any]]] = []  # the last one: result, operator, arguments

    def allclose(a: Any, b: Any, *tolerances: Any, **named: Any) -> bool:
        if not calls or calls[-1][0] is not a:
            log.judgements.append(unknown("the call that gave the reference's output is not known"))
            return bool(close(a, b, *tolerances, **named))
        _, op, args, kwargs = calls[-1]
        judgement = judge_call(op, args, kwargs, b, numerics=numerics, domain=domain)
        log.judgements.append(judgement)
        if judgement.verdict == "UNKNOWN":
            return bool(close(a, b, *tolerances, **named))
        return judgement.held

    def watched(op: Any) -> Callable[..., Any]:
        def reference(*args: Any, **kwargs: Any) -> Any:
            copies = tuple(_copy(argument) for argument in args)
            named = {name: _copy(argument) for name, argument in kwargs.items()}
            result = op(*args, **kwargs)
            calls[:] = [(result, op, copies, named)]
            return result

        reference.__name__ = getattr(op, "__name__", str(op))
        return reference

    def wrap(evaluate: Callable[..., Any]) -> Callable[..., Any]:
        def evaluate_watched(op: Any, impl: Any, tests: Any) -> Any:
            return evaluate(watched(op), impl, tests)

        return evaluate_watched

    module.allclose = allclose
    module.eval_correctness_test = wrap(module.eval_correctness_test)
    module.eval_performance = wrap(module.eval_performance)
    return log


def _copy(argument: Any) -> Any:
    """An implementation may write into its inputs; the contract is about what it was given."""
    return argument.clone() if hasattr(argument, "clone") else argument
