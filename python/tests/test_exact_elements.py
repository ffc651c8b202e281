"""The elements that torch_on_device.py checks in many digits: against the judge, element by element."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

import exact_elements
import tokitai
from tokitai import testing

np = pytest.importorskip("numpy")
SEED = 20261118


def test_pi_and_rounding() -> None:
    assert str(exact_elements.PI).startswith(
        "3.14159265358979323846264338327950288419716939937510582097494459230781640628"
    )
    for dtype, kind in (("f16", np.float16), ("f32", np.float32)):
        random = np.random.default_rng(SEED)
        values = random.standard_normal(300) * 10.0 ** random.integers(-9, 6, 300)
        for value in [*values, 0.0, 65504.0, 65519.9, 65520.0, 2.0**-25, 2.0**-25 * 1.0000001, 1 / 3, 3e38, 3.5e38]:
            with np.errstate(over="ignore"):
                expected = float(kind(value))
            assert float(exact_elements.rounded(Decimal(value), dtype)) == expected, (dtype, value)
    assert float(exact_elements.rounded(Decimal(1) + Decimal(2) ** -8, "bf16")) == 1.0
    assert float(exact_elements.rounded(Decimal(1) + 3 * Decimal(2) ** -8, "bf16")) == 1 + 2.0**-6


CASES: list[tuple[str, tuple[int, ...], str, dict[str, Any]]] = [
    ("gelu_fwd", (24,), "f16", {}),
    ("gelu_bwd", (24,), "f32", {}),
    ("softmax_fwd", (3, 7), "f16", {}),
    ("softmax_bwd", (3, 7), "f32", {}),
    ("embedding_fwd", (5, 4, 9), "f16", {}),
    ("embedding_bwd", (9, 3, 4), "f16", {}),
    ("gemm", (3, 4, 5), "f32", {}),
    ("gemm_grad_a", (3, 4, 5), "f16", {}),
    ("gemm_grad_b", (3, 4, 5), "f16", {}),
    ("xent", (4, 6), "f32", {"label_smoothing": 0.125, "scale": 0.5, "ignore_index": -100}),
]


@pytest.mark.parametrize("op, shape, dtype, attributes", CASES)
def test_rounded_exact_elements_are_held(op: str, shape: Any, dtype: str, attributes: dict[str, Any]) -> None:
    """Outputs made of them alone keep every contract; one that is moved is refuted, and not admissible here either."""
    view = tokitai._library.contract(op)
    drawn = testing.draw(op, shape, dtype=dtype, seed=SEED, attributes=attributes)
    inputs = {name: array.tolist() for name, array in drawn.inputs.items()}
    case = drawn.case()
    outputs, exact = {}, {}
    for param in view.outputs:
        sizes = tokitai._library.param_shape(case, view, param)
        kind = tokitai._library.param_dtype(case, param)
        exact[param.name] = [
            exact_elements.exact_element(op, param.name, inputs, i, sizes[-1], attributes)
            for i in range(math.prod(sizes))
        ]
        numbers = [float(exact_elements.rounded(value, kind)) for value in exact[param.name]]
        outputs[param.name] = np.array(numbers, {"f16": "float16", "f32": "float32"}[kind]).reshape(sizes)
    assert tokitai.judge(op, drawn.inputs, outputs, attributes=attributes).verdict == "HELD"

    name = view.outputs[0].name
    flat = outputs[name].reshape(-1)
    flat[1] = flat[1] * 1.25 + 1
    refuted = tokitai.judge(op, drawn.inputs, outputs, attributes=attributes)
    failure = refuted.to_dict()["predicate"]["result"]["failure"]
    assert refuted.verdict == "REFUTED" and (failure["output"], failure["index"]) == (name, 1)
    kind = "f32" if flat.dtype == np.float32 else "f16"
    assert not exact_elements.is_admissible(failure["got"], exact[name][1], failure.get("bound", 0.0), kind)
    assert exact_elements.is_admissible(float(exact_elements.rounded(exact[name][1], kind)), exact[name][1], 0.0, kind)
    if "exact" in failure:  # not of an op that copies bits
        assert float(exact[name][1]) == pytest.approx(failure["exact"], rel=2.0**-50, abs=0)


def test_far_arguments() -> None:
    """Where a factor overflows or vanishes."""
    for x, y, slope in ((3e38, 3e38, 1.0), (-3e38, 0.0, 0.0), (0.0, 0.0, 0.5), (1e-45, 5e-46, 0.5)):
        assert float(exact_elements.exact_element("gelu_fwd", "y", {"x": [x]}, 0, 1)) == pytest.approx(y)
        got = exact_elements.exact_element("gelu_bwd", "grad_input", {"x": [x], "grad_output": [1.0]}, 0, 1)
        assert float(got) == pytest.approx(slope)
    assert not exact_elements.is_admissible(math.nan, Decimal(1), 1.0, "f16")
    assert exact_elements.is_admissible(math.inf, Decimal(70000), 0.0, "f16")
