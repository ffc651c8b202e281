"""PyTorch's own functions for the ops, called as certify() and bench() call a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _functions() -> dict[str, Callable[..., Any]]:
    torch = __import__("torch")
    functional = torch.nn.functional
    aten = torch.ops.aten

    def xent(logits: Any, target: Any, *, label_smoothing: float, scale: float, ignore_index: int) -> Any:
        x = logits.detach().requires_grad_()
        loss = functional.cross_entropy(
            x, target.long(), reduction="none", ignore_index=ignore_index, label_smoothing=label_smoothing
        )
        (grad,) = torch.autograd.grad(loss, x, torch.full_like(loss, scale))
        return loss.detach().float(), grad

    def embedding_bwd(grad_output: Any, index: Any, *, vocab: int) -> Any:
        return aten.embedding_dense_backward(grad_output, index, vocab, -1, False)

    return {
        "gelu_fwd": lambda x: functional.gelu(x, approximate="tanh"),
        "gelu_bwd": lambda grad_output, x: aten.gelu_backward(grad_output, x, approximate="tanh"),
        "softmax_fwd": lambda x: torch.softmax(x, 1),
        "softmax_bwd": lambda grad_output, y: aten._softmax_backward_data(grad_output, y, 1, y.dtype),
        "xent": xent,
        "gemm": lambda a, b: a @ b,
        "gemm_grad_a": lambda grad, b: grad @ b.t(),
        "gemm_grad_b": lambda grad, a: a.t() @ grad,
        "embedding_fwd": lambda index, weight: functional.embedding(index, weight),
        "embedding_bwd": embedding_bwd,
    }


def torch_function(op: str) -> Callable[..., Any] | None:
    """PyTorch's function for an op; None if it has none, or there is no PyTorch."""
    try:
        return _functions().get(op)
    except ImportError:
        return None
