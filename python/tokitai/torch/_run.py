"""Ops on tensors, without gradients: contexts, cases that are made once, and one function for each call of the C
library.

Tensors given here are dense, of one device, and of types and shapes that fit; _functions.py sees to that.
"""

from __future__ import annotations

import ctypes
import struct
import threading
import weakref
from collections.abc import Callable
from typing import Any, Optional, Tuple, Union

import torch
from torch import Tensor

from .._library import Case, Context, Unavailable, contract, lib, make_case

DTYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
INDEX_DTYPES = {torch.int32: "i32", torch.int64: "i64"}

# An op, its element type, sizes, the type of its indices, its attributes as name and value in turn, and the device's
# number, -1 for the CPU.
Key = Tuple[str, torch.dtype, Tuple[int, ...], Optional[torch.dtype], Tuple[Union[str, float, int], ...], int]

# A program with ever new sizes shall not fill the memory with plans.
_MOST_PLANS = 4096
_get_num_threads = torch.get_num_threads
_cuda: Any = torch.cuda  # which has no type hints in older versions
_GPU = "hip" if getattr(torch.version, "hip", None) else "cuda"
# Products read 16 bytes at a time, and copy a tensor that is not so aligned into scratch memory of unknown size.
_PRODUCT_ALIGNMENT = 16
# Without gradient, xent's gradient goes to a piece of memory that serves for one group of rows after another.
_UNWANTED_GRADIENT_BYTES = 1 << 25


class Plan:
    """A case on a device as the C library takes it. It serves all calls of the same sizes, types and attributes."""

    __slots__ = ("__weakref__", "case", "key", "pack", "reference")

    def __init__(self, key: Key) -> None:
        op, dtype, sizes, index_dtype, attributes, _ = key
        self.key = key
        self.case: Case = make_case(
            op,
            DTYPES[dtype],
            sizes,
            index_dtype=INDEX_DTYPES[index_dtype] if index_dtype is not None else "i32",
            attributes={str(attributes[i]): attributes[i + 1] for i in range(0, len(attributes), 2)},
        )
        self.reference = ctypes.byref(self.case)
        # Writes the addresses of all tensors at once; another number of them is an error.
        self.pack = struct.Struct(f"{len(contract(op).params)}P").pack_into

    def run(self, *pointers: int) -> None:
        """Runs the case on tensors in contract order, by their addresses; 0 for one that is not there."""
        raise NotImplementedError


class _Worker:
    """A context and the array of addresses that its calls reuse."""

    def __init__(self, device: str) -> None:
        self.context = Context(device)
        self.pointer = self.context.pointer
        self.buffers = (ctypes.c_void_p * 8)()


_call: Any = None  # tk_run() for arguments that need no conversion; the first plan finds it


class _CpuWorker(_Worker):
    """The CPU's, one for each thread. The library's threads are as many as PyTorch's."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self.threads = 0

    def set_threads(self, threads: int) -> None:
        self.context.check(lib.tk_ctx_set_threads(self.pointer, threads))
        self.threads = threads


_thread = threading.local()


def _cpu() -> _CpuWorker:
    worker: Optional[_CpuWorker] = getattr(_thread, "cpu", None)
    if worker is None:
        worker = _thread.cpu = _CpuWorker()
    return worker


class _CpuPlan(Plan):
    __slots__ = ()

    def run(self, *pointers: int) -> None:
        try:
            worker: _CpuWorker = _thread.cpu
        except AttributeError:
            worker = _cpu()
        threads = _get_num_threads()
        if threads != worker.threads:
            worker.set_threads(threads)
        buffers = worker.buffers
        self.pack(buffers, 0, *pointers)
        status = _call(worker.pointer, self.reference, buffers)
        if status:
            worker.context.check(status)


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
        self.plans: "weakref.WeakSet[_GpuPlan]" = weakref.WeakSet()
        super().__init__(f"{_GPU}:{index}")

    def use_current_stream(self) -> None:
        stream = _current_stream(self.index)
        if stream != self.stream:
            self.context.set_stream(stream)
            self.stream = stream


class _GpuPlan(Plan):
    __slots__ = ("is_ready", "scratch_bytes", "worker")

    def __init__(self, key: Key, worker: _GpuWorker) -> None:
        super().__init__(key)
        self.worker, self.is_ready, self.scratch_bytes = worker, False, 0

    def run(self, *pointers: int) -> None:
        worker = self.worker
        with worker.lock:
            worker.use_current_stream()
            if not self.is_ready:
                self.make_ready()
            # Freed when this returns: what is allocated next on this stream may have it, and runs after this.
            scratch = self.hand_over_scratch() if self.scratch_bytes else None
            buffers = worker.buffers
            self.pack(buffers, 0, *pointers)
            status = _call(worker.pointer, self.reference, buffers)
            del scratch
            if status:
                worker.context.check(status)

    def hand_over_scratch(self) -> Tensor:
        worker = self.worker
        memory = torch.empty(self.scratch_bytes, dtype=torch.uint8, device=torch.device("cuda", worker.index))
        worker.context.check(lib.tk_ctx_set_scratch(worker.pointer, memory.data_ptr(), self.scratch_bytes))
        return memory

    def make_ready(self) -> None:
        """A case's first use. It loads kernels, which cannot be done while a graph is captured."""
        if _cuda.is_current_stream_capturing():
            raise Unavailable(
                f"tokitai.torch: {self.key[0]} of sizes {self.key[2]} runs for the first time while a CUDA graph is "
                "captured, when nothing can be loaded. Run the same code once before the capture begins"
            )
        worker, bytes_needed = self.worker, ctypes.c_size_t()
        worker.context.check(lib.tk_scratch_size(worker.pointer, self.reference, ctypes.byref(bytes_needed)))
        self.scratch_bytes = bytes_needed.value
        self.prepare()
        self.is_ready = True
        worker.plans.add(self)

    def prepare(self) -> None:
        scratch = self.hand_over_scratch() if self.scratch_bytes else None
        self.worker.context.check(lib.tk_prepare(self.worker.pointer, self.reference))
        del scratch


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


# Plans by the case, here; and by all that a call's checks look at, in _functions.py, which has checked it then.
plans: dict[Any, Any] = {}


def remember(key: Any, plan: Any) -> None:
    if key is None:
        return
    if len(plans) >= _MOST_PLANS:
        plans.clear()
    plans[key] = plan


def plan_of(
    op: str,
    tensor: Tensor,
    sizes: Tuple[int, ...],
    index_dtype: Optional[torch.dtype] = None,
    attributes: Tuple[Union[str, float, int], ...] = (),
) -> Plan:
    """The plan of a case with the type and the device of a tensor."""
    key = (op, tensor.dtype, sizes, index_dtype, attributes, tensor.get_device())
    plan: Optional[Plan] = plans.get(key)
    if plan is None:
        global _call
        if _call is None:
            _call = lib.without_conversion("tk_run")
        plan = _GpuPlan(key, _gpu(tensor.get_device())) if tensor.is_cuda else _CpuPlan(key)
        remember(key, plan)
    return plan


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
    with worker.lock:
        worker.use_current_stream()
        worker.context.synchronize()


def prepare_capture(device: Union[torch.device, str, int, None] = None) -> None:
    """Makes room for one more CUDA graph, for every case that has run on the device.

    The first use of a case makes room for sixty graphs that are alive at once. A program with more calls this before
    each capture.
    """
    worker = _gpu(_device_index(device))
    with worker.lock:
        for plan in worker.plans:
            plan.prepare()


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


def gelu_plan(x: Tensor) -> Plan:
    return plan_of("gelu_fwd", x, (x.numel(),))


def gelu(x: Tensor, plan: Optional[Plan] = None) -> Tensor:
    x = _dense(x)
    y = torch.empty_like(x)
    (plan or gelu_plan(x)).run(x.data_ptr(), y.data_ptr())
    return y


def gelu_grad(grad_output: Tensor, x: Tensor) -> Tensor:
    grad_output, x = _dense(grad_output), _dense(x)
    grad = torch.empty_like(x)
    plan_of("gelu_bwd", x, (x.numel(),)).run(grad_output.data_ptr(), x.data_ptr(), grad.data_ptr())
    return grad


def _rows(x: Tensor) -> Tuple[int, int]:
    """The rows of a tensor along its last axis, and their length; a tensor without axes is one row of one."""
    cols = x.shape[-1] if x.dim() else 1
    return (x.numel() // cols if cols else 0), cols


def softmax_plan(x: Tensor) -> Plan:
    return plan_of("softmax_fwd", x, _rows(x))


def softmax(x: Tensor, plan: Optional[Plan] = None) -> Tensor:
    x = _dense(x)
    y = torch.empty_like(x)
    (plan or softmax_plan(x)).run(x.data_ptr(), y.data_ptr())
    return y


def softmax_grad(grad_output: Tensor, y: Tensor) -> Tensor:
    grad_output, y = _dense(grad_output), _dense(y)
    grad = torch.empty_like(y)
    plan_of("softmax_bwd", y, _rows(y)).run(grad_output.data_ptr(), y.data_ptr(), grad.data_ptr())
    return grad


def cross_entropy_plan(
    logits: Tensor, target: Tensor, label_smoothing: float, scale: float, ignore_index: int, rows: Optional[int] = None
) -> Plan:
    """For all rows, or for `rows` of them."""
    options = ("label_smoothing", label_smoothing, "scale", scale, "ignore_index", ignore_index)
    return plan_of("xent", logits, (logits.shape[0] if rows is None else rows, logits.shape[1]), target.dtype, options)


def cross_entropy_rows(logits: Tensor, target: Tensor, plan: Plan) -> Tuple[Tensor, Tensor]:
    """The loss of each row, f32, and the gradient of their sum times the plan's scale."""
    logits, target = _dense(logits), _dense(target)
    loss = torch.empty(plan.key[2][0], dtype=torch.float32, device=logits.device)
    grad = torch.empty_like(logits)
    plan.run(logits.data_ptr(), target.data_ptr(), loss.data_ptr(), grad.data_ptr())
    return loss, grad


def unwanted_gradient_rows(logits: Tensor) -> int:
    """Of how many rows a gradient that nobody wants may be held."""
    return max(1, _UNWANTED_GRADIENT_BYTES // max(1, logits.shape[1] * logits.element_size()))


def cross_entropy_loss(logits: Tensor, target: Tensor, label_smoothing: float, ignore_index: int) -> Tensor:
    """The loss of each row without the memory of a gradient. The bits are those of cross_entropy_rows()."""
    rows, cols = logits.shape
    group = unwanted_gradient_rows(logits)
    whole = cross_entropy_plan(logits, target, label_smoothing, 1.0, ignore_index)
    if group >= rows:
        return cross_entropy_rows(logits, target, whole)[0]
    logits, target = _dense(logits), _dense(target)
    row_bytes = cols * logits.element_size()
    loss = torch.empty(rows, dtype=torch.float32, device=logits.device)
    unwanted = torch.empty((group, cols), dtype=logits.dtype, device=logits.device)
    for begin in range(0, rows, group):
        plan = cross_entropy_plan(logits, target, label_smoothing, 1.0, ignore_index, min(group, rows - begin))
        try:
            plan.run(
                logits.data_ptr() + begin * row_bytes,
                target.data_ptr() + begin * target.element_size(),
                loss.data_ptr() + begin * loss.element_size(),
                unwanted.data_ptr(),
            )
        except IndexError:
            if begin:  # the position that the message names shall be one of all rows
                cross_entropy_rows(logits, target, whole)
            raise
    return loss


def embedding_plan(weight: Tensor, index: Tensor) -> Plan:
    vocab, dim = weight.shape
    return plan_of("embedding_fwd", weight, (index.numel(), dim, vocab), index.dtype)


def embedding(weight: Tensor, index: Tensor, plan: Optional[Plan] = None) -> Tensor:
    weight, index = _dense(weight), _dense(index)
    out = torch.empty(*index.shape, weight.shape[1], dtype=weight.dtype, device=weight.device)
    (plan or embedding_plan(weight, index)).run(index.data_ptr(), weight.data_ptr(), out.data_ptr())
    return out


def embedding_grad(grad_output: Tensor, index: Tensor, vocab: int, padding_idx: Optional[int]) -> Tensor:
    grad_output, index = _dense(grad_output), _dense(index)
    dim = grad_output.shape[-1]
    grad = torch.empty(vocab, dim, dtype=grad_output.dtype, device=grad_output.device)
    plan = plan_of("embedding_bwd", grad, (index.numel(), dim, vocab), index.dtype)
    plan.run(grad_output.data_ptr(), index.data_ptr(), grad.data_ptr())
    if padding_idx is not None:
        grad[padding_idx].zero_()
    return grad


# By whether there is a bias, and whether gelu is taken.
_EPILOGUES = {
    (False, False): ("epilogue", "none"),
    (True, False): ("epilogue", "bias"),
    (False, True): ("epilogue", "gelu"),
    (True, True): ("epilogue", "bias_gelu"),
}


def linear_plan(x: Tensor, weight: Tensor, bias: Optional[Tensor], gelu_too: bool) -> Plan:
    outputs, inputs = weight.shape
    return plan_of("linear_fwd", x, (_product_rows(x), outputs, inputs), None, _EPILOGUES[bias is not None, gelu_too])


def linear(
    x: Tensor, weight: Tensor, bias: Optional[Tensor], gelu_too: bool, plan: Optional[Plan] = None
) -> Tuple[Tensor, Optional[Tensor]]:
    """The layer's output, and with gelu what gelu was taken of."""
    x, weight = _factor(x), _factor(weight)
    y = torch.empty(*x.shape[:-1], weight.shape[0], dtype=x.dtype, device=x.device)
    pre = torch.empty_like(y) if gelu_too else None
    if bias is not None:
        bias = _dense(bias)
    (plan or linear_plan(x, weight, bias, gelu_too)).run(
        x.data_ptr(),
        weight.data_ptr(),
        0 if bias is None else bias.data_ptr(),
        0,
        y.data_ptr(),
        0 if pre is None else pre.data_ptr(),
    )
    return y, pre


def _product_rows(x: Tensor) -> int:
    return x.shape[:-1].numel()


def linear_grad_x(grad_output: Tensor, weight: Tensor) -> Tensor:
    grad_output, weight = _factor(grad_output), _factor(weight)
    outputs, inputs = weight.shape
    grad = torch.empty(*grad_output.shape[:-1], inputs, dtype=weight.dtype, device=weight.device)
    plan = plan_of("linear_grad_x", weight, (_product_rows(grad), outputs, inputs), None, ("epilogue", "none"))
    plan.run(grad_output.data_ptr(), weight.data_ptr(), 0, grad.data_ptr())
    return grad


def linear_grad_weight(grad_output: Tensor, x: Tensor) -> Tensor:
    grad_output, x = _factor(grad_output), _factor(x)
    outputs, inputs = grad_output.shape[-1], x.shape[-1]
    grad = torch.empty(outputs, inputs, dtype=x.dtype, device=x.device)
    plan = plan_of("linear_grad_w", x, (_product_rows(x), outputs, inputs), None, ("accumulate", "no"))
    plan.run(grad_output.data_ptr(), x.data_ptr(), 0, grad.data_ptr())
    return grad


def linear_grad_bias(grad_output: Tensor) -> Tensor:
    """The sum of all rows, by PyTorch, added up in fp32 and rounded once."""
    rows = grad_output.reshape(_product_rows(grad_output), grad_output.shape[-1])
    return rows.sum(0, dtype=torch.float32).to(grad_output.dtype)
