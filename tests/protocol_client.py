#!/usr/bin/env python3
"""Drives the kernel programs as somebody would who has read docs/protocol.md and nothing else.

Text: REQUESTS requests for each of the four programs in one server process, every reply checked: its fields, values that are exact by
arithmetic done here, others against a program started for that request alone; the server's memory must not grow. Binary: the same
values through pipes and through shared memory on a Unix socket, bf16 and 64-bit indices, and 64 MiB requests timed beside memcpy.

    protocol_client.py PROGRAM [--requests N] [--backend NAME] [--without-speed] [--without-memory]
"""
import argparse
import fcntl
import mmap
import os
import random
import re
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import time

MAGIC, CALL, REPLY = 0x33574B54, 1, 2
F16, BF16, I32, I64 = 0, 1, 3, 4
INLINE = -1
HEAD_BYTES, REPLY_BYTES, TENSOR_BYTES = 112, 64, 128
FLAT = 2 << 20  # bytes that a server may have grown by over all its requests
PIPE_SIZE = 1 << 20

arguments = None
random_numbers = random.Random(20261115)
checks = 0
processes = []  # that a failed check would leave behind


def effort(draws):
    """As in tests/unit_test.h."""
    return max(1, int(draws * float(os.environ.get("TOKITAI_EFFORT", "1"))))


def check(condition, *what):
    global checks
    checks += 1
    if not condition:
        raise SystemExit("FAILED: " + " ".join(str(w) for w in what))


def bits(number):
    """The pattern of a number that fp16 has."""
    return struct.unpack("<H", struct.pack("<e", number))[0]


def number(pattern):
    return struct.unpack("<e", struct.pack("<H", pattern))[0]


def command(name, *options):
    return [arguments.program, "kernel", name, "--backend", arguments.backend, *options]


class Server:
    """A server process and its frames."""

    def __init__(self, name, *options):
        self.process = subprocess.Popen(command(name, "--server", *options), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        processes.append(self.process)
        self.input = self.process.stdin.fileno()
        self.output = self.process.stdout.fileno()
        fcntl.fcntl(self.input, fcntl.F_SETPIPE_SZ if hasattr(fcntl, "F_SETPIPE_SZ") else 1031, PIPE_SIZE)

    def send(self, *parts):
        frame = struct.pack("<I", sum(len(p) for p in parts))
        for part in (frame, *parts):
            view = memoryview(part).cast("B")
            while view:
                view = view[os.write(self.input, view):]

    def read(self, length):
        data = bytearray(length)
        view = memoryview(data)
        while view:
            got = os.readv(self.output, [view])
            if got == 0:
                return bytes(data[:length - len(view)])
            view = view[got:]
        return data

    def receive(self):
        head = self.read(4)
        if len(head) < 4:
            check(False, "the server ended:", self.process.stderr.read())
        return self.read(struct.unpack("<I", head)[0])

    def ask(self, text):
        self.send(text.encode())
        return self.receive().decode()

    def memory(self):
        with open("/proc/%d/status" % self.process.pid) as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) << 10

    def close(self):
        self.process.stdin.close()
        check(self.process.wait(30) == 0, "a clean end of input: exit status", self.process.returncode)
        check(self.process.stderr.read() == b"", "nothing on standard error")


# The programs -----------------------------------------------------------------------------------------------------

FIELDS = {
    "gelu-bwd": "DEVICE_NAME GFX N GRID BLOCK KERNEL_TIME_MS RESULTS",
    "softmax": "BACKEND DEVICE_NAME GFX N_ROWS N_COLS GRID BLOCK KERNEL_TIME_MS OUTPUT",
    "gemm-bw": "DEVICE_NAME GFX KERNEL_ID M N K GRID_X GRID_Y BLOCK_X BLOCK_Y KERNEL_TIME_MS RESULTS",
    "embedding": "DEVICE_NAME GFX OP N_QUERIES EMBEDDING_DIM VOCAB_SIZE GRID_X GRID_Y BLOCK KERNEL_TIME_MS OUTPUT",
}


class Request:
    """A request as text, the fields of its reply that are known before, and its result if that is exact, else None."""

    def __init__(self, header, arrays, known, exact=None):
        self.text = "\n".join(" ".join(map(str, row)) for row in [header, *arrays])
        self.known, self.exact = known, exact


def small():
    """A number with so few bits that sums of products of some are exact in fp16."""
    return random_numbers.randint(-4, 4)


def any_values(count):
    return [random_numbers.randrange(0x7C00) | random_numbers.randrange(2) << 15 for _ in range(count)]


def gelu_bwd():
    n = random_numbers.randint(1, 40)
    grad = any_values(n)
    if random_numbers.random() < 0.5:
        # The derivative at 0 is 1/2, and halves of these are exact.
        grad = [bits(small() * 2.0) for _ in range(n)]
        return Request([n], [grad, [0] * n], {"N": n}, [bits(number(g) / 2) for g in grad])
    return Request([n], [grad, any_values(n)], {"N": n})


def softmax():
    rows, cols = random_numbers.randint(1, 5), 2 ** random_numbers.randint(0, 4)
    known = {"N_ROWS": rows, "N_COLS": cols}
    if random_numbers.random() < 0.5:
        known["BACKEND"] = "softmax_fwd"
        if random_numbers.random() < 0.5:
            # A row of equal numbers gives equal shares, here powers of two.
            values = [v for _ in range(rows) for v in [bits(float(small()))] * cols]
            return Request([0, rows, cols], [values], known, [bits(1 / cols)] * (rows * cols))
        return Request([0, rows, cols], [any_values(rows * cols)], known)
    known["BACKEND"] = "grad_loss_wrt_logits"
    y = [0] * (rows * cols)
    grad = [bits(float(small())) for _ in range(rows * cols)]
    for row in range(rows):
        y[row * cols] = bits(1.0)
    # y is one-hot: the gradient is y (grad - grad at that place) = 0 everywhere.
    exact = [0] * (rows * cols) if random_numbers.random() < 0.5 else None
    if exact is None:
        y = [bits(1 / cols)] * (rows * cols)
    return Request([1, rows, cols], [grad, y], known, exact)


def gemm_bw():
    which = random_numbers.randint(1, 2)
    m, n, k = (random_numbers.randint(1, 6) for _ in range(3))
    grad_c = [small() for _ in range(m * n)]
    if which == 1:
        other = [small() for _ in range(k * n)]
        result = [sum(grad_c[i * n + j] * other[t * n + j] for j in range(n)) for i in range(m) for t in range(k)]
    else:
        other = [small() for _ in range(m * k)]
        result = [sum(other[i * k + t] * grad_c[i * n + j] for i in range(m)) for t in range(k) for j in range(n)]
    return Request([which, m, n, k], [[bits(float(v)) for v in grad_c], [bits(float(v)) for v in other]],
                   {"KERNEL_ID": which, "M": m, "N": n, "K": k}, [bits(float(v)) for v in result])


def embedding():
    queries, dim, vocab = (random_numbers.randint(1, 7) for _ in range(3))
    index = [random_numbers.randrange(vocab) for _ in range(queries)]
    known = {"N_QUERIES": queries, "EMBEDDING_DIM": dim, "VOCAB_SIZE": vocab}
    if random_numbers.random() < 0.5:
        weight = [random_numbers.randrange(65536) for _ in range(vocab * dim)]
        known["OP"] = "forward"
        return Request([queries, dim, vocab, 0], [index, weight], known,
                       [weight[i * dim + d] for i in index for d in range(dim)])
    grad = [small() for _ in range(queries * dim)]
    result = [sum(grad[q * dim + d] for q in range(queries) if index[q] == v) for v in range(vocab) for d in range(dim)]
    known["OP"] = "backward"
    return Request([queries, dim, vocab, 1], [index, [bits(float(g)) for g in grad]], known,
                   [bits(float(v)) for v in result])


PROGRAMS = {"gelu-bwd": gelu_bwd, "softmax": softmax, "gemm-bw": gemm_bw, "embedding": embedding}


def check_reply(name, request, reply):
    """The elements of a reply whose fields are as they should be. Zeros count as equal whatever their sign."""
    lines = reply.split("\n")
    check(lines.pop() == "", name, "the last line has an end")
    pairs = [line.split("=", 1) for line in lines]
    check([p[0] for p in pairs] == FIELDS[name].split(), name, "fields", [p[0] for p in pairs])
    fields = dict(pairs)
    for key, value in request.known.items():
        check(fields[key] == str(value), name, key, "is", fields[key], "not", value)
    check(float(fields["KERNEL_TIME_MS"]) >= 0 and fields["DEVICE_NAME"] and fields["GFX"], name, reply)
    for key in FIELDS[name].split():
        if key.startswith(("GRID", "BLOCK")):
            check(int(fields[key]) >= 1, name, key, fields[key])
    values = [int(v) for v in pairs[-1][1].split("," if name == "softmax" else " ")]
    if request.exact is not None:
        check([v & 0x7FFF and v for v in values] == [v & 0x7FFF and v for v in request.exact], name, request.text, "gave",
              values, "not", request.exact)
    return values


def run_once(name, text):
    return subprocess.run(command(name), input=text.encode(), capture_output=True, timeout=120)


def drive(name, make):
    """All requests through one server."""
    server = Server(name)
    settled = exact = alone = 0
    begin = time.perf_counter()
    for i in range(arguments.requests):
        request = make()
        values = check_reply(name, request, server.ask(request.text))
        exact += request.exact is not None
        if i % max(1, arguments.requests // 20) == 7:
            single = run_once(name, request.text)
            check(single.returncode == 0 and single.stderr == b"", name, "alone:", single.stderr)
            check(check_reply(name, request, single.stdout.decode()) == values, name, "alone and in the server differ")
            alone += 1
        if i == arguments.requests // 10:
            settled = server.memory()
    grown = server.memory() - settled
    server.close()
    check(arguments.without_memory or grown <= FLAT, name, "grew by", grown, "bytes")
    print("%-9s %d requests in one process, %.0f a second; %d exact, %d also alone; memory grew by %d KiB"
          % (name, arguments.requests, arguments.requests / (time.perf_counter() - begin), exact, alone, grown >> 10))


# What fails -------------------------------------------------------------------------------------------------------


def check_failures():
    """A failed request is answered and ends the server with the status that the program alone has."""
    for name, text, status, says in [
            ("gelu-bwd", "x", 2, "N"), ("gelu-bwd", "0", 3, "N"), ("gelu-bwd", "2 1", 4, "grad_output[1]"),
            ("gelu-bwd", "1 1 65536", 5, "input[0]"), ("gelu-bwd", "1 1 1 1", 5, "input[0]"),
            ("softmax", "7 1 1 0", 3, "MODE"), ("softmax", "0 1 0", 4, "COLS"), ("softmax", "0 1 1 -1", 5, "input[0]"),
            ("softmax", "1 1 1 x 0", 6, "grad_output[0]"), ("softmax", "1 1 1 0", 7, "softmax_output[0]"),
            ("gemm-bw", "1 1 1 1 ", 7, "grad_C[0]"), ("gemm-bw", "1 1 1 1 0", 8, "B[0]"),
            ("gemm-bw", "2 1 1 1 0", 9, "A[0]"), ("embedding", "1 1 1 2 0 0", 4, "OP"),
            ("embedding", "1 1 1 0", 5, "index[0]"), ("embedding", "1 1 1 0 0", 6, "weight[0]"),
            ("embedding", "1 1 1 0 1 0", 11, "index[0]")]:
        single = run_once(name, text)
        check(single.returncode == status and single.stdout == b"", name, repr(text), "alone:", single)
        check(says in single.stderr.decode(), name, repr(text), "names its element:", single.stderr)
        server = Server(name)
        reply = server.ask(text)
        check(says in reply, name, repr(text), "answers", reply)
        check(server.process.wait(30) == status, name, repr(text), "in a server:", server.process.returncode)
        check(server.read(1) == b"", name, "says no more")
    check(run_once("gelu-bwd", "1 1 1").returncode == 0, "and a good request is served")
    for sent, status in [(b"", 0), (b"\1", 20), (b"\1\0\0", 20), (b"\5\0\0\0", 21), (b"\5\0\0\0" b"1 1 ", 21),
                         (b"\0\0\0\0", 2), (b"\1\0\0\x40", 22), (b"\xff\xff\xff\xff", 22)]:
        process = subprocess.run(command("gelu-bwd", "--server"), input=sent, capture_output=True, timeout=120)
        check(process.returncode == status, "frames", sent, "exit status", process.returncode, "not", status)
    limited = subprocess.run(command("gelu-bwd", "--server", "--max-frame", "4"), input=b"\5\0\0\0" b"1 1 1",
                             capture_output=True, timeout=120)
    check(limited.returncode == 22, "--max-frame")
    missing = subprocess.run([arguments.program, "kernel", "gelu-bwd", "--backend", "cuda:1023"], input=b"1 1 1",
                             capture_output=True, timeout=120)
    check(missing.returncode == 10 and missing.stderr, "a device that is not there")
    print("every exit status is as the protocol has it, alone and in a server")


# Binary frames ----------------------------------------------------------------------------------------------------


# Names of tensors, and the sizes that give their shapes.
TENSORS = {
    "gelu_bwd": [("grad_output", (0,)), ("x", (0,)), ("grad_input", (0,))],
    "softmax_fwd": [("x", (0, 1)), ("y", (0, 1))],
    "gemm_grad_a": [("grad_c", (0, 1)), ("b", (2, 1)), ("grad_a", (0, 2))],
    "gemm_grad_b": [("grad_c", (0, 1)), ("a", (0, 2)), ("grad_b", (2, 1))],
    "embedding_fwd": [("index", (0,)), ("weight", (2, 1)), ("out", (0, 1))],
    "embedding_bwd": [("grad_output", (0, 1)), ("index", (0,)), ("grad_weight", (2, 1))],
}


def call_bytes(op, dims):
    return HEAD_BYTES + 8 * len(dims) + TENSOR_BYTES * len(TENSORS[op])


def make_call(op, dims, buffers, dtype=F16, index_dtype=I32, nonce=0, threads=0):
    """buffers: (bytes, place, memory, output)."""
    frame = struct.pack("<IIQ64s8i", MAGIC, CALL, nonce, op.encode(), dtype, dtype, index_dtype, threads, len(dims), 0,
                        len(buffers), 0)
    frame += struct.pack("<%dq" % len(dims), *dims)
    for buffer, (name, axes) in zip(buffers, TENSORS[op]):
        shape = [dims[axis] for axis in axes]
        frame += struct.pack("<QQiIii8q32s", *buffer, index_dtype if name == "index" else dtype, len(shape),
                             *shape, *[0] * (8 - len(shape)), name.encode())
    return frame


def make_inline(op, dims, arrays, output, output_bytes, **options):
    """A whole frame: `arrays` in contract order, the output left out of them."""
    place, buffers, data = call_bytes(op, dims), [], b""
    for array in arrays:
        buffers.append((len(array), place + len(data), INLINE, 0))
        data += array + b"\0" * (-len(array) % 8)
    buffers.insert(output, (output_bytes, 0, INLINE, 1))
    return make_call(op, dims, buffers, **options) + data


class Reply:
    def __init__(self, frame, nonce):
        check(len(frame) >= REPLY_BYTES, "a reply is whole:", len(frame))
        magic, kind, echoed, self.status, _, self.seconds = struct.unpack_from("<IIQiid", frame)
        check((magic, kind, echoed) == (MAGIC, REPLY, nonce), "the header of a reply", magic, kind, echoed, nonce)
        text_bytes, count = struct.unpack_from("<Ii", frame, 52)
        self.buffers = [struct.unpack_from("<QQiI", frame, REPLY_BYTES + TENSOR_BYTES * i) for i in range(count)]
        text_at = REPLY_BYTES + TENSOR_BYTES * count
        self.text = bytes(frame[text_at:text_at + text_bytes]).decode()
        self.frame = frame

    def output(self):
        for size, place, memory, output in self.buffers:
            if output and memory == INLINE:
                return bytes(self.frame[place:place + size])
        return None


def halves(values):
    return struct.pack("<%dH" % len(values), *values)


def binary_examples():
    """(program, op, dims, options, arrays, position and bytes of the output, its value or None)."""
    bf16 = lambda value: struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    for _ in range(effort(50)):
        queries, dim, vocab = (random_numbers.randint(1, 9) for _ in range(3))
        index = [random_numbers.randrange(vocab) for _ in range(queries)]
        weight = any_values(vocab * dim)
        for dtype in (F16, BF16):
            for index_dtype, form in ((I32, "i"), (I64, "q")):
                packed = struct.pack("<%d%s" % (queries, form), *index)
                options = {"dtype": dtype, "index_dtype": index_dtype}
                yield ("embedding", "embedding_fwd", (queries, dim, vocab), options, [packed, halves(weight)], 2,
                       2 * queries * dim, halves([weight[i * dim + d] for i in index for d in range(dim)]))
                grad = [small() for _ in range(queries * dim)]
                total = [float(sum(grad[q * dim + d] for q in range(queries) if index[q] == v))
                         for v in range(vocab) for d in range(dim)]
                form_of = bits if dtype == F16 else bf16
                yield ("embedding", "embedding_bwd", (queries, dim, vocab), options,
                       [halves([form_of(float(g)) for g in grad]), packed], 2, 2 * vocab * dim,
                       halves([form_of(t) for t in total]))
    for dtype, one, half in ((F16, 0x3C00, 0x3800), (BF16, 0x3F80, 0x3F00)):
        yield ("gelu-bwd", "gelu_bwd", (5,), {"dtype": dtype}, [halves([one] * 5), halves([0] * 5)], 2, 10,
               halves([half] * 5))
        yield ("softmax", "softmax_fwd", (3, 2), {"dtype": dtype}, [halves([one] * 6)], 1, 12, halves([half] * 6))
        yield ("gemm-bw", "gemm_grad_a", (1, 2, 1), {"dtype": dtype}, [halves([0, one]), halves([one, half])], 2, 2,
               halves([half]))
        yield ("gemm-bw", "gemm_grad_b", (2, 1, 1), {"dtype": dtype, "threads": 1}, [halves([0, one]), halves([one, half])],
               2, 2, halves([half]))


def check_binary():
    servers = {name: Server(name, "--binary") for name in PROGRAMS}
    count = 0
    for name, op, dims, options, arrays, output, output_bytes, expected in binary_examples():
        count += 1
        nonce = random_numbers.getrandbits(64)
        servers[name].send(make_inline(op, dims, arrays, output, output_bytes, nonce=nonce, **options))
        reply = Reply(servers[name].receive(), nonce)
        check(reply.status == 0, op, reply.text)
        check(reply.output() == expected, op, dims, options, "gave", reply.output(), "not", expected)
        check(reply.text.split("=")[0] == FIELDS[name].split()[0] and reply.seconds >= 0, op, "fields", reply.text)
    for server in servers.values():
        server.close()
    good = make_inline("gelu_bwd", (2,), [halves([0, 0]), halves([0, 0])], 2, 4)
    dims, tensor = HEAD_BYTES, HEAD_BYTES + 8

    def changed(at, form, value, frame=good):
        patch = struct.pack("<" + form, value)
        return frame[:at] + patch + frame[at + len(patch):]

    def of_size(n):
        """Everything says n; the arrays are those of 2 elements."""
        frame = good
        for at in (dims, *(tensor + TENSOR_BYTES * i + 32 for i in range(3))):
            frame = changed(at, "q", n, frame)
        return frame

    bad = [(2, good[:-9]), (2, b""), (2, b"\0" + good[1:]), (2, b"TKW2" + good[4:]), (5, good + b"\0" * 8),
           (2, changed(16, "64s", b"x" * 64)), (2, changed(16, "64s", b"")), (3, changed(16, "64s", b"softmax_fwd")),
           (3, changed(dims, "q", -1)), (2, changed(dims, "q", 3)), (4, of_size(1 << 62)), (4, of_size(3)),
           (2, changed(80, "i", I32)), (2, changed(84, "i", BF16)), (2, changed(92, "i", -1)),
           (2, changed(104, "i", 2)), (2, changed(108, "i", 1)),
           *((2, changed(at, "i", count)) for at in (96, 100, 104) for count in (-1, 2, 65, 99, 1 << 30)),
           (2, changed(tensor + 16, "i", 0)), (4, changed(tensor + 16, "i", -2)), (2, changed(tensor + 16, "i", -3)),
           (2, changed(tensor + 20, "I", 1)), (2, changed(tensor + 20, "I", 2)), (2, changed(tensor + 24, "i", BF16)),
           *((2, changed(tensor + 28, "i", rank)) for rank in (-1, 0, 2, 9)), (2, changed(tensor + 32, "q", 3)),
           (2, changed(tensor + 96, "32s", b"x")), (2, changed(tensor + 96, "32s", b"y" * 32)),
           (2, changed(tensor + 8, "Q", call_bytes("gelu_bwd", (2,)) + 1)), (2, changed(tensor + 8, "Q", 0)),
           (2, changed(tensor + 8, "Q", 1 << 63))]
    for status, frame in bad:
        server = Server("gelu-bwd", "--binary")
        server.send(frame)
        reply = Reply(server.receive(), struct.unpack_from("<Q", frame, 8)[0] if len(frame) >= 16 else 0)
        check(reply.status == status and reply.text and not reply.buffers, "a bad frame:", status, reply.status, reply.text)
        check(server.process.wait(30) == status, "and exit status", server.process.returncode)
    print("%d binary requests in f16 and bf16 with both index types; %d bad frames refused" % (count, len(bad)))


class Connection:
    """A server on a Unix socket and one connection to it."""

    def __init__(self, folder, name, *options):
        self.path = os.path.join(folder, name)
        self.process = subprocess.Popen(command(name, *options, "--socket", self.path), stderr=subprocess.PIPE)
        processes.append(self.process)
        self.open()

    def open(self):
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(3000):
            try:
                self.socket.connect(self.path)
                return
            except OSError:
                check(self.process.poll() is None, "the server ended:", self.process.returncode)
                time.sleep(0.01)
        check(False, "the server does not listen")

    def ask(self, frame, files=()):
        socket.send_fds(self.socket, [struct.pack("<I", len(frame)) + frame], files)
        head = self.socket.recv(4, socket.MSG_WAITALL)
        check(len(head) == 4, "an answer")
        return self.socket.recv(struct.unpack("<I", head)[0], socket.MSG_WAITALL)

    def call(self, frame, files, nonce=0):
        return Reply(self.ask(frame, files), nonce)

    def close(self):
        self.socket.close()
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(30) == 0, "SIGTERM: exit status", self.process.returncode)
        check(not os.path.exists(self.path), "the socket is removed")


def make_memory(size, seals=fcntl.F_SEAL_SHRINK if hasattr(fcntl, "F_SEAL_SHRINK") else 2):
    file = os.memfd_create("arrays", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(file, size)
    fcntl.fcntl(file, 1033, seals)  # F_ADD_SEALS
    return file


def check_shared(folder):
    connection = Connection(folder, "gelu-bwd", "--binary")
    n = 4096
    size = 2 * n
    arrays = [(size, 0, 0, 0), (size, size, 0, 0), (size, 2 * size, 0, 1)]
    frame = make_call("gelu_bwd", (n,), arrays)
    file = make_memory(3 * size)
    memory = mmap.mmap(file, 3 * size)
    memory[:size] = halves([bits(2.0)] * n)
    for round_number in range(3):
        memory[2 * size:] = b"\xff" * size
        nonce = random_numbers.getrandbits(64)
        reply = connection.call(make_call("gelu_bwd", (n,), arrays, nonce=nonce), [file], nonce)
        check(reply.status == 0 and reply.output() is None, reply.text)
        check(memory[2 * size:] == halves([bits(1.0)] * n), "the output lies in the memory")
    # Inputs in two memories, the output in the frame.
    first, second = make_memory(size), make_memory(size)
    os.pwrite(first, halves([bits(4.0)] * n), 0)
    mixed = make_call("gelu_bwd", (n,), [(size, 0, 1, 0), (size, 0, 0, 0), (size, 0, INLINE, 1)])
    check(connection.call(mixed, [second, first]).output() == halves([bits(2.0)] * n), "two memories")
    with tempfile.TemporaryFile() as plain:
        plain.truncate(3 * size)
        refused = [(4, "is not a memfd", frame, [plain.fileno()]),
                   (4, "not sealed", frame, [make_memory(3 * size, 0)]),
                   (4, "outside its memory", make_call("gelu_bwd", (n,), [(size, 1 << 63, 0, 0), *arrays[1:]]), [file]),
                   (4, "multiple of 8", make_call("gelu_bwd", (n,), [(size, 1, 0, 0), *arrays[1:]]), [file]),
                   (5, "outside its memory", frame, [make_memory(2 * size - 1)]),
                   (10, "outside its memory", frame, [make_memory(3 * size - 1)]),
                   (4, "map the memfd for writing", frame, [make_memory(3 * size, 2 | 8)]),
                   (10, "overlaps", make_call("gelu_bwd", (n,), [*arrays[:2], (size, 8, 0, 1)]), [file]),
                   (4, "is empty", frame, [make_memory(0)]),
                   (2, "not passed", frame, []), (2, "not passed", frame, [file] * 5)]
        for status, says, wrong, files in refused:
            connection.socket.close()
            connection.open()
            reply = connection.call(wrong, files)
            check(reply.status == status and says in reply.text, "shared memory:", status, says, reply.status, reply.text)
            check(connection.socket.recv(1) == b"", "the connection ends")
    connection.socket.close()
    connection.open()
    idle = [socket.socket(socket.AF_UNIX) for _ in range(5)]
    for other in idle:
        other.connect(connection.path)
        other.send(b"\1\0")
    check(connection.call(frame, [file]).status == 0, "others that stall keep nobody waiting")
    files = len(os.listdir("/proc/%d/fd" % connection.process.pid))
    for _ in range(100):
        check(connection.call(frame, [file]).status == 0, "again")
    # Connections that it has still to accept or to close make a difference of a few.
    check(len(os.listdir("/proc/%d/fd" % connection.process.pid)) < files + 50, "no descriptor stays open")
    second_server = subprocess.run(command("gelu-bwd", "--binary", "--socket", connection.path), capture_output=True,
                                   timeout=120)
    check(second_server.returncode == 2 and b"in use" in second_server.stderr, "a socket in use", second_server)
    check(stat.S_IMODE(os.stat(connection.path).st_mode) == 0o600, "a socket for its user alone")
    nowhere = subprocess.run(command("gelu-bwd", "--binary", "--socket", ""), capture_output=True, timeout=120)
    check(nowhere.returncode == 2 and b"path of a socket" in nowhere.stderr, "a socket without a path", nowhere)
    for other in idle:
        other.close()
    idle = [socket.socket(socket.AF_UNIX) for _ in range(40)]
    for i, other in enumerate(idle):
        other.connect(connection.path)
        other.send([b"", b"\1\0", struct.pack("<I", 1000) + b"and no more"][i % 3])
        if i == 20:
            connection.socket.close()
            connection.open()
            check(connection.call(frame, [file]).status == 0, "idle clients, as many as there are places, keep nobody out")
    for other in idle:
        other.close()
    connection.socket.close()
    connection.open()
    check(connection.call(frame, [file]).status == 0, "and are forgotten")
    connection.process.send_signal(signal.SIGKILL)
    connection.process.wait(30)
    check(os.path.exists(connection.path), "a killed server leaves its socket")
    again = Connection(folder, "gelu-bwd", "--binary")
    check(again.call(frame, [file]).status == 0, "which the next one replaces")
    again.close()
    print("shared memory: served; %d wrong descriptors and places refused" % len(refused))


def check_text_on_a_socket(folder):
    connection = Connection(folder, "embedding")
    for _ in range(10):
        request = embedding()
        check_reply("embedding", request, connection.ask(request.text.encode()).decode())
    check(b"header" in connection.ask(b"x") and connection.socket.recv(1) == b"", "a refusal ends the connection")
    connection.open()
    check(b"OUTPUT=" in connection.ask(b"1 1 1 0 0 9"), "and not the server")
    connection.close()


def check_shared_indices(folder):
    """Indices of both types in shared memory; the arrays are next to each other, and one index is out of range."""
    connection = Connection(folder, "embedding", "--binary")
    for index_dtype, form, size in ((I32, "i", 4), (I64, "q", 8)):
        for index, status in (((2, 0, 1, 2), 0), ((2, 0, 3, 2), 11)):
            file = make_memory(4096)
            os.pwrite(file, struct.pack("<4" + form, *index), 0)
            os.pwrite(file, halves([5, 6, 7]), 64)
            frame = make_call("embedding_fwd", (4, 1, 3), [(4 * size, 0, 0, 0), (6, 64, 0, 0), (8, 128, 0, 1)],
                              index_dtype=index_dtype)
            reply = connection.call(frame, [file])
            check(reply.status == status, "shared indices:", reply.status, reply.text)
            check(os.pread(file, 8, 128) == (halves([7, 5, 6, 7]) if status == 0 else bytes(8)), "shared indices: output")
            os.close(file)
            if status:
                connection.socket.close()
                connection.open()
    connection.close()


def measure_speed(folder):
    """64 MiB requests, their replies of 32 MiB included, and memcpy of 64 MiB in turn with them; the best of each."""
    n = 16 << 20
    source, target = bytearray(os.urandom(1 << 20)) * 64, bytearray(4 * n)
    server, connection = Server("gelu-bwd", "--binary"), Connection(folder, "gelu-bwd", "--binary")
    file = make_memory(6 * n)
    memory = mmap.mmap(file, 6 * n)
    shared = make_call("gelu_bwd", (n,), [(2 * n, 0, 0, 0), (2 * n, 2 * n, 0, 0), (2 * n, 4 * n, 0, 1)])
    first = call_bytes("gelu_bwd", (n,))
    inline = make_call("gelu_bwd", (n,), [(2 * n, first, INLINE, 0), (2 * n, first + 2 * n, INLINE, 0), (2 * n, 0, INLINE, 1)])

    def copy():
        memoryview(target)[:] = source

    def through_memory():
        memory[:4 * n] = source  # what a client does whose data lie elsewhere
        check(connection.call(shared, [file]).status == 0, "64 MiB in shared memory")

    def through_pipe():
        server.send(inline, source)
        check(Reply(server.receive(), 0).status == 0, "64 MiB through a pipe")

    best = {copy: 1e9, through_memory: 1e9, through_pipe: 1e9}
    least_processor = dict(best)

    def processor_seconds():
        """Of this process and of the server on the socket, all its threads; the server at the pipes is not asked."""
        tasks = "/proc/%d/task" % connection.process.pid
        total = 0
        for task in os.listdir(tasks):
            with open("%s/%s/schedstat" % (tasks, task)) as file:
                total += int(file.read().split()[0])
        return time.process_time() + total * 1e-9

    def measure(*works):
        for work in works:
            begin, processor = time.perf_counter(), processor_seconds()
            work()
            best[work] = min(best[work], time.perf_counter() - begin)
            least_processor[work] = min(least_processor[work], processor_seconds() - processor)

    def share(of=best):
        return of[copy] / of[through_memory]

    for _ in range(6):
        measure(copy, through_memory, through_pipe)
    # On a machine that is busy with other things it takes some tries until both had their turn undisturbed.
    for _ in range(100):
        if share() >= 0.25:
            break
        measure(copy, through_memory)
    connection.close()
    server.close()
    for work, name in ((through_memory, "shared memory, filling it included"), (through_pipe, "pipes")):
        print("64 MiB binary requests through %s: %.1f ms, memcpy %.1f ms: %.2f of memcpy speed"
              % (name, best[work] * 1e3, best[copy] * 1e3, best[copy] / best[work]))
    # Where others wait for the processors all the time, a copy that fits into one turn comes off better than two processes that wait
    # for each other; the processor time of both is then what can be compared.
    if share() < 0.25 and os.getloadavg()[0] > os.cpu_count():
        print("the machine is busy: by processor time %.2f of memcpy speed" % share(least_processor))
        check(share(least_processor) >= 0.25, "a quarter of memcpy speed, by processor time")
    else:
        check(share() >= 0.25, "a quarter of memcpy speed")


def main():
    global arguments
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--without-speed", action="store_true")
    parser.add_argument("--without-memory", action="store_true")
    arguments = parser.parse_args()
    arguments.requests = effort(arguments.requests)
    for name, make in PROGRAMS.items():
        drive(name, make)
    check_failures()
    check_binary()
    with tempfile.TemporaryDirectory() as folder:
        check_shared(folder)
        check_shared_indices(folder)
        check_text_on_a_socket(folder)
        if not arguments.without_speed:
            measure_speed(folder)
    print("%d checks" % checks)


if __name__ == "__main__":
    try:
        main()
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
