"""allclose() and assert_close() as many tests have them, by contract: expected values and tolerance are not used.

from tokitai.harnesses.allclose import allclose
assert allclose(y, reference, op="softmax_fwd", inputs=[x])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._library import BadArgument, contract
from ..testing import assert_contract


def assert_close(
    actual: Any,
    expected: Any = None,
    *,
    op: str | None = None,
    inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
    **tolerances: Any,
) -> None:
    """Returns if `actual` keeps the contract of `op` for `inputs`; else AssertionError with the first wrong element.

    `actual` is the op's output; a sequence in contract order, or a dict, if it has several. `expected` may differ from
    what is exact, so it is not looked at, and neither are atol, rtol, equal_nan and the like, which are accepted.
    """
    unused = set(tolerances) - {"atol", "rtol", "equal_nan", "check_device", "check_dtype", "check_stride", "msg"}
    if unused:
        raise TypeError(f"assert_close() has no parameter '{sorted(unused)[0]}'")
    if op is None or inputs is None:
        raise BadArgument(
            'by contract, closeness needs the op and its inputs: allclose(actual, expected, op="softmax_fwd", '
            "inputs=[x]); two outputs alone do not tell what is right"
        )
    outputs = actual if isinstance(actual, (tuple, list, Mapping)) else [actual]
    if not isinstance(outputs, Mapping) and len(outputs) > len(contract(op).outputs):
        raise BadArgument(f"{op} has {len(contract(op).outputs)} outputs; {len(outputs)} were given")
    assert_contract(op, inputs, outputs, numerics=numerics, domain=domain, attributes=attributes)


def allclose(
    actual: Any,
    expected: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool | None = None,
    *,
    op: str | None = None,
    inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
) -> bool:
    """Whether `actual` keeps the contract of `op` for `inputs`. The rest of torch.allclose()'s parameters is not used.

    An error, not False, where it cannot be judged: without the op, or if shapes or types are not those of the contract.
    """
    try:
        assert_close(actual, expected, op=op, inputs=inputs, attributes=attributes, numerics=numerics, domain=domain)
    except AssertionError:
        return False
    return True
