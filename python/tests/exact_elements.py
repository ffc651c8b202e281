"""One element of an op's output in decimal arithmetic of 200 digits, over 600 bits, and whether an output may be there.

Shares nothing with the C library but the contract's bound, which a certificate has beside its element: the exact value
is computed anew from the inputs' bits, and so is the rounding of all that lies within the bound of it.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

# No number is too large or too small for it; what overflows or vanishes does so as infinity and zero.
CONTEXT = decimal.Context(
    prec=200, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[]
)
# Bits of the significand, and the exponent of the smallest number.
FORMATS = {
    "f16": (11, -24, 65504.0),
    "bf16": (8, -133, 3.3895313892515355e38),
    "f32": (24, -149, 3.4028234663852886e38),
}


def _pi() -> Decimal:
    """Machin's formula."""

    def inverse_tangent(of: int) -> Decimal:
        power = term = total = CONTEXT.divide(Decimal(1), Decimal(of))
        n = 1
        while abs(term) > Decimal(10) ** -205:
            power = CONTEXT.divide(power, Decimal(-of * of))
            n += 2
            term = CONTEXT.divide(power, Decimal(n))
            total = CONTEXT.add(total, term)
        return total

    return CONTEXT.multiply(
        Decimal(4), CONTEXT.subtract(CONTEXT.multiply(Decimal(4), inverse_tangent(5)), inverse_tangent(239))
    )


PI = _pi()


def _sigmoid(t: Decimal) -> Decimal:
    return 1 / (1 + (-t).exp())


def _gelu(x: Decimal) -> tuple[Decimal, Decimal]:
    """GELU's tanh form, and its derivative."""
    c, a = (2 / PI).sqrt(), Decimal("0.044715")
    z = c * (x + a * x**3)
    sigma, rest = _sigmoid(2 * z), _sigmoid(-2 * z)
    h = 2 * c * x * (1 + 3 * a * x * x)
    tail = rest * h if rest else Decimal(0)  # h may be infinite where the other factor is nothing
    return x * sigma, sigma * (1 + tail)


def _softmax(row: Sequence[Decimal]) -> list[Decimal]:
    top = max(row)
    parts = [(x - top).exp() for x in row]
    total = sum(parts, Decimal(0))
    return [part / total for part in parts]


def _dot(a: Sequence[Decimal], b: Sequence[Decimal]) -> Decimal:
    return sum((x * y for x, y in zip(a, b)), Decimal(0))


def _xent(row: Sequence[Decimal], target: int, smoothing: Decimal, scale: Decimal) -> tuple[Decimal, list[Decimal]]:
    top, share = max(row), smoothing / len(row)
    z = sum(((x - top).exp() for x in row), Decimal(0))
    goal = [share + (1 - smoothing if j == target else 0) for j in range(len(row))]
    loss = z.ln() + sum((q * (top - x) for q, x in zip(goal, row) if q), Decimal(0))
    return loss, [scale * (p - q) for p, q in zip(_softmax(row), goal)]


Inputs = Mapping[str, Any]  # by name: nested lists of numbers


def _numbers(values: Sequence[float]) -> list[Decimal]:
    return [Decimal(value) for value in values]


def _column(matrix: Sequence[Sequence[float]], j: int) -> list[Decimal]:
    return [Decimal(row[j]) for row in matrix]


def _at_softmax_bwd(t: Inputs, i: int, j: int) -> Decimal:
    y, g = _numbers(t["y"][i]), _numbers(t["grad_output"][i])
    return y[j] * (g[j] - _dot(y, g))


def _at_xent(t: Inputs, output: str, i: int, j: int, attributes: Mapping[str, Any]) -> Decimal:
    if t["target"][i] == attributes.get("ignore_index", -100):
        return Decimal(0)
    smoothing, scale = Decimal(attributes.get("label_smoothing", 0.0)), Decimal(attributes.get("scale", 1.0))
    loss, grad = _xent(_numbers(t["logits"][i]), t["target"][i], smoothing, scale)
    return loss if output == "loss" else grad[j]


_ELEMENTS: dict[str, Callable[[Inputs, int, int], Decimal]] = {
    "gelu_fwd": lambda t, i, j: _gelu(Decimal(t["x"][j]))[0],
    "gelu_bwd": lambda t, i, j: Decimal(t["grad_output"][j]) * _gelu(Decimal(t["x"][j]))[1],
    "softmax_fwd": lambda t, i, j: _softmax(_numbers(t["x"][i]))[j],
    "softmax_bwd": _at_softmax_bwd,
    "embedding_fwd": lambda t, i, j: Decimal(t["weight"][t["index"][i]][j]),
    "embedding_bwd": lambda t, i, j: sum(
        (Decimal(row[j]) for row, index in zip(t["grad_output"], t["index"]) if index == i), Decimal(0)
    ),
    "gemm": lambda t, i, j: _dot(_numbers(t["a"][i]), _column(t["b"], j)),
    "gemm_grad_a": lambda t, i, j: _dot(_numbers(t["grad_c"][i]), _numbers(t["b"][j])),
    "gemm_grad_b": lambda t, i, j: _dot(_column(t["a"], i), _column(t["grad_c"], j)),
    "linear_grad_x": lambda t, i, j: _dot(_numbers(t["grad_y"][i]), _column(t["w"], j)),
}


def exact_element(
    op: str, output: str, inputs: Inputs, index: int, cols: int, attributes: Mapping[str, Any] | None = None
) -> Decimal:
    """The exact value of element `index`, counted through the output, whose rows have `cols` elements."""
    i, j = divmod(index, cols)
    with decimal.localcontext(CONTEXT):
        if op == "xent":
            return _at_xent(inputs, output, index if output == "loss" else i, j, attributes or {})
        return _ELEMENTS[op](inputs, i, j)


def rounded(value: Decimal, dtype: str) -> Decimal:
    """To nearest, ties to even; infinity beyond the largest number and half a unit."""
    bits, least, largest = FORMATS[dtype]
    with decimal.localcontext(CONTEXT):
        if not value.is_finite() or not value:
            return value
        exponent = 0
        size = abs(value)
        # The unit of the last place: 2^e with 2^(bits - 1) <= size / 2^e < 2^bits.
        exponent = int((size.ln() / Decimal(2).ln()).to_integral_value(decimal.ROUND_FLOOR)) - bits + 1
        while size >= Decimal(2) ** (exponent + bits):
            exponent += 1
        while size < Decimal(2) ** (exponent + bits - 1):
            exponent -= 1
        unit = Decimal(2) ** max(exponent, least)
        result = (value / unit).to_integral_value(decimal.ROUND_HALF_EVEN) * unit
        return result if abs(result) <= Decimal(largest) else Decimal("Infinity").copy_sign(value)


def is_admissible(got: float, exact: Decimal, bound: float, dtype: str) -> bool:
    """Whether an output is the rounding of some value within the bound of the exact one."""
    with decimal.localcontext(CONTEXT):
        if got != got:
            return exact.is_nan()
        if not exact.is_finite():
            return Decimal(got) == exact
        low, high = rounded(exact - Decimal(bound), dtype), rounded(exact + Decimal(bound), dtype)
        return low <= Decimal(got) <= high
