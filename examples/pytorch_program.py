#!/usr/bin/env python3
"""PyTorch's kernels behind binary frames on standard input and output, so that tokitai can judge them:

    tokitai certify gelu_bwd --program 'examples/pytorch_program.py cuda' --level quick

The first argument is PyTorch's device. docs/protocol.md describes the frames; what is here is all that another language needs."""
import mmap
import os
import socket
import struct
import sys

import torch
import torch.nn.functional as F

device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
VALUES = {0: torch.float16, 1: torch.bfloat16}
INDICES = {3: torch.int32, 4: torch.int64}
MAGIC, REPLY, INLINE, NOWHERE = 0x31574B54, 2, -1, -2
HEADER, CASE, ARRAY = struct.Struct("<IIQ"), struct.Struct("<32sii3qffqii"), struct.Struct("<QQiI")
ANSWER = struct.Struct("<iidQqiIiI")


def gelu_fwd(case, x):
    return [F.gelu(x, approximate="tanh")]


def gelu_bwd(case, grad, x):
    return [torch.ops.aten.gelu_backward(grad, x, approximate="tanh")]


def softmax_fwd(case, x):
    return [torch.softmax(x.view(case.dims[:2]), 1)]


def softmax_bwd(case, grad, y):
    return [torch.ops.aten._softmax_backward_data(grad.view(case.dims[:2]), y.view(case.dims[:2]), 1, y.dtype)]


def xent(case, logits, target):
    x = logits.view(case.dims[:2]).detach().requires_grad_()
    loss = F.cross_entropy(x, target.long(), reduction="none", ignore_index=case.ignore_index,
                           label_smoothing=case.label_smoothing)
    (grad,) = torch.autograd.grad(loss, x, torch.full_like(loss, case.scale))
    return [loss.detach().float(), grad]


def gemm(case, a, b):
    m, n, k = case.dims
    return [a.view(m, k) @ b.view(k, n)]


def gemm_grad_a(case, grad, b):
    m, n, k = case.dims
    return [grad.view(m, n) @ b.view(k, n).t()]


def gemm_grad_b(case, grad, a):
    m, n, k = case.dims
    return [a.view(m, k).t() @ grad.view(m, n)]


def embedding_fwd(case, index, weight):
    return [F.embedding(index, weight.view(case.dims[2], case.dims[1]))]


def embedding_bwd(case, grad, index):
    queries, dim, vocab = case.dims
    if dim == 0:  # on a GPU PyTorch 2.11 would end with an illegal memory access, and with it all that is still to be judged
        return [grad.new_zeros(vocab, 0)]
    return [torch.ops.aten.embedding_dense_backward(grad.view(queries, dim), index, vocab, -1, False)]


OPS = {f.__name__: f for f in (gelu_fwd, gelu_bwd, softmax_fwd, softmax_bwd, xent, gemm, gemm_grad_a, gemm_grad_b,
                               embedding_fwd, embedding_bwd)}
INDEXED = {"xent": 1, "embedding_fwd": 0, "embedding_bwd": 1}


class Case:
    def __init__(self, frame):
        _, _, self.nonce = HEADER.unpack_from(frame, 0)
        (name, self.dtype, self.index_dtype, *self.dims, self.label_smoothing, self.scale, self.ignore_index,
         _, count) = CASE.unpack_from(frame, HEADER.size)
        self.op = name.split(b"\0")[0].decode()
        at = HEADER.size + CASE.size
        self.arrays = [ARRAY.unpack_from(frame, at + i * ARRAY.size) for i in range(count)]


def tensor_of(memories, case, i):
    size, place, memory, _ = case.arrays[i]
    kind = INDICES[case.index_dtype] if INDEXED.get(case.op) == i else VALUES[case.dtype]
    if size == 0:
        return torch.empty(0, dtype=kind, device=device)
    count = size // torch.empty(0, dtype=kind).element_size()
    return torch.frombuffer(memories[memory], dtype=kind, count=count, offset=place).clone().to(device)


def bytes_of(tensor):
    flat = tensor.detach().contiguous().cpu().flatten()
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def answer(case, memories, status, text, outputs):
    """Outputs go where the call asked for them: into the passed memory, or behind the reply."""
    text = text.encode()[:4096]
    before = HEADER.size + ANSWER.size + 4 * ARRAY.size
    body, places = bytearray(text), []
    for size, place, memory, output in case.arrays:
        data = outputs.pop(0) if output and outputs else b""
        if memory >= 0 and data:
            memories[memory][place:place + size] = data
        elif output:
            body += b"\0" * (-(before + len(body)) % 8)
            place = before + len(body)
            body += data
        places.append(ARRAY.pack(len(data), place, memory, 1) if output else ARRAY.pack(0, 0, NOWHERE, 0))
    places += [ARRAY.pack(0, 0, NOWHERE, 0)] * (4 - len(places))
    head = HEADER.pack(MAGIC, REPLY, case.nonce)
    head += ANSWER.pack(status, 0, 0.0, 0, 0, -1, len(text), len(case.arrays), 0)
    frame = head + b"".join(places) + bytes(body)
    sys.stdout.buffer.write(struct.pack("<I", len(frame)) + frame)
    sys.stdout.buffer.flush()


# Large arrays come in shared memory, whose descriptors travel with the first byte of a frame.
requests = socket.socket(fileno=0)


def receive(count):
    data = bytearray(count)
    done = 0
    while done < count:
        got = requests.recv_into(memoryview(data)[done:])
        if got == 0:
            sys.exit(21)
        done += got
    return data


while True:
    length, files, _, _ = socket.recv_fds(requests, 4, 4)
    if not length:
        sys.exit(0)
    length += receive(4 - len(length))
    frame = receive(struct.unpack("<I", length)[0])
    memories = {INLINE: frame}
    for i, file in enumerate(files):
        memories[i] = mmap.mmap(file, 0)
        os.close(file)
    case = Case(frame)
    try:
        inputs = [tensor_of(memories, case, i) for i, a in enumerate(case.arrays) if not a[3]]
        answer(case, memories, 0, "", [bytes_of(t) for t in OPS[case.op](case, *inputs)])
    except Exception as reason:
        answer(case, memories, 1, f"{type(reason).__name__}: {reason}", [])
