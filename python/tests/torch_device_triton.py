"""Softmax and cross-entropy as they are usually written in Triton, to be judged. A program has one row, whole."""

# mypy: ignore-errors

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    values = tl.load(x + row * cols + at, mask=inside, other=-float("inf")).to(tl.float32)
    parts = tl.exp(values - tl.max(values, 0))
    result = parts / tl.sum(parts, 0)
    tl.store(y + row * cols + at, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def cross_entropy_rows(logits, target, loss, grad, cols, smoothing, scale, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < cols
    wanted = tl.load(target + row)
    if wanted == ignore_index:
        tl.store(loss + row, 0.0)
        tl.store(grad + row * cols + at, tl.zeros((BLOCK,), tl.float32).to(grad.dtype.element_ty), mask=inside)
    else:
        values = tl.load(logits + row * cols + at, mask=inside, other=-float("inf")).to(tl.float32)
        top = tl.max(values, 0)
        parts = tl.exp(values - top)
        total = tl.sum(parts, 0)
        is_target = at == wanted
        share = smoothing / cols
        goal = tl.where(is_target, 1.0 - smoothing + share, share)
        distance = tl.where(inside & (goal != 0.0), top - values, 0.0)
        tl.store(loss + row, tl.log(total) + tl.sum(goal * distance, 0))
        result = scale * (parts / total - goal)
        tl.store(grad + row * cols + at, result.to(grad.dtype.element_ty), mask=inside)


def softmax(x):
    y = torch.empty_like(x)
    rows, cols = x.shape
    if rows and cols:
        softmax_rows[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
    return y


def cross_entropy(logits, target, *, label_smoothing, scale, ignore_index):
    rows, cols = logits.shape
    loss = torch.zeros(rows, dtype=torch.float32, device=logits.device)
    grad = torch.empty_like(logits)
    if rows and cols:
        cross_entropy_rows[(rows,)](
            logits, target, loss, grad, cols, label_smoothing, scale, ignore_index, BLOCK=triton.next_power_of_2(cols)
        )
    return loss, grad
