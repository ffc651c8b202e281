"""The ops with gradients, as autograd functions.

They are what runs outside of torch.compile, and everything where PyTorch is older than 2.4. Their gradients have no
gradients.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Optional, Tuple

import torch
from torch import Tensor

from . import _loss, _run


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
        x, plan = args
        ctx.save_for_backward(x)
        return _run.gelu(x, plan)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return _once("gelu", _run.gelu_grad, grads[0], x), None


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        x, plan = args
        y = _run.softmax(x, plan)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (y,) = ctx.saved_tensors
        return _once("softmax", _run.softmax_grad, grads[0], y), None


class Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        weight, index, ctx.padding_idx, plan = args
        ctx.save_for_backward(index)
        ctx.vocab = weight.shape[0]
        return _run.embedding(weight, index, plan)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (index,) = ctx.saved_tensors

        def compute(grad_output: Tensor) -> Tensor:
            return _run.embedding_grad(grad_output, index, ctx.vocab, ctx.padding_idx)

        return _once("embedding", compute, grads[0]), None, None, None


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        x, weight, bias, gelu_too, plan = args
        y, pre = _run.linear(x, weight, bias, gelu_too, plan)
        # The input is needed for the gradient of the weight alone, and the other way round.
        by_x, by_weight = ctx.needs_input_grad[:2]
        ctx.save_for_backward(x if by_weight else None, weight if by_x else None, pre)
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
            None,
        )


class CrossEntropyPlan:
    """What all calls of cross_entropy with the same sizes, types and arguments share."""

    __slots__ = ("expected", "ignore_index", "label_smoothing", "mean", "reduction", "rows", "run")

    def __init__(
        self,
        logits: Tensor,
        target: Tensor,
        label_smoothing: float,
        ignore_index: int,
        reduction: str,
        expected: Optional[float],
        wants_gradient: bool,
    ) -> None:
        self.label_smoothing, self.ignore_index, self.reduction = label_smoothing, ignore_index, reduction
        # The gradient is made for a grad_output of `expected`, and for a mean over all rows; backward corrects both.
        # Divided by the rows, small gradients vanish in fp16: unless its user names what they will be multiplied by,
        # that waits for backward.
        rows = logits.shape[0]
        at_once = reduction == "mean" and rows > 0 and (expected is not None or logits.dtype != torch.float16)
        self.expected = 1.0 if expected is None else ctypes.c_float(expected).value  # as grad_output will be
        self.rows = rows if at_once else 1
        # None: the loss alone, with groups of rows one after another.
        self.run: Optional[_run.Plan] = None
        if wants_gradient or rows <= _run.unwanted_gradient_rows(logits):
            scale = self.expected / self.rows if wants_gradient else 1.0
            self.run = _run.cross_entropy_plan(logits, target, label_smoothing, scale, ignore_index)
        self.mean = _loss.Mean(logits, target, ignore_index) if reduction == "mean" else None

    def reduced(self, loss: Tensor, target: Tensor) -> Tuple[Tensor, _loss.Valid]:
        """The loss, and how many rows it is a mean of."""
        if self.mean is not None:
            return self.mean(loss, target)
        return (loss.sum() if self.reduction == "sum" else loss), None

    def loss_alone(self, logits: Tensor, target: Tensor) -> Tuple[Tensor, _loss.Valid]:
        """The same, without the memory of a gradient."""
        if self.run is not None:
            loss = _run.cross_entropy_rows(logits, target, self.run)[0]
        else:
            loss = _run.cross_entropy_loss(logits, target, self.label_smoothing, self.ignore_index)
        return self.reduced(loss, target)

    def gradient_alone(self, grad_output: Tensor, logits: Tensor, target: Tensor, valid: _loss.Valid) -> Tensor:
        assert self.run is not None
        grad = _run.cross_entropy_rows(logits, target, self.run)[1]
        _loss.scale_(grad, grad_output, self.expected, self.rows, valid)
        return grad


# label_smoothing, ignore_index, reduction, expected_grad
Options = Tuple[float, int, str, Optional[float]]


def cross_entropy_key(logits: Tensor, target: Tensor, options: Options, gradient: bool) -> Tuple[Any, ...]:
    return (
        "cross_entropy", logits.dtype, logits.shape, logits.device, target.dtype, target.shape, target.device, options,
        gradient,
    )  # fmt: skip


def cross_entropy_plan(logits: Tensor, target: Tensor, options: Options, gradient: bool) -> CrossEntropyPlan:
    """Of logits [rows, classes]."""
    key = cross_entropy_key(logits, target, options, gradient)
    plan: Optional[CrossEntropyPlan] = _run.plans.get(key)
    if plan is None:
        plan = CrossEntropyPlan(logits, target, *options, gradient)
        _run.remember(key, plan)
    return plan


class CrossEntropy(torch.autograd.Function):
    """The loss of logits [rows, cols], one number or one for each row. The gradient is made in the same pass."""

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        logits, target, ctx.plan, ctx.repeatable = args
        loss, ctx.grad_logits = _run.cross_entropy_rows(logits, target, ctx.plan.run)
        loss, ctx.valid = ctx.plan.reduced(loss, target)
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        refuse_create_graph("cross_entropy")
        if ctx.grad_logits is None:
            raise RuntimeError(
                "tokitai.torch.cross_entropy: backward() a second time. The first one gave away the gradient that "
                "forward had made, instead of a copy. Call cross_entropy(..., repeatable=True) to have copies made"
            )
        grad: Tensor = ctx.grad_logits
        plan: CrossEntropyPlan = ctx.plan
        if ctx.repeatable:
            grad = _loss.scaled(grad, _loss.factor_of(grads[0], plan.expected, plan.rows, ctx.valid))
        else:
            ctx.grad_logits = None
            _loss.scale_(grad, grads[0], plan.expected, plan.rows, ctx.valid)
        return grad, None, None, None
