"""The ops as custom ops of torch.library, from PyTorch 2.4 on: what torch.compile, export and other tensors see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Tuple, cast

import torch
from torch import Tensor

from . import _run
from ._eager import Options, cross_entropy_plan, refuse_create_graph, refuse_second_derivative
from ._loss import Valid

_library: Any = torch.library  # of a PyTorch whose type hints may be older


def _define(schema: str, run: Callable[..., Any], fake: Callable[..., Any]) -> Any:
    """An op: what it does, and what its outputs look like, which are dense."""
    name, arguments = schema.split("(", 1)
    op = _library.custom_op("tokitai::" + name, run, mutates_args=(), schema="(" + arguments)
    op.register_fake(fake)
    return op


def _differentiate(op: Any, backward: Callable[..., Any], setup_context: Callable[..., None]) -> None:
    op.register_autograd(backward, setup_context=setup_context)


def _refuse(op: Any, name: str) -> None:
    def backward(ctx: Any, *grads: Any) -> Any:
        raise refuse_second_derivative(name)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    _differentiate(op, backward, setup_context)


def _dense_like(tensor: Tensor) -> Tensor:
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


# --- gelu and softmax ----------------------------------------------------------------------------------------------

gelu = _define("gelu(Tensor x) -> Tensor", _run.gelu, _dense_like)
gelu_grad = _define("gelu_grad(Tensor grad_output, Tensor x) -> Tensor", _run.gelu_grad, lambda grad, x: _dense_like(x))
softmax = _define("softmax(Tensor x) -> Tensor", _run.softmax, _dense_like)
softmax_grad = _define(
    "softmax_grad(Tensor grad_output, Tensor y) -> Tensor", _run.softmax_grad, lambda grad, y: _dense_like(y)
)


def _keep_input(ctx: Any, inputs: Tuple[Tensor], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0])


def _keep_output(ctx: Any, inputs: Tuple[Tensor], output: Tensor) -> None:
    ctx.save_for_backward(output)


_differentiate(gelu, lambda ctx, grad: gelu_grad(grad, *ctx.saved_tensors), _keep_input)
_differentiate(softmax, lambda ctx, grad: softmax_grad(grad, *ctx.saved_tensors), _keep_output)
_refuse(gelu_grad, "gelu")
_refuse(softmax_grad, "softmax")

# --- cross-entropy -------------------------------------------------------------------------------------------------
#
# An op's output may not be what it was given, so a gradient that forward had made would be copied by backward. Here
# forward makes the loss alone, and backward the gradient: the logits are read once more, and one pass is saved.


def _run_cross_entropy(logits: Tensor, target: Tensor, *options: Any) -> Tuple[Tensor, Tensor]:
    plan = cross_entropy_plan(logits, target, cast(Options, options), False)
    loss, valid = plan.loss_alone(logits, target)
    if not isinstance(valid, Tensor):
        valid = torch.full((), 0 if valid is None else valid, device=loss.device)
    return loss, valid.to(torch.float32)


def _fake_cross_entropy(
    logits: Tensor,
    target: Tensor,
    label_smoothing: float,
    ignore_index: int,
    reduction: str,
    expected_grad: Optional[float],
) -> Tuple[Tensor, Tensor]:
    shape = (logits.shape[0],) if reduction == "none" else ()
    return logits.new_empty(shape, dtype=torch.float32), logits.new_empty((), dtype=torch.float32)


def _run_cross_entropy_grad(
    grad_output: Tensor, logits: Tensor, target: Tensor, valid: Tensor, *options: Any
) -> Tensor:
    plan = cross_entropy_plan(logits, target, cast(Options, options), True)
    count: Valid = None
    if plan.mean is not None:
        count = valid if valid.is_cuda else int(valid.item())
    return plan.gradient_alone(grad_output, logits, target, count)


_OPTIONS = "float label_smoothing, int ignore_index, str reduction, float? expected_grad"
cross_entropy = _define(
    f"cross_entropy(Tensor logits, Tensor target, {_OPTIONS}) -> (Tensor, Tensor)",
    _run_cross_entropy,
    _fake_cross_entropy,
)
cross_entropy_grad = _define(
    f"cross_entropy_grad(Tensor grad_output, Tensor logits, Tensor target, Tensor valid, {_OPTIONS}) -> Tensor",
    _run_cross_entropy_grad,
    lambda grad_output, logits, *rest: _dense_like(logits),
)


def _cross_entropy_context(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[Tensor, Tensor]) -> None:
    logits, target, *ctx.options = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(logits, target, output[1])


def _cross_entropy_backward(ctx: Any, grad_loss: Tensor, _no_grad: Any) -> Tuple[Optional[Tensor], ...]:
    grad = cross_entropy_grad(grad_loss, *ctx.saved_tensors, *ctx.options)
    return (grad, None, None, None, None, None)


_differentiate(cross_entropy, _cross_entropy_backward, _cross_entropy_context)
_refuse(cross_entropy_grad, "cross_entropy")

# --- embedding -----------------------------------------------------------------------------------------------------

embedding = _define(
    "embedding(Tensor weight, Tensor index, int? padding_idx) -> Tensor",
    lambda weight, index, padding_idx: _run.embedding(weight, index),
    lambda weight, index, padding_idx: weight.new_empty((*index.shape, weight.shape[1])),
)
embedding_grad = _define(
    "embedding_grad(Tensor grad_output, Tensor index, SymInt vocab, int? padding_idx) -> Tensor",
    _run.embedding_grad,
    lambda grad, index, vocab, padding_idx: grad.new_empty((vocab, grad.shape[-1])),
)


def _embedding_context(ctx: Any, inputs: Tuple[Tensor, Tensor, Optional[int]], output: Tensor) -> None:
    weight, index, ctx.padding_idx = inputs
    ctx.vocab = weight.shape[0]
    ctx.save_for_backward(index)


def _embedding_backward(ctx: Any, grad: Tensor) -> Tuple[Tensor, None, None]:
    return embedding_grad(grad, *ctx.saved_tensors, ctx.vocab, ctx.padding_idx), None, None


_differentiate(embedding, _embedding_backward, _embedding_context)
_refuse(embedding_grad, "embedding")

# --- linear --------------------------------------------------------------------------------------------------------


def _linear_output(x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


linear = _define(
    "linear(Tensor x, Tensor weight, Tensor? bias) -> Tensor",
    lambda x, weight, bias: _run.linear(x, weight, bias, False)[0],
    _linear_output,
)
linear_gelu = _define(
    "linear_gelu(Tensor x, Tensor weight, Tensor? bias) -> (Tensor, Tensor)",
    lambda x, weight, bias: _run.linear(x, weight, bias, True),
    lambda x, weight, bias: (_linear_output(x, weight, bias), _linear_output(x, weight, bias)),
)
linear_grad_x = _define(
    "linear_grad_x(Tensor grad_output, Tensor weight) -> Tensor",
    _run.linear_grad_x,
    lambda grad, weight: grad.new_empty((*grad.shape[:-1], weight.shape[1])),
)
linear_grad_weight = _define(
    "linear_grad_weight(Tensor grad_output, Tensor x) -> Tensor",
    _run.linear_grad_weight,
    lambda grad, x: x.new_empty((grad.shape[-1], x.shape[-1])),
)


def _linear_context(ctx: Any, inputs: Tuple[Tensor, Tensor, Optional[Tensor]], output: Any) -> None:
    x, weight, _bias = inputs
    pre = None
    if isinstance(output, tuple):
        pre = output[1]
        ctx.mark_non_differentiable(pre)
    ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weight if ctx.needs_input_grad[0] else None, pre)


def _linear_backward(ctx: Any, grad: Tensor, _no_grad: Any = None) -> Tuple[Optional[Tensor], ...]:
    x, weight, pre = ctx.saved_tensors
    by_x, by_weight, by_bias = ctx.needs_input_grad
    if pre is not None:
        refuse_create_graph("linear")
        grad = gelu_grad(grad, pre)
    return (
        linear_grad_x(grad, weight) if by_x else None,
        linear_grad_weight(grad, x) if by_weight else None,
        _run.linear_grad_bias(grad) if by_bias else None,
    )


_differentiate(linear, _linear_backward, _linear_context)
_differentiate(linear_gelu, _linear_backward, _linear_context)
_refuse(linear_grad_x, "linear")
_refuse(linear_grad_weight, "linear")
