"""Ops on tensors, without gradients: contexts, cases that are made once, and one function for each call of the C
library.

Tensors given here are dense, of one device, and of types and shapes that fit; _functions.py sees to that.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, Optional, Tuple, Union

import torch
from torch import Tensor

from .._library import Case, Context, Unavailable, lib, make_case

DTYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
INDEX_DTYPES = {torch.int32: "i32", torch.int64: "i64"}

# An op, its element type, sizes, the type of its indices, and its attributes as name and value in turn.
Key = Tuple[str, torch.dtype, Tuple[int, ...], Optional[torch.dtype], Tuple[Union[str, float, int], ...]]

# A program with ever new sizes shall not fill the memory with cases.
_MOST_CASES = 4096
_cuda: Any = torch.cuda  # which has no type hints in older versions
_GPU = "hip" if getattr(torch.version, "hip", None) else "cuda"
# Products read 16 bytes at a time, and copy a tensor that is not so aligned into scratch memory of unknown size.
_PRODUCT_ALIGNMENT = 16
# Without gradient, xent's gradient goes to a piece of memory that serves for one group of rows after another.
_UNWANTED_GRADIENT_BYTES = 1 << 25


class _Prepared:
    """A case as the C library takes it, and the scratch memory that it needs."""

    __slots__ = ("case", "reference", "scratch_bytes")

    def __init__(self, case: Case) -> None:
        self.case = case
        self.reference = ctypes.byref(case)
        self.scratch_bytes = 0


class _Worker:
    """A context, its cases and the array of pointers that its calls reuse."""

    def __init__(self, device: str) -> None:
        self.context = Context(device)
        self.pointer = self.context.pointer
        self.cases: dict[Key, _Prepared] = {}
        self.buffers = (ctypes.c_void_p * 8)()
        self.call = lib.tk_run

    def new_case(self, key: Key) -> _Prepared:
        op, dtype, sizes, index_dtype, attributes = key
        prepared = _Prepared(
            make_case(
                op,
                DTYPES[dtype],
                sizes,
                index_dtype=INDEX_DTYPES[index_dtype] if index_dtype is not None else "i32",
                attributes={str(attributes[i]): attributes[i + 1] for i in range(0, len(attributes), 2)},
            )
        )
        if len(self.cases) >= _MOST_CASES:
            self.cases.clear()
        self.cases[key] = prepared
        return prepared


class _CpuWorker(_Worker):
    """The CPU's, one for each thread. The library's threads are as many as PyTorch's."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self.threads = 0

    def run(self, key: Key, pointers: Tuple[Optional[int], ...]) -> None:
        prepared = self.cases.get(key) or self.new_case(key)
        threads = torch.get_num_threads()
        if threads != self.threads:
            self.context.check(lib.tk_ctx_set_threads(self.pointer, threads))
            self.threads = threads
        buffers = self.buffers
        i = 0
        for pointer in pointers:
            buffers[i] = pointer
            i += 1
        status = self.call(self.pointer, prepared.reference, buffers)
        if status:
            self.context.check(status)


def _public_stream(device: int) -> int:
    stream: int = torch.cuda.current_stream(device).cuda_stream
    return stream


# The public way makes an object for each call.
_current_stream: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _public_stream)


class _GpuWorker(_Worker):
    """A GPU's, for all threads: autograd runs backward in a thread of its own, on the stream of the forward pass.

    Scratch memory comes from PyTorch's allocator, call by call, on the current stream. So calls on several streams do
    not share any, and a captured graph keeps its own in its pool.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.lock = threading.Lock()
        self.stream = 0
        super().__init__(f"{_GPU}:{index}")

    def run(self, key: Key, pointers: Tuple[Optional[int], ...]) -> None:
        stream = _current_stream(self.index)
        with self.lock:
            if stream != self.stream:
                self.context.set_stream(stream)
                self.stream = stream
            prepared = self.cases.get(key)
            if prepared is None:
                prepared = self.first(key)
            # Freed when this returns: what is allocated next on this stream may have it, and runs after this.
            scratch = self.hand_over_scratch(prepared) if prepared.scratch_bytes else None
            buffers = self.buffers
            i = 0
            for pointer in pointers:
                buffers[i] = pointer
                i += 1
            status = self.call(self.pointer, prepared.reference, buffers)
            del scratch
            if status:
                self.context.check(status)

    def hand_over_scratch(self, prepared: _Prepared) -> Tensor:
        memory = torch.empty(prepared.scratch_bytes, dtype=torch.uint8, device=torch.device("cuda", self.index))
        self.context.check(lib.tk_ctx_set_scratch(self.pointer, memory.data_ptr(), prepared.scratch_bytes))
        return memory

    def first(self, key: Key) -> _Prepared:
        """A case's first use. It loads kernels, which cannot be done while a graph is captured."""
        if _cuda.is_current_stream_capturing():
            raise Unavailable(
                f"tokitai.torch: {key[0]} of sizes {key[2]} runs for the first time while a CUDA graph is captured, "
                "when nothing can be loaded. Run the same code once before the capture begins"
            )
        prepared = self.new_case(key)
        try:
            bytes_needed = ctypes.c_size_t()
            self.context.check(lib.tk_scratch_size(self.pointer, prepared.reference, ctypes.byref(bytes_needed)))
            prepared.scratch_bytes = bytes_needed.value
            self.prepare(prepared)
        except Exception:
            del self.cases[key]
            raise
        return prepared

    def prepare(self, prepared: _Prepared) -> None:
        scratch = self.hand_over_scratch(prepared) if prepared.scratch_bytes else None
        self.context.check(lib.tk_prepare(self.pointer, prepared.reference))
        del scratch


_thread = threading.local()
_gpus: dict[int, _GpuWorker] = {}
_gpus_lock = threading.Lock()


def _gpu(index: int) -> _GpuWorker:
    worker = _gpus.get(index)
    if worker is None:
        with _gpus_lock:
            worker = _gpus.get(index)
            if worker is None:
                _cuda.init()
                worker = _gpus[index] = _GpuWorker(index)
    return worker


def _cpu() -> _CpuWorker:
    worker: Optional[_CpuWorker] = getattr(_thread, "cpu", None)
    if worker is None:
        worker = _thread.cpu = _CpuWorker()
    return worker


def _run(tensor: Tensor, key: Key, *pointers: Optional[int]) -> None:
    worker: Union[_GpuWorker, _CpuWorker] = _gpu(tensor.get_device()) if tensor.is_cuda else _cpu()
    worker.run(key, pointers)


def _device_index(device: Any) -> int:
    index: int = _cuda._utils._get_device_index(device, optional=True)
    return index


def synchronize(device: Union[torch.device, str, int, None] = None) -> None:
    """Waits for the current stream of a GPU, and raises IndexError if an index or target was out of range.

    A call on a GPU returns before its indices are read, so it cannot raise this itself. The rows of such an index were
    not written: what they hold is undefined. On the CPU the call itself raises, and there is nothing to wait for.
    """
    if device is None and not _cuda.is_available():
        return
    if device is not None and not isinstance(device, int) and torch.device(device).type == "cpu":
        return
    worker = _gpu(_device_index(device))
    stream = _current_stream(worker.index)
    with worker.lock:
        if stream != worker.stream:
            worker.context.set_stream(stream)
            worker.stream = stream
        worker.context.synchronize()


def prepare_capture(device: Union[torch.device, str, int, None] = None) -> None:
    """Makes room for one more CUDA graph, for every case that has run on the device.

    The first use of a case makes room for sixty graphs that are alive at once. A program with more calls this before
    each capture.
    """
    worker = _gpu(_device_index(device))
    with worker.lock:
        for prepared in worker.cases.values():
            worker.prepare(prepared)


# --- one function for each op --------------------------------------------------------------------------------------


def _dense(tensor: Tensor) -> Tensor:
    if tensor.is_neg():  # its memory has the values before a negation that PyTorch puts off
        tensor = tensor.resolve_neg()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _factor(tensor: Tensor) -> Tensor:
    """A factor of a product: dense, and on a GPU aligned."""
    tensor = _dense(tensor)
    if tensor.is_cuda and tensor.data_ptr() % _PRODUCT_ALIGNMENT:
        tensor = tensor.clone()
    return tensor


def gelu(x: Tensor) -> Tensor:
    x = _dense(x)
    y = torch.empty_like(x)
    _run(x, ("gelu_fwd", x.dtype, (x.numel(),), None, ()), x.data_ptr(), y.data_ptr())
    return y


def gelu_grad(grad_output: Tensor, x: Tensor) -> Tensor:
    grad_output, x = _dense(grad_output), _dense(x)
    grad = torch.empty_like(x)
    key: Key = ("gelu_bwd", x.dtype, (x.numel(),), None, ())
    _run(x, key, grad_output.data_ptr(), x.data_ptr(), grad.data_ptr())
    return grad


def _rows(x: Tensor) -> Tuple[int, int]:
    """The rows of a tensor along its last axis, and their length; a tensor without axes is one row of one."""
    cols = x.shape[-1] if x.dim() else 1
    return (x.numel() // cols if cols else 0), cols


def softmax(x: Tensor) -> Tensor:
    x = _dense(x)
    y = torch.empty_like(x)
    _run(x, ("softmax_fwd", x.dtype, _rows(x), None, ()), x.data_ptr(), y.data_ptr())
    return y


def softmax_grad(grad_output: Tensor, y: Tensor) -> Tensor:
    grad_output, y = _dense(grad_output), _dense(y)
    grad = torch.empty_like(y)
    _run(y, ("softmax_bwd", y.dtype, _rows(y), None, ()), grad_output.data_ptr(), y.data_ptr(), grad.data_ptr())
    return grad


def cross_entropy_rows(
    logits: Tensor, target: Tensor, label_smoothing: float, scale: float, ignore_index: int
) -> Tuple[Tensor, Tensor]:
    """The loss of each row, f32, and the gradient of their sum times `scale`."""
    logits, target = _dense(logits), _dense(target)
    rows, cols = logits.shape
    loss = torch.empty(rows, dtype=torch.float32, device=logits.device)
    grad = torch.empty_like(logits)
    options = ("label_smoothing", label_smoothing, "scale", scale, "ignore_index", ignore_index)
    key: Key = ("xent", logits.dtype, (rows, cols), target.dtype, options)
    _run(logits, key, logits.data_ptr(), target.data_ptr(), loss.data_ptr(), grad.data_ptr())
    return loss, grad


def cross_entropy_loss(logits: Tensor, target: Tensor, label_smoothing: float, ignore_index: int) -> Tensor:
    """The loss of each row without the memory of a gradient. The bits are those of cross_entropy_rows()."""
    logits, target = _dense(logits), _dense(target)
    rows, cols = logits.shape
    row_bytes = cols * logits.element_size()
    group = max(1, _UNWANTED_GRADIENT_BYTES // max(1, row_bytes))
    if group >= rows:
        return cross_entropy_rows(logits, target, label_smoothing, 1.0, ignore_index)[0]
    loss = torch.empty(rows, dtype=torch.float32, device=logits.device)
    unwanted = torch.empty((group, cols), dtype=logits.dtype, device=logits.device)
    options = ("label_smoothing", label_smoothing, "scale", 1.0, "ignore_index", ignore_index)
    for begin in range(0, rows, group):
        count = min(group, rows - begin)
        key: Key = ("xent", logits.dtype, (count, cols), target.dtype, options)
        try:
            _run(
                logits,
                key,
                logits.data_ptr() + begin * row_bytes,
                target.data_ptr() + begin * target.element_size(),
                loss.data_ptr() + begin * loss.element_size(),
                unwanted.data_ptr(),
            )
        except IndexError:
            if begin:  # the position that the message names shall be one of all rows
                cross_entropy_rows(logits, target, label_smoothing, 1.0, ignore_index)
            raise
    return loss


def embedding(weight: Tensor, index: Tensor) -> Tensor:
    weight, index = _dense(weight), _dense(index)
    vocab, dim = weight.shape
    out = torch.empty((*index.shape, dim), dtype=weight.dtype, device=weight.device)
    key: Key = ("embedding_fwd", weight.dtype, (index.numel(), dim, vocab), index.dtype, ())
    _run(weight, key, index.data_ptr(), weight.data_ptr(), out.data_ptr())
    return out


def embedding_grad(grad_output: Tensor, index: Tensor, vocab: int, padding_idx: Optional[int]) -> Tensor:
    grad_output, index = _dense(grad_output), _dense(index)
    dim = grad_output.shape[-1]
    grad = torch.empty((vocab, dim), dtype=grad_output.dtype, device=grad_output.device)
    key: Key = ("embedding_bwd", grad.dtype, (index.numel(), dim, vocab), index.dtype, ())
    _run(grad, key, grad_output.data_ptr(), index.data_ptr(), grad.data_ptr())
    if padding_idx is not None:
        grad[padding_idx].zero_()
    return grad


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor], gelu_too: bool) -> Tuple[Tensor, Optional[Tensor]]:
    """The layer's output, and with gelu what gelu was taken of."""
    x, weight = _factor(x), _factor(weight)
    outputs, inputs = weight.shape
    rows = _product_rows(x)
    y = torch.empty((*x.shape[:-1], outputs), dtype=x.dtype, device=x.device)
    pre = torch.empty_like(y) if gelu_too else None
    if bias is None:
        epilogue = "gelu" if gelu_too else "none"
    else:
        bias = _dense(bias)
        epilogue = "bias_gelu" if gelu_too else "bias"
    _run(
        x,
        ("linear_fwd", x.dtype, (rows, outputs, inputs), None, ("epilogue", epilogue)),
        x.data_ptr(),
        weight.data_ptr(),
        None if bias is None else bias.data_ptr(),
        None,
        y.data_ptr(),
        None if pre is None else pre.data_ptr(),
    )
    return y, pre


def _product_rows(x: Tensor) -> int:
    return x.shape[:-1].numel()


def linear_grad_x(grad_output: Tensor, weight: Tensor) -> Tensor:
    grad_output, weight = _factor(grad_output), _factor(weight)
    outputs, inputs = weight.shape
    grad = torch.empty((*grad_output.shape[:-1], inputs), dtype=weight.dtype, device=weight.device)
    key: Key = ("linear_grad_x", weight.dtype, (_product_rows(grad), outputs, inputs), None, ("epilogue", "none"))
    _run(weight, key, grad_output.data_ptr(), weight.data_ptr(), None, grad.data_ptr())
    return grad


def linear_grad_weight(grad_output: Tensor, x: Tensor) -> Tensor:
    grad_output, x = _factor(grad_output), _factor(x)
    outputs, inputs = grad_output.shape[-1], x.shape[-1]
    grad = torch.empty((outputs, inputs), dtype=x.dtype, device=x.device)
    key: Key = ("linear_grad_w", x.dtype, (_product_rows(x), outputs, inputs), None, ("accumulate", "no"))
    _run(x, key, grad_output.data_ptr(), x.data_ptr(), None, grad.data_ptr())
    return grad


def linear_grad_bias(grad_output: Tensor) -> Tensor:
    """The sum of all rows, by PyTorch, added up in fp32 and rounded once."""
    rows = grad_output.reshape(_product_rows(grad_output), grad_output.shape[-1])
    return rows.sum(0, dtype=torch.float32).to(grad_output.dtype)
