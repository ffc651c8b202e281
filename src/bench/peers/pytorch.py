#!/usr/bin/env python3
"""SHOWS. PyTorch on the same work: pytorch.py OP DTYPE uniform|zipf THREADS SECONDS SIZE..., prints "BEST MEDIAN SAMPLES"
in seconds.

A process of its own, so it is not timed in turn with the other arms. Exit status 3: no torch, or no such work.
With --version as the only argument: prints the version found.
"""
import math
import os
import sys
import time

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512" if "avx512f" in open("/proc/cpuinfo").read() else "")
if not os.environ["ATEN_CPU_CAPABILITY"]:
    del os.environ["ATEN_CPU_CAPABILITY"]

try:
    import torch
    import torch.nn.functional as F
except Exception:
    sys.exit(3)


def gelu_fwd(dtype, n):
    x = torch.randn(n, dtype=torch.float32).to(dtype)
    return lambda: F.gelu(x, approximate="tanh")


def gelu_bwd(dtype, n):
    x = torch.randn(n, dtype=torch.float32).to(dtype)
    grad = torch.randn(n, dtype=torch.float32).to(dtype)
    return lambda: torch.ops.aten.gelu_backward(grad, x, approximate="tanh")


def softmax_fwd(dtype, rows, cols):
    x = torch.randn(rows, cols, dtype=torch.float32).to(dtype)
    return lambda: torch.softmax(x, 1)


def softmax_bwd(dtype, rows, cols):
    y = torch.softmax(torch.randn(rows, cols, dtype=torch.float32), 1).to(dtype)
    grad = torch.randn(rows, cols, dtype=torch.float32).to(dtype)
    return lambda: torch.ops.aten._softmax_backward_data(grad, y, 1, dtype)


def xent(dtype, rows, cols):
    x = torch.randn(rows, cols, dtype=torch.float32).to(dtype).requires_grad_()
    target = torch.randint(cols, (rows,))

    def run():
        loss = F.cross_entropy(x, target, reduction="sum")
        return torch.autograd.grad(loss, x)

    return run


def gemm(dtype, m, n, k):
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    return lambda: a @ b


def gemm_grad_a(dtype, m, n, k):
    grad, b = torch.randn(m, n).to(dtype), torch.randn(k, n).to(dtype)
    return lambda: grad @ b.t()


def gemm_grad_b(dtype, m, n, k):
    grad, a = torch.randn(m, n).to(dtype), torch.randn(m, k).to(dtype)
    return lambda: a.t() @ grad


def draw_indices(queries, vocab):
    """As bench_indices in src/bench/bench.h says."""
    if indices == "uniform":
        return torch.randint(vocab, (queries,))
    drawn = torch.exp(torch.rand(queries, dtype=torch.float64) * math.log1p(vocab))
    return drawn.clamp(max=vocab).long() - 1


def embedding_fwd(dtype, queries, dim, vocab):
    weight, index = torch.randn(vocab, dim).to(dtype), draw_indices(queries, vocab)
    return lambda: F.embedding(index, weight)


def embedding_bwd(dtype, queries, dim, vocab):
    grad, index = torch.randn(queries, dim).to(dtype), draw_indices(queries, vocab)
    return lambda: torch.ops.aten.embedding_dense_backward(grad, index, vocab, -1, False)


WORK = {f.__name__: f for f in (gelu_fwd, gelu_bwd, softmax_fwd, softmax_bwd, xent, gemm, gemm_grad_a, gemm_grad_b,
                                embedding_fwd, embedding_bwd)}


def as_fp32(op, dtype, sizes):
    """Where PyTorch has no half precision kernel: the conversions that a user would write, counted."""
    inner = WORK[op](torch.float32, *sizes)
    operands = [c.cell_contents for c in inner.__closure__ or () if isinstance(c.cell_contents, torch.Tensor)]
    halves = [t.detach().to(dtype) for t in operands if t.is_floating_point()]

    def run():
        for half in halves:
            half.to(torch.float32)
        result = inner()
        return (result[0] if isinstance(result, tuple) else result).to(dtype)

    return run


def main():
    if sys.argv[1:] == ["--version"]:
        print(torch.__version__)
        return 0
    global indices
    op, dtype, indices, threads, seconds = *sys.argv[1:4], int(sys.argv[4]), float(sys.argv[5])
    sizes = [int(a) for a in sys.argv[6:]]
    if op not in WORK:
        return 3
    torch.set_num_threads(threads)
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    ways = []
    for make in (lambda: WORK[op](dtype, *sizes), lambda: as_fp32(op, dtype, sizes)):
        try:
            run = make()
            begin = time.perf_counter()
            run()
            ways.append((time.perf_counter() - begin, run))
        except (RuntimeError, TypeError):
            pass
    if not ways:
        return 3
    samples = []
    for _, run in ways:
        own = []
        end = time.perf_counter() + seconds
        while len(own) < 3 or time.perf_counter() < end:
            begin = time.perf_counter()
            run()
            own.append(time.perf_counter() - begin)
        samples = min(samples, own, key=min) if samples else own
    samples.sort()
    print(samples[0], samples[len(samples) // 2], len(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
