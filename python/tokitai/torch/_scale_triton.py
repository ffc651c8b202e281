"""The Triton kernel of _scale.py, in a file of its own, since Triton reads its source."""

# mypy: ignore-errors
# Triton has no type hints, takes no others than its own, and is not there in most places where types are checked.

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def scale_rows(grad, factor, cols, factor_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    by = tl.load(factor + row * factor_stride)
    if by != 1.0:
        first = grad + row.to(tl.int64) * cols
        for begin in range(0, cols, BLOCK):
            at = begin + tl.arange(0, BLOCK)
            inside = at < cols
            value = tl.load(first + at, mask=inside).to(tl.float32) * by
            tl.store(first + at, value.to(grad.dtype.element_ty), mask=inside)
