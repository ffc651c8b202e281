"""gelu, softmax, cross_entropy, embedding and linear: what they take, and which way a call goes.

Plain tensors outside of any tracing go straight to the C library, or to an autograd function where a gradient is
wanted. All else (torch.compile, export, functorch, tensors of other classes) goes through custom ops, where PyTorch has
them.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple, cast

import torch
from torch import Tensor

from . import _eager, _run

HAS_CUSTOM_OPS = hasattr(torch.library, "custom_op")
if HAS_CUSTOM_OPS:
    from . import _custom

_torch: Any = torch  # whose type hints may be of another version
_forward_ad: Any = _torch.autograd.forward_ad
REDUCTIONS = ("mean", "sum", "none")

_is_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
_is_tracing: Callable[[], bool] = _torch._C._is_tracing
_dispatch_modes: Callable[[], int] = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
_dispatch_mode = getattr(torch._C, "_get_torch_dispatch_mode", lambda: None)  # of versions without a stack of them
_function_transforms: Callable[[], bool] = getattr(torch._C, "_are_functorch_transforms_active", lambda: False)
_is_grad_enabled = torch.is_grad_enabled
_PLAIN = (Tensor, torch.nn.Parameter)
_STRIDED = torch.strided
_PLACES = ("cpu", "meta") if HAS_CUSTOM_OPS else ("cpu",)
_plans = _run.plans


def _is_plain(*tensors: Optional[Tensor]) -> bool:
    """Whether nobody but autograd is to see the call."""
    if not HAS_CUSTOM_OPS:
        if _is_tracing() or _dispatch_mode() is not None:
            raise NotImplementedError(
                "tokitai.torch: a trace (torch.jit.trace, make_fx, fake tensors) would lack the op, and have memory that "
                "was never written in its place. PyTorch 2.4 or later is needed for that"
            )
        return True
    if _is_compiling() or _dispatch_modes() or _is_tracing() or _function_transforms():
        return False
    for tensor in tensors:
        if tensor is not None and (type(tensor) not in _PLAIN or tensor.is_meta):
            return False
    return True


def _wants_gradient(*tensors: Optional[Tensor]) -> bool:
    # An autograd function refuses tensors with tangents; the C library would drop these without a word.
    if getattr(_forward_ad, "_current_level", -1) >= 0:
        return True
    if _is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return True
    return False


# --- what is taken -------------------------------------------------------------------------------------------------


def _is_usual(tensor: Any, dtypes: Any) -> bool:
    """Whether a tensor is such as nearly all are; only the others are looked at more closely."""
    return (
        type(tensor) in _PLAIN
        and tensor.dtype in dtypes
        and tensor.layout is torch.strided
        and (tensor.is_cuda or tensor.is_cpu)
    )


def _check_values(op: str, name: str, tensor: Tensor) -> None:
    if _is_usual(tensor, _run.DTYPES):
        return
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tokitai.torch.{op}: {name} is a {type(tensor).__name__}, not a tensor")
    if tensor.dtype not in _run.DTYPES:
        raise TypeError(f"tokitai.torch.{op}: {name} is {tensor.dtype}; it must be float16, bfloat16 or float32")
    _check_place(op, name, tensor)


def _check_place(op: str, name: str, tensor: Tensor) -> None:
    if tensor.layout != torch.strided:
        raise TypeError(f"tokitai.torch.{op}: {name} has the layout {tensor.layout}; it must be dense")
    if not tensor.is_cuda and tensor.device.type not in _PLACES:
        raise TypeError(
            f"tokitai.torch.{op}: {name} is on {tensor.device}; it must be on the CPU or on a CUDA device"
        )


def _check_index(op: str, name: str, tensor: Tensor) -> None:
    if _is_usual(tensor, _run.INDEX_DTYPES):
        return
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tokitai.torch.{op}: {name} is a {type(tensor).__name__}, not a tensor")
    if tensor.dtype not in _run.INDEX_DTYPES:
        raise TypeError(f"tokitai.torch.{op}: {name} is {tensor.dtype}; it must be int32 or int64")
    _check_place(op, name, tensor)


def _check_same(op: str, first_name: str, first: Tensor, name: str, tensor: Tensor, types_too: bool = True) -> None:
    if tensor.get_device() != first.get_device() or tensor.is_meta != first.is_meta:
        raise ValueError(f"tokitai.torch.{op}: {first_name} is on {first.device} and {name} on {tensor.device}")
    if types_too and tensor.dtype != first.dtype:
        raise TypeError(f"tokitai.torch.{op}: {first_name} is {first.dtype} and {name} {tensor.dtype}; they must agree")


# --- autocast ------------------------------------------------------------------------------------------------------

_any_autocast: Callable[[], bool] = getattr(
    torch._C,
    "_is_any_autocast_enabled",
    lambda: bool(_torch.is_autocast_enabled() or _torch.is_autocast_cpu_enabled()),
)


def _autocast_dtype(tensor: Tensor) -> Optional[torch.dtype]:
    """The type that autocast wants on the tensor's device; None outside of it."""
    result: Optional[torch.dtype] = None
    if HAS_CUSTOM_OPS:
        kind = "cuda" if tensor.is_cuda else "cpu"
        result = _torch.get_autocast_dtype(kind) if _torch.is_autocast_enabled(kind) else None
    elif tensor.is_cuda:
        result = _torch.get_autocast_gpu_dtype() if _torch.is_autocast_enabled() else None
    elif _torch.is_autocast_cpu_enabled():
        result = _torch.get_autocast_cpu_dtype()
    return result


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """As autocast does: double stays what it is, and is refused afterwards."""
    return tensor if tensor.dtype == dtype or tensor.dtype not in _run.DTYPES else tensor.to(dtype)


# --- the ops -------------------------------------------------------------------------------------------------------
#
# Each looks first for the plan of an earlier call of the same kind: its key has all that the checks look at, so nothing
# is checked again. Only plain tensors outside of any tracing get that far.


def gelu(x: Tensor) -> Tensor:
    """GELU in its tanh form: torch.nn.functional.gelu(x, approximate="tanh")."""
    key = plan = None
    if type(x) in _PLAIN and x.layout is _STRIDED and _is_plain():
        key = ("gelu", x.dtype, x.shape, x.device)
        plan = _plans.get(key)
    if plan is None:
        _check_values("gelu", "x", x)
        if not _is_plain(x):
            return cast(Tensor, _custom.gelu(x))
        plan = _run.gelu_plan(x)
        _run.remember(key, plan)
    if _wants_gradient(x):
        return cast(Tensor, _eager.Gelu.apply(x if x.is_contiguous() else x.contiguous(), plan))
    return _run.gelu(x, plan)


def softmax(x: Tensor, dim: int = -1, dtype: Optional[torch.dtype] = None) -> Tensor:
    """Softmax along an axis: torch.nn.functional.softmax(x, dim, dtype=dtype). An axis that is not the last one costs
    copies.

    In a GPU's autocast it is computed and returned in float32, as PyTorch's is.
    """
    key = plan = None
    if dim == -1 and dtype is None and type(x) in _PLAIN and x.layout is _STRIDED and _is_plain():
        if not (x.is_cuda and _any_autocast()):
            key = ("softmax", x.dtype, x.shape, x.device)
            plan = _plans.get(key)
    last = True
    if plan is None:
        if dtype is None and isinstance(x, Tensor) and x.is_cuda and _autocast_dtype(x) is not None:
            dtype = torch.float32
        if dtype is not None and isinstance(x, Tensor):
            x = x.to(dtype)
        _check_values("softmax", "x", x)
        axes = max(x.dim(), 1)
        if not -axes <= dim < axes:
            raise IndexError(f"tokitai.torch.softmax: dim {dim} is out of range for a tensor with {x.dim()} axes")
        last = dim in (-1, axes - 1)
        if not last:
            x = x.transpose(dim, -1)
        if not _is_plain(x):
            y = cast(Tensor, _custom.softmax(x))
            return y if last else y.transpose(dim, -1)
        plan = _run.softmax_plan(x)
        _run.remember(key, plan)
    if _wants_gradient(x):
        y = cast(Tensor, _eager.Softmax.apply(x if x.is_contiguous() else x.contiguous(), plan))
    else:
        y = _run.softmax(x, plan)
    return y if last else y.transpose(dim, -1)


def embedding(index: Tensor, weight: Tensor, padding_idx: Optional[int] = None) -> Tensor:
    """Rows of a table: torch.nn.functional.embedding(index, weight, padding_idx).

    The row `padding_idx` gets no gradient. The gradient is dense, and its sums have a fixed order: the same bits every
    time. On the CPU an index out of range raises IndexError; on a GPU synchronize() does.
    """
    key = plan = None
    if (
        type(index) in _PLAIN
        and type(weight) in _PLAIN
        and (padding_idx is None or type(padding_idx) is int)
        and index.layout is _STRIDED
        and weight.layout is _STRIDED
        and _is_plain()
    ):
        key = (
            "embedding", index.dtype, index.shape, index.device, weight.dtype, weight.shape, weight.device, padding_idx
        )  # fmt: skip
        plan = _plans.get(key)
    if plan is None:
        _check_index("embedding", "index", index)
        _check_values("embedding", "weight", weight)
        _check_same("embedding", "weight", weight, "index", index, types_too=False)
        if weight.dim() != 2:
            raise ValueError(f"tokitai.torch.embedding: weight has {weight.dim()} axes, not 2")
        if padding_idx is not None:
            vocab = weight.shape[0]
            if not -vocab <= padding_idx < vocab:
                raise ValueError(f"tokitai.torch.embedding: padding_idx {padding_idx} is out of range; weight has {vocab} rows")
        if not _is_plain(weight, index):
            return cast(Tensor, _custom.embedding(weight, index, _from_start(padding_idx, weight)))
        plan = _run.embedding_plan(weight, index)
        _run.remember(key, plan)
    if _wants_gradient(weight):
        return cast(Tensor, _eager.Embedding.apply(weight, index, _from_start(padding_idx, weight), plan))
    return _run.embedding(weight, index, plan)


def _from_start(padding_idx: Optional[int], weight: Tensor) -> Optional[int]:
    return padding_idx if padding_idx is None or padding_idx >= 0 else padding_idx + weight.shape[0]


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, *, activation: Optional[str] = None) -> Tensor:
    """x weight^T + bias: torch.nn.functional.linear(x, weight, bias), and with activation="gelu" gelu (tanh form) of
    it.

    GELU is taken of the sum before it is rounded, in the same kernel. In autocast all tensors are cast to its type.
    """
    key = plan = None
    if (
        type(x) in _PLAIN
        and type(weight) in _PLAIN
        and x.layout is _STRIDED
        and weight.layout is _STRIDED
        and (bias is None or (type(bias) in _PLAIN and bias.layout is _STRIDED))
        and _is_plain()
        and not _any_autocast()
    ):
        key = (
            ("linear", x.dtype, x.shape, x.device, weight.dtype, weight.shape, weight.device, activation)
            + (() if bias is None else (bias.dtype, bias.shape, bias.device))
        )  # fmt: skip
        plan = _plans.get(key)
    gelu_too = activation is not None
    if plan is None:
        x, weight, bias = _check_linear(x, weight, bias, activation)
        if not _is_plain(x, weight, bias):
            if gelu_too:
                return cast(Tensor, _custom.linear_gelu(x, weight, bias)[0])
            return cast(Tensor, _custom.linear(x, weight, bias))
        plan = _run.linear_plan(x, weight, bias, gelu_too)
        _run.remember(key, plan)
    if _wants_gradient(x, weight, bias):
        return cast(Tensor, _eager.Linear.apply(x, weight, bias, gelu_too, plan))
    return _run.linear(x, weight, bias, gelu_too, plan)[0]


def _check_linear(
    x: Tensor, weight: Tensor, bias: Optional[Tensor], activation: Optional[str]
) -> Tuple[Tensor, Tensor, Optional[Tensor]]:
    """The tensors, in autocast's type."""
    if activation not in (None, "gelu"):
        raise ValueError(f'tokitai.torch.linear: activation must be None or "gelu", not {activation!r}')
    if isinstance(x, Tensor):
        low = _autocast_dtype(x)
        if low is not None:
            x, weight = _cast(x, low), _cast(weight, low)
            bias = None if bias is None else _cast(bias, low)
    _check_values("linear", "x", x)
    _check_values("linear", "weight", weight)
    _check_same("linear", "x", x, "weight", weight)
    if weight.dim() != 2:
        raise ValueError(f"tokitai.torch.linear: weight has {weight.dim()} axes, not 2")
    if not x.dim() or x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"tokitai.torch.linear: x of shape {tuple(x.shape)} does not fit a weight of shape {tuple(weight.shape)}"
        )
    if bias is not None:
        _check_values("linear", "bias", bias)
        _check_same("linear", "x", x, "bias", bias)
        if bias.dim() != 1 or bias.shape[0] != weight.shape[0]:
            raise ValueError(
                f"tokitai.torch.linear: bias of shape {tuple(bias.shape)} does not fit a weight of shape "
                f"{tuple(weight.shape)}"
            )
    return x, weight, bias


def cross_entropy(
    logits: Tensor,
    target: Tensor,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    expected_grad: Optional[float] = None,
    repeatable: bool = False,
    graph_break: bool = False,
) -> Tensor:
    """The loss of logits for class indices: torch.nn.functional.cross_entropy() without weights of classes.

    logits are [rows, classes], [classes], or [rows, classes, ...] as PyTorch takes them, which costs a copy; target has
    their shape without the axis of classes. The loss is float32, for 16-bit logits too.

    The gradient is made in the forward pass. backward() reads grad_output on the device, and is done where it is what
    was expected; otherwise it multiplies the gradient in a second pass, which rounds 16-bit gradients a second time.
    Expected is a grad_output of `expected_grad`, by default 1. With fp16 logits and reduction="mean" the default is a
    second pass in any case: the gradient is divided by the number of rows there, after it was multiplied by a loss
    scale, so that small gradients do not vanish before. Whoever wants to save that pass gives the loss scale as
    expected_grad.

    repeatable: backward() may be called again (retain_graph=True); each call then makes a copy.
    graph_break: torch.compile leaves the call out of its graph. Within a graph backward makes the gradient, from the
    logits, since a graph may not hand on what it has kept.
    """
    # Numbers, so that no tensor gets into a plan, whose value may change.
    ignore_index, label_smoothing = int(ignore_index), float(label_smoothing)
    if expected_grad is not None:
        expected_grad = float(expected_grad)
    options = (label_smoothing, ignore_index, reduction, expected_grad)
    if (
        type(logits) in _PLAIN
        and type(target) in _PLAIN
        and logits.layout is _STRIDED
        and target.layout is _STRIDED
        and _is_plain()
    ):
        gradient = _wants_gradient(logits)
        plan = _plans.get(_eager.cross_entropy_key(logits, target, options, gradient))
        if plan is not None:
            return _plain_cross_entropy(logits, target, plan, gradient, repeatable)
    shape = _check_cross_entropy(logits, target, reduction, label_smoothing, expected_grad)
    usual = logits.dim() == 2
    if not usual:
        axis = min(logits.dim() - 1, 1)
        logits, target = logits.movedim(axis, -1).reshape(-1, logits.shape[axis]), target.reshape(-1)
    if _is_plain(logits, target):
        loss = _call_outside_graph(logits, target, options, repeatable)
    elif graph_break:
        loss = _outside_graph(logits, target, options, repeatable)
    else:
        loss = cast(Tensor, _custom.cross_entropy(logits, target, *options)[0])
    return loss if usual or reduction != "none" else loss.reshape(shape)


def _check_cross_entropy(
    logits: Tensor, target: Tensor, reduction: str, label_smoothing: float, expected_grad: Optional[float]
) -> Tuple[int, ...]:
    """The shape of the losses."""
    _check_values("cross_entropy", "logits", logits)
    _check_index("cross_entropy", "target", target)
    _check_same("cross_entropy", "logits", logits, "target", target, types_too=False)
    if reduction not in REDUCTIONS:
        raise ValueError(
            f"tokitai.torch.cross_entropy: reduction must be one of {', '.join(REDUCTIONS)}, not {reduction!r}"
        )
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f"tokitai.torch.cross_entropy: label_smoothing must be from 0 to 1, not {label_smoothing}"
        )
    if expected_grad is not None and not (expected_grad != 0 and abs(expected_grad) < float("inf")):
        raise ValueError(f"tokitai.torch.cross_entropy: expected_grad must be finite and not 0, not {expected_grad}")
    if not logits.dim():
        raise ValueError("tokitai.torch.cross_entropy: logits have no axis of classes")
    axis = 0 if logits.dim() == 1 else 1
    shape = logits.shape[:axis] + logits.shape[axis + 1 :]
    if target.shape != shape:
        raise ValueError(
            f"tokitai.torch.cross_entropy: target of shape {tuple(target.shape)} does not fit logits of shape "
            f"{tuple(logits.shape)}; expected is {tuple(shape)}"
        )
    return shape


def _plain_cross_entropy(
    logits: Tensor, target: Tensor, plan: _eager.CrossEntropyPlan, gradient: bool, repeatable: bool
) -> Tensor:
    """Of logits [rows, classes]."""
    if not gradient:
        return plan.loss_alone(logits, target)[0]
    if not logits.is_contiguous():
        logits = logits.contiguous()
    result: Tensor = _eager.CrossEntropy.apply(logits, target, plan, repeatable)
    return result


def _call_outside_graph(logits: Tensor, target: Tensor, options: _eager.Options, repeatable: bool) -> Tensor:
    gradient = _wants_gradient(logits)
    plan = _eager.cross_entropy_plan(logits, target, options, gradient)
    return _plain_cross_entropy(logits, target, plan, gradient, repeatable)


_outside_graph: Callable[..., Tensor] = _call_outside_graph
if HAS_CUSTOM_OPS:
    _outside_graph = cast(Any, _torch.compiler.disable(_call_outside_graph))
