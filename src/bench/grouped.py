#!/usr/bin/env python3
"""SHOWS. Products of groups against one dense product of the same work, and against PyTorch's, on one CUDA device.

    src/bench/grouped.py build/libtokitai.so [rounds]

64 experts, 8 of them for each of 16384 tokens: 131072 rows, 2048 x 1408. Numbers are from [-1, 1]. All arms run in one process, one after
the other in each round, on buffers in turn; the figure is the median of the rounds. `equal` has groups of one size, `uniform` those of
random scores, `skewed` those of scores in favour of a few experts.
"""
import ctypes
import statistics
import sys

import torch

TOKENS, EXPERTS, TOP, K, N = 16384, 64, 8, 2048, 1408
M = TOKENS * TOP
SETS = 3
F16, BF16, I32 = 0, 1, 3  # of tk_dtype


class Tokitai:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.tk_ctx_message.restype = ctypes.c_char_p
        self.ctx = ctypes.c_void_p()
        self.check(self.lib.tk_ctx_create(ctypes.byref(self.ctx)))
        self.check(self.lib.tk_ctx_use_device(self.ctx, b"cuda"))
        self.check(self.lib.tk_ctx_set_stream(self.ctx, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.tk_ctx_message(self.ctx).decode())

    def call(self, op, dtype, sizes, tensors, index=()):
        sizes = [ctypes.c_int64(s) for s in sizes]
        pointers = [ctypes.c_void_p(t.data_ptr()) for t in tensors]
        self.check(getattr(self.lib, "tk_" + op)(self.ctx, dtype, *index, *sizes, *pointers))


def drawn_ends(routing):
    generator = torch.Generator().manual_seed(1)
    if routing == "equal":
        counts = torch.full((EXPERTS,), M // EXPERTS)
    else:
        noise = -torch.log(-torch.log(torch.rand(TOKENS, EXPERTS, generator=generator)))
        weights = torch.zeros(EXPERTS)
        if routing == "skewed":
            weights = -torch.log(1.0 + torch.randperm(EXPERTS, generator=generator))
        chosen = (noise + weights).topk(TOP, dim=1).indices
        counts = torch.bincount(chosen.flatten(), minlength=EXPERTS)
    return counts, torch.cumsum(counts, 0).to(torch.int32).cuda()


def uniform(*shape, dtype):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype)


def measure(arms, rounds, calls=3):
    """Milliseconds of each arm: a list of functions of the number of the buffers."""
    times = {name: [] for name in arms}
    for name, run in arms.items():
        for i in range(SETS):
            run(i)
    torch.cuda.synchronize()
    for r in range(rounds):
        for name, run in arms.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for i in range(calls):
                run((r + i) % SETS)
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) / calls)
    return {name: statistics.median(t) for name, t in times.items()}


def main():
    tokitai = Tokitai(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    flops = 2.0 * M * K * N
    grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    for number, dtype in ((BF16, torch.bfloat16), (F16, torch.float16)):
        a = [uniform(M, K, dtype=dtype) for _ in range(SETS)]
        c = [uniform(M, N, dtype=dtype) for _ in range(SETS)]
        b = [uniform(EXPERTS, K, N, dtype=dtype) for _ in range(SETS)]
        out_c = [torch.empty(M, N, device="cuda", dtype=dtype) for _ in range(SETS)]
        out_a = [torch.empty(M, K, device="cuda", dtype=dtype) for _ in range(SETS)]
        out_b = [torch.empty(EXPERTS, K, N, device="cuda", dtype=dtype) for _ in range(SETS)]
        dense_b = [torch.empty(K, N, device="cuda", dtype=dtype) for _ in range(SETS)]
        sizes, dense = (M, N, K, EXPERTS), (M, N, K)
        for routing in ("uniform", "skewed", "equal"):
            counts, ends = drawn_ends(routing)
            ours = {
                "grouped_gemm": (lambda i: (a[i], b[i], ends, out_c[i])),
                "grouped_gemm_grad_a": (lambda i: (c[i], b[i], ends, out_a[i])),
                "grouped_gemm_grad_b": (lambda i: (c[i], a[i], ends, out_b[i])),
            }
            alone = {
                "grouped_gemm": ("gemm", lambda i: (a[i], b[i][0], out_c[i])),
                "grouped_gemm_grad_a": ("gemm_grad_a", lambda i: (c[i], b[i][0], out_a[i])),
                "grouped_gemm_grad_b": ("gemm_grad_b", lambda i: (c[i], a[i], dense_b[i])),
            }
            theirs = {
                "grouped_gemm": lambda i: grouped_mm(a[i], b[i], offs=ends),
                "grouped_gemm_grad_a": lambda i: grouped_mm(c[i], b[i].transpose(-2, -1), offs=ends),
                "grouped_gemm_grad_b": lambda i: grouped_mm(a[i].t(), c[i], offs=ends),
            }
            matmul = {
                "grouped_gemm": lambda i: torch.matmul(a[i], b[i][0], out=out_c[i]),
                "grouped_gemm_grad_a": lambda i: torch.matmul(c[i], b[i][0].t(), out=out_a[i]),
                "grouped_gemm_grad_b": lambda i: torch.matmul(a[i].t(), c[i], out=dense_b[i]),
            }
            results = {"grouped_gemm": out_c, "grouped_gemm_grad_a": out_a, "grouped_gemm_grad_b": out_b}
            for op in ours:
                arms = {
                    "ours": lambda i: tokitai.call(op, number, sizes, ours[op](i), (I32,)),
                    "dense": lambda i: tokitai.call(alone[op][0], number, dense, alone[op][1](i)),
                    "matmul": matmul[op],
                }
                agrees = ""
                try:
                    reference = theirs[op](0)
                    arms["ours"](0)
                    torch.cuda.synchronize()
                    error = (results[op][0].float() - reference.float()).abs().max().item()
                    agrees = f"largest difference {error:.3g} of {reference.float().abs().max().item():.3g}"
                    del reference
                    arms["grouped_mm"] = theirs[op]
                except (RuntimeError, NotImplementedError) as problem:
                    agrees = f"grouped_mm: {str(problem).splitlines()[0][:90]}"
                t = measure(arms, rounds)
                text = "  ".join(f"{name} {t[name]:.4f} ms {flops / t[name] / 1e9:.0f} TF" for name in t)
                peer = f"  {t['grouped_mm'] / t['ours']:.3f} of grouped_mm" if "grouped_mm" in t else ""
                print(f"{op} {str(dtype)[6:]} {routing} (most {int(counts.max())}, least {int(counts.min())}): {text}  "
                      f"-> {t['dense'] / t['ours']:.3f} of dense, {t['matmul'] / t['ours']:.3f} of matmul{peer}; {agrees}",
                      flush=True)
        del a, b, c, out_a, out_b, out_c, dense_b
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
