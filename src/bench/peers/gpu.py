#!/usr/bin/env python3
"""SHOWS. PyTorch, torch.compile and Triton on a GPU, driven line by line by src/bench/gpu_peers.c: gpu.py DEVICE all|NAME,NAME...

Writes "found WHAT" or "missing WHY" first. Then it reads:

    case OP DTYPE INDICES INDEX_DTYPE BYTES SIZE...    answers "arms NAME..."; BYTES is what the copies of the tensors come to; OP of an
                                                       op with an attribute that is a choice has it behind a colon: linear_fwd:bias_gelu
    run ARM CALLS                                      answers the seconds of one call, from events; "failed WHY" otherwise
    end                                                answers "ended"; the tensors are gone

Calls take the copies in turn and keep as many results as there are copies, so that nothing is found in the cache.
"""
import math
import os
import sys

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(text):
    answers.write(" ".join(text.split()) + "\n")
    answers.flush()


device = int(sys.argv[1])
wanted = sys.argv[2].split(",")
names = [n for n in ("pytorch", "torch.compile", "triton") if sys.argv[2] == "all" or n in wanted]

try:
    import torch
    import torch.nn.functional as F
    if not torch.cuda.is_available():
        raise RuntimeError(f"torch {torch.__version__} sees no GPU")
    torch.cuda.set_device(device)
    torch.zeros(1, device="cuda")
except Exception as reason:
    answer(f"missing {reason}")
    sys.exit(0)

try:
    import triton
    import triton.language as tl
except Exception:
    triton = None

# -- The work in PyTorch: functions of a case's inputs ---------------------------------------------------------------


def gelu_fwd(x):
    return F.gelu(x, approximate="tanh")


def gelu_bwd(grad, x):
    return torch.ops.aten.gelu_backward(grad, x, approximate="tanh")


def softmax_fwd(x):
    return torch.softmax(x, 1)


def softmax_bwd(grad, y):
    return torch.ops.aten._softmax_backward_data(grad, y, 1, y.dtype)


def xent_loss(x, target):
    return F.cross_entropy(x, target, reduction="sum")


def gemm(a, b):
    return a @ b


def gemm_grad_a(grad, b):
    return grad @ b.t()


def gemm_grad_b(grad, a):
    return a.t() @ grad


def linear_fwd(epilogue):
    """Its results in the order of the contract's outputs; the terms that the epilogue has are the last inputs."""
    def run(x, w, *terms):
        terms = list(terms)
        v = F.linear(x, w, terms.pop(0) if epilogue.startswith("bias") else None)
        if epilogue.endswith("residual"):
            return v + terms[0]
        return (F.gelu(v, approximate="tanh"), v) if epilogue.endswith("gelu") else v
    return run


def linear_grad_x(epilogue):
    def run(grad, w, *pre):
        s = grad @ w
        return torch.ops.aten.gelu_backward(s, pre[0], approximate="tanh") if pre else s
    return run


def linear_grad_w(accumulate):
    return lambda grad, x: grad.t() @ x


def embedding_fwd(index, weight):
    return F.embedding(index, weight)


def embedding_bwd(grad, index, vocab):
    return torch.ops.aten.embedding_dense_backward(grad, index, vocab, -1, False)


def with_gradient(loss):
    def run(x, target):
        value = loss(x, target)
        return value, torch.autograd.grad(value, x)
    return run


# -- Triton, as such kernels are commonly written -----------------------------------------------------------------------

if triton:
    @triton.jit
    def gelu_fwd_kernel(x_at, y_at, n, BLOCK: tl.constexpr):
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_at + i, mask=i < n).to(tl.float32)
        z = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        tl.store(y_at + i, (x * tl.sigmoid(2 * z)).to(y_at.dtype.element_ty), mask=i < n)

    @triton.jit
    def gelu_bwd_kernel(grad_at, x_at, out_at, n, BLOCK: tl.constexpr):
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        grad = tl.load(grad_at + i, mask=i < n).to(tl.float32)
        x = tl.load(x_at + i, mask=i < n).to(tl.float32)
        s = tl.sigmoid(2 * 0.7978845608028654 * (x + 0.044715 * x * x * x))
        slope = s + 2 * x * s * (1 - s) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)
        tl.store(out_at + i, (grad * slope).to(out_at.dtype.element_ty), mask=i < n)

    @triton.jit
    def softmax_fwd_kernel(x_at, y_at, cols, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * cols
        j = tl.arange(0, BLOCK)
        x = tl.load(x_at + row + j, mask=j < cols, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, 0))
        tl.store(y_at + row + j, (e / tl.sum(e, 0)).to(y_at.dtype.element_ty), mask=j < cols)

    @triton.jit
    def softmax_bwd_kernel(grad_at, y_at, out_at, cols, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * cols
        j = tl.arange(0, BLOCK)
        grad = tl.load(grad_at + row + j, mask=j < cols, other=0).to(tl.float32)
        y = tl.load(y_at + row + j, mask=j < cols, other=0).to(tl.float32)
        out = y * (grad - tl.sum(grad * y, 0))
        tl.store(out_at + row + j, out.to(out_at.dtype.element_ty), mask=j < cols)


def row_settings(cols):
    block = triton.next_power_of_2(cols)
    return {"BLOCK": block, "num_warps": min(32, max(4, block // 1024))}


def triton_gelu_fwd(x):
    y = torch.empty_like(x)
    gelu_fwd_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


def triton_gelu_bwd(grad, x):
    out = torch.empty_like(x)
    gelu_bwd_kernel[(triton.cdiv(x.numel(), 1024),)](grad, x, out, x.numel(), BLOCK=1024)
    return out


def triton_softmax_fwd(x):
    y = torch.empty_like(x)
    softmax_fwd_kernel[(x.shape[0],)](x, y, x.shape[1], **row_settings(x.shape[1]))
    return y


def triton_softmax_bwd(grad, y):
    out = torch.empty_like(y)
    softmax_bwd_kernel[(y.shape[0],)](grad, y, out, y.shape[1], **row_settings(y.shape[1]))
    return out


# -- Cases -----------------------------------------------------------------------------------------------------------


def draw(dtype, *shape):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def draw_unit(dtype, *shape):
    """Factors: a product's power depends on its data."""
    return (torch.rand(*shape, device="cuda", dtype=torch.float32) * 2 - 1).to(dtype)


def draw_indices(law, count, vocab, dtype):
    """As bench_indices in src/bench/bench.h says."""
    if law == "equal":
        drawn = torch.full((count,), vocab // 2, device="cuda")
    elif law == "zipf":
        unit = torch.rand(count, device="cuda", dtype=torch.float64)
        drawn = torch.exp(unit * math.log1p(vocab)).clamp(max=vocab).long() - 1
    else:
        drawn = torch.randint(vocab, (count,), device="cuda")
    return drawn.to(dtype)


def linear_inputs(op, choice, dtype, m, n, k):
    shapes = {"linear_fwd": [(m, k), (n, k)], "linear_grad_x": [(m, n), (n, k)], "linear_grad_w": [(m, n), (m, k)]}[op]
    if op == "linear_fwd":
        shapes += [(n,)] * choice.startswith("bias") + [(m, n)] * choice.endswith("residual")
    if op == "linear_grad_x" and choice == "gelu":
        shapes += [(m, k)]
    return [draw_unit(dtype, *shape) for shape in shapes]


def make_inputs(op, dtype, law, index_dtype, sizes):
    name, _, choice = op.partition(":")
    if name.startswith("linear"):
        return linear_inputs(name, choice, dtype, *sizes)
    if op == "gelu_fwd":
        return [draw(dtype, *sizes)]
    if op == "gelu_bwd":
        return [draw(dtype, *sizes), draw(dtype, *sizes)]
    if op == "softmax_fwd":
        return [draw(dtype, *sizes)]
    if op == "softmax_bwd":
        return [draw(dtype, *sizes), torch.softmax(draw(dtype, *sizes), 1)]
    if op == "xent":  # cross_entropy takes 64-bit targets only
        return [draw(dtype, *sizes).requires_grad_(), torch.randint(sizes[1], (sizes[0],), device="cuda")]
    if op == "embedding_fwd":
        queries, dim, vocab = sizes
        return [draw_indices(law, queries, vocab, index_dtype), draw(dtype, vocab, dim)]
    if op == "embedding_bwd":
        queries, dim, vocab = sizes
        return [draw(dtype, queries, dim), draw_indices(law, queries, vocab, index_dtype), vocab]
    m, n, k = sizes
    shapes = {"gemm": ((m, k), (k, n)), "gemm_grad_a": ((m, n), (k, n)), "gemm_grad_b": ((m, n), (m, k))}[op]
    return [draw_unit(dtype, *shape) for shape in shapes]


def copy_of(value):
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def ways_of(op):
    """The arms that do this work: name and function."""
    name, _, choice = op.partition(":")
    if name == "linear_grad_w" and choice != "no":
        return []
    eager = with_gradient(xent_loss) if op == "xent" else globals()[name](choice) if choice else globals().get(op)
    ways = [("pytorch", eager)]
    if not op.startswith("gemm"):  # a product is the same library call, compiled or not
        compiled = torch.compile(xent_loss if op == "xent" else eager, dynamic=False)
        ways.append(("torch.compile", with_gradient(compiled) if op == "xent" else compiled))
    if triton and op.startswith(("gelu_", "softmax_")):
        ways.append(("triton", globals()["triton_" + op]))
    return [way for way in ways if way[0] in names]


class Case:
    def __init__(self, op, dtype, law, index_dtype, rotate, sizes):
        torch._dynamo.reset()
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
        index_dtype = {"i32": torch.int32, "i64": torch.int64}[index_dtype]
        first = make_inputs(op, dtype, law, index_dtype, sizes)
        each = sum(t.numel() * t.element_size() for t in first if isinstance(t, torch.Tensor))
        count = min(256, max(2, 1 + rotate // each))
        self.sets = [first] + [[copy_of(t) for t in first] for _ in range(count - 1)]
        self.results = [None] * count
        self.next = 0
        self.arms = []
        for name, function in ways_of(op):
            try:
                for _ in range(3):
                    self.call(function)
                torch.cuda.synchronize()
                self.arms.append((name, function))
            except Exception as reason:
                print(name, op, reason)

    def call(self, function):
        self.next = (self.next + 1) % len(self.sets)
        self.results[self.next] = function(*self.sets[self.next])

    def time(self, arm, calls):
        function = self.arms[arm][1]
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(min(20_000_000, 100_000 * (calls + 4)))  # the calls are queued meanwhile
        begin.record()
        for _ in range(calls):
            self.call(function)
        end.record()
        end.synchronize()
        return 1e-3 * begin.elapsed_time(end) / calls


def main():
    versions = f"torch {torch.__version__}" + (f", triton {triton.__version__}" if triton else ", no triton")
    answer(f"found {versions} on {torch.cuda.get_device_name()}")
    case = None
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "case":
                case = None
                torch.cuda.empty_cache()
                case = Case(*words[1:5], int(words[5]), [int(w) for w in words[6:]])
                answer("arms " + " ".join(name for name, _ in case.arms))
            elif words[0] == "run":
                answer(repr(case.time(int(words[1]), int(words[2]))))
            elif words[0] == "end":
                case = None
                torch.cuda.empty_cache()
                answer("ended")
            else:
                answer("failed unknown request")
        except Exception as reason:
            answer(f"failed {reason}")


if __name__ == "__main__":
    main()
