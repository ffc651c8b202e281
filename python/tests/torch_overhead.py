#!/usr/bin/env python3
"""What a call of tokitai.torch costs the host beyond the C function, called by ctypes on arguments made beforehand.

    python3 python/tests/torch_overhead.py [--device cuda] [--rounds N]

Tensors are 8 x 8 of bfloat16, so that there is next to nothing to compute. Each figure is the median of rounds of 100 calls. On the
CPU it is processor time, which other load of the machine does not count in; on a GPU it is the time until the call
returns. Exit status: 1 if a limit is not kept.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import torch

import tokitai.torch as tt
from tokitai.torch import _run

CALLS = 100
LIMIT_WITHOUT, LIMIT_WITH = 15.0, 25.0


class Figures(NamedTuple):
    """Microseconds. All but the first are above the C call; the last is None where there are no custom ops."""

    name: str
    c_call: float
    without: float
    with_gradient: float
    backward: float  # above forward; of two C calls for linear
    custom_op: Optional[float]

    @property
    def is_within_limits(self) -> bool:
        return self.without <= LIMIT_WITHOUT and self.with_gradient <= LIMIT_WITH


def host_us(call: Callable[[], Any], device: str, rounds: int) -> float:
    clock = time.perf_counter if device == "cuda" else time.thread_time
    taken = []
    for _ in range(rounds + 3):
        if device == "cuda":
            torch.cuda.synchronize()
        begin = clock()
        for _ in range(CALLS):
            call()
        taken.append((clock() - begin) / CALLS * 1e6)
    return statistics.median(taken[3:])


def c_call(call: Callable[[], Any]) -> Callable[[], Any]:
    """The first call of the C library that `call` makes, again, on the same memory."""
    made: List[Any] = []
    kinds = (_run._CpuPlan, _run._GpuPlan)
    real = [kind.run for kind in kinds]

    def recorded(which: int) -> Callable[..., None]:
        def run(plan: Any, *pointers: int) -> None:
            made.append((plan, pointers))
            real[which](plan, *pointers)

        return run

    kept = []
    # Tensors that calls free must stay where they are.
    empty, empty_like = torch.empty, torch.empty_like
    try:
        for which, kind in enumerate(kinds):
            setattr(kind, "run", recorded(which))
        torch.empty = lambda *a, **k: kept.append(empty(*a, **k)) or kept[-1]  # type: ignore[assignment]
        torch.empty_like = lambda *a, **k: kept.append(empty_like(*a, **k)) or kept[-1]  # type: ignore[assignment]
        kept.append(call())
    finally:
        torch.empty, torch.empty_like = empty, empty_like  # type: ignore[assignment]
        for kind, method in zip(kinds, real):
            setattr(kind, "run", method)
    plan, pointers = made[0]
    worker = plan.worker if isinstance(plan, _run._GpuPlan) else _run._cpu()
    if getattr(plan, "scratch_bytes", 0):
        kept.append(plan.hand_over_scratch())
    buffers = (ctypes.c_void_p * 8)(*pointers)
    run, context, reference = _run._call, worker.pointer, plan.reference

    def again(_kept: Any = kept) -> None:
        if run(context, reference, buffers):
            raise RuntimeError("the C call failed")

    return again


def measure(device: str, rounds: int) -> List[Figures]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def drawn(*shape: int, seed: int) -> Any:
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16).to(device)

    plain: Dict[str, Any] = {"x": drawn(8, 8, seed=1), "w": drawn(8, 8, seed=2), "b": drawn(8, seed=3)}
    wanted = {name: tensor.clone().requires_grad_() for name, tensor in plain.items()}
    target = torch.arange(8, device=device)
    functions: Dict[str, Callable[[Dict[str, Any]], Any]] = {
        "gelu": lambda t: tt.gelu(t["x"]),
        "softmax": lambda t: tt.softmax(t["x"]),
        "linear": lambda t: tt.linear(t["x"], t["w"]),
        "linear with bias": lambda t: tt.linear(t["x"], t["w"], t["b"]),
        "linear with bias and gelu": lambda t: tt.linear(t["x"], t["w"], t["b"], activation="gelu"),
        "embedding": lambda t: tt.embedding(target, t["w"]),
        "cross_entropy, none": lambda t: tt.cross_entropy(t["x"], target, reduction="none"),
        "cross_entropy, sum": lambda t: tt.cross_entropy(t["x"], target, reduction="sum"),
        "cross_entropy, mean": lambda t: tt.cross_entropy(t["x"], target),
    }
    custom: Dict[str, Callable[[], Any]] = {}
    if hasattr(torch.library, "custom_op"):
        ops: Any = torch.ops.tokitai
        x, w, b = plain["x"], plain["w"], plain["b"]
        custom = {
            "gelu": lambda: ops.gelu(x),
            "softmax": lambda: ops.softmax(x),
            "linear": lambda: ops.linear(x, w, None),
            "linear with bias": lambda: ops.linear(x, w, b),
            "linear with bias and gelu": lambda: ops.linear_gelu(x, w, b),
            "embedding": lambda: ops.embedding(w, target, None),
            "cross_entropy, none": lambda: ops.cross_entropy(x, target, 0.0, -100, "none", None),
            "cross_entropy, sum": lambda: ops.cross_entropy(x, target, 0.0, -100, "sum", None),
            "cross_entropy, mean": lambda: ops.cross_entropy(x, target, 0.0, -100, "mean", None),
        }
    figures = []
    try:
        for name, function in functions.items():
            grad = torch.ones_like(function(plain))

            def both() -> None:
                for tensor in wanted.values():
                    tensor.grad = None
                function(wanted).backward(grad)

            both()
            alone = host_us(c_call(lambda: function(plain)), device, rounds)
            without = host_us(lambda: function(plain), device, rounds)
            forward = host_us(lambda: function(wanted), device, rounds)
            whole = host_us(both, device, rounds)
            op = host_us(custom[name], device, rounds) - alone if name in custom else None
            figures.append(Figures(name, alone, without - alone, forward - alone, whole - forward, op))
    finally:
        torch.set_num_threads(threads)
    return figures


def table(figures: List[Figures]) -> str:
    lines = [f"{'':26}{'C CALL':>8}{'WITHOUT':>9}{'WITH':>8}{'BACKWARD':>10}{'CUSTOM OP':>11}"]
    for f in figures:
        op = "-" if f.custom_op is None else f"{f.custom_op:.1f}"
        over = "" if f.is_within_limits else "  OVER THE LIMIT"
        lines.append(
            f"{f.name:26}{f.c_call:8.1f}{f.without:9.1f}{f.with_gradient:8.1f}{f.backward:10.1f}{op:>11}{over}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    figures = measure(options.device, options.rounds)
    print(
        f"PyTorch {torch.__version__}, {options.device}; us above the C call; limits {LIMIT_WITHOUT} and {LIMIT_WITH}"
    )
    print(table(figures))
    return 0 if all(f.is_within_limits for f in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
