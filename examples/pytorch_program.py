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
TYPES = {0: torch.float16, 1: torch.bfloat16, 2: torch.float32, 3: torch.int32, 4: torch.int64}
MAGIC, REPLY, INLINE, NOWHERE = 0x33574B54, 2, -1, -2
HEADER, CASE, ANSWER = struct.Struct("<IIQ"), struct.Struct("<64s8i"), struct.Struct("<iidQqiIiI")
ATTRIBUTE, TENSOR, ARRAY = struct.Struct("<32sii8s"), struct.Struct("<QQiIii8q32s"), struct.Struct("<QQiI104x")
REAL = 1  # the type of an attribute; of the others the value is an integer


def gelu_fwd(case, x):
    return [F.gelu(x, approximate="tanh")]


def gelu_bwd(case, grad, x):
    return [torch.ops.aten.gelu_backward(grad, x, approximate="tanh")]


def softmax_fwd(case, x):
    return [torch.softmax(x, 1)]


def softmax_bwd(case, grad, y):
    return [torch.ops.aten._softmax_backward_data(grad, y, 1, y.dtype)]


def xent(case, logits, target):
    x = logits.detach().requires_grad_()
    loss = F.cross_entropy(x, target.long(), reduction="none", ignore_index=case.attributes["ignore_index"],
                           label_smoothing=case.attributes["label_smoothing"])
    (grad,) = torch.autograd.grad(loss, x, torch.full_like(loss, case.attributes["scale"]))
    return [loss.detach().float(), grad]


def gemm(case, a, b):
    return [a @ b]


def gemm_grad_a(case, grad, b):
    return [grad @ b.t()]


def gemm_grad_b(case, grad, a):
    return [a.t() @ grad]


def embedding_fwd(case, index, weight):
    return [F.embedding(index, weight)]


def embedding_bwd(case, grad, index):
    _, dim, vocab = case.dims
    if dim == 0:  # on a GPU PyTorch 2.11 would end with an illegal memory access, and with it all that is still to be judged
        return [grad.new_zeros(vocab, 0)]
    return [torch.ops.aten.embedding_dense_backward(grad, index, vocab, -1, False)]


OPS = {f.__name__: f for f in (gelu_fwd, gelu_bwd, softmax_fwd, softmax_bwd, xent, gemm, gemm_grad_a, gemm_grad_b,
                               embedding_fwd, embedding_bwd)}


def text_of(name):
    return name.split(b"\0")[0].decode()


class Case:
    """Sizes by position, attributes by name, tensors in contract order: all that a call says."""

    def __init__(self, frame):
        _, _, self.nonce = HEADER.unpack_from(frame, 0)
        name, _, _, _, _, sizes, attributes, tensors, _ = CASE.unpack_from(frame, HEADER.size)
        self.op = text_of(name)
        at = HEADER.size + CASE.size
        self.dims = struct.unpack_from("<%dq" % sizes, frame, at)
        at += 8 * sizes
        self.attributes = {}
        for _ in range(attributes):
            name, kind, _, value = ATTRIBUTE.unpack_from(frame, at)
            (self.attributes[text_of(name)],) = struct.unpack("<d" if kind == REAL else "<q", value)
            at += ATTRIBUTE.size
        self.tensors = [TENSOR.unpack_from(frame, at + i * TENSOR.size) for i in range(tensors)]
        self.arrays = [t[:4] for t in self.tensors]


def tensor_of(memories, case, i):
    size, place, memory, _, kind, rank, *rest = case.tensors[i]
    kind, shape = TYPES[kind], rest[:rank]
    if size == 0:
        return torch.empty(shape, dtype=kind, device=device)
    count = size // torch.empty(0, dtype=kind).element_size()
    return torch.frombuffer(memories[memory], dtype=kind, count=count, offset=place).view(shape).clone().to(device)


def bytes_of(tensor):
    flat = tensor.detach().contiguous().cpu().flatten()
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def answer(case, memories, status, text, outputs):
    """Outputs go where the call asked for them: into the passed memory, or behind the reply."""
    text = text.encode()[:4096]
    before = HEADER.size + ANSWER.size + len(case.arrays) * ARRAY.size
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
