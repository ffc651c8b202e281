"""The ops with gradients, as autograd functions.

They are what runs outside of torch.compile, and everything where PyTorch is older than 2.4. Their gradients have no
gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
from torch import Tensor

from . import _run, _scale


def refuse_second_derivative(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"tokitai.torch.{name} has no second derivative: its gradient cannot be differentiated. Use PyTorch's own op "
        "where a gradient of a gradient is taken (create_graph=True)"
    )


def refuse_create_graph(name: str) -> None:
    """For gradients that depend on inputs by what forward has kept, which has no link to them: a derivative of such a
    gradient would miss that part in silence."""
    if torch.is_grad_enabled():  # backward() was called with create_graph=True
        raise refuse_second_derivative(name)


class _Once(torch.autograd.Function):
    """Gives what `compute` gives for the tensors, and an error to whoever differentiates it."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx.name, compute, *tensors = args
        return compute(*tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise refuse_second_derivative(ctx.name)


def _once(name: str, compute: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    if torch.is_grad_enabled():  # backward() was called with create_graph=True
        result: Tensor = _Once.apply(name, compute, *tensors)
        return result
    return compute(*tensors)


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx.save_for_backward(args[0])
        return _run.gelu(args[0])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return _once("gelu", _run.gelu_grad, grads[0], x)


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        y = _run.softmax(args[0])
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (y,) = ctx.saved_tensors
        return _once("softmax", _run.softmax_grad, grads[0], y)


class Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        weight, index, padding_idx = args
        ctx.save_for_backward(index)
        ctx.vocab, ctx.padding_idx = weight.shape[0], padding_idx
        return _run.embedding(weight, index)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (index,) = ctx.saved_tensors

        def compute(grad_output: Tensor) -> Tensor:
            return _run.embedding_grad(grad_output, index, ctx.vocab, ctx.padding_idx)

        return _once("embedding", compute, grads[0]), None, None


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        x, weight, bias, gelu_too = args
        y, pre = _run.linear(x, weight, bias, gelu_too)
        # The input is needed for the gradient of the weight alone, and the other way round.
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weight if ctx.needs_input_grad[0] else None, pre)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, weight, pre = ctx.saved_tensors
        by_x, by_weight, by_bias = ctx.needs_input_grad[:3]
        grad = grads[0]
        if pre is not None:
            refuse_create_graph("linear")
            grad = _run.gelu_grad(grad, pre)
        return (
            _once("linear", _run.linear_grad_x, grad, weight) if by_x else None,
            _once("linear", _run.linear_grad_weight, grad, x) if by_weight else None,
            _once("linear", _run.linear_grad_bias, grad) if by_bias else None,
            None,
        )


class CrossEntropy(torch.autograd.Function):
    """The loss of logits [rows, cols], one number or one for each row. The gradient is made in the same pass."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        logits, target, label_smoothing, ignore_index, reduction, expected, ctx.repeatable = args
        rows = logits.shape[0]
        # The gradient is made for a grad_output of `expected`, and for a mean over all rows; backward corrects both.
        # Divided by the rows, small gradients vanish in fp16: unless its user names what they will be multiplied by,
        # that waits for backward.
        at_once = reduction == "mean" and rows > 0 and (expected is not None or logits.dtype != torch.float16)
        ctx.expected = 1.0 if expected is None else expected
        ctx.rows = rows if at_once else 1
        loss, ctx.grad_logits = _run.cross_entropy_rows(
            logits, target, label_smoothing, ctx.expected / ctx.rows, ignore_index
        )
        ctx.valid = (target != ignore_index).sum() if reduction == "mean" else None
        return reduced(loss, ctx.valid, reduction)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        refuse_create_graph("cross_entropy")
        if ctx.grad_logits is None:
            raise RuntimeError(
                "tokitai.torch.cross_entropy: backward() a second time. The first one gave away the gradient that "
                "forward had made, instead of a copy. Call cross_entropy(..., repeatable=True) to have copies made"
            )

        factor = grads[0].to(torch.float32)
        if ctx.expected != 1:
            factor = factor / ctx.expected
        if ctx.valid is not None:
            # In this order, so that the factor is exactly 1 where no row is ignored.
            factor = factor * ctx.rows / ctx.valid.clamp(min=1)
        grad: Tensor = ctx.grad_logits
        if ctx.repeatable:
            grad = _scale.scaled(grad, factor)
        else:
            ctx.grad_logits = None
            _scale.scale_(grad, factor)
        return grad, None, None, None, None, None, None


def reduced(loss: Tensor, valid: Optional[Tensor], reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    total = loss.sum()
    return total if valid is None else total / valid
