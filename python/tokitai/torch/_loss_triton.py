"""The Triton kernels of _loss.py, in a file of their own, since Triton reads their source."""

# mypy: ignore-errors
# Triton has no type hints, takes no others than its own, and is not there in most places where types are checked.

from __future__ import annotations

import triton
import triton.language as tl

HAS_ROUNDED_DIVISION = hasattr(tl, "div_rn")


@triton.jit
def scale_rows(grad, factor, valid, expected, rows, cols, factor_stride, IS_MEAN: tl.constexpr, BLOCK: tl.constexpr):
    """A program for each row. Divisions are rounded, not approximated: n / n has to be 1."""
    row = tl.program_id(0)
    by = tl.load(factor + row * factor_stride).to(tl.float32)
    if expected != 1.0:
        by = tl.div_rn(by, expected)
    if IS_MEAN:
        count = tl.load(valid).to(tl.float32)
        if count != rows:
            by = tl.div_rn(by * rows, tl.maximum(count, 1.0))
    if by != 1.0:
        first = grad + row.to(tl.int64) * cols
        for begin in range(0, cols, BLOCK):
            at = begin + tl.arange(0, BLOCK)
            inside = at < cols
            value = tl.load(first + at, mask=inside).to(tl.float32) * by
            tl.store(first + at, value.to(grad.dtype.element_ty), mask=inside)


@triton.jit
def mean_of_rows(loss, target, mean, valid, rows, ignore_index, BLOCK: tl.constexpr):
    """One program. Every place adds up its own rows in order, and then the places are added up: the same bits always."""
    places = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, rows, BLOCK):
        at = begin + places
        inside = at < rows
        total += tl.load(loss + at, mask=inside, other=0.0)
        is_valid = tl.load(target + at, mask=inside, other=0) != ignore_index
        count += (inside & is_valid).to(tl.float32)
    all_rows = tl.sum(count, 0)
    tl.store(mean, tl.div_rn(tl.sum(total, 0), all_rows))
    tl.store(valid, all_rows)
