#!/usr/bin/env python3
"""tokitai.torch on a GPU: that it is right there, and what it costs. For PyTorch 2.4 or later; run by hand, on the
device.

    python3 python/tests/torch_on_device.py [--device cpu] [--part NAME]... [--out FILE.json]

Prints a line for each check and each figure. Figures with a limit say whether they keep it. Exit status: 0 if all
checks passed and all limits were kept, 1 if not. With --device cpu, the parts that need no GPU run on small tensors, to
try the script itself.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import tokitai  # noqa: E402
import tokitai.torch as tt  # noqa: E402
import torch_bounds as bounds  # noqa: E402
from tokitai._library import lib  # noqa: E402
from tokitai.torch import _custom, _loss, _run  # noqa: E402

DTYPES = [torch.float16, torch.bfloat16, torch.float32]
PARTS: Dict[str, Tuple[Callable[[], None], bool]] = {}
figures: List[Dict[str, Any]] = []
failures: List[str] = []
device = "cuda"


def part(needs_gpu: bool = True) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def add(function: Callable[[], None]) -> Callable[[], None]:
        PARTS[function.__name__] = (function, needs_gpu)
        return function

    return add


def report(name: str, value: float, unit: str, least: Optional[float] = None, most: Optional[float] = None) -> None:
    kept = (least is None or value >= least) and (most is None or value <= most)
    limit = f"  at least {least}" if least is not None else f"  at most {most}" if most is not None else ""
    print(f"  {name}: {value:.3f} {unit}{limit}{'' if kept else '  MISSED'}", flush=True)
    figures.append({"name": name, "value": value, "unit": unit, "least": least, "most": most, "kept": kept})
    if not kept:
        failures.append(f"limit of {name}")


def drawn(*shape: int, dtype: Any = torch.float32, seed: int = 1119, scale: float = 1.0) -> Any:
    return (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale).to(dtype).to(device)


def wait() -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def expect(condition: Any, what: str) -> None:
    if not bool(condition):
        raise AssertionError(what)


# --- right ---------------------------------------------------------------------------------------------------------


@part(needs_gpu=False)
def contracts() -> None:
    """Every op and gradient against double on the CPU, within the contracts; twice, with the same bits."""
    for dtype in DTYPES:
        for rows, cols in ((16, 40), (64, 1000), (7, 4096)):
            x, grad = drawn(rows, cols, dtype=dtype, scale=2).requires_grad_(), drawn(rows, cols, dtype=dtype, seed=2)
            exact, exact_grad = x.detach().cpu().double(), grad.cpu().double()
            for name, function, forward, backward in (
                ("gelu", tt.gelu, bounds.gelu_fwd, bounds.gelu_bwd),
                ("softmax", tt.softmax, bounds.softmax_fwd, bounds.softmax_bwd),
            ):
                seen = []
                for _ in range(2):
                    x.grad = None
                    y = function(x)
                    y.backward(grad)
                    seen.append((y.detach(), x.grad))
                expect(torch.equal(seen[0][0], seen[1][0]) and torch.equal(seen[0][1], seen[1][1]), f"{name} repeats")
                bounds.check(name, seen[0][0].cpu(), forward(exact, dtype))
                bounds.check(name + "'s gradient", seen[0][1].cpu(), backward(exact_grad, exact, dtype))
            target = torch.arange(rows, device=device) * 3 % cols
            x.grad = None
            losses = tt.cross_entropy(x, target, reduction="none", label_smoothing=0.1)
            losses.backward(torch.ones_like(losses))
            loss, by_logits = bounds.xent(exact, target.cpu(), 0.1, 1.0, dtype)
            bounds.check("loss", losses.cpu(), loss)
            bounds.check("loss' gradient", x.grad.cpu(), by_logits)
            weight, index = drawn(50, cols, dtype=dtype).requires_grad_(), torch.arange(rows, device=device) * 7 % 50
            tt.embedding(index, weight).backward(grad)
            bounds.check("embedding", weight.grad.cpu(), bounds.embedding_bwd(exact_grad, index.cpu(), 50, dtype))
            on_cpu = weight.detach().cpu().requires_grad_()
            tt.embedding(index.cpu(), on_cpu).backward(grad.cpu())
            expect(torch.equal(weight.grad.cpu(), on_cpu.grad), "embedding's gradient has the bits of the CPU")


@part(needs_gpu=False)
def linear_layers() -> None:
    """Products against double. Matrix units truncate: their bound is wider than that of IEEE sums, by this factor."""
    matrix_units = 4.0
    for dtype in DTYPES:
        for rows, outputs, inputs in ((12, 8, 20), (33, 65, 130), (128, 256, 512)):
            x, weight = (
                drawn(rows, inputs, dtype=dtype).requires_grad_(),
                drawn(outputs, inputs, dtype=dtype, seed=2).requires_grad_(),
            )
            bias, grad = drawn(outputs, dtype=dtype, seed=3).requires_grad_(), drawn(rows, outputs, dtype=dtype, seed=4)
            seen = []
            for _ in range(2):
                x.grad = weight.grad = bias.grad = None
                y = tt.linear(x, weight, bias)
                y.backward(grad)
                seen.append((y.detach(), x.grad, weight.grad, bias.grad))
            expect(all(torch.equal(a, b) for a, b in zip(*seen)), "linear repeats")
            x64, w64, b64, g64 = (t.detach().cpu().double() for t in (x, weight, bias, grad))
            for name, got, (exact, bound) in (
                ("linear", seen[0][0], bounds.linear(x64, w64, b64, dtype)),
                ("by x", seen[0][1], bounds.product(g64, w64, dtype)),
                ("by weight", seen[0][2], bounds.product(g64.T, x64, dtype)),
            ):
                bounds.check(name, got.cpu(), (exact, matrix_units * bound))
            y = tt.linear(x, weight, bias, activation="gelu")
            pre, dpre = bounds.linear(x64, w64, b64, dtype)
            bounds.check(
                "linear with gelu",
                y.cpu(),
                (F.gelu(pre, approximate="tanh"), bounds.gelu_fwd(pre, dtype)[1] + 1.13 * matrix_units * dpre),
            )
    # A product of tensors that are not at multiples of 16 bytes.
    storage = drawn(1 + 16 * 16, dtype=torch.float16)
    x = storage[1:].view(16, 16)
    expect(torch.equal(tt.linear(x, x), tt.linear(x.clone(), x.clone())), "linear of unaligned tensors")


@part(needs_gpu=False)
def opcheck() -> None:
    """PyTorch's own checks of custom ops."""
    target = torch.tensor([0, 3, -100, 4, 2], device=device)
    for op, arguments in (
        (_custom.gelu, (drawn(4, 5).requires_grad_(),)),
        (_custom.softmax, (drawn(4, 5, dtype=torch.bfloat16).requires_grad_(),)),
        (_custom.cross_entropy_rows, (drawn(5, 7).requires_grad_(), target, 0.1, -100)),
        (_custom.embedding, (drawn(5, 7).requires_grad_(), target.clamp(min=0), 1)),
        (_custom.linear, (drawn(2, 5, 7).requires_grad_(), drawn(3, 7).requires_grad_(), drawn(3))),
        (_custom.linear_gelu, (drawn(5, 7).requires_grad_(), drawn(3, 7).requires_grad_(), drawn(3))),
    ):
        results = torch.library.opcheck(op, arguments)
        expect(all(result == "SUCCESS" for result in results.values()), f"{op}: {results}")


def small_step(x: Any, weight: Any, bias: Any, table: Any, target: Any) -> Any:
    """A loss that uses every op. It is the sum, so that the gradient is handed on as it is in every type."""
    y = tt.linear(x + tt.embedding(target, table), weight, bias, activation="gelu")
    return tt.cross_entropy(tt.gelu(y) + tt.softmax(y), target, reduction="sum")


def small_inputs(dtype: Any, rows: int = 64, width: int = 128) -> List[Any]:
    target = torch.arange(rows, device=device) * 5 % width
    shapes = ((rows, width), (width, width), (width,), (width, width))
    return [drawn(*shape, dtype=dtype, seed=i, scale=0.2).requires_grad_() for i, shape in enumerate(shapes)] + [target]


def gradients(inputs: List[Any]) -> List[Any]:
    return [i.grad.clone() for i in inputs[:4]]


@part(needs_gpu=False)
def compiled() -> None:
    """torch.compile, whole graphs, against eager calls. What PyTorch fuses it does not round in between."""
    for dtype in DTYPES:
        torch._dynamo.reset()
        inputs = small_inputs(dtype)
        loss = small_step(*inputs)
        loss.backward()
        expected = gradients(inputs)
        for i in inputs[:4]:
            i.grad = None
        again = torch.compile(small_step, fullgraph=True)(*inputs)
        again.backward()
        tolerance = 2.0**-5 if dtype != torch.float32 else 2.0**-16
        loss, again = loss.detach(), again.detach()
        expect(torch.allclose(loss, again, rtol=tolerance), f"compiled loss {float(again)}, eager {float(loss)}")
        for a, b in zip(gradients(inputs), expected):
            expect((a.double() - b.double()).norm() <= tolerance * b.double().norm(), f"compiled gradient, {dtype}")


@part(needs_gpu=False)
def training() -> None:
    """The small GPT of test_torch_training.py."""
    import test_torch_training

    error, usual = test_torch_training.check_training(device)
    report("largest error of the losses against double", error * 1e6, "1e-6")
    report("the same of PyTorch's fp32", usual * 1e6, "1e-6")


@part()
def autocast() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        x, weight = drawn(8, 16).requires_grad_(), drawn(4, 16).requires_grad_()
        with torch.autocast("cuda", dtype=dtype):
            y = tt.linear(x, weight)
            expect(y.dtype == dtype == F.linear(x, weight).dtype, "linear's type")
            expect(tt.softmax(y).dtype == F.softmax(y, -1).dtype, "softmax' type")
            loss = tt.cross_entropy(y, torch.zeros(8, dtype=torch.int64, device=device))
            expect(loss.dtype == torch.float32, "the loss' type")
        loss.backward()
        expect(x.grad.dtype == torch.float32, "the gradient's type")


@part()
def scaling() -> None:
    """The second pass: exact, and nothing is written where the factor is 1."""
    expect(_loss.kernels() is not None, "Triton is there")
    for dtype in DTYPES:
        for rows, cols in ((1, 1024), (5, 4096), (64, 32000), (3, 50257)):
            grad = drawn(rows, cols, dtype=dtype)
            factor = torch.tensor([0.3, 1.0, -7.25], device=device).repeat(rows)[:rows]
            expected = (grad.float() * factor[:, None]).to(dtype)
            expect(torch.equal(_loss.scaled(grad, factor), expected), "scaled")
            for by in (factor, factor[0], factor[1]):
                result = grad.clone()
                _loss.scale_(result, by)
                expect(
                    torch.equal(result, (grad.float() * by.reshape(-1, 1)).to(dtype)), f"scale_ {dtype} {rows}x{cols}"
                )
    # A row of more than 2^31 bytes into the tensor.
    big = torch.ones(33000, 40000, dtype=torch.bfloat16, device=device)
    _loss.scale_(big, torch.tensor(2.0, device=device))
    expect(
        (big[-1] == 2).all() and (big[0] == 2).all() and bool((big.sum(1, dtype=torch.float32) == 80000).all()), "large"
    )


@part()
def no_waiting() -> None:
    """No call waits for the device, forward or backward."""
    for dtype in DTYPES:
        inputs = small_inputs(dtype)
        logits, target = drawn(64, 4096, dtype=dtype).requires_grad_(), torch.arange(64, device=device)

        def step() -> None:
            small_step(*inputs).backward()
            tt.cross_entropy(logits, target).backward()
            (tt.cross_entropy(logits, target, label_smoothing=0.1) * 3).backward()
            tt.cross_entropy(logits, target, reduction="none").mean().backward()

        step()
        torch.cuda.set_sync_debug_mode("error")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")


@part()
def graphs() -> None:
    """Captured once and replayed on other inputs, with the bits of eager calls."""
    for dtype in DTYPES:
        inputs = small_inputs(dtype, width=1024)  # as many classes as the Triton kernel is for
        for i in inputs[:4]:
            i.grad = torch.zeros_like(i)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                small_step(*inputs).backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        for i in inputs[:4]:
            i.grad.zero_()
        with torch.cuda.graph(graph):
            for i in inputs[:4]:
                i.grad.zero_()
            loss = small_step(*inputs)
            loss.backward()
        for seed in (7, 8):
            fresh = drawn(*inputs[0].shape, dtype=dtype, seed=seed, scale=0.2)
            with torch.no_grad():
                inputs[0].copy_(fresh)
            graph.replay()
            wait()
            replayed, by_graph = loss.detach().clone(), gradients(inputs)
            for i in inputs[:4]:
                i.grad.zero_()
            eager = small_step(*inputs)
            eager.backward()
            expect(
                torch.equal(replayed, eager.detach()), f"replayed loss {float(replayed)}, eager {float(eager.detach())}"
            )
            expect(all(torch.equal(a, b) for a, b in zip(by_graph, gradients(inputs))), f"replayed gradients, {dtype}")
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            tt.gelu(torch.empty(12347, device=device))
        raise AssertionError("a first use within a capture was taken")
    except tokitai.Unavailable as error:
        expect("before the capture begins" in str(error), str(error))
    expect(
        torch.equal(tt.gelu(torch.zeros(12347, device=device)), torch.zeros(12347, device=device)), "a call afterwards"
    )
    # More graphs at once than there is room for at first.
    x, weight = drawn(16, 64, dtype=torch.float16), drawn(64, 64, dtype=torch.float16)
    expected, kept = tt.linear(x, weight), []
    for _ in range(80):
        tt.prepare_capture()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = tt.linear(x, weight)
        kept.append((graph, y))
    for graph, y in kept:
        graph.replay()
    wait()
    expect(all(torch.equal(y, expected) for _, y in kept), "many graphs")


@part()
def streams() -> None:
    """Two streams at once, with ops that need scratch memory."""
    inputs = [small_inputs(torch.bfloat16, rows=2048, width=1024) for _ in range(2)]
    expected = []
    for own in inputs:
        small_step(*own).backward()
        expected.append(gradients(own))
        for i in own[:4]:
            i.grad = None
    wait()
    used = [torch.cuda.Stream(), torch.cuda.Stream()]
    for _ in range(20):
        for own in inputs:
            for i in own[:4]:
                i.grad = None
        wait()
        for stream, own in zip(used, inputs):
            with torch.cuda.stream(stream):
                small_step(*own).backward()
        wait()
        for own, grads in zip(inputs, expected):
            expect(all(torch.equal(a, b) for a, b in zip(gradients(own), grads)), "gradients of two streams at once")


@part()
def bad_indices() -> None:
    weight = drawn(10, 4)
    for call in (
        lambda: tt.embedding(torch.tensor([1, 10], device=device), weight),
        lambda: tt.cross_entropy(weight, torch.full((10,), 4, device=device)),
    ):
        tt.synchronize()
        call()
        try:
            tt.synchronize()
            raise AssertionError("a bad index was not reported")
        except IndexError as error:
            print(f"  {error}")
        tt.synchronize()


# --- what it costs -------------------------------------------------------------------------------------------------


def host_us(call: Callable[[], Any], count: int = 1000, rounds: int = 15) -> float:
    """Host time of a call, best of several rounds. The device has less to do than the host."""
    times = []
    for _ in range(rounds):
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - begin) / count * 1e6)
    wait()
    return min(times)


def c_call(worker: Any, key: Any, *tensors: Any) -> Callable[[], Any]:
    """The C function alone, on buffers that are there already."""
    prepared = worker.cases[key]
    buffers = (ctypes.c_void_p * 8)(*(t.data_ptr() for t in tensors))
    run, pointer, reference = lib.tk_run, worker.pointer, prepared.reference

    def call(_keep: Any = tensors) -> Any:
        status = run(pointer, reference, buffers)
        assert status == 0

    return call


@part(needs_gpu=False)
def overhead() -> None:
    """Of tiny calls: what Python and autograd add to the C function, called by ctypes."""
    on_gpu = device != "cpu"
    worker = _run._gpu(torch.cuda.current_device()) if on_gpu else _run._cpu()
    if on_gpu and worker.stream:
        worker.context.set_stream(0)
        worker.stream = 0
    x, grad, y = (
        drawn(64, 64, dtype=torch.float16),
        drawn(64, 64, dtype=torch.float16),
        drawn(64, 64, dtype=torch.float16),
    )
    wanted = x.clone().requires_grad_()
    weight, target = drawn(64, 64, dtype=torch.float16, seed=2), torch.arange(64, device=device)
    wanted_weight, loss = weight.clone().requires_grad_(), torch.empty(64, device=device)
    tt.gelu(wanted).backward(grad)
    forward = ("gelu_fwd", torch.float16, (4096,), None, ())
    backward = ("gelu_bwd", torch.float16, (4096,), None, ())
    alone = host_us(c_call(worker, forward, x, y))
    alone_both = alone + host_us(c_call(worker, backward, grad, x, y))
    limits = (15.0, 25.0) if on_gpu else (None, None)
    report("C call of gelu_fwd", alone, "us")
    report("gelu without gradient, above it", host_us(lambda: tt.gelu(x)) - alone, "us", most=limits[0])
    report("gelu with gradient, above it", host_us(lambda: tt.gelu(wanted)) - alone, "us", most=limits[1])

    def both() -> None:
        wanted.grad = None
        tt.gelu(wanted).backward(grad)

    report("gelu with gradient and backward, above two C calls", host_us(both) - alone_both, "us")
    report("PyTorch's gelu", host_us(lambda: F.gelu(x, approximate="tanh")), "us")
    report("custom op of gelu, above the C call", host_us(lambda: torch.ops.tokitai.gelu(x)) - alone, "us")

    tt.softmax(x)
    key: Any = ("softmax_fwd", torch.float16, (64, 64), None, ())
    report(
        "softmax, above its C call",
        host_us(lambda: tt.softmax(x)) - host_us(c_call(worker, key, x, y)),
        "us",
        most=limits[0],
    )
    tt.embedding(target, weight)
    key = ("embedding_fwd", torch.float16, (64, 64, 64), torch.int64, ())
    alone = host_us(c_call(worker, key, target, weight, y))
    report("embedding, above its C call", host_us(lambda: tt.embedding(target, weight)) - alone, "us", most=limits[0])
    report(
        "embedding with gradient, above it",
        host_us(lambda: tt.embedding(target, wanted_weight)) - alone,
        "us",
        most=limits[1],
    )
    tt.cross_entropy(wanted, target, reduction="none")
    options = ("label_smoothing", 0.0, "scale", 1.0, "ignore_index", -100)
    alone = host_us(c_call(worker, ("xent", torch.float16, (64, 64), torch.int64, options), x, target, loss, y))
    report(
        "rows of cross_entropy, above its C call",
        host_us(lambda: tt.cross_entropy(x, target, reduction="none")) - alone,
        "us",
        most=limits[0],
    )
    report(
        "rows of cross_entropy with gradient, above it",
        host_us(lambda: tt.cross_entropy(wanted, target, reduction="none")) - alone,
        "us",
        most=limits[1],
    )
    report(
        "mean of cross_entropy with gradient, above it", host_us(lambda: tt.cross_entropy(wanted, target)) - alone, "us"
    )
    key = ("linear_fwd", torch.float16, (64, 64, 64), None, ("epilogue", "none"))
    tt.linear(x, weight)
    buffers = (ctypes.c_void_p * 8)(x.data_ptr(), weight.data_ptr(), None, None, y.data_ptr(), None)
    reference = worker.cases[key].reference
    if worker.cases[key].scratch_bytes and on_gpu:
        kept = worker.hand_over_scratch(worker.cases[key])  # noqa: F841  until the calls are done
    alone = host_us(lambda: lib.tk_run(worker.pointer, reference, buffers))
    report("linear, above its C call", host_us(lambda: tt.linear(x, weight)) - alone, "us", most=limits[0])
    report(
        "linear with gradient, above it",
        host_us(lambda: tt.linear(wanted, wanted_weight)) - alone,
        "us",
        most=limits[1],
    )


@part()
def overhead_in_graphs() -> None:
    """A graph of calls through tokitai.torch against one of C calls: the same kernels, so nothing should be added."""
    count = 200
    x = drawn(64, 64, dtype=torch.float16)
    worker = _run._gpu(torch.cuda.current_device())
    y = tt.gelu(x)
    call = c_call(worker, ("gelu_fwd", torch.float16, (4096,), None, ()), x, y)
    times = {}
    for name, body in (("C", call), ("tokitai.torch", lambda: tt.gelu(x))):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            tt.gelu(x)  # sets the stream of the capture
            for _ in range(count):
                body()
        times[name] = device_us(graph.replay) / count
    report("replayed call", times["tokitai.torch"], "us")
    report("replayed call, above the C call's", times["tokitai.torch"] - times["C"], "us", most=1.0)


def device_us(call: Callable[[], Any], rounds: int = 20) -> float:
    """Time on the device, the median."""
    if device == "cpu":
        return host_us(call, 1, rounds)
    for _ in range(3):
        call()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
    return statistics.median(times)


def in_turn(calls: Dict[str, Callable[[], Any]], rounds: int = 5) -> Dict[str, float]:
    """Medians of several ways, measured in turn, so that all see the same clock."""
    times: Dict[str, List[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(device_us(call, 10))
    return {name: statistics.median(values) for name, values in times.items()}


@part(needs_gpu=False)
def cross_entropy_speed() -> None:
    rows, cols = (8192, 32000) if device != "cpu" else (64, 1000)
    for dtype in (torch.bfloat16, torch.float16):
        torch._dynamo.reset()
        logits = drawn(rows, cols, dtype=dtype).requires_grad_()
        target = torch.arange(rows, device=device) * 3 % cols
        options: Dict[str, Any] = {"expected_grad": 1.0} if dtype == torch.float16 else {}

        def through(loss: Callable[[Any, Any], Any]) -> Callable[[], None]:
            def call() -> None:
                logits.grad = None
                loss(logits, target).backward()

            return call

        def ours(x: Any, t: Any) -> Any:
            return tt.cross_entropy(x, t, **options)

        def ours_outside(x: Any, t: Any) -> Any:
            return tt.cross_entropy(x, t, graph_break=True, **options)

        times = in_turn(
            {
                "ours": through(ours),
                "ours, second pass": through(lambda x, t: tt.cross_entropy(x, t, **options) * 2),
                "PyTorch": through(lambda x, t: F.cross_entropy(x, t)),
                "ours, compiled": through(torch.compile(ours)),
                "ours, compiled, outside of the graph": through(torch.compile(ours_outside)),
                "PyTorch, compiled": through(torch.compile(lambda x, t: F.cross_entropy(x, t))),
            }
        )
        name = f"cross_entropy {rows}x{cols} {str(dtype)[6:]} forward and backward"
        for which, value in times.items():
            report(f"{name}: {which}", value, "us")
        limit = 4.0 if device != "cpu" else None
        report(f"{name}: ours, times PyTorch's speed", times["PyTorch"] / times["ours"], "", least=limit)
        outside = times["ours, compiled, outside of the graph"]
        report(
            f"{name}: compiled, outside of the graph, times PyTorch's speed",
            times["PyTorch"] / outside,
            "",
            least=limit,
        )
        report(
            f"{name}: compiled, within the graph, times PyTorch's speed", times["PyTorch"] / times["ours, compiled"], ""
        )


@part(needs_gpu=False)
def embedding_speed() -> None:
    queries, dim, vocab = (32768, 2048, 128256) if device != "cpu" else (64, 32, 100)
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
        name = f"embedding {queries}x{dim} of {vocab} {str(dtype)[6:]} backward"
        for which, value in times.items():
            report(f"{name}: {which}", value, "us")
        limit = 4.0 if device != "cpu" else None
        report(f"{name}: ours, times PyTorch's speed", times["PyTorch"] / times["ours"], "", least=limit)
        report(f"{name}: compiled, times PyTorch's speed", times["PyTorch"] / times["ours, compiled"], "", least=limit)


def main() -> int:
    global device
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--part", action="append", choices=list(PARTS), help="this one alone; may be given again")
    parser.add_argument("--out", help="a file for the figures, as JSON")
    options = parser.parse_args()
    device = options.device
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"PyTorch {torch.__version__}, {name}", flush=True)
    for part_name, (function, needs_gpu) in PARTS.items():
        if options.part and part_name not in options.part:
            continue
        if needs_gpu and device == "cpu":
            print(f"{part_name}: left out, needs a GPU")
            continue
        print(part_name, flush=True)
        try:
            function()
            wait()
        except Exception:
            traceback.print_exc()
            failures.append(part_name)
    if options.out:
        pathlib.Path(options.out).write_text(
            json.dumps({"torch": torch.__version__, "device": name, "figures": figures}, indent=1)
        )
    print("all right" if not failures else "NOT RIGHT: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
