"""The C libraries by ctypes: where they lie, their structs and prototypes, and their errors as exceptions.

Nothing is loaded until a function of `lib` is first used, so that `import tokitai` stays quick.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping, Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, Union
from ctypes import c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, NamedTuple

from ._errors import ERRORS as ERRORS
from ._errors import Error as Error
from ._errors import BadArgument as BadArgument
from ._errors import UnknownOp as UnknownOp
from ._errors import BadIndex as BadIndex
from ._errors import BadFile as BadFile
from ._errors import Unsupported as Unsupported
from ._errors import Unavailable as Unavailable
from ._errors import NoMemory as NoMemory
from ._errors import InputOutput as InputOutput
from ._errors import KernelFault as KernelFault
from ._errors import Timeout as Timeout
from ._errors import Internal as Internal

MAX_RANK, MAX_DIMS, MAX_PARAMS, MAX_ATTRIBUTES = 4, 64, 64, 32

# By the numbers that C gives them; python/tests/test_library.py compares each with the library's own names.
DTYPE_SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i64": 8, "u64": 8}
DTYPES: tuple[str, ...] = tuple(DTYPE_SIZES)
KINDS = ("value", "index", "result", "fixed")
JUDGED_BY = ("interval", "bits", "integer", "order")
CLAUSE_KINDS = ("value", "error", "promise", "bits", "write", "shape", "repeat", "in_place", "index")
ATTRIBUTE_TYPES = ("choice", "real", "integer")
VERDICTS = ("PROVED", "HELD", "REFUTED", "UNKNOWN")
LEVELS = ("quick", "full", "exhaustive")
SEED_DEFAULT = 20261115


# --- structs of include/tokitai.h and include/tokitai_verify.h, field by field -------------------------------------


class Value(Union):
    """tk_value: `real` of a real attribute, else `integer`."""

    _fields_ = [("integer", c_int64), ("real", c_double)]


class ParamStruct(Structure):
    """tk_param"""

    _fields_ = [
        ("name", c_char_p),
        ("output", c_bool),
        ("kind", c_int),
        ("dtype", c_int),
        ("judged", c_int),
        ("rank", c_int),
        ("dim", c_int * MAX_RANK),
        ("indexed_dim", c_int),
        ("inner_axis", c_int),
        ("may_alias", c_int),
        ("low_background", c_bool),
        ("ordered_by", c_int),
        ("sums_to_one", c_bool),
        ("when_choices", c_uint64),
        ("when_attribute", c_int),
        ("ends", c_bool),
    ]


class ClauseStruct(Structure):
    """tk_clause"""

    _fields_ = [("kind", c_int), ("id", c_char_p), ("text", c_char_p)]


class ChoiceStruct(Structure):
    """tk_choice"""

    _fields_ = [("id", c_char_p), ("text", c_char_p)]


class AttributeStruct(Structure):
    """tk_attribute"""

    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
        ("type", c_int),
        ("initial", Value),
        ("least", Value),
        ("most", Value),
        ("tried_count", c_int),
        ("tried", POINTER(Value)),
        ("choice_count", c_int),
        ("choices", POINTER(ChoiceStruct)),
        ("not_f32", c_char_p),
        ("seen_by_kernel", c_bool),
        ("among_indices", c_bool),
        ("from_device", c_bool),
        ("abi_1_offset", c_int),
    ]


class TypesStruct(Structure):
    """tk_types"""

    _fields_ = [("dtype", c_int), ("result_dtype", c_int)]


class ContractStruct(Structure):
    """tk_contract"""

    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("formula", c_char_p),
        ("bound", c_char_p),
        ("notes", c_char_p),
        ("dim_count", c_int),
        ("dim_names", POINTER(c_char_p)),
        ("param_count", c_int),
        ("params", POINTER(ParamStruct)),
        ("type_count", c_int),
        ("types", POINTER(TypesStruct)),
        ("elementwise", c_bool),
        ("attribute_count", c_int),
        ("attributes", POINTER(AttributeStruct)),
        ("refusal", c_void_p),
        ("clause_count", c_int),
        ("clauses", POINTER(ClauseStruct)),
        ("registered", c_void_p),
    ]


class Case(Structure):
    """tk_case: an op with types, sizes and attributes, and without data."""

    _fields_ = [
        ("contract", POINTER(ContractStruct)),
        ("dtype", c_int),
        ("result_dtype", c_int),
        ("index_dtype", c_int),
        ("dims", c_int64 * MAX_DIMS),
        ("attributes", Value * MAX_ATTRIBUTES),
    ]


class LoweringInfo(Structure):
    """tk_lowering_info"""

    _fields_ = [("backend", c_char_p), ("variant", c_char_p), ("determinism", c_int), ("promise", c_char_p)]


class DeviceStruct(Structure):
    """tk_device"""

    _fields_ = [
        ("backend", c_char_p),
        ("usable", c_bool),
        ("name", c_char * 128),
        ("detail", c_char * 1024),
        ("units", c_int),
        ("memory_bytes", c_int64),
        ("uuid", c_char * 48),
        ("architecture", c_char * 32),
        ("driver", c_char * 64),
        ("compiler", c_char * 4864),
    ]


class GivenInput(Structure):
    """tk_given_input"""

    _fields_ = [("name", c_char_p), ("bits", POINTER(c_uint64)), ("count", c_int64)]


class Setting(Structure):
    """tk_setting"""

    _fields_ = [("attribute", c_char_p), ("value", c_char_p)]


# A kernel of the caller: const tk_case *, void *const buffers[], void *user_data.
Kernel = CFUNCTYPE(c_int, POINTER(Case), POINTER(c_void_p), c_void_p)
KernelProblem = CFUNCTYPE(c_void_p, c_void_p)  # the address of its text
Progress = CFUNCTYPE(None, c_double, c_char_p, c_void_p)
NoteListener = CFUNCTYPE(None, c_char_p, c_void_p)


class CertifyOptions(Structure):
    """tk_certify_options"""

    _fields_ = [
        ("size", c_size_t),
        ("level", c_int),
        ("seed", c_uint64),
        ("backend", c_char_p),
        ("lowering", c_char_p),
        ("mutant", c_char_p),
        ("variant", c_char_p),
        ("kernel", Kernel),
        ("kernel_data", c_void_p),
        ("kernel_name", c_char_p),
        ("kernel_program", c_char_p),
        ("kernel_file", c_void_p),
        ("dims", POINTER(c_int64)),
        ("family", c_char_p),
        ("inputs", POINTER(GivenInput)),
        ("input_count", c_int),
        ("settings", POINTER(Setting)),
        ("setting_count", c_int),
        ("call_threads", c_int),
        ("alignment", c_int),
        ("planted", POINTER(c_int64)),
        ("planted_count", c_int),
        ("skip_mutants", c_bool),
        ("skip_coverage", c_bool),
        ("keep_going", c_bool),
        ("sanitize", c_int),
        ("total_seconds", c_double),
        ("progress", Progress),
        ("progress_data", c_void_p),
        ("result_dtype", POINTER(c_int)),
        ("kernel_problem", KernelProblem),
        ("kernel_device", c_char_p),
        ("fresh_mutants", c_int64),
    ]


class ServerOptions(Structure):
    """tk_server_options"""

    _fields_ = [
        ("size", c_size_t),
        ("call_seconds", c_double),
        ("restart_seconds", c_double),
        ("restart_most_seconds", c_double),
        ("binary", c_bool),
        ("reply_bytes", c_size_t),
    ]


# The C name of each, for the test that compares them with the headers.
MIRRORED: dict[str, type[Structure] | type[Union]] = {
    "tk_value": Value,
    "tk_param": ParamStruct,
    "tk_clause": ClauseStruct,
    "tk_choice": ChoiceStruct,
    "tk_attribute": AttributeStruct,
    "tk_types": TypesStruct,
    "tk_contract": ContractStruct,
    "tk_case": Case,
    "tk_lowering_info": LoweringInfo,
    "tk_device": DeviceStruct,
    "tk_given_input": GivenInput,
    "tk_setting": Setting,
    "tk_certify_options": CertifyOptions,
    "tk_server_options": ServerOptions,
}


# --- prototypes ---------------------------------------------------------------------------------------------------

_contract_p = POINTER(ContractStruct)
_case_p = POINTER(Case)
_pointers = POINTER(c_void_p)
_ctx = c_void_p

# name: result, arguments; in the order of the headers. A tk_status is a c_int. Text that is to be freed is a c_void_p.
_PROTOTYPES: dict[str, dict[str, tuple[Any, Sequence[Any]]]] = {
    "libtokitai.so.0": {
        "tk_version": (c_char_p, ()),
        "tk_status_text": (c_char_p, (c_int,)),
        "tk_ctx_create": (c_int, (POINTER(_ctx),)),
        "tk_ctx_destroy": (None, (_ctx,)),
        "tk_ctx_message": (c_char_p, (_ctx,)),
        "tk_ctx_set_note_listener": (c_int, (_ctx, NoteListener, c_void_p)),
        "tk_ctx_set_threads": (c_int, (_ctx, c_int)),
        "tk_ctx_set_scratch": (c_int, (_ctx, c_void_p, c_size_t)),
        "tk_dtype_size": (c_size_t, (c_int,)),
        "tk_dtype_name": (c_char_p, (c_int,)),
        "tk_types_name": (None, (TypesStruct, c_char_p, c_size_t)),
        "tk_types_parse": (c_bool, (c_char_p, POINTER(TypesStruct))),
        "tk_contract_count": (c_int, ()),
        "tk_contract_at": (_contract_p, (c_int,)),
        "tk_contract_find": (_contract_p, (c_char_p,)),
        "tk_contract_takes_index": (c_bool, (_contract_p,)),
        "tk_contract_condition": (None, (_contract_p, c_int, c_char_p, c_size_t)),
        "tk_attribute_find": (c_int, (_contract_p, c_char_p)),
        "tk_choice_find": (c_int, (POINTER(AttributeStruct), c_char_p)),
        "tk_attribute_parse": (c_bool, (POINTER(AttributeStruct), c_char_p, POINTER(Value))),
        "tk_case_init": (Case, (_contract_p, c_int)),
        "tk_case_has": (c_bool, (_case_p, c_int)),
        "tk_case_elements": (c_int64, (_case_p, c_int)),
        "tk_case_param_dtype": (c_int, (_case_p, c_int)),
        "tk_case_is_finite": (c_bool, (_case_p,)),
        "tk_case_check": (c_int, (_ctx, _case_p, _pointers)),
        "tk_scratch_size": (c_int, (_ctx, _case_p, POINTER(c_size_t))),
        "tk_run": (c_int, (_ctx, _case_p, _pointers)),
        "tk_determinism_name": (c_char_p, (c_int,)),
        "tk_lowering_at": (c_bool, (_contract_p, c_int, POINTER(LoweringInfo))),
        "tk_lowering_id": (c_bool, (_case_p, c_int, c_char_p, c_size_t)),
        "tk_lowering_refusal": (c_char_p, (_ctx, _case_p, c_int)),
        "tk_device_at": (c_bool, (c_int, POINTER(DeviceStruct))),
        "tk_ctx_use_device": (c_int, (_ctx, c_char_p)),
        "tk_ctx_set_stream": (c_int, (_ctx, c_void_p)),
        "tk_ctx_use_tuning": (c_int, (_ctx, c_bool)),
        "tk_prepare": (c_int, (_ctx, _case_p)),
        "tk_ctx_synchronize": (c_int, (_ctx,)),
        "tk_memory_alloc": (c_int, (_ctx, c_size_t, POINTER(c_void_p))),
        "tk_memory_free": (None, (_ctx, c_void_p)),
        "tk_memory_write": (c_int, (_ctx, c_void_p, c_void_p, c_size_t)),
        "tk_memory_read": (c_int, (_ctx, c_void_p, c_void_p, c_size_t)),
    },
    "libtokitai-verify.so.0": {
        "tk_verdict_name": (c_char_p, (c_int,)),
        "tk_level_name": (c_char_p, (c_int,)),
        "tk_certify": (c_int, (_ctx, _contract_p, c_int, c_int, POINTER(CertifyOptions), POINTER(c_void_p))),
        "tk_judge": (c_int, (_ctx, _case_p, _pointers, _pointers, POINTER(c_void_p))),
        "tk_certificate_destroy": (None, (c_void_p,)),
        "tk_certificate_verdict": (c_int, (c_void_p,)),
        "tk_certificate_headline": (c_char_p, (c_void_p,)),
        "tk_certificate_accepted_ulp": (c_double, (c_void_p,)),
        "tk_certificate_json": (c_char_p, (c_void_p,)),
        "tk_certificate_markdown": (c_char_p, (c_void_p,)),
        "tk_certificate_write": (c_int, (_ctx, c_void_p, c_char_p, POINTER(c_void_p))),
        "tk_certificate_read": (c_int, (_ctx, c_char_p, POINTER(c_void_p))),
        "tk_certificate_parse": (c_int, (_ctx, c_char_p, c_size_t, POINTER(c_void_p))),
        "tk_family_at": (c_char_p, (c_int, POINTER(c_char_p))),
        "tk_family_applies": (c_bool, (c_int, _contract_p)),
    },
    "libtokitai-serve.so.0": {
        "tk_server_open": (c_int, (_ctx, POINTER(c_char_p), POINTER(ServerOptions), POINTER(c_void_p))),
        "tk_server_close": (None, (c_void_p,)),
        "tk_server_run": (c_int, (_ctx, c_void_p, _case_p, _pointers, POINTER(c_double))),
        "tk_server_wait_status": (c_int, (c_void_p,)),
        "tk_server_errors": (c_char_p, (c_void_p,)),
    },
}
_LIBRARY_OF = {name: library for library, functions in _PROTOTYPES.items() for name in functions}


def library_folder() -> str | None:
    """The folder of the libraries: $TOKITAI_LIBRARIES, or the wheel's own; None: wherever the system's loader looks."""
    given = os.environ.get("TOKITAI_LIBRARIES")
    if given:
        return given
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
    return own if os.path.isdir(own) else None


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
                    raise Unavailable(
                        f"{name} cannot be loaded: {error}. Install the package with `pip install .`, or set "
                        "TOKITAI_LIBRARIES to a folder with the libraries, such as a build tree"
                    ) from None
            return self._loaded[name]

    def __getattr__(self, name: str) -> Any:
        library = _LIBRARY_OF.get(name)
        if library is None:
            raise AttributeError(f"no prototype of {name}()")
        try:
            function = self._load(library)[name]
        except AttributeError:
            raise AttributeError(f"{library} has no function {name}(): it is of another version") from None
        function.restype, function.argtypes = _PROTOTYPES[library][name]
        setattr(self, name, function)  # from now on a plain attribute
        return function

    def without_conversion(self, name: str) -> Any:
        """A function that returns int, and takes its arguments as they are: ctypes objects of the right types. That
        saves a third of a call's time."""
        return self._load(_LIBRARY_OF[name])[name]


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
    kind: str  # one of KINDS
    dtype: str | None  # of kind "fixed"
    judged: str  # outputs: one of JUDGED_BY
    dims: tuple[str, ...]  # the names of the sizes that give its shape
    indexed_dim: str | None  # of kind "index": its values are in [0, that size)
    inner_axis: int  # inputs: the axis that the op sums over, or -1
    may_alias: str | None  # outputs: the tensor whose memory it may share
    sums_to_one: bool
    ends: bool
    when: tuple[str, frozenset[str]] | None  # there only where that attribute is one of these choices

    @property
    def rank(self) -> int:
        return len(self.dims)


class Attribute(NamedTuple):
    """A property of a case beyond sizes and types."""

    name: str
    text: str
    type: str  # one of ATTRIBUTE_TYPES
    default: str | float | int
    least: float | int | None
    most: float | int | None
    choices: tuple[str, ...]
    seen_by_kernel: bool  # else it determines inputs and bounds, and kernels are not told
    among_indices: bool
    from_device: bool


class Clause(NamedTuple):
    """A sentence of a contract."""

    id: str
    kind: str  # one of CLAUSE_KINDS
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


def _attribute_value(struct: AttributeStruct, value: Value) -> str | float | int:
    if struct.type == ATTRIBUTE_TYPES.index("choice"):
        return text(struct.choices[value.integer].id)
    if struct.type == ATTRIBUTE_TYPES.index("real"):
        return float(value.real)
    return int(value.integer)


def _attribute(struct: AttributeStruct) -> Attribute:
    number = struct.type != ATTRIBUTE_TYPES.index("choice")
    return Attribute(
        name=text(struct.name),
        text=text(struct.text),
        type=ATTRIBUTE_TYPES[struct.type],
        default=_attribute_value(struct, struct.initial),
        least=_number(struct, struct.least) if number else None,
        most=_number(struct, struct.most) if number else None,
        choices=tuple(text(struct.choices[i].id) for i in range(struct.choice_count)),
        seen_by_kernel=struct.seen_by_kernel,
        among_indices=struct.among_indices,
        from_device=struct.from_device,
    )


def _number(struct: AttributeStruct, value: Value) -> float | int:
    return float(value.real) if struct.type == ATTRIBUTE_TYPES.index("real") else int(value.integer)


def _contract_view(pointer: Any) -> Contract:
    struct = pointer.contents
    dims = tuple(text(struct.dim_names[i]) for i in range(struct.dim_count))
    attributes = tuple(_attribute(struct.attributes[i]) for i in range(struct.attribute_count))
    structs = [struct.params[i] for i in range(struct.param_count)]
    params = []
    for position, param in enumerate(structs):
        kind = KINDS[param.kind]
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
                judged=JUDGED_BY[param.judged],
                dims=tuple(dims[param.dim[i]] for i in range(param.rank)),
                indexed_dim=dims[param.indexed_dim] if kind == "index" else None,
                inner_axis=param.inner_axis,
                may_alias=text(structs[param.may_alias].name) if param.output and param.may_alias >= 0 else None,
                sums_to_one=param.sums_to_one,
                ends=param.ends,
                when=when,
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
        clauses=tuple(Clause(text(c.id), CLAUSE_KINDS[c.kind], text(c.text)) for c in clauses),
        elementwise=struct.elementwise,
        takes_index=lib.tk_contract_takes_index(pointer),
        pointer=pointer,
    )


_contracts: dict[str, Contract] = {}


def contract(name: str | Contract) -> Contract:
    """The contract of an op; UnknownOp, with the names that there are, if there is none."""
    if isinstance(name, Contract):
        return name
    known = _contracts.get(name)
    if known is None:
        pointer = lib.tk_contract_find(name.encode())
        if not pointer:
            raise UnknownOp(f"there is no op '{name}'; the ops are {', '.join(contract_names())}")
        known = _contracts[name] = _contract_view(pointer)
    return known


def contract_names() -> tuple[str, ...]:
    """The names of all ops."""
    return tuple(text(lib.tk_contract_at(i).contents.name) for i in range(lib.tk_contract_count()))


def dtype_code(name: str) -> int:
    """The number of an element type's name."""
    try:
        return DTYPES.index(name)
    except ValueError:
        raise BadArgument(f"there is no element type '{name}'; there are {', '.join(DTYPES)}") from None


def _types_name(types: TypesStruct) -> str:
    buffer = ctypes.create_string_buffer(32)
    lib.tk_types_name(types, buffer, len(buffer))
    return buffer.value.decode()


def parse_types(name: str) -> tuple[str, str]:
    """The element types of values and of results: "f16" gives f16 and f16, "f16-f32" f16 and f32."""
    types = TypesStruct()
    if not lib.tk_types_parse(name.encode(), ctypes.byref(types)):
        raise BadArgument(f'\'{name}\' names no element types; "f16", "bf16", "f32", "f16-f32" do')
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
            return _attribute_value(op.pointer.contents.attributes[i], case.attributes[i])
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
    """A case of an op. `dims` are its sizes by name, or in the contract's order; `dtype` may be "f16-f32"."""
    view = contract(op)
    value_type, results = parse_types(dtype)
    case: Case = lib.tk_case_init(view.pointer, dtype_code(value_type))
    case.result_dtype = dtype_code(result_dtype or results)
    case.index_dtype = dtype_code(index_dtype)
    if isinstance(dims, Mapping):
        if set(dims) != set(view.dims):
            raise BadArgument(f"{view.name} has the sizes {', '.join(view.dims)}; given: {', '.join(dims) or 'none'}")
        sizes = [dims[name] for name in view.dims]
    else:
        sizes = list(dims)
        if len(sizes) != len(view.dims):
            raise BadArgument(f"{view.name} has the sizes {', '.join(view.dims)}; given: {len(sizes)} numbers")
    for i, size in enumerate(sizes):
        case.dims[i] = size
    for name, value in (attributes or {}).items():
        attribute = view.attribute(name)
        i = view.attributes.index(attribute)
        struct = view.pointer.contents.attributes[i]
        if not lib.tk_attribute_parse(
            ctypes.byref(struct), attribute_text(value).encode(), ctypes.byref(case.attributes[i])
        ):
            allowed = ", ".join(attribute.choices) or f"{attribute.least} to {attribute.most}"
            raise BadArgument(f"{view.name}: {name} cannot be {value!r}; it is one of: {allowed}")
    return case


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


def context_for(device: str = "cpu") -> Context:
    """This thread's context for a device, made on first use."""
    contexts: dict[str, Context] | None = getattr(_thread, "contexts", None)
    if contexts is None:
        contexts = _thread.contexts = {}
    context = contexts.get(device)
    if context is None:
        context = contexts[device] = Context(device)
    return context


def version() -> str:
    """The version of the C library."""
    return text(lib.tk_version())
