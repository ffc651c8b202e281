"""What cross_entropy needs beyond the losses of rows and their gradient: a mean, and the second pass of backward, which
multiplies the gradient by a factor that is read where it lies.

On a GPU Triton kernels do both, each in one launch. That of the second pass reads the factor and ends at once where it
is 1, so that the host need not wait to know. Without Triton, and where its kernels would be slow, PyTorch's operations
do it, whatever the factor is.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Optional, Tuple, Union

import torch
from torch import Tensor

# Elements that a program of a kernel takes at a time.
_BLOCK = 2048
# One program adds up this many rows at most.
_MOST_ROWS = 1 << 16
_HERE = contextlib.nullcontext()


@functools.lru_cache(maxsize=None)
def kernels() -> Optional[Any]:
    """The module with the Triton kernels; None where there is no Triton, or one without rounded division."""
    try:
        from . import _loss_triton
    except ImportError:
        return None
    return _loss_triton if _loss_triton.HAS_ROUNDED_DIVISION else None


def _on_device(tensor: Tensor) -> Any:
    """Triton launches on the current device."""
    index = tensor.get_device()
    return _HERE if torch.cuda.current_device() == index else torch.cuda.device(index)


class Mean:
    """Means over the rows that are not ignored, whose losses are 0 otherwise; for one number of rows."""

    __slots__ = ("by_kernel", "ignore_index", "ignored", "rows", "rows_f32")

    def __init__(self, logits: Tensor, target: Tensor, ignore_index: int) -> None:
        self.rows, self.ignore_index = logits.shape[0], ignore_index
        self.by_kernel = logits.is_cuda and 0 < self.rows <= _MOST_ROWS and kernels() is not None
        # On a GPU only its type and device are of use: it may have been made while a graph was captured.
        self.rows_f32 = torch.full((), self.rows, dtype=torch.float32, device=logits.device)
        info = torch.iinfo(target.dtype)
        # None: no target can be that.
        self.ignored: Optional[Tensor] = None
        if info.min <= ignore_index <= info.max:
            self.ignored = torch.tensor(ignore_index, dtype=target.dtype)

    def __call__(self, loss: Tensor, target: Tensor) -> Tuple[Tensor, Union[Tensor, int]]:
        """The mean, and of how many rows it is."""
        if self.by_kernel and target.is_contiguous():
            with _on_device(loss):
                return self.launch(kernels(), loss, target)
        if not loss.is_cuda:
            count = self.count(target)
            return loss.sum().div_(self.rows_f32 if count == self.rows else count), count
        if self.ignored is None:
            valid = torch.full_like(self.rows_f32, self.rows)
        else:
            valid = torch.count_nonzero(torch.ne(target, self.ignored))
        return loss.sum().div_(valid), valid

    def count(self, target: Tensor) -> int:
        """On the CPU, where targets that are neither ignored nor in range have been refused."""
        # Nothing is below 0 but what is ignored, and to look for the least is half the work of counting.
        if self.ignored is None or (self.ignore_index < 0 < self.rows and target.min().item() >= 0):
            return self.rows
        return int(torch.count_nonzero(torch.ne(target, self.ignored)).item())

    def launch(self, run: Any, loss: Tensor, target: Tensor) -> Tuple[Tensor, Tensor]:
        # Two tensors: a view of one could not be changed in place (`loss /= 2`) after an autograd function.
        mean, valid = torch.empty_like(self.rows_f32), torch.empty_like(self.rows_f32)
        run.mean_of_rows[(1,)](loss, target, mean, valid, self.rows, self.ignore_index, BLOCK=_BLOCK)
        return mean, valid


# How many rows a mean is of, a number on the CPU; None: it is not a mean.
Valid = Union[Tensor, int, None]


def factor_of(grad_output: Tensor, expected: float, rows: int, valid: Valid) -> Tensor:
    """What a gradient that was made for `expected`, and a mean over `rows`, is multiplied by."""
    factor = grad_output.to(torch.float32)
    if expected != 1:
        factor = factor / expected
    if valid is not None:
        # In this order, so that the factor is exactly 1 where no row is ignored.
        factor = factor * rows / (max(valid, 1) if isinstance(valid, int) else valid.clamp(min=1))
    return factor


def launch_scale(run: Any, grad: Tensor, grad_output: Tensor, expected: float, rows: int, valid: Valid) -> None:
    """A program for each row. It multiplies in fp32 and rounds once."""
    count, cols = grad.shape
    stride = grad_output.stride(0) if grad_output.dim() else 0
    is_mean = valid is not None
    run.scale_rows[(count,)](
        grad,
        grad_output,
        valid if is_mean else grad_output,
        expected,
        rows,
        cols,
        stride,
        IS_MEAN=is_mean,
        BLOCK=_BLOCK,
    )


def scale_(grad: Tensor, grad_output: Tensor, expected: float = 1.0, rows: int = 1, valid: Valid = None) -> None:
    """Multiplies a dense gradient [rows, cols] by what factor_of() says: one number, or one for each row."""
    if not grad.numel():
        return
    if not grad.is_cuda:
        # Read here: no device has to be waited for.
        if grad_output.dim():
            is_expected = bool((grad_output == expected).all())
        else:
            is_expected = grad_output.item() == expected
        if is_expected and (valid is None or valid == rows):
            return
    elif grad.shape[1] >= _BLOCK // 2:
        run = kernels()
        if run is not None:
            with _on_device(grad):
                launch_scale(run, grad, grad_output, expected, rows, valid)
            return
    factor = factor_of(grad_output, expected, rows, valid)
    if not grad.is_cuda and not factor.dim() and _takes_numbers_as_they_are(grad.dtype):
        grad.mul_(factor.item())  # which is many times as fast
    else:
        grad.mul_(factor.reshape(-1, 1))


@functools.lru_cache(maxsize=None)
def _takes_numbers_as_they_are(dtype: torch.dtype) -> bool:
    """Whether a tensor on the CPU is multiplied by a number as it is; PyTorch 1.13 rounds it to the tensor's type."""
    some, factor = torch.arange(1, 256), torch.tensor(1 / 7)
    return torch.equal(some.to(dtype).mul_(factor.item()), (some.to(dtype).float() * factor).to(dtype))


def scaled(grad: Tensor, factor: Tensor) -> Tensor:
    """The gradient times a factor, f32, with the gradient left as it is."""
    # In one pass: the product would otherwise be f32, and be stored before it is rounded.
    result = torch.empty_like(grad)
    torch.mul(grad, factor.reshape(-1, 1), out=result)
    return result
