"""The C libraries by ctypes: where they lie, what their headers declare, and their errors as exceptions.

Nothing is loaded until a function of `lib` is first used, so that `import tokitai` stays quick.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from typing import Any, NamedTuple

from ._errors import *


def library_folder() -> str | None:
    """The folder of the libraries: $TOKITAI_LIBRARIES, or the wheel's own; None: wherever the system's loader looks."""
    given = os.environ.get("TOKITAI_LIBRARIES")
    if given:
        return given
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
    return own if os.path.isdir(own) else None


_HOW = "Install the package with `pip install .`, or set TOKITAI_LIBRARIES to a folder with the libraries: a build tree"

# Made from the C headers by the build: beside its libraries; of a wheel in the package itself.
sys.modules[__package__].__path__.insert(0, os.path.join(library_folder() or "", "tokitai-python"))
try:
    from ._headers import *  # structs, enums and FUNCTIONS, by their C names; FORMATS
except ImportError as error:
    raise Unavailable(f"the package is incomplete: {error}. {_HOW}") from None

Case = tk_case
DTYPES = tuple(FORMATS)
DTYPE_SIZES = {name: format.bits // 8 for name, format in FORMATS.items()}
VERDICTS: tuple[str, ...] = tuple(name.upper() for name in tk_verdict_names)


class _Libraries:
    """The C functions by name. Each is looked up, and its library loaded, when it is first used."""

    def __init__(self) -> None:
        self._loaded: dict[str, ctypes.CDLL] = {}
        self._lock = threading.Lock()

    def _load(self, name: str) -> ctypes.CDLL:
        with self._lock:
            if name not in self._loaded:
                folder = library_folder()
                path = os.path.join(folder, name) if folder is not None else name
                try:
                    self._loaded[name] = ctypes.CDLL(path)
                except OSError as error:
                    raise Unavailable(f"{name} cannot be loaded: {error}. {_HOW}") from None
            return self._loaded[name]

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"the headers have no function {name}()")
        library, result, arguments = FUNCTIONS[name]
        try:
            function = self._load(library)[name]
        except AttributeError:
            raise AttributeError(f"{library} has no function {name}(): it is of another version") from None
        function.restype, function.argtypes = result, arguments
        setattr(self, name, function)  # from now on a plain attribute
        return function

    def without_conversion(self, name: str) -> Any:
        """A function that returns int, and takes its arguments as they are: ctypes objects of the right types. That
        saves a third of a call's time."""
        return self._load(FUNCTIONS[name][0])[name]


lib = _Libraries()


# --- contracts ----------------------------------------------------------------------------------------------------


def text(value: bytes | None) -> str:
    """A C string; "" for NULL."""
    return value.decode(errors="replace") if value else ""


def free(pointer: c_void_p) -> None:
    """Frees what a C function says is to be freed."""
    release = ctypes.CDLL(None).free
    release.restype, release.argtypes = None, (c_void_p,)
    release(pointer)


class Param(NamedTuple):
    """A tensor of an op."""

    name: str
    position: int  # among the parameters
    output: bool
    kind: str  # one of tk_kind_names
    dtype: str | None  # of kind "fixed"
    judged: str  # outputs: one of tk_judged_by_names
    dims: tuple[str, ...]  # the names of the sizes that give its shape
    indexed_dim: str | None  # of kind "index": its values are in [0, that size)
    inner_axis: int  # inputs: the axis that the op sums over, or -1
    may_alias: str | None  # outputs: the tensor whose memory it may share
    neutral: str  # inputs, what an element is that does not matter: one of tk_neutral_names
    sums_to: float  # outputs: what each row should sum to; 0: nothing is known
    when: tuple[str, frozenset[str]] | None  # there only where that attribute is one of these choices
    rule: str  # of kind "index": one of tk_index_rule_names
    also: str | None  # of kind "index": the attribute whose value is a valid index too
    least: float  # inputs of floating point: the range; both 0: there is none
    most: float

    @property
    def rank(self) -> int:
        return len(self.dims)

    def within(self, share: Any) -> Any:
        """The numbers of its range at so much of the way from end to end, 0 to 1, kept off the ends; of one that has no
        end, 8 wide."""
        low = self.least if abs(self.least) < float("inf") else min(self.most - 8, -4)
        high = self.most if abs(self.most) < float("inf") else max(self.least + 8, 4)
        return low + (high - low) * (1 + 14 * share) / 16


class Attribute(NamedTuple):
    """A property of a case beyond sizes and types."""

    name: str
    text: str
    type: str  # one of tk_attribute_type_names
    default: str | float | int
    least: float | int | None
    most: float | int | None
    choices: tuple[str, ...]
    seen_by_kernel: bool  # else it determines inputs and bounds, and kernels are not told
    fp32: bool  # reals: fp32 numbers only
    role: str  # what the judge makes of it: one of tk_role_names


class Clause(NamedTuple):
    """A sentence of a contract."""

    id: str
    kind: str  # one of tk_clause_kind_names
    text: str


class Contract(NamedTuple):
    """An op: what it takes, what it returns, and what has to hold."""

    name: str
    summary: str
    formula: str
    bound: str
    notes: str
    dims: tuple[str, ...]
    params: tuple[Param, ...]
    types: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    clauses: tuple[Clause, ...]
    elementwise: bool
    takes_index: bool
    pointer: Any  # const tk_contract *
    derived: tuple[str, ...] = ()  # the sizes that follow from others
    definition: str = ""  # of op(): its normal form

    def __repr__(self) -> str:
        return f"<tokitai.Contract of {self.name}>"

    @property
    def inputs(self) -> tuple[Param, ...]:
        return tuple(param for param in self.params if not param.output)

    @property
    def outputs(self) -> tuple[Param, ...]:
        return tuple(param for param in self.params if param.output)

    def param(self, name: str) -> Param:
        for param in self.params:
            if param.name == name:
                return param
        raise BadArgument(f"{self.name} has no tensor '{name}'; it has {', '.join(p.name for p in self.params)}")

    def attribute(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        known = ", ".join(a.name for a in self.attributes) or "none"
        raise BadArgument(f"{self.name} has no attribute '{name}'; it has: {known}")


def _attribute_value(struct: tk_attribute, value: tk_value) -> Any:
    if struct.type == TK_ATTRIBUTE_CHOICE:
        return text(struct.choices[value.integer].id)
    return value.real if struct.type == TK_ATTRIBUTE_REAL else value.integer


def _attribute(struct: tk_attribute) -> Attribute:
    is_number = struct.type != TK_ATTRIBUTE_CHOICE
    return Attribute(
        name=text(struct.name),
        text=text(struct.text),
        type=tk_attribute_type_names[struct.type],
        default=_attribute_value(struct, struct.initial),
        least=_attribute_value(struct, struct.least) if is_number else None,
        most=_attribute_value(struct, struct.most) if is_number else None,
        choices=tuple(text(struct.choices[i].id) for i in range(struct.choice_count)),
        seen_by_kernel=struct.seen_by_kernel,
        fp32=struct.fp32,
        role=tk_role_names[struct.role],
    )


def _contract_view(pointer: Any) -> Contract:
    struct = pointer.contents
    dims = tuple(text(struct.dim_names[i]) for i in range(struct.dim_count))
    attributes = tuple(_attribute(struct.attributes[i]) for i in range(struct.attribute_count))
    structs = [struct.params[i] for i in range(struct.param_count)]
    params = []
    for position, param in enumerate(structs):
        kind = tk_kind_names[param.kind]
        when = None
        if param.when_choices:
            attribute = attributes[param.when_attribute]
            chosen = (name for i, name in enumerate(attribute.choices) if param.when_choices >> i & 1)
            when = (attribute.name, frozenset(chosen))
        params.append(
            Param(
                name=text(param.name),
                position=position,
                output=param.output,
                kind=kind,
                dtype=DTYPES[param.dtype] if kind == "fixed" else None,
                judged=tk_judged_by_names[param.judged],
                dims=tuple(dims[param.dim[i]] for i in range(param.rank)),
                indexed_dim=dims[param.indexed_dim] if kind == "index" else None,
                inner_axis=param.inner_axis,
                may_alias=text(structs[param.may_alias].name) if param.output and param.may_alias >= 0 else None,
                neutral=tk_neutral_names[param.neutral],
                sums_to=param.sums_to,
                when=when,
                rule=tk_index_rule_names[param.rule],
                also=text(param.also) or None,
                least=param.least,
                most=param.most,
            )
        )
    clauses = (struct.clauses[i] for i in range(struct.clause_count))
    return Contract(
        name=text(struct.name),
        summary=text(struct.summary),
        formula=text(struct.formula),
        bound=text(struct.bound),
        notes=text(struct.notes),
        dims=dims,
        params=tuple(params),
        types=tuple(_types_name(struct.types[i]) for i in range(struct.type_count)),
        attributes=attributes,
        clauses=tuple(Clause(text(c.id), tk_clause_kind_names[c.kind], text(c.text)) for c in clauses),
        elementwise=struct.elementwise,
        takes_index=lib.tk_contract_takes_index(pointer),
        pointer=pointer,
        derived=tuple(name for i, name in enumerate(dims) if struct.derived and struct.derived[i]),
        definition=text(lib.tk_contract_definition(pointer)),
    )


_contracts: dict[str, Contract] = {}


def contract(name: str | Contract) -> Contract:
    """The contract of an op; UnknownOp, with the names that there are, if there is none."""
    if isinstance(name, Contract):
        return name
    known = _contracts.get(name)
    if known is None:
        pointer = lib.tk_contract_find(name.encode())
        definition = None if pointer else lib.tk_definition_find(name.encode())
        if not pointer and not definition:
            raise UnknownOp(f"unknown op '{name}'; choose from {', '.join(contract_names() + definition_names())}")
        known = _contracts[name] = op(text(definition), name) if definition else _contract_view(pointer)
    return known


_defined: dict[str, tuple[Contract, Context]] = {}  # by normal form; never forgotten, since cases point to them


def op(text: str, name: str | None = None) -> Contract:
    """An op from its definition (docs/definitions.md); of a text with several, the one of that name. certify(), judge(),
    bench(), the tests and the strategies take it wherever they take the name of an op. BadArgument says the line and the
    column of what is wrong."""
    context = Context()
    view = _contract_view(context.define(text, name))
    return _defined.setdefault(view.definition, (view, context))[0]


def contract_names() -> tuple[str, ...]:
    """The names of all ops that have contracts of their own."""
    return tuple(text(lib.tk_contract_at(i).contents.name) for i in range(lib.tk_contract_count()))


def definition_names() -> tuple[str, ...]:
    """The names of the ops that come with the library as definitions."""
    source = ctypes.c_char_p()
    names: list[str] = []
    while name := lib.tk_definition_at(len(names), ctypes.byref(source)):
        names.append(text(name))
    return tuple(names)


def dtype_code(name: str) -> int:
    """The number of an element type's name."""
    try:
        return DTYPES.index(name)
    except ValueError:
        raise BadArgument(f"unknown element type '{name}'; choose from {', '.join(DTYPES)}") from None


def _types_name(types: tk_types) -> str:
    buffer = ctypes.create_string_buffer(32)
    lib.tk_types_name(types, buffer, len(buffer))
    return buffer.value.decode()


def parse_types(name: str) -> tuple[str, str]:
    """The element types of values and of results: "f16" gives f16 and f16, "f16-f32" f16 and f32."""
    types = tk_types()
    if not lib.tk_types_parse(name.encode(), ctypes.byref(types)):
        raise BadArgument(f"unknown element types '{name}'; examples are f16, bf16, f32 and f16-f32")
    return DTYPES[types.dtype], DTYPES[types.result_dtype]


def attribute_text(value: object) -> str:
    """The value of an attribute as the C library reads it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    return str(value)


def attribute_of(case: Case, op: Contract, name: str) -> str | float | int:
    """The value that an attribute has in a case."""
    for i, attribute in enumerate(op.attributes):
        if attribute.name == name:
            value: str | float | int = _attribute_value(op.pointer.contents.attributes[i], case.attributes[i])
            return value
    raise BadArgument(f"{op.name} has no attribute '{name}'")


def make_case(
    op: str | Contract,
    dtype: str,
    dims: Mapping[str, int] | Sequence[int],
    *,
    result_dtype: str | None = None,
    index_dtype: str = "i32",
    attributes: Mapping[str, object] | None = None,
) -> Case:
    """A case of an op. `dims` are its sizes by name, or in the contract's order; those that follow from others may be left
    out. `dtype` may be "f16-f32"."""
    view = contract(op)
    free = tuple(name for name in view.dims if name not in view.derived)
    value_type, results = parse_types(dtype)
    case: Case = lib.tk_case_init(view.pointer, dtype_code(value_type))
    case.result_dtype = dtype_code(result_dtype or results)
    case.index_dtype = dtype_code(index_dtype)
    if isinstance(dims, Mapping):
        if not set(free) <= set(dims) <= set(view.dims):
            raise BadArgument(f"{view.name} has the sizes {', '.join(view.dims)}; given: {', '.join(dims) or 'none'}")
        sizes = dict(dims)
    else:
        if len(dims) not in (len(free), len(view.dims)):
            raise BadArgument(f"{view.name} has the sizes {', '.join(view.dims)}; given: {len(dims)} numbers")
        sizes = dict(zip(view.dims if len(dims) == len(view.dims) else free, dims))
    for name, size in sizes.items():
        case.dims[view.dims.index(name)] = size
    for name, value in (attributes or {}).items():
        attribute = view.attribute(name)
        i = view.attributes.index(attribute)
        struct = view.pointer.contents.attributes[i]
        if not lib.tk_attribute_parse(
            ctypes.byref(struct), attribute_text(value).encode(), ctypes.byref(case.attributes[i])
        ):
            allowed = ", ".join(attribute.choices) or f"{attribute.least} to {attribute.most}"
            raise BadArgument(f"{view.name}: {name} must be one of {allowed}, not {value!r}")
    if len(sizes) < len(view.dims):
        view.pointer.contents.derive(ctypes.byref(case))
        for name, size in sizes.items():  # one that was given is what it is, and C compares
            case.dims[view.dims.index(name)] = size
    return case


def refusal(case: Case, op: Contract) -> str | None:
    """Why the op has no such case, or None: a size that would be negative, or what does not go together."""
    refuses = op.pointer.contents.refusal
    negative = next((name for name, size in zip(op.dims, case.dims) if size < 0), None)
    if negative is not None:
        return f"{negative} is negative"
    said = refuses(ctypes.byref(case)) if refuses else None
    return text(ctypes.string_at(said)) if said else None


def param_shape(case: Case, op: Contract, param: Param) -> tuple[int, ...]:
    """The shape of a tensor in a case."""
    return tuple(case.dims[op.dims.index(name)] for name in param.dims)


def param_dtype(case: Case, param: Param) -> str:
    """The element type of a tensor in a case."""
    code: int = lib.tk_case_param_dtype(ctypes.byref(case), param.position)
    return DTYPES[code]


def is_there(case: Case, param: Param) -> bool:
    """Whether a tensor is there with the attributes of a case."""
    return bool(lib.tk_case_has(ctypes.byref(case), param.position))


# --- contexts -----------------------------------------------------------------------------------------------------


class Context:
    """A tk_ctx. It serves one thread at a time."""

    def __init__(self, device: str = "cpu") -> None:
        pointer = c_void_p()
        status = lib.tk_ctx_create(ctypes.byref(pointer))
        if status:
            raise ERRORS.get(status, Error)("a context could not be made: " + text(lib.tk_status_text(status)), status)
        self.pointer = pointer
        self.device = "cpu"
        # Kept here: when the interpreter ends, a module's names may be gone before its objects are.
        self._destroy = lib.tk_ctx_destroy
        if device != "cpu":
            self.use_device(device)

    def __del__(self) -> None:
        destroy = getattr(self, "_destroy", None)
        if destroy is not None:
            destroy(self.pointer)

    def define(self, definition: str, name: str | None = None) -> Any:
        """The op of a definition in this context: tk_contract *."""
        made = ctypes.POINTER(tk_contract)()
        data = definition.encode()
        self.check(
            lib.tk_op_define(self.pointer, data, len(data), name.encode() if name else None, ctypes.byref(made))
        )
        return made

    def contract(self, op: Contract) -> Any:
        """What stands for an op in this context; definitions are made known to it. tk_contract *."""
        return self.define(op.definition) if op.definition else op.pointer

    @property
    def message(self) -> str:
        return text(lib.tk_ctx_message(self.pointer))

    def check(self, status: int) -> None:
        """Raises what a status stands for, with the context's message."""
        if status:
            raise ERRORS.get(status, Error)(self.message or text(lib.tk_status_text(status)), status)

    def use_device(self, device: str) -> None:
        """ "cpu", "cuda", "cuda:1", "hip:0" """
        self.device = "cpu"  # what the context works on if this fails
        self.check(lib.tk_ctx_use_device(self.pointer, device.encode()))
        self.device = device

    def set_stream(self, stream: int) -> None:
        """The stream that work is queued on, by its address; 0 is the default stream."""
        if stream or self.device != "cpu":
            self.check(lib.tk_ctx_set_stream(self.pointer, stream or None))

    def run(self, case: Case, pointers: Sequence[int | None]) -> None:
        """Runs a case on buffers in contract order."""
        buffers = (c_void_p * len(pointers))(*pointers)
        self.check(lib.tk_run(self.pointer, ctypes.byref(case), buffers))

    def prepare(self, case: Case) -> None:
        """Loads what run() of this case will need."""
        self.check(lib.tk_prepare(self.pointer, ctypes.byref(case)))

    def synchronize(self) -> None:
        """Waits for the stream; BadIndex if a call had an index out of range."""
        self.check(lib.tk_ctx_synchronize(self.pointer))


_thread = threading.local()


def context_for(device: str = "cpu", op: Contract | None = None) -> Context:
    """This thread's context for a device, made on first use. An op that was defined has one of its own: another one may
    have its name."""
    contexts: dict[tuple[str, str], Context] | None = getattr(_thread, "contexts", None)
    if contexts is None:
        contexts = _thread.contexts = {}
    key = device, op.definition if op else ""
    context = contexts.get(key)
    if context is None:
        context = contexts[key] = Context(device)
    return context


def version() -> str:
    """The version of the C library."""
    return text(lib.tk_version())
