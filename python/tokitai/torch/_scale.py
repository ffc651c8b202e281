"""The second pass of cross_entropy's backward: a gradient times a factor, which is read where it lies.

On a GPU a Triton kernel reads the factor and ends at once where it is 1, so that the host need not wait to know.
Without Triton, and for short rows, PyTorch multiplies, whatever the factor is.
"""

from __future__ import annotations

import functools
from typing import Any, Optional

import torch
from torch import Tensor

# Elements that a program of the kernel takes at a time.
_BLOCK = 2048


@functools.lru_cache(maxsize=None)
def kernel() -> Optional[Any]:
    """The Triton kernel; None where there is no Triton."""
    try:
        from . import _scale_triton
    except ImportError:
        return None
    return _scale_triton.scale_rows


def launch(run: Any, grad: Tensor, factor: Tensor) -> None:
    """The kernel, a program for each row. It multiplies in fp32 and rounds once."""
    rows, cols = grad.shape
    run[(rows,)](grad, factor, cols, factor.stride(0) if factor.dim() else 0, BLOCK=_BLOCK)


def scale_(grad: Tensor, factor: Tensor) -> None:
    """Multiplies a dense gradient [rows, cols] by a factor, f32: one number, or one for each row."""
    rows, cols = grad.shape
    if not grad.numel():
        return
    if not grad.is_cuda:
        if bool((factor == 1).all()):
            return
    elif cols >= _BLOCK // 2:
        run = kernel()
        if run is not None:
            with torch.cuda.device(grad.device):
                launch(run, grad, factor)
            return
    # A factor without axes would be rounded to the gradient's type first.
    grad.mul_(factor.reshape(-1, 1))


def scaled(grad: Tensor, factor: Tensor) -> Tensor:
    """The same, with the gradient left as it is."""
    # In one pass: the product would otherwise be f32, and be stored before it is rounded.
    result = torch.empty_like(grad)
    torch.mul(grad, factor.reshape(-1, 1), out=result)
    return result
