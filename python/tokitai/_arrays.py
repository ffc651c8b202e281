"""Tensors of NumPy, PyTorch, JAX, CuPy and others as memory: an address, a shape, an element type, a device, a stream.

Nothing is copied. PyTorch's own attributes, DLPack, __cuda_array_interface__ and __array_interface__ are read. No
framework is imported for it: a tensor of one can only come from a program that has imported it.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ._library import DTYPE_SIZES, BadArgument, Unavailable

# Patterns without a type of their own, for what NumPy does not have: of 16 bits bf16 (fp16 it has), of 8 bits what is asked for.
BITS_16 = "u16"
_STANDS_FOR = {(BITS_16, "bf16"), ("u8", "f8_e4m3"), ("u8", "f8_e5m2"), ("u8", "bool")}

_SIZES = {**DTYPE_SIZES, BITS_16: 2}


class _Elsewhere(NamedTuple):
    name: str  # in frameworks
    typestr: tuple[str, ...]  # in array interfaces, without the byte order
    dlpack: int  # DLDataTypeCode
    of_ml_dtypes: bool = False  # not NumPy's own


_ELSEWHERE = {
    "f16": _Elsewhere("float16", ("f2",), 2),
    "bf16": _Elsewhere("bfloat16", (), 4, True),
    "f32": _Elsewhere("float32", ("f4",), 2),
    "i32": _Elsewhere("int32", ("i4",), 0),
    "i64": _Elsewhere("int64", ("i8",), 0),
    "u64": _Elsewhere("uint64", ("u8",), 1),
    "f8_e4m3": _Elsewhere("float8_e4m3fn", (), 10, True),
    "f8_e5m2": _Elsewhere("float8_e5m2", (), 12, True),
    "bool": _Elsewhere("bool", ("b1",), 6),
    "u8": _Elsewhere("uint8", ("u1", "V1"), 1),
    BITS_16: _Elsewhere("uint16", ("u2", "V2"), 1),
}
LONG_NAMES = {short: there.name for short, there in _ELSEWHERE.items()}
_OF_ML_DTYPES = {there.name for there in _ELSEWHERE.values() if there.of_ml_dtypes}
_BY_NAME = {there.name: short for short, there in _ELSEWHERE.items()}
_BY_TYPESTR = {text: short for short, there in _ELSEWHERE.items() for text in there.typestr}
_BY_DLPACK = {(there.dlpack, 8 * _SIZES[short]): short for short, there in _ELSEWHERE.items()}
# DLDeviceType: memory that a processor reads, and that of GPUs.
_DLPACK_HOST = {1, 3, 11}  # kDLCPU, kDLCUDAHost, kDLROCMHost
_DLPACK_GPU = {2: "cuda", 13: "cuda", 10: "hip"}  # kDLCUDA, kDLCUDAManaged, kDLROCM


class Array(NamedTuple):
    """Dense row-major memory of a tensor. It is valid while `owner` is kept."""

    pointer: int
    shape: tuple[int, ...]
    dtype: str  # of DTYPES, or BITS_16
    device: str  # "cpu", "cuda:0", "hip:0"
    stream: int | None  # of a GPU: the stream whose work the elements may wait for; None: they are there
    owner: object

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * _SIZES[self.dtype]


def _element_type(names: Mapping[Any, str], key: Any, name: str, shown: str) -> str:
    try:
        return names[key]
    except KeyError:
        raise BadArgument(
            f"{name} has elements of type {shown}; allowed are {', '.join(known for known in _BY_NAME if known != 'uint16')}"
        ) from None


def _check_dense(name: str, shape: Sequence[int], strides: Sequence[int] | None, unit: int) -> None:
    """Strides in units of `unit` per element. Axes of size 1, and tensors without elements, may have any."""
    if strides is None or 0 in shape:
        return
    expected = unit
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            raise BadArgument(
                f"{name} is not contiguous: shape {tuple(shape)} with strides {tuple(s // unit for s in strides)}; "
                "use .contiguous() or numpy.ascontiguousarray()"
            )
        expected *= size


def _of_torch(tensor: Any, name: str) -> Array:
    torch = sys.modules["torch"]
    if tensor.layout != torch.strided:
        raise BadArgument(f"{name} is a tensor of layout {tensor.layout}; a dense one is needed")
    if tensor.is_neg():  # its memory has the values before a negation that is put off
        raise BadArgument(f"{name} is a negation that PyTorch has not carried out; use .resolve_neg()")
    dtype = _element_type(_BY_NAME, str(tensor.dtype).removeprefix("torch."), name, str(tensor.dtype))
    shape = tuple(tensor.shape)
    _check_dense(name, shape, tensor.stride(), 1)
    kind, index = tensor.device.type, tensor.device.index or 0
    stream = None
    if kind == "cuda":  # ROCm's devices have this name in PyTorch, too
        stream = int(torch.cuda.current_stream(index).cuda_stream)
        kind = "hip" if torch.version.hip else "cuda"
    elif kind != "cpu":
        raise Unavailable(f"{name} is on the device {tensor.device}; it must be on cpu, cuda or hip")
    return Array(int(tensor.data_ptr()), shape, dtype, "cpu" if kind == "cpu" else f"{kind}:{index}", stream, tensor)


def _typestr(tensor: Any, typestr: str, name: str) -> str:
    own = getattr(getattr(tensor, "dtype", None), "name", None)
    if typestr[0] == ">" or (typestr[0] == "=" and sys.byteorder == "big"):
        raise BadArgument(f"{name} is big-endian ({typestr}); use .astype(x.dtype.newbyteorder('<'))")
    if own in _OF_ML_DTYPES:  # NumPy itself sees one or two bytes there, <V2, and stores them as such
        return _BY_NAME[own]
    if getattr(getattr(tensor, "dtype", None), "names", None):
        raise BadArgument(f"{name} has elements of several fields; use one of them")
    return _element_type(_BY_TYPESTR, typestr[1:], name, str(own or typestr))


def _of_interface(tensor: Any, interface: Mapping[str, Any], name: str, gpu: bool) -> Array:
    data = interface.get("data")
    if not isinstance(data, tuple):  # bytes, or another object with a buffer
        raise BadArgument(f"{name} has an array interface without the address of its elements")
    dtype = _typestr(tensor, interface["typestr"], name)
    shape = tuple(interface["shape"])
    if interface.get("mask") is not None or _is_of(tensor, "numpy.ma", "MaskedArray"):
        raise BadArgument(f"{name} is a masked array; use .filled() or .data")
    _check_dense(name, shape, interface.get("strides"), _SIZES[dtype])
    device, stream = "cpu", None
    if gpu:
        device = f"cuda:{getattr(getattr(tensor, 'device', None), 'id', 0)}"
        stream = interface.get("stream")
        if stream == 1:  # the legacy default stream, which drivers call 0
            stream = 0
    return Array(int(data[0] or 0), shape, dtype, device, stream, tensor)


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _of_dlpack(tensor: Any, name: str) -> Array:
    """Reads the capsule's tensor and leaves it unconsumed: its maker frees it when the capsule goes."""
    device_type, device_id = (int(number) for number in tensor.__dlpack_device__())
    if device_type in _DLPACK_HOST:
        capsule, device, stream = tensor.__dlpack__(), "cpu", None
    elif device_type in _DLPACK_GPU:
        # The maker orders its work before that of the stream named, the default one: 1 for CUDA, 0 for ROCm.
        kind = _DLPACK_GPU[device_type]
        capsule, device, stream = tensor.__dlpack__(stream=1 if kind == "cuda" else 0), f"{kind}:{device_id}", 0
    else:
        raise Unavailable(f"{name} is on a device of DLPack's type {device_type}; it must be on cpu, cuda or hip")
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    dl = _DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    if dl.dtype.lanes != 1:
        raise BadArgument(f"{name} has elements of {dl.dtype.lanes} lanes")
    dtype = _element_type(_BY_DLPACK, (dl.dtype.code, dl.dtype.bits), name, f"DLPack {dl.dtype.code}:{dl.dtype.bits}")
    shape = tuple(dl.shape[i] for i in range(dl.ndim))
    _check_dense(name, shape, [dl.strides[i] for i in range(dl.ndim)] if dl.strides else None, 1)
    return Array((dl.data or 0) + dl.byte_offset, shape, dtype, device, stream, (capsule, tensor))


def _is_of(tensor: object, framework: str, kind: str) -> bool:
    module = sys.modules.get(framework)
    known = getattr(module, kind, None)
    return isinstance(known, type) and isinstance(tensor, known)


def view(tensor: Any, name: str = "the array") -> Array:
    """The memory of a tensor. BadArgument, with its name, if it is not dense, of another byte order or type."""
    if _is_of(tensor, "torch", "Tensor"):
        return _of_torch(tensor, name)
    if _is_of(tensor, "numpy", "ndarray"):
        return _of_interface(tensor, tensor.__array_interface__, name, False)
    if hasattr(tensor, "__dlpack__") and hasattr(tensor, "__dlpack_device__"):
        try:
            return _of_dlpack(tensor, name)
        except (BufferError, NotImplementedError, RuntimeError) as error:
            if isinstance(error, (BadArgument, Unavailable)):
                raise
            refusal: Exception = error  # some makers export only some of their types so
    else:
        refusal = TypeError("it has neither __dlpack__ nor an array interface")
    for attribute, gpu in (("__cuda_array_interface__", True), ("__array_interface__", False)):
        interface = getattr(tensor, attribute, None)
        if interface is not None:
            return _of_interface(tensor, interface, name, gpu)
    raise BadArgument(f"{name} is a {type(tensor).__name__}, not an array of NumPy, PyTorch, JAX or CuPy: {refusal}")


# --- memory as tensors --------------------------------------------------------------------------------------------


def _buffer(pointer: int, size: int) -> Any:
    return (ctypes.c_char * size).from_address(pointer)


def framework_has(framework: str, dtype: str) -> bool:
    """Whether a framework has arrays of an element type."""
    if LONG_NAMES[dtype] in _OF_ML_DTYPES and framework == "numpy":
        try:
            __import__("ml_dtypes")
        except ImportError:
            return False
    return framework != "torch" or hasattr(__import__("torch"), LONG_NAMES[dtype])


def fits(given: str, needed: str) -> bool:
    """Whether elements of a type can be of another: the same, or patterns without a type that stand for it."""
    return given == needed or (given, needed) in _STANDS_FOR


def bits_of_numpy(dtype: str) -> str:
    """The name of NumPy's own type of that size, for a type that it may not have."""
    return f"uint{8 * DTYPE_SIZES[dtype]}" if LONG_NAMES[dtype] in _OF_ML_DTYPES else LONG_NAMES[dtype]


def numpy_dtype(dtype: str) -> Any:
    numpy = __import__("numpy")
    if LONG_NAMES[dtype] in _OF_ML_DTYPES and framework_has("numpy", dtype):
        return getattr(__import__("ml_dtypes"), LONG_NAMES[dtype])
    return numpy.dtype(bits_of_numpy(dtype))


def _torch_dtype(dtype: str) -> Any:
    found = getattr(__import__("torch"), LONG_NAMES[dtype], None)
    if found is None:
        raise Unavailable(f"this PyTorch has no elements of type {LONG_NAMES[dtype]}")
    return found


def _as_numpy(pointer: int, dtype: str, shape: Sequence[int], device: str) -> Any:
    numpy = __import__("numpy")
    if device != "cpu":
        raise BadArgument(f'NumPy has no arrays on {device}: give framework="torch" or "cupy"')
    size = math.prod(shape) * _SIZES[dtype]
    if not size:
        return numpy.empty(shape, numpy_dtype(dtype))
    return numpy.frombuffer(_buffer(pointer, size), numpy_dtype(dtype)).reshape(shape)


def _as_torch(pointer: int, dtype: str, shape: Sequence[int], device: str) -> Any:
    torch = __import__("torch")
    size = math.prod(shape) * _SIZES[dtype]
    if not size:
        return torch.empty(tuple(shape), dtype=_torch_dtype(dtype), device=_torch_device(device))
    tensor = torch.frombuffer(_buffer(pointer, size), dtype=_torch_dtype(dtype)).view(tuple(shape))
    return tensor if device == "cpu" else tensor.to(_torch_device(device))


def _torch_device(device: str) -> str:
    return device.replace("hip", "cuda")  # PyTorch's name for both


def _as_jax(pointer: int, dtype: str, shape: Sequence[int], device: str) -> Any:
    jax = __import__("jax")
    if dtype in ("i64", "u64") and not jax.config.jax_enable_x64:
        raise BadArgument('JAX has no 64-bit integers unless jax_enable_x64 is set: give index_dtype="i32"')
    place = None if device == "cpu" else jax.devices(device.split(":")[0].replace("hip", "rocm"))[_device_index(device)]
    # JAX may keep an array for as long as it likes, so the elements have to be its own.
    return jax.device_put(_as_numpy(pointer, dtype, shape, "cpu").copy(), place)


def _as_cupy(pointer: int, dtype: str, shape: Sequence[int], device: str) -> Any:
    cupy = __import__("cupy")
    if device == "cpu":
        raise BadArgument('CuPy has no arrays on the CPU: give device="cuda"')
    with cupy.cuda.Device(_device_index(device)):
        return cupy.asarray(_as_numpy(pointer, dtype, shape, "cpu"))


def _device_index(device: str) -> int:
    _, _, index = device.partition(":")
    return int(index or 0)


def device_with_index(device: str) -> str:
    """ "cuda:0" of "cuda", as arrays say it."""
    return device if device == "cpu" or ":" in device else device + ":0"


_AS: Mapping[str, Callable[[int, str, Sequence[int], str], Any]] = {
    "numpy": _as_numpy,
    "torch": _as_torch,
    "jax": _as_jax,
    "cupy": _as_cupy,
}
FRAMEWORKS = tuple(_AS)


def as_tensor(framework: str, pointer: int, dtype: str, shape: Sequence[int], device: str = "cpu") -> Any:
    """Host memory as a framework's tensor: the memory itself on the CPU (of JAX a copy), else a copy on the device."""
    if framework not in _AS:
        raise BadArgument(f"unknown framework '{framework}'; choose from {', '.join(FRAMEWORKS)}")
    try:
        return _AS[framework](pointer, dtype, shape, device)
    except ImportError as error:
        raise Unavailable(f"{framework} cannot be imported: {error}") from None


def to_host(tensor: Any) -> Any:
    """A tensor as a dense one on the CPU: itself where it is one, else a copy. Others stay as they are."""
    if _is_of(tensor, "torch", "Tensor"):
        return tensor.detach().cpu().contiguous().resolve_neg()
    if _is_of(tensor, "numpy", "ndarray"):
        return sys.modules["numpy"].ascontiguousarray(tensor) if tensor.ndim else tensor
    if _is_of(tensor, "cupy", "ndarray"):
        return sys.modules["cupy"].asnumpy(tensor)
    if _is_of(tensor, "jax", "Array"):
        return sys.modules["numpy"].asarray(tensor)
    return tensor


def guess_framework(function: object, device: str) -> str:
    """The framework that a callable is most likely written for: one that its code or its type names, or that its
    module imports, or that is imported at all; else NumPy."""
    for choice in (_named_by(function), _imported_by(function), [name for name in FRAMEWORKS if name in sys.modules]):
        elsewhere = "cupy" if device == "cpu" else "numpy"
        # Of several the one that the others serve: a PyTorch function that also names NumPy takes tensors.
        for framework in ("torch", "jax", "cupy", "numpy"):
            if framework in choice and framework != elsewhere:
                return framework
    return "numpy" if device == "cpu" else "torch"


def _frameworks(modules: set[str]) -> list[str]:
    roots = {"jax" if root == "jaxlib" else root for root in (module.split(".")[0] for module in modules)}
    return [name for name in FRAMEWORKS if name in roots]


def _unwrapped(function: Any) -> Any:
    for _ in range(8):
        if not hasattr(function, "__wrapped__"):
            break
        function = function.__wrapped__
    return getattr(function, "__func__", function)


def _modules_of(value: Any) -> str:
    return str((value.__name__ if isinstance(value, type(sys)) else getattr(value, "__module__", "")) or "")


def _named_by(function: Any, depth: int = 3) -> list[str]:
    """By its type, and by what its code refers to, also in the functions that it calls."""
    found = {_modules_of(kind) for kind in type(function).__mro__} | {_modules_of(function)}
    function = _unwrapped(function)
    code = getattr(function, "__code__", None)
    names: list[str] = []
    if code is not None:
        values = [function.__globals__.get(name) for name in code.co_names]
        for cell in function.__closure__ or ():
            try:
                values.append(cell.cell_contents)
            except ValueError:  # empty
                pass
        found |= {_modules_of(value) for value in values}
        for value in values:
            if depth and hasattr(value, "__code__") and value is not function:
                names += _named_by(value, depth - 1)
    return [name for name in FRAMEWORKS if name in names or name in _frameworks(found)]


def _imported_by(function: Any) -> list[str]:
    names = getattr(_unwrapped(function), "__globals__", {})
    return _frameworks({value.__name__ for value in list(names.values()) if isinstance(value, type(sys))})
