"""One call of a Python function as a kernel: inputs in, outputs out, each checked for shape and type."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _arrays
from ._arrays import LONG_NAMES
from ._library import BadArgument, Contract, Param, context_for, lib

# Set in a process that isolated=True started, so that a script without a guard for __main__ starts no other.
INSIDE = "TOKITAI_PROGRAM"


class Buffer(NamedTuple):
    """A tensor of a call in host memory."""

    param: Param
    dtype: str
    shape: tuple[int, ...]
    pointer: int
    there: bool  # with this call's attributes


class BadOutput(BadArgument):
    """A function returned something else than the op's outputs: too many or few, of another shape or type."""


def keywords_of(op: Contract) -> list[str]:
    """What a function is told by keyword: attributes that kernels see, and sizes that no input has."""
    of_inputs = {name for param in op.inputs for name in param.dims}
    return [a.name for a in op.attributes if a.seen_by_kernel] + [name for name in op.dims if name not in of_inputs]


def accepted_keywords(function: Callable[..., Any], op: Contract, fixed: bool) -> list[str]:
    """The keywords that a function is called with. A size that it does not name is left out, and so is an attribute if
    its value is fixed; a function that does not know an attribute which trials vary cannot be judged."""
    wanted = keywords_of(op)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # builtin functions
        return wanted
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        return wanted
    # The first ones are for the inputs.
    named = {p.name for i, p in enumerate(parameters) if p.kind == p.KEYWORD_ONLY or i >= len(op.inputs)}
    missing = [name for name in wanted if name not in named and name not in op.dims]
    if missing and not fixed:
        raise BadArgument(
            f"{op.name} has the attributes {', '.join(missing)}, which trials vary, and the function has no keywords "
            "of these names: add them, or fix their values with attributes={...}"
        )
    return [name for name in wanted if name in named]


def _normalise(op: Contract, result: Any, wanted: Sequence[Buffer]) -> list[Any]:
    names = ", ".join(buffer.param.name for buffer in wanted)
    if isinstance(result, Mapping):
        if set(result) != {buffer.param.name for buffer in wanted}:
            raise BadOutput(
                f"the function returned {', '.join(map(str, result)) or 'nothing'}; {op.name} has the outputs {names}"
            )
        return [result[buffer.param.name] for buffer in wanted]
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(outputs) != len(wanted) or any(output is None for output in outputs):
        count = "nothing" if result is None else str(len(outputs))
        raise BadOutput(
            f"the function returned {count}; {op.name} has {len(wanted)} output{'s'[len(wanted) == 1:]}: {names}"
        )
    return outputs


def _store(op: Contract, output: Any, buffer: Buffer) -> None:
    name = buffer.param.name
    try:
        found = _arrays.view(_arrays.to_host(output), name)
    except BadArgument as error:
        raise BadOutput(f"the function returned an output that cannot be taken: {error}") from None
    if found.shape != buffer.shape:
        raise BadOutput(f"the function returned {name} of shape {found.shape}; {op.name} has {buffer.shape} here")
    if not _arrays.fits(found.dtype, buffer.dtype):
        raise BadOutput(
            f"the function returned {name} of type {LONG_NAMES[found.dtype]}; "
            f"{op.name} has {LONG_NAMES[buffer.dtype]} here"
        )
    if not found.bytes:
        return
    if found.device == "cpu":
        ctypes.memmove(buffer.pointer, found.pointer, found.bytes)
        return
    context = context_for(found.device)
    context.set_stream(found.stream or 0)
    context.synchronize()
    context.check(lib.tk_memory_read(context.pointer, buffer.pointer, found.pointer, found.bytes))


def call(
    function: Callable[..., Any],
    op: Contract,
    buffers: Sequence[Buffer],
    keywords: Mapping[str, object],
    framework: str,
    device: str,
) -> None:
    """Calls a function with the inputs among `buffers`, None for one that is not there, and stores what it returns."""
    inputs = [
        _arrays.as_tensor(framework, b.pointer, b.dtype, b.shape, device) if b.there else None
        for b in buffers
        if not b.param.output
    ]
    wanted = [buffer for buffer in buffers if buffer.param.output and buffer.there]
    for output, buffer in zip(_normalise(op, function(*inputs, **keywords), wanted), wanted):
        _store(op, output, buffer)


def explain(error: BaseException) -> str:
    """An exception in one line."""
    try:
        text = str(error).strip()
    except Exception:  # of a class whose own __str__ raises
        text = ""
    name = type(error).__name__
    return text if isinstance(error, BadOutput) else f"{name}: {text}" if text else name
