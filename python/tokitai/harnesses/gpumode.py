"""GPU MODE's reference kernels: check_implementation(data, output) beside generate_input() and ref_kernel().

from tokitai.harnesses.gpumode import make_check
check_implementation = make_check(ref_kernel)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._judgement import Judgement, unknown
from ._reference import Unrecognised, named, recognise


def judge_output(
    reference: Callable[[Any], Any] | None,
    data: Any,
    output: Any,
    *,
    op: str | None = None,
    inputs: Callable[[Any], Sequence[Any] | Mapping[str, Any]] | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
) -> Judgement:
    """The verdict on a submission's output for `data`.

    The op is found from the calls of `reference(data)`, or it is `op`, whose inputs `inputs(data)` gives in contract
    order or by name: the tensors of `data` by default.
    """
    try:
        if op is not None:
            recognised = named(op, (inputs or _tensors_of)(data), attributes)
        elif reference is None:
            raise Unrecognised("neither a reference nor an op was given")
        else:
            recognised = recognise(functools.partial(reference, data))
    except Unrecognised as reason:
        return unknown(str(reason), op)
    return recognised.judge(output, numerics=numerics, domain=domain)


def _tensors_of(data: Any) -> list[Any]:
    if hasattr(data, "shape"):
        return [data]
    values = list(data.values()) if isinstance(data, Mapping) else list(data)
    return [value for value in values if hasattr(value, "shape")]


def make_check(
    reference: Callable[[Any], Any] | None = None,
    *,
    op: str | None = None,
    inputs: Callable[[Any], Sequence[Any] | Mapping[str, Any]] | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
    otherwise: Callable[[Any, Any], Any] | None = None,
    pair: bool = True,
) -> Callable[[Any, Any], Any]:
    """A check_implementation(data, output): (good, message), or with pair=False the message alone, "" if it is good.

    Newer problems take the pair, older ones the message. UNKNOWN is not good: then `otherwise(data, output)` decides,
    the check that the problem had, and its message begins with what is not known.
    """

    def check_implementation(data: Any, output: Any) -> Any:
        judgement = judge_output(
            reference, data, output, op=op, inputs=inputs, attributes=attributes, numerics=numerics, domain=domain
        )
        good, message = judgement.held, str(judgement)
        if judgement.verdict == "UNKNOWN" and otherwise is not None:
            result = otherwise(data, output)
            good, said = result if isinstance(result, tuple) else (not result, result)
            message = f"tokitai {judgement}; by the problem's own check: {said or 'match'}"
        if pair:
            return bool(good), message
        return "" if good else message

    return check_implementation
