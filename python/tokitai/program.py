"""A Python function as a program that answers binary frames (docs/protocol.md), to be judged in a process of its own:

    tokitai certify softmax_fwd --program 'python3 -m tokitai.program my_module:my_softmax'

This is what tokitai.certify(..., isolated=True) starts.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import mmap
import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ._arrays import FRAMEWORKS, guess_framework
from ._call import INSIDE, Buffer, accepted_keywords, call, explain, keywords_of
from ._library import DTYPES, BadArgument, Contract, contract, op

MAGIC, REPLY, INLINE, NOWHERE = 0x33574B54, 2, -1, -2
HEADER, CASE, ANSWER = struct.Struct("<IIQ"), struct.Struct("<64s8i"), struct.Struct("<iidQqiIiI")
ATTRIBUTE, TENSOR, ARRAY = struct.Struct("<32sii8s"), struct.Struct("<QQiIii8q32s"), struct.Struct("<QQiI104x")
CHOICE, REAL = 0, 1
MOST_TEXT = 4096


def load(target: str) -> Callable[..., Any]:
    """MODULE:NAME or FILE.py:NAME; a file is run as a module, not as __main__."""
    module_name, _, name = target.rpartition(":")
    if not module_name or not name:
        raise BadArgument(f"'{target}' is not MODULE:FUNCTION or FILE.py:FUNCTION")
    if module_name.endswith(".py"):
        path = os.path.abspath(module_name)
        sys.path.insert(0, os.path.dirname(path))
        spec = importlib.util.spec_from_file_location("__tokitai_main__", path)
        if spec is None or spec.loader is None:
            raise BadArgument(f"{path} cannot be loaded as a module")
        module = importlib.util.module_from_spec(spec)
        sys.modules["__tokitai_main__"] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(module_name)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise BadArgument(f"{target} is not a function")
    function: Callable[..., Any] = found
    return function


def _name(data: bytes) -> str:
    return data.split(b"\0")[0].decode()


class _Call:
    """A frame's call: sizes and attributes by name, buffers in contract order. Outputs get memory of this process."""

    def __init__(self, frame: bytearray, memories: Mapping[int, Any], defined: Contract | None) -> None:
        _, _, self.nonce = HEADER.unpack_from(frame, 0)
        op_name, _, _, _, _, sizes, attributes, tensors, _ = CASE.unpack_from(frame, HEADER.size)
        asked = _name(op_name)
        self.op = defined if defined is not None and defined.name == asked else contract(asked)
        at = HEADER.size + CASE.size
        self.values: dict[str, object] = dict(zip(self.op.dims, struct.unpack_from(f"<{sizes}q", frame, at)))
        at += 8 * sizes
        for _ in range(attributes):
            name, kind, _, data = ATTRIBUTE.unpack_from(frame, at)
            (value,) = struct.unpack("<d" if kind == REAL else "<q", data)
            self.values[_name(name)] = self.op.attribute(_name(name)).choices[value] if kind == CHOICE else value
            at += ATTRIBUTE.size
        self.arrays = [TENSOR.unpack_from(frame, at + i * TENSOR.size) for i in range(tensors)]
        self.outputs: list[Any] = []
        self.buffers: list[Buffer] = []
        self._before: dict[int, tuple[int, bytes]] = {}  # inputs by position: where they are, and what they were
        for param, (size, place, memory, output, dtype, rank, *rest) in zip(self.op.params, self.arrays):
            pointer = 0
            if output:
                self.outputs.append((ctypes.c_char * max(size, 1))())
                pointer = ctypes.addressof(self.outputs[-1])
            elif size:
                pointer = ctypes.addressof(ctypes.c_char.from_buffer(memories[memory], place))
                self._before[param.position] = (pointer, bytes(memories[memory][place : place + size]))
            shape = tuple(rest[:rank])
            there = param.when is None or str(self.values.get(param.when[0])) in param.when[1]
            self.buffers.append(Buffer(param, DTYPES[dtype], shape, pointer, there))

    def changed_input(self, position: int) -> bytes | None:
        """An input as it is now, if the function changed it: in this process the judge would not see that."""
        pointer, before = self._before.get(position, (0, b""))
        now = ctypes.string_at(pointer, len(before)) if before else before
        return now if now != before else None


class _Server:
    def __init__(
        self, function: Callable[..., Any], framework: str | None, device: str, defined: Contract | None
    ) -> None:
        self.function, self.device, self.defined = function, device, defined
        self.framework = framework or guess_framework(function, device)
        # What the function prints must not get among the replies.
        self.replies = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self.requests = socket.socket(fileno=os.dup(0))

    def receive(self, count: int) -> bytearray:
        data, done = bytearray(count), 0
        while done < count:
            got = self.requests.recv_into(memoryview(data)[done:])
            if got == 0:
                sys.exit(21)
            done += got
        return data

    def answer(self, request: _Call | None, nonce: int, memories: Mapping[int, Any], text: str) -> None:
        """Outputs go where the call asked for them: into the passed memory, or behind the reply. So do inputs that the
        function has changed."""
        encoded = text.encode(errors="replace")[:MOST_TEXT]
        arrays = request.arrays if request is not None and not text else []
        before = HEADER.size + ANSWER.size + len(arrays) * ARRAY.size
        body, places = bytearray(encoded), []
        outputs = iter(request.outputs if request is not None else [])
        for position, (size, place, memory, output, *_) in enumerate(arrays):
            data = request.changed_input(position) if request is not None and not output else None
            if output:
                data = bytes(memoryview(next(outputs)))[:size]
            if data is None:
                places.append(ARRAY.pack(0, 0, NOWHERE, 0))
                continue
            if memory >= 0:
                memories[memory][place : place + size] = data
            elif memory == INLINE:
                body += b"\0" * (-(before + len(body)) % 8)
                place = before + len(body)
                body += data
            places.append(ARRAY.pack(size, place, memory, output))
        head = HEADER.pack(MAGIC, REPLY, nonce)
        head += ANSWER.pack(1 if text else 0, 0, 0.0, 0, 0, -1, len(encoded), len(arrays), 0)
        frame = head + b"".join(places) + bytes(body)
        self.replies.write(struct.pack("<I", len(frame)) + frame)
        self.replies.flush()

    def run(self, request: _Call) -> None:
        fixed = True  # who asks has checked that
        names = accepted_keywords(self.function, request.op, fixed)
        keywords = {name: request.values[name] for name in keywords_of(request.op) if name in names}
        call(self.function, request.op, request.buffers, keywords, self.framework, self.device)

    def serve(self) -> NoReturn:
        while True:
            # Large arrays come in shared memory, whose descriptors travel with the first byte of a frame.
            length, files, _, _ = socket.recv_fds(self.requests, 4, 4)
            if not length:
                sys.exit(0)
            length += bytes(self.receive(4 - len(length)))
            frame = self.receive(struct.unpack("<I", length)[0])
            memories: dict[int, Any] = {INLINE: frame}
            for i, file in enumerate(files):
                memories[i] = mmap.mmap(file, 0)
                os.close(file)
            request, problem = None, ""
            try:
                request = _Call(frame, memories, self.defined)
                self.run(request)
            except Exception as error:
                problem = explain(error)
            self.answer(request, HEADER.unpack_from(frame, 0)[2], memories, problem)


def main() -> NoReturn:
    parser = argparse.ArgumentParser(
        prog="python3 -m tokitai.program", description="Answers calls of ops with a Python function."
    )
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="or FILE.py:FUNCTION")
    parser.add_argument("--framework", choices=FRAMEWORKS, help="whose arrays it takes; guessed by default")
    parser.add_argument("--device", default="cpu", help="where they are: cpu, cuda, cuda:1")
    parser.add_argument("--path", action="append", default=[], help="a folder with modules, first on the path")
    parser.add_argument("--definition", help="the text of the op, if it is none of the library's")
    arguments = parser.parse_args()
    os.environ[INSIDE] = "1"
    sys.path[:0] = arguments.path
    defined = op(arguments.definition) if arguments.definition else None
    _Server(load(arguments.function), arguments.framework, arguments.device, defined).serve()


if __name__ == "__main__":
    main()
