"""Contracts' error bounds in double, as tensors, for the tests of tokitai.torch: docs/contracts.md has their
derivations.

Each function gives the exact value for given inputs and a bound on the error of an output that keeps its contract: B,
and the rounding to the type of the output.
"""

from __future__ import annotations

import math
from typing import Tuple

import torch
from torch import Tensor

U = 2.0**-24
_HALF_UNIT = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-24}
_SMALLEST = {torch.float16: 2.0**-24, torch.bfloat16: 2.0**-133, torch.float32: 2.0**-149}
Bounded = Tuple[Tensor, Tensor]


def rounded(exact: Tensor, bound: Tensor, dtype: torch.dtype) -> Tensor:
    """The bound after the value was rounded to a type."""
    return bound + _HALF_UNIT[dtype] * (exact.abs() + bound) + _SMALLEST[dtype]


def _gelu_parts(x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    c, a = math.sqrt(2 / math.pi), 0.044715
    two_z = 2 * c * (x + a * x**3)
    return two_z, torch.sigmoid(two_z), 2 * c * x * (1 + 3 * a * x * x)


def gelu_fwd(x: Tensor, dtype: torch.dtype) -> Bounded:
    two_z, sigma, _ = _gelu_parts(x)
    y = x * sigma
    return y, rounded(y, U * y.abs() * (8 + 4 * two_z.abs() * (1 - sigma)) + 2.0**-126 * x.abs(), dtype)


def gelu_bwd(grad: Tensor, x: Tensor, dtype: torch.dtype) -> Bounded:
    two_z, sigma, h = _gelu_parts(x)
    exact = grad * sigma * (1 + (1 - sigma) * h)
    bound = sigma * (8 + 4 * two_z.abs() * (1 - sigma)) + sigma * (1 - sigma) * h.abs() * (8 + 4 * two_z.abs())
    return exact, rounded(exact, grad.abs() * (U * bound + 2.0**-126 * (1 + h.abs())) + 2.0**-149, dtype)


def _sum_of_exponentials_bound(x: Tensor) -> Tensor:
    n = x.shape[-1]
    distance = x.max(-1, keepdim=True).values - x
    return 1.0001 * (U * (2.25 * (distance + math.log(n)) + 19 + (n - 1) + 9 * min(32, n - 1)) + n * 2.0**-126)


def softmax_fwd(x: Tensor, dtype: torch.dtype) -> Bounded:
    y = torch.softmax(x, -1)
    w = _sum_of_exponentials_bound(x)
    return y, rounded(y, y * w / (1 - w) + 2.0**-126, dtype)


def softmax_bwd(grad: Tensor, x: Tensor, dtype: torch.dtype) -> Bounded:
    """Composed: the contract of softmax_bwd, of a y that has the error of softmax_fwd."""
    y, dy = softmax_fwd(x, dtype)
    s = (y * grad).sum(-1, keepdim=True)
    exact = y * (grad - s)
    ds = (dy * grad.abs()).sum(-1, keepdim=True)
    sizes = ((y + dy) * grad.abs()).sum(-1, keepdim=True)
    products = x.shape[-1] * U * sizes + x.shape[-1] * 2.0**-149
    contract = (y + dy) * (2.0001 * U * ((grad - s).abs() + ds) + 1.0001 * (products + 2 * U * sizes)) + 2.0**-149
    return exact, rounded(exact, contract + dy * (grad - s).abs() + (y + dy) * ds, dtype)


def xent(logits: Tensor, target: Tensor, smoothing: float, scale: float, dtype: torch.dtype) -> Tuple[Bounded, Bounded]:
    """Loss and gradient, by the contract's terms for every row, and for all elements the larger ones of the target."""
    classes = logits.shape[-1]
    p = torch.softmax(logits, -1)
    q = torch.full_like(p, smoothing / classes)
    q[torch.arange(len(target)), target] += 1 - smoothing
    distance = logits.max(-1, keepdim=True).values - logits
    w = 2 * _sum_of_exponentials_bound(logits)
    bound = abs(scale) * (torch.maximum(p, 1 - p) * w / (1 - w) + 6 * U + 2.0**-126) + 2.0**-149
    grad = scale * (p - q)
    log_sum = torch.logsumexp(-distance, -1)
    loss = log_sum + (q * distance).sum(-1)
    loss_bound = U * (3 * distance.max(-1).values + 2 * log_sum + 2.25 * math.log(classes) + 10 * classes + 20)
    loss_bound = loss_bound + smoothing / classes * (classes + 4) * U * distance.sum(-1)
    return (loss, rounded(loss, loss_bound, torch.float32)), (grad, rounded(grad, bound, dtype))


def product(left: Tensor, right: Tensor, dtype: torch.dtype, dleft: Tensor | float = 0.0) -> Bounded:
    """left right, of a left factor that has an error of its own."""
    exact = left @ right
    dleft = torch.zeros_like(left) + dleft
    sizes = (left.abs() + dleft) @ right.abs()
    bound = left.shape[-1] * (U * sizes + 2.0**-149)
    return exact, rounded(exact, bound + dleft @ right.abs(), dtype)


def linear(x: Tensor, weight: Tensor, bias: Tensor, dtype: torch.dtype) -> Bounded:
    exact = x @ weight.T + bias
    sizes = x.abs() @ weight.abs().T + bias.abs()
    return exact, rounded(exact, (x.shape[-1] + 1) * (U * sizes + 2.0**-149), dtype)


def embedding_bwd(grad: Tensor, index: Tensor, vocab: int, dtype: torch.dtype) -> Bounded:
    exact = torch.zeros(vocab, grad.shape[-1], dtype=torch.float64).index_add(0, index, grad)
    sizes = torch.zeros_like(exact).index_add(0, index, grad.abs())
    return exact, rounded(exact, len(index) * U * sizes, dtype)


def check(name: str, got: Tensor, expected: Bounded) -> None:
    exact, bound = expected
    excess = (got.detach().double() - exact).abs() - bound
    worst = int(excess.argmax())
    assert not bool((~(excess <= 0)).any()), (
        f"{name}, {got.dtype}: element {worst} is {got.detach().flatten()[worst].item()!r}, exactly "
        f"{exact.flatten()[worst].item()!r}, with a bound of {bound.flatten()[worst].item():.3g}"
    )
