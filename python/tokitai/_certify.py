"""certify(): trials of a Python function, judged element by element."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, overload

from . import _library
from ._arrays import FRAMEWORKS, framework_has, guess_framework
from ._call import INSIDE, Buffer, accepted_keywords, call, explain
from ._certificate import Certificate, Certificates
from ._devices import describe
from ._library import BadArgument, Case, Context, Contract, Error, Unavailable, contract, lib
from ._library import tk_certify_options, tk_server_options

# By default these, as for a kernel file: what most kernels are written for.
DEFAULT_DTYPES = ("f16", "bf16")


class _Function:
    """A function in this process, behind the C library's callback."""

    program: str | None = None

    def __init__(
        self, function: Callable[..., Any], op: Contract, names: Sequence[str], framework: str, device: str
    ) -> None:
        self.function, self.op, self.names, self.framework, self.device = function, op, names, framework, device
        self.problem = ctypes.create_string_buffer(1)  # kept: C reads it after the call
        self.exception: Exception | None = None
        self.inside = False  # the function is being called
        self.ended: BaseException | None = None  # what certify() has to raise; nothing is called any more

    def buffers(self, case: Case, pointers: Any) -> list[Buffer]:
        return [
            Buffer(
                param,
                _library.param_dtype(case, param),
                _library.param_shape(case, self.op, param),
                pointers[param.position] or 0,
                _library.is_there(case, param),
            )
            for param in self.op.params
        ]

    def keywords(self, case: Case) -> dict[str, object]:
        dims = {name: case.dims[i] for i, name in enumerate(self.op.dims)}
        return {name: dims[name] if name in dims else _library.attribute_of(case, self.op, name) for name in self.names}

    def run(self, case: Any, pointers: Any, _: Any) -> int:
        """The callback. An exception would be lost in C, so it becomes the certificate's reason, and is kept; what asks
        the program to end is raised again by certify()."""
        if self.ended is not None:
            return 1
        try:
            self.inside = True
            self.call(case, pointers)
            self.inside = False
        except BaseException as error:
            self.inside = False
            if isinstance(error, Exception):
                self.exception = error
            else:
                self.ended = error
            traceback.clear_frames(error.__traceback__)  # their arrays are memory that C will free
            self.problem = ctypes.create_string_buffer(explain(error).encode(errors="replace"))
            return 1
        return 0

    def call(self, case: Any, pointers: Any) -> None:
        call(
            self.function,
            self.op,
            self.buffers(case.contents, pointers),
            self.keywords(case.contents),
            self.framework,
            self.device,
        )

    def explain(self, _: Any) -> int:
        return ctypes.addressof(self.problem)

    def close(self) -> None:
        pass


class _Isolated(_Function):
    """A function in a process of its own: a program that answers frames (program.py), watched by the C library."""

    def __init__(
        self,
        function: Callable[..., Any],
        op: Contract,
        names: Sequence[str],
        framework: str,
        device: str,
        call_seconds: float,
    ) -> None:
        super().__init__(function, op, names, framework, device)
        target, folder = importable(function)
        command = [sys.executable, "-m", "tokitai.program", "--framework", framework, "--device", device]
        command += ["--path", folder] if folder else []
        command += ["--definition", op.definition] if op.definition else []
        command.append(target)
        self.program = shlex.join(command)
        self.context = Context()
        self.server = ctypes.c_void_p()
        options = tk_server_options(ctypes.sizeof(tk_server_options), call_seconds, 0.1, 10.0, True, 1 << 30)
        argv = (ctypes.c_char_p * (len(command) + 1))(*map(os.fsencode, command), None)
        self.context.check(
            lib.tk_server_open(self.context.pointer, argv, ctypes.byref(options), ctypes.byref(self.server))
        )

    def call(self, case: Any, pointers: Any) -> None:
        own = Case.from_buffer_copy(case.contents)
        own.contract = self.context.contract(self.op)
        self.context.check(lib.tk_server_run(self.context.pointer, self.server, ctypes.byref(own), pointers, None))

    def close(self) -> None:
        lib.tk_server_close(self.server)


def importable(function: Any) -> tuple[str, str]:
    """MODULE:NAME or FILE.py:NAME by which another process finds a function, and the folder to look in."""
    name, module = getattr(function, "__qualname__", None), getattr(function, "__module__", None)
    how = "isolated=True runs it in a new process, which has to find it by name: a function at the top of a module"
    if not isinstance(name, str) or not isinstance(module, str) or "<" in name:
        raise BadArgument(f"{function!r} cannot be imported by name. {how}")
    found: Any = sys.modules.get(module)
    path = getattr(found, "__file__", None)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not function:
        raise BadArgument(f"{module}.{name} is not the function that was given. {how}")
    if module == "__main__":
        if path is None or not os.path.isfile(path):
            raise BadArgument(f"{name} was defined in an interactive session. {how}")
        return f"{os.path.abspath(path)}:{name}", ""
    folder = os.path.dirname(os.path.abspath(path)) if path else ""
    depth = module.count(".") + (os.path.basename(path or "") == "__init__.py")
    for _ in range(depth if folder else 0):
        folder = os.path.dirname(folder)
    return f"{module}:{name}", folder


def _settings(
    op: Contract, attributes: Mapping[str, object] | None, numerics: str | None, domain: str | None
) -> dict[str, object]:
    settings = dict(attributes or {})
    for name, value in (("numerics", numerics), ("domain", domain)):
        if value is not None:
            settings[name] = value
    for name in settings:
        op.attribute(name)  # or raises
    return settings


def _options(
    op: Contract, settings: Mapping[str, object], shape: Mapping[str, int] | Sequence[int] | None, kept: list[Any]
) -> tk_certify_options:
    """Those that are the same for all types. What C is given pointers to is added to `kept`."""
    options = tk_certify_options()
    options.size = ctypes.sizeof(tk_certify_options)
    if settings:
        pairs = [(name.encode(), _library.attribute_text(value).encode()) for name, value in settings.items()]
        options.settings = array = (_library.tk_setting * len(pairs))(*(_library.tk_setting(*pair) for pair in pairs))
        options.setting_count = len(pairs)
        kept.append((array, pairs))
    if shape is not None:
        case = _library.make_case(op, _library.parse_types(op.types[0])[0], shape, attributes=settings)
        dims = (ctypes.c_int64 * len(op.dims))(*(case.dims[i] for i in range(len(op.dims))))
        options.dims = ctypes.cast(dims, ctypes.POINTER(ctypes.c_int64))
        kept.append(dims)
    return options


@contextlib.contextmanager
def _signals_kept(function: _Function) -> Iterator[None]:
    """A signal while C is at work is handled as the next callback begins, where what its handler raises would be lost.
    It is kept for certify() instead; while the function itself runs, it is raised there."""
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    if threading.current_thread() is threading.main_thread():  # no other handles signals
        for each in signal.valid_signals():
            handler = signal.getsignal(each)
            if callable(handler):
                handlers[each] = handler

    def handle(number: int, frame: FrameType | None) -> None:
        if function.inside:
            handlers[number](number, frame)
            return
        try:
            handlers[number](number, frame)
        except BaseException as error:
            function.ended = error

    for kept in handlers:
        signal.signal(kept, handle)
    try:
        yield
    finally:
        for kept, own in handlers.items():
            signal.signal(kept, own)


def _progress(function: _Function, told: Callable[[float, str], None]) -> Any:
    def report(done: float, what: bytes, _: Any) -> None:
        try:
            told(done, _library.text(what))
        except BaseException as error:
            function.ended = function.ended or error

    return _library.tk_progress(report)


def _one(
    function: _Function,
    op: Contract,
    types: str,
    index_dtype: str,
    options: tk_certify_options,
    name: str,
    progress: Callable[[float, str], None] | None,
) -> Certificate:
    dtype, result = _library.parse_types(types)
    result_dtype = ctypes.c_int(_library.dtype_code(result))
    options.result_dtype = ctypes.pointer(result_dtype)
    options.kernel = kernel = _library.tk_kernel(function.run)
    options.kernel_problem = problem = type(options.kernel_problem)(function.explain)
    options.kernel_name = name.encode()
    options.kernel_program = function.program.encode() if function.program else None
    report = None
    if progress is not None:
        options.progress = report = _progress(function, progress)
    # Its own: the function may use this thread's, as tokitai.torch does.
    context = Context()
    pointer = ctypes.c_void_p()
    with _signals_kept(function):
        status = lib.tk_certify(
            context.pointer,
            context.contract(op),
            _library.dtype_code(dtype),
            _library.dtype_code(index_dtype),
            ctypes.byref(options),
            ctypes.byref(pointer),
        )
    del kernel, problem, report
    raised, function.exception = function.exception, None
    if status == 0 and function.ended is None:
        return Certificate(pointer.value or 0, raised)
    lib.tk_certificate_destroy(pointer)
    if function.ended is not None:
        raise function.ended
    context.check(status)
    raise Error("no certificate was made")


@overload
def certify(
    function: Callable[..., Any],
    op: str | Contract,
    *,
    dtype: str,
    device: str = ...,
    level: str = ...,
    seed: int | None = ...,
    isolated: bool = ...,
    framework: str | None = ...,
    numerics: str | None = ...,
    domain: str | None = ...,
    attributes: Mapping[str, object] | None = ...,
    index_dtype: str = ...,
    shape: Mapping[str, int] | Sequence[int] | None = ...,
    family: str | None = ...,
    mutants: bool = ...,
    fresh_mutants: bool = ...,
    keep_going: bool = ...,
    total_seconds: float = ...,
    call_seconds: float = ...,
    name: str | None = ...,
    progress: Callable[[float, str], None] | None = ...,
) -> Certificate: ...


@overload
def certify(
    function: Callable[..., Any],
    op: str | Contract,
    *,
    dtype: list[str] | tuple[str, ...] | None = ...,
    device: str = ...,
    level: str = ...,
    seed: int | None = ...,
    isolated: bool = ...,
    framework: str | None = ...,
    numerics: str | None = ...,
    domain: str | None = ...,
    attributes: Mapping[str, object] | None = ...,
    index_dtype: str = ...,
    shape: Mapping[str, int] | Sequence[int] | None = ...,
    family: str | None = ...,
    mutants: bool = ...,
    fresh_mutants: bool = ...,
    keep_going: bool = ...,
    total_seconds: float = ...,
    call_seconds: float = ...,
    name: str | None = ...,
    progress: Callable[[float, str], None] | None = ...,
) -> Certificates: ...


def certify(
    function: Callable[..., Any],
    op: str | Contract,
    *,
    dtype: str | list[str] | tuple[str, ...] | None = None,
    device: str = "cpu",
    level: str = "quick",
    seed: int | None = None,
    isolated: bool = False,
    framework: str | None = None,
    numerics: str | None = None,
    domain: str | None = None,
    attributes: Mapping[str, object] | None = None,
    index_dtype: str = "i64",
    shape: Mapping[str, int] | Sequence[int] | None = None,
    family: str | None = None,
    mutants: bool = True,
    fresh_mutants: bool = False,
    keep_going: bool = False,
    total_seconds: float = 0,
    call_seconds: float = 60,
    name: str | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Certificate | Certificates:
    """Judges a function against an op's contract on inputs that are chosen to find mistakes.

    function    gets the op's inputs in contract order, and by keyword the attributes that kernels see and the sizes
                that no input has; returns the output, or a tuple of them, or a dict by name
    dtype       "f16", "bf16", "f32", "f16-f32" (results in f32) gives a Certificate; a list of these, or None, gives
                Certificates. None: f16 and bf16, of those that the op and the framework have
    device      where the inputs are: "cpu", "cuda", "cuda:1", "hip"
    framework   whose arrays they are: "numpy", "torch", "jax", "cupy"; guessed from the function and what is imported
    seed        None: drawn anew, so that a function cannot know the trials; it is in the certificate
    isolated    in a process of its own, which has to find the function by name; a crash is then a verdict
    shape       only this one, by name or in the contract's order; `family`: only these inputs
    mutants     False: the mutants are not run. A build of the judge runs them once and keeps their verdicts, which
                the certificate says; fresh_mutants=True runs them again

    What the function raises makes the verdict UNKNOWN, and is the certificate's `exception`; KeyboardInterrupt and the
    like are raised again, and so is what `progress` raises.
    """
    view = contract(op)
    if not callable(function):
        raise BadArgument(f"function must be callable, not {function!r}")
    if level not in _library.tk_level_names:
        raise BadArgument(f"unknown level '{level}'; choose from {', '.join(_library.tk_level_names)}")
    if framework is not None and framework not in FRAMEWORKS:
        raise BadArgument(f"unknown framework '{framework}'; choose from {', '.join(FRAMEWORKS)}")
    if isolated and os.environ.get(INSIDE):
        raise Unavailable(
            "certify(isolated=True) was called while the function's module was loaded in its own process: "
            'put the call under `if __name__ == "__main__":`'
        )
    chosen = framework or guess_framework(function, device)
    settings = _settings(view, attributes, numerics, domain)
    fixed = any(view.attribute(key).seen_by_kernel for key in settings)
    names = accepted_keywords(function, view, fixed)
    several = not isinstance(dtype, str)
    if dtype is None:
        dtypes = [d for d in DEFAULT_DTYPES if d in view.types and framework_has(chosen, d)] or [view.types[0]]
    else:
        dtypes = [dtype] if isinstance(dtype, str) else list(dtype)
    kept: list[Any] = []
    options = _options(view, settings, shape, kept)
    options.level = _library.tk_level_names.index(level)
    options.seed = int.from_bytes(os.urandom(6), "little") if seed is None else seed
    options.family = None if family is None else family.encode()
    options.skip_mutants = not mutants
    options.fresh_mutants = fresh_mutants
    options.keep_going = keep_going
    options.total_seconds = total_seconds
    claimed = describe(chosen, device)
    options.kernel_device = claimed.encode(errors="replace") if claimed else None
    given = str(name or getattr(function, "__name__", None) or type(function).__name__)
    runner = (
        _Isolated(function, view, names, chosen, device, call_seconds)
        if isolated
        else _Function(function, view, names, chosen, device)
    )
    backend = device.partition(":")[0]
    try:
        made = Certificates(
            _one(runner, view, types, index_dtype, options, f"python.{backend}.{view.name}.{types}.{given}", progress)
            for types in dtypes
        )
    finally:
        runner.close()
    return made if several else made[0]
