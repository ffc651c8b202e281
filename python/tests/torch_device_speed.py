"""Parts of torch_on_device.py: what tokitai.torch costs, and how fast it is beside PyTorch."""

from __future__ import annotations

from typing import Any, Callable, Dict

import torch
import torch.nn.functional as F

import tokitai.torch as tt
import torch_overhead
from torch_device_parts import captured, device, device_us, drawn, in_turn, on_gpu, part, report


@part(60)
def overhead() -> None:
    """Of tiny calls: what Python and autograd add to the C function, called by ctypes."""
    for figures in torch_overhead.measure(device, 30 if on_gpu else 5):
        report(f"{figures.name}: C call", figures.c_call, "us")
        report(f"{figures.name}, above it", figures.without, "us", most=torch_overhead.LIMIT_WITHOUT)
        report(f"{figures.name} with gradient, above it", figures.with_gradient, "us", most=torch_overhead.LIMIT_WITH)
        report(f"{figures.name}: backward, above forward", figures.backward, "us")
        if figures.custom_op is not None:
            report(f"{figures.name} as a custom op, above it", figures.custom_op, "us")


@part(30)
def overhead_in_graphs() -> None:
    """A graph of calls through tokitai.torch against one of C calls: the same kernels, so nothing should be added."""
    count = 200
    x, target = drawn(64, 64, dtype=torch.float16), torch.arange(64, device=device)
    for name, function in (
        ("gelu", lambda: tt.gelu(x)),
        ("softmax", lambda: tt.softmax(x)),
        ("rows of cross_entropy", lambda: tt.cross_entropy(x, target, reduction="none")),
    ):
        function()
        call = torch_overhead.c_call(function)
        times = {}
        for which, body in (("C", call), ("tokitai.torch", function)):

            def many() -> None:
                function()  # sets the stream of the capture
                for _ in range(count):
                    body()

            times[which] = device_us(captured(many)) / count
        report(f"replayed {name}", times["tokitai.torch"], "us")
        report(f"replayed {name}, above the C call's", times["tokitai.torch"] - times["C"], "us", most=1.0)


@part(150)
def cross_entropy_speed() -> None:
    rows, cols = (8192, 32000) if on_gpu else (64, 1000)
    for dtype in (torch.bfloat16, torch.float16):
        for reduction in ("mean", "sum"):
            torch._dynamo.reset()
            logits = drawn(rows, cols, dtype=dtype).requires_grad_()
            target = torch.arange(rows, device=device) * 3 % cols
            options: Dict[str, Any] = {"reduction": reduction}
            if dtype == torch.float16 and reduction == "mean":
                options["expected_grad"] = 1.0

            def through(loss: Callable[[Any, Any], Any]) -> Callable[[], None]:
                def call() -> None:
                    logits.grad = None
                    loss(logits, target).backward()

                return call

            def ours(x: Any, t: Any) -> Any:
                return tt.cross_entropy(x, t, **options)

            def ours_outside(x: Any, t: Any) -> Any:
                return tt.cross_entropy(x, t, graph_break=True, **options)

            def theirs(x: Any, t: Any) -> Any:
                return F.cross_entropy(x, t, reduction=reduction)

            times = in_turn(
                {
                    "ours": through(ours),
                    "ours, second pass": through(lambda x, t: ours(x, t) * 2),
                    "PyTorch": through(theirs),
                    "ours, in the graph": through(torch.compile(ours, fullgraph=True)),
                    "ours, in the graph, second pass": through(torch.compile(lambda x, t: ours(x, t) * 2)),
                    "ours, outside of the graph": through(torch.compile(ours_outside)),
                    "PyTorch, compiled": through(torch.compile(theirs, fullgraph=True)),
                },
                rounds=3,
            )
            name = f"cross_entropy {rows}x{cols} {str(dtype)[6:]} {reduction}, forward and backward"
            for which, value in times.items():
                report(f"{name}: {which}", value, "us")
            for which in ("ours", "ours, outside of the graph", "ours, in the graph"):
                report(f"{name}: {which}, times PyTorch's speed", times["PyTorch"] / times[which], "", least=4.0)
            for which in ("ours, in the graph", "ours, outside of the graph"):
                ratio = times["PyTorch, compiled"] / times[which]
                report(f"{name}: {which}, times compiled PyTorch's speed", ratio, "")


@part(60)
def embedding_speed() -> None:
    queries, dim, vocab = (32768, 2048, 128256) if on_gpu else (64, 32, 100)
    for dtype in (torch.bfloat16, torch.float16):
        torch._dynamo.reset()
        weight = drawn(vocab, dim, dtype=dtype).requires_grad_()
        index = torch.randint(0, vocab, (queries,), generator=torch.Generator().manual_seed(3)).to(device)
        grad = drawn(queries, dim, dtype=dtype, seed=2)

        def backward(function: Callable[[Any, Any], Any]) -> Callable[[], None]:
            out = function(index, weight)

            def call() -> None:
                weight.grad = None
                out.backward(grad, retain_graph=True)

            return call

        times = in_turn(
            {
                "ours": backward(tt.embedding),
                "PyTorch": backward(F.embedding),
                "ours, compiled": backward(torch.compile(lambda i, w: tt.embedding(i, w))),
            }
        )
        name = f"embedding {queries}x{dim} of {vocab} {str(dtype)[6:]}, backward"
        for which, value in times.items():
            report(f"{name}: {which}", value, "us")
        for which in ("ours", "ours, compiled"):
            report(f"{name}: {which}, times PyTorch's speed", times["PyTorch"] / times[which], "", least=4.0)
