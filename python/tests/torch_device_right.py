"""Parts of torch_on_device.py: tokitai.torch is right on the device."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import torch
import torch.nn.functional as F

import tokitai
import tokitai.torch as tt
from tokitai.torch import _custom, _loss, _run
from torch_training import check_training
from torch_device_parts import (
    DTYPES,
    beside_stream,
    captured,
    device,
    drawn,
    expect,
    note,
    on_gpu,
    part,
    report,
    wait,
)


def judged(op: str, inputs: List[Any], outputs: List[Any], **attributes: Any) -> None:
    """By the contract, where the tensors are. 16-bit products on a GPU have the arithmetic of its matrix units."""
    tensors = [[None if t is None else t.detach() for t in group] for group in (inputs, outputs)]
    there = [[t for t in group if t is not None] for group in tensors]
    products = any(attribute.name == "numerics" for attribute in tokitai._library.contract(op).attributes)
    matrix_units = products and on_gpu and there[0][0].element_size() == 2
    certificate = tokitai.judge(op, *there, attributes=attributes, numerics="tensor_core" if matrix_units else None)
    expect(certificate.verdict == "HELD", f"{op} {there[0][0].dtype} {tuple(there[0][0].shape)}: {certificate.reason}")


def twice(tensors: List[Any], call: Callable[[], Any], grad: Any) -> Any:
    """The output of a second call and backward, whose bits have to be those of the first."""
    seen: List[List[Any]] = []
    for _ in range(2):
        for tensor in tensors:
            tensor.grad = None
        y = call()
        y.backward(grad)
        seen.append([y.detach()] + [tensor.grad for tensor in tensors])
    expect(all(torch.equal(a, b) for a, b in zip(*seen)), "two calls give the same bits")
    return seen[1][0]


@part(60)
def contracts() -> None:
    """Every op and gradient is judged; two calls have the same bits."""
    for dtype in DTYPES:
        for rows, cols in ((16, 40), (64, 1000), (7, 4096)):
            x, grad = drawn(rows, cols, dtype=dtype, scale=2).requires_grad_(), drawn(rows, cols, dtype=dtype, seed=2)
            y = twice([x], lambda: tt.gelu(x), grad)
            judged("gelu_fwd", [x.reshape(-1)], [y.reshape(-1)])
            judged("gelu_bwd", [grad.reshape(-1), x.reshape(-1)], [x.grad.reshape(-1)])
            y = twice([x], lambda: tt.softmax(x), grad)
            judged("softmax_fwd", [x], [y])
            judged("softmax_bwd", [grad, y], [x.grad])
            target = torch.arange(rows, device=device) * 3 % cols
            losses = twice(
                [x],
                lambda: tt.cross_entropy(x, target, reduction="none", label_smoothing=0.1),
                torch.ones(rows, device=device),
            )
            judged("xent", [x, target], [losses, x.grad], label_smoothing=0.1)
            weight, index = drawn(50, cols, dtype=dtype).requires_grad_(), torch.arange(rows, device=device) * 7 % 50
            out = twice([weight], lambda: tt.embedding(index, weight), grad)
            judged("embedding_fwd", [index, weight], [out])
            judged("embedding_bwd", [grad, index], [weight.grad])
            on_cpu = weight.detach().cpu().requires_grad_()
            tt.embedding(index.cpu(), on_cpu).backward(grad.cpu())
            expect(torch.equal(weight.grad.cpu(), on_cpu.grad), "embedding's gradient has the bits of the CPU")


@part(60)
def reductions() -> None:
    """Means and sums of cross_entropy: the mean over rows that are not ignored, its gradient, and the second pass."""
    for dtype in DTYPES:
        for rows, cols in ((5, 40), (70, 2000), (300, 4096)):
            for target in (torch.arange(rows) * 3 % cols, torch.where(torch.arange(rows) % 3 == 1, -100, 7)):
                x = drawn(rows, cols, dtype=dtype).requires_grad_()
                losses = tt.cross_entropy(x, target.to(device), reduction="none").detach().double()
                valid = max(1, int((target != -100).sum()))
                for reduction, exact in (("mean", losses.sum() / valid), ("sum", losses.sum())):
                    x.grad = None
                    loss = tt.cross_entropy(x, target.to(device), reduction=reduction)
                    # Sums of fp32 in any order of at most 300 rows, and a division.
                    expect(abs(loss.double() - exact) <= 310 * 2.0**-24 * exact, f"{reduction} {dtype} {rows}x{cols}")
                    (loss * 3).backward()
                    in_double = x.detach().double().requires_grad_()
                    (F.cross_entropy(in_double, target.to(device), reduction=reduction) * 3).backward()
                    units = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-19}[dtype]
                    # Rounded twice, the first time scaled down by up to the rows.
                    slack = 2.1 * units * in_double.grad.abs() + (2.0**-23 if dtype == torch.float16 else 2.0**-40)
                    error = (x.grad.double() - in_double.grad).abs()
                    expect((error <= slack).all(), f"gradient of {reduction}, {dtype} {rows}x{cols}")


@part(60)
def linear_layers() -> None:
    """Products are judged: output, both gradients, and with gelu what gelu was taken of."""
    for dtype in DTYPES:
        for rows, outputs, inputs in ((12, 8, 20), (33, 65, 130), (128, 256, 512)):
            x, weight = (
                drawn(rows, inputs, dtype=dtype).requires_grad_(),
                drawn(outputs, inputs, dtype=dtype, seed=2).requires_grad_(),
            )
            bias, grad = drawn(outputs, dtype=dtype, seed=3).requires_grad_(), drawn(rows, outputs, dtype=dtype, seed=4)
            y = twice([x, weight, bias], lambda: tt.linear(x, weight, bias), grad)
            judged("linear_fwd", [x, weight, bias], [y], epilogue="bias")
            judged("linear_grad_x", [grad, weight], [x.grad])
            judged("linear_grad_w", [grad, x], [weight.grad])
            with torch.no_grad():
                judged("linear_fwd", [x, weight], [tt.linear(x, weight)], epilogue="none")
                y, pre = _run.linear(x, weight, bias, True)
                judged("linear_fwd", [x, weight, bias], [y, pre], epilogue="bias_gelu")
                expect(torch.equal(tt.linear(x, weight, bias, activation="gelu"), y), "linear with gelu")
    # A product of tensors that are not at multiples of 16 bytes.
    storage = drawn(1 + 16 * 16, dtype=torch.float16)
    x = storage[1:].view(16, 16)
    expect(torch.equal(tt.linear(x, x), tt.linear(x.clone(), x.clone())), "linear of unaligned tensors")


@part(120)
def opcheck() -> None:
    """PyTorch's own checks of custom ops."""
    target = torch.tensor([0, 3, -100, 4, 2], device=device)
    for op, arguments in (
        (_custom.gelu, (drawn(4, 5).requires_grad_(),)),
        (_custom.softmax, (drawn(4, 5, dtype=torch.bfloat16).requires_grad_(),)),
        (_custom.cross_entropy, (drawn(5, 7).requires_grad_(), target, 0.1, -100, "mean", None)),
        (_custom.cross_entropy, (drawn(5, 7).requires_grad_(), target, 0.1, -100, "none", 2.0)),
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


@part(150)
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


@part(90)
def training() -> None:
    """The small GPT of torch_training.py."""
    error, usual = check_training(device)
    report("largest error of the losses against double", error * 1e6, "1e-6")
    report("the same of PyTorch's fp32", usual * 1e6, "1e-6")


@part(30)
def autocast() -> None:
    for dtype in (torch.float16, torch.bfloat16) if on_gpu else (torch.bfloat16,):
        x, weight = drawn(8, 16).requires_grad_(), drawn(4, 16).requires_grad_()
        with torch.autocast(device, dtype=dtype):
            y = tt.linear(x, weight)
            expect(y.dtype == dtype == F.linear(x, weight).dtype, "linear's type")
            expect(tt.softmax(y).dtype == F.softmax(y, -1).dtype, "softmax' type")
            loss = tt.cross_entropy(y, torch.zeros(8, dtype=torch.int64, device=device))
            expect(loss.dtype == torch.float32, "the loss' type")
        loss.backward()
        expect(x.grad.dtype == torch.float32, "the gradient's type")


@part(60)
def scaling() -> None:
    """The second pass: exact, and nothing is written where the factor is 1."""
    expect(_loss.kernels() is not None or not on_gpu, "Triton is there")
    for dtype in DTYPES:
        for rows, cols in ((1, 1024), (5, 4096), (64, 32000), (3, 50257)):
            grad = drawn(rows, cols, dtype=dtype)
            factor = torch.tensor([0.3, 1.0, -7.25], device=device).repeat(rows)[:rows]
            expected = (grad.float() * factor[:, None]).to(dtype)
            expect(torch.equal(_loss.scaled(grad, factor), expected), "scaled")
            valid: Any = torch.tensor(float(rows), device=device) if on_gpu else rows
            for by, options in (
                (factor, ()),
                (factor[0], ()),
                (factor[0] / factor[0], ()),
                (factor[0], (2.0,)),
                (factor[0] / factor[0], (1.0, rows, valid)),
                (factor[0], (1.0, 1, valid)),
            ):
                result = grad.clone()
                _loss.scale_(result, by, *options)
                exact = _loss.factor_of(by, *(options + (1.0, 1, None)[len(options) :]))
                expected = (grad.float() * exact.reshape(-1, 1)).to(dtype)
                expect(torch.equal(result, expected), f"scale_ {dtype} {rows}x{cols} {options}")
    if on_gpu:  # a row of more than 2^31 bytes into the tensor
        big = torch.ones(33000, 40000, dtype=torch.bfloat16, device=device)
        _loss.scale_(big, torch.tensor(2.0, device=device))
        sums = big.sum(1, dtype=torch.float32)
        expect((big[-1] == 2).all() and (big[0] == 2).all() and bool((sums == 80000).all()), "large")


@part(60)
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
            with torch.no_grad():
                tt.cross_entropy(logits, target)

        step()
        if not on_gpu:
            continue
        torch.cuda.set_sync_debug_mode("error")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")


@part(90)
def graphs() -> None:
    """Captured once and replayed on other inputs, with the bits of eager calls."""
    for dtype in DTYPES:
        inputs = small_inputs(dtype, width=1024)  # as many classes as the Triton kernels are for
        held: Dict[str, Any] = {}
        for i in inputs[:4]:
            i.grad = torch.zeros_like(i)

        def step() -> None:
            for i in inputs[:4]:
                i.grad.zero_()
            held["loss"] = small_step(*inputs)
            held["mean"] = tt.cross_entropy(inputs[0], inputs[4])
            (held["loss"] + held["mean"]).backward()

        with beside_stream():
            for _ in range(3):
                step()
        replay = captured(step)
        for seed in (7, 8):
            fresh = drawn(*inputs[0].shape, dtype=dtype, seed=seed, scale=0.2)
            with torch.no_grad():
                inputs[0].copy_(fresh)
            replay()
            wait()
            replayed, by_graph = [held[name].detach().clone() for name in ("loss", "mean")], gradients(inputs)
            kept = dict(held)
            step()
            expect(
                all(torch.equal(a, held[name].detach()) for a, name in zip(replayed, ("loss", "mean"))),
                f"replayed losses {replayed}, eager {held}",
            )
            expect(all(torch.equal(a, b) for a, b in zip(by_graph, gradients(inputs))), f"replayed gradients, {dtype}")
            held.update(kept)
    if on_gpu:
        refuse_a_first_use()
    # More graphs at once than there is room for at first.
    x, weight = drawn(16, 64, dtype=torch.float16), drawn(64, 64, dtype=torch.float16)
    expected, results = tt.linear(x, weight), []
    replays = []
    for _ in range(80):
        if on_gpu:
            tt.prepare_capture()
        replays.append(captured(lambda: results.append(tt.linear(x, weight))))
    for again in replays:
        again()
    wait()
    expect(all(torch.equal(y, expected) for y in results), "many graphs")


def refuse_a_first_use() -> None:
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            tt.gelu(torch.empty(12347, device=device))
        raise AssertionError("a first use within a capture was taken")
    except tokitai.Unavailable as error:
        expect("before the capture begins" in str(error), str(error))
    zeros = torch.zeros(12347, device=device)
    expect(torch.equal(tt.gelu(zeros), zeros), "a call afterwards")


@part(60)
def streams() -> None:
    """Two streams at once, with ops that need scratch memory."""
    rows, width = (2048, 1024) if on_gpu else (64, 128)
    inputs = [small_inputs(torch.bfloat16, rows=rows, width=width) for _ in range(2)]
    expected = []
    for own in inputs:
        small_step(*own).backward()
        expected.append(gradients(own))
        for i in own[:4]:
            i.grad = None
    wait()
    used: List[Any] = [torch.cuda.Stream(), torch.cuda.Stream()] if on_gpu else [None, None]
    for _ in range(20):
        for own in inputs:
            for i in own[:4]:
                i.grad = None
        wait()
        for stream, own in zip(used, inputs):
            with torch.cuda.stream(stream):  # None: nothing is changed
                small_step(*own).backward()
        wait()
        for own, grads in zip(inputs, expected):
            expect(all(torch.equal(a, b) for a, b in zip(gradients(own), grads)), "gradients of two streams at once")


@part(30)
def bad_indices() -> None:
    """On a GPU synchronize() tells; on the CPU the call itself."""
    weight = drawn(10, 4)
    for call in (
        lambda: tt.embedding(torch.tensor([1, 10], device=device), weight),
        lambda: tt.cross_entropy(weight, torch.full((10,), 4, device=device)),
    ):
        tt.synchronize(device)
        try:
            call()
            expect(on_gpu, "a bad index was not reported by the call")
            tt.synchronize()
            raise AssertionError("a bad index was not reported")
        except IndexError as error:
            note(str(error))
        tt.synchronize(device)
