"""bench(): is a function right on these shapes, and how fast is it beside ours, PyTorch's and a plain copy?"""

from __future__ import annotations

import ctypes
import functools
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _arrays, _library
from ._arrays import LONG_NAMES
from ._call import BadOutput, accepted_keywords, explain
from ._certificate import printable
from ._judge import judge
from ._library import BadArgument, Case, Contract, Error, Param, contract, lib
from ._torch_ops import torch_function


class Row(NamedTuple):
    """An arm on a shape. Times are None where it is wrong or cannot run; `verdict` is "" of the copy."""

    shape: dict[str, int]
    arm: str  # "yours", "ours", "torch", "copy"
    verdict: str
    reason: str
    best: float | None
    median: float | None
    gigabytes: float | None  # per second, of the bytes that the op reads and writes at least
    of_copy: float | None  # share of the copy's speed


class Bench:
    """The rows of bench(); it shows itself as a table."""

    columns = ("SHAPE", "ARM", "VERDICT", "BEST MS", "MEDIAN MS", "GB/S", "OF COPY")

    def __init__(self, op: str, dtype: str, device: str, rows: Sequence[Row]) -> None:
        self.op, self.dtype, self.device, self.rows = op, dtype, device, list(rows)

    def row(self, arm: str, shape: int = 0) -> Row:
        """The row of an arm on the shape of that position."""
        return [row for row in self.rows if row.arm == arm][shape]

    def _cells(self, row: Row) -> tuple[str, ...]:
        sizes = "x".join(map(str, row.shape.values()))
        numbers = [(row.best, 1e3, ".4g"), (row.median, 1e3, ".4g"), (row.gigabytes, 1, ".1f")]
        shown = [f"{value * factor:{form}}" if value is not None else "-" for value, factor, form in numbers]
        share = f"{100 * row.of_copy:.1f}%" if row.of_copy is not None else "-"
        return (sizes, row.arm, row.verdict or "-", *shown, share)

    def __repr__(self) -> str:
        cells = [self.columns, *map(self._cells, self.rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(self.columns))]
        lines = [f"{self.op} {self.dtype} on {self.device}"]
        for i, line in enumerate(cells):
            padded = [
                cell.ljust(w) if column < 3 else cell.rjust(w) for column, (cell, w) in enumerate(zip(line, widths))
            ]
            lines.append("  ".join(padded).rstrip())
            if i and self.rows[i - 1].reason:
                lines.append("    " + printable(self.rows[i - 1].reason))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ._certificate import _escape

        head = "".join(f"<th>{name.lower()}</th>" for name in self.columns)
        body = "".join(
            f'<tr title="{_escape(row.reason)}">'
            + "".join(f"<td>{_escape(cell)}</td>" for cell in self._cells(row))
            + "</tr>"
            for row in self.rows
        )
        title = _escape(f"{self.op} {self.dtype} on {self.device}")
        inner = f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        return f'<table class="tokitai">{inner}</table>'


def _draw(param: Param, dtype: str, shape: Sequence[int], limit: int, random: Any) -> Any:
    """NumPy's bits of a tensor: normal numbers, indices in range, ends of groups of about one size, any integers."""
    numpy = __import__("numpy")
    if param.rule == "ends":
        steps = numpy.linspace(0, limit, shape[0] + 1)[1:]
        return steps.astype(LONG_NAMES[dtype])
    if param.kind == "index":
        return random.integers(0, max(limit, 1), shape).astype(LONG_NAMES[dtype])
    if dtype == "u64":
        return random.integers(0, 1 << 62, shape, dtype="uint64")
    if param.least or param.most:
        values = param.within(random.random(shape, dtype="float32"))
    else:
        values = random.standard_normal(shape, dtype="float32")
    if dtype != "bf16":
        return values.astype(LONG_NAMES[dtype])
    bits = values.view("uint32")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("uint16")


class _Clock:
    """Times a call: on a GPU by the framework's events, or else up to the end of its work."""

    def __init__(self, framework: str, device: str) -> None:
        self.framework, self.device = framework, device

    def __call__(self, work: Callable[[], object]) -> float:
        if self.device == "cpu":
            start = time.perf_counter()
            result: Any = work()
            if hasattr(result, "block_until_ready"):
                result.block_until_ready()
            return time.perf_counter() - start
        if self.framework == "torch":
            cuda = __import__("torch").cuda
            begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            begin.record()
            work()
            end.record()
            end.synchronize()
            return float(begin.elapsed_time(end)) / 1e3
        context = _library.context_for(self.device)
        context.synchronize()
        start = time.perf_counter()
        result = work()
        if hasattr(result, "block_until_ready"):
            result.block_until_ready()
        context.synchronize()
        return time.perf_counter() - start


class _Shape:
    """One shape: its tensors, and what runs on them."""

    def __init__(self, op: Contract, case: Case, framework: str, device: str, seed: int) -> None:
        numpy = __import__("numpy")
        random = numpy.random.default_rng(seed)
        self.op, self.case, self.framework, self.device = op, case, framework, device
        self.tensors: dict[str, Any] = {}
        self.bytes = 0
        self._kept: list[Any] = []
        self._make: dict[str, Callable[[], Any]] = {}
        self._drawn: dict[str, tuple[Any, bytes]] = {}  # inputs: the memory that they are made of, and what it had
        for param in op.params:
            if not _library.is_there(case, param):
                continue
            dtype, shape = _library.param_dtype(case, param), _library.param_shape(case, op, param)
            if param.output:
                bits = numpy.zeros(shape, _arrays.bits_of_numpy(dtype))
            else:
                limit = case.dims[op.dims.index(param.indexed_dim)] if param.indexed_dim else 0
                bits = _draw(param, dtype, shape, limit, random)
            self._kept.append(bits)
            self.bytes += bits.nbytes
            self._make[param.name] = functools.partial(
                _arrays.as_tensor, framework, bits.ctypes.data, dtype, shape, device
            )
            self.tensors[param.name] = self._make[param.name]()
            if not param.output:
                self._drawn[param.name] = (bits, bits.tobytes())

    @property
    def inputs(self) -> list[Any]:
        return [self.tensors.get(param.name) for param in self.op.inputs]

    def ours(self) -> Callable[[], object]:
        views = {name: _arrays.view(tensor, name) for name, tensor in self.tensors.items()}
        pointers = (ctypes.c_void_p * len(self.op.params))(
            *(views[p.name].pointer if p.name in views else None for p in self.op.params)
        )
        context = _library.context_for(self.device)
        context.set_stream(next((v.stream for v in views.values() if v.stream), 0))
        case = ctypes.byref(self.case)

        def run() -> list[Any]:
            context.check(lib.tk_run(context.pointer, case, pointers))
            return [self.tensors[p.name] for p in self.op.outputs if p.name in self.tensors]

        return run

    def function(self, function: Callable[..., Any], fixed: bool) -> Callable[[], object]:
        names = accepted_keywords(function, self.op, fixed)
        dims = {name: self.case.dims[i] for i, name in enumerate(self.op.dims)}
        keywords = {
            name: dims[name] if name in dims else _library.attribute_of(self.case, self.op, name) for name in names
        }
        inputs = self.inputs
        return lambda: function(*inputs, **keywords)

    def copy(self) -> Callable[[], object]:
        """As many bytes read and written as the op has to."""
        count = max(self.bytes // 2, 1)
        if self.framework == "torch":
            torch = __import__("torch")
            device = _arrays._torch_device(self.device)
            source = torch.zeros(count, dtype=torch.uint8, device=device)
            target = torch.empty_like(source)
            return lambda: target.copy_(source)
        if self.framework == "cupy":
            cupy = __import__("cupy")
            a, b = cupy.zeros(count, "uint8"), cupy.empty(count, "uint8")
            return lambda: cupy.copyto(b, a)
        numpy = __import__("numpy")
        x, y = numpy.zeros(count, "uint8"), numpy.empty(count, "uint8")
        if self.device != "cpu":
            raise BadArgument(f"no copy is available on {self.device} with {self.framework}")
        return lambda: numpy.copyto(y, x)

    def changed_input(self) -> str | None:
        """The name of an input that has been written, which is then as it was drawn again."""
        found = None
        for name, (bits, drawn) in self._drawn.items():
            now = _arrays.view(_arrays.to_host(self.tensors[name]), name)
            if now.device == "cpu" and ctypes.string_at(now.pointer, now.bytes) != drawn:
                found = found or name
                ctypes.memmove(bits.ctypes.data, drawn, len(drawn))
                self.tensors[name] = self._make[name]()
        return found

    def verdict(self, work: Callable[[], object], settings: Mapping[str, object]) -> tuple[str, str]:
        result: Any = work()
        changed = self.changed_input()
        if changed is not None:
            clause = next((c.id for c in self.op.clauses if c.kind == "write"), "")
            return "REFUTED", f"{clause}: changed its input {changed}"
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        inputs = [tensor for tensor in self.inputs if tensor is not None]
        try:
            certificate = judge(self.op, inputs, [_dense(output) for output in outputs], attributes=settings)
        except BadArgument as error:
            raise BadOutput(str(error)) from None
        return certificate.verdict, certificate.reason


def _dense(output: Any) -> Any:
    return output.contiguous() if _arrays._is_of(output, "torch", "Tensor") else output


def _time(works: Mapping[str, Callable[[], object]], clock: _Clock, seconds: float) -> dict[str, list[float]]:
    """All arms in turn, until the time of each is used up; at least three times."""
    samples: dict[str, list[float]] = {arm: [] for arm in works}
    end = time.perf_counter() + seconds * len(works)
    while any(len(taken) < 3 for taken in samples.values()) or time.perf_counter() < end:
        for arm, work in works.items():
            samples[arm].append(clock(work))
    return samples


def bench(
    function: Callable[..., Any],
    op: str | Contract,
    shapes: Sequence[Mapping[str, int] | Sequence[int]],
    *,
    dtype: str = "f16",
    device: str = "cpu",
    framework: str | None = None,
    attributes: Mapping[str, object] | None = None,
    index_dtype: str = "i64",
    seconds: float = 1.0,
    seed: int = 1,
) -> Bench:
    """Judges a function, our kernel and PyTorch's on each shape, then times those that are right beside a copy. An op that
    is a definition has no kernel of ours.

    shapes      sizes by name, or in the contract's order; inputs are normal numbers from the seed, on this shape
                alone: certify() tries far more
    seconds     of each arm on each shape
    """
    view = contract(op)
    chosen = framework or _arrays.guess_framework(function, device)
    clock = _Clock(chosen, device)
    settings = dict(attributes or {})
    rows: list[Row] = []
    for sizes in shapes:
        case = _library.make_case(view, dtype, sizes, index_dtype=index_dtype, attributes=settings)
        shape = {name: case.dims[i] for i, name in enumerate(view.dims)}
        at = _Shape(view, case, chosen, device, seed)
        made: dict[str, Callable[[], Callable[[], object]]] = {
            "yours": lambda at=at: at.function(function, True)  # type: ignore[misc]
        }
        if not view.definition:
            made["ours"] = at.ours
        theirs = torch_function(view.name) if chosen == "torch" else None
        if theirs is not None:
            made["torch"] = lambda at=at, theirs=theirs: at.function(theirs, True)  # type: ignore[misc]
        found: dict[str, tuple[str, str]] = {}
        works: dict[str, Callable[[], object]] = {}
        for arm, make in made.items():
            try:
                work = make()
                found[arm] = at.verdict(work, settings)
                if found[arm][0] == "HELD" or found[arm][0] == "PROVED":
                    works[arm] = work
            except Error as error:
                found[arm] = ("UNKNOWN", str(error))
            except Exception as error:
                found[arm] = ("UNKNOWN", explain(error))
        works["copy"] = at.copy()
        found["copy"] = ("", "")
        samples = _time(works, clock, seconds)
        copied = min(samples["copy"])
        for arm, (verdict, reason) in found.items():
            taken = samples.get(arm)
            best = min(taken) if taken else None
            rows.append(
                Row(
                    shape,
                    arm,
                    verdict,
                    reason,
                    best,
                    statistics.median(taken) if taken else None,
                    at.bytes / best / 1e9 if best else None,
                    copied / best if best else None,
                )
            )
    return Bench(view.name, dtype, device, rows)
