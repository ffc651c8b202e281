"""Tensors of each framework, or of imitations of their interfaces, as memory."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

import tokitai
from tokitai import _arrays

np = pytest.importorskip("numpy")


class CudaArray:
    """What CuPy and Numba show of an array on a GPU; nothing of it is read here but the description."""

    def __init__(self, typestr: str = "<f2", strides: tuple[int, ...] | None = None, stream: int | None = 77) -> None:
        self.__cuda_array_interface__ = {
            "shape": (2, 3),
            "typestr": typestr,
            "data": (0x7000000, False),
            "strides": strides,
            "version": 3,
            "stream": stream,
        }


class DLPackArray:
    """A maker of DLPack capsules that shows what JAX shows, on any device: NumPy's capsule, rewritten."""

    def __init__(self, array: Any, device: tuple[int, int] = (1, 0), code: int | None = None) -> None:
        self.array, self.device, self.code, self.streams = array, device, code, []  # type: ignore[var-annotated]

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: int | None = None) -> object:
        self.streams.append(stream)
        capsule = self.array.__dlpack__()
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        dl = _arrays._DLTensor.from_address(get_pointer(capsule, b"dltensor"))
        if self.code is not None:
            dl.dtype.code = self.code
        return capsule


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("float16", "f16"),
        ("float32", "f32"),
        ("int32", "i32"),
        ("int64", "i64"),
        ("uint64", "u64"),
        ("uint16", "u16"),
        ("V2", "u16"),
    ],
)
def test_numpy(name: str, dtype: str) -> None:
    x = np.zeros((2, 3), name)
    view = _arrays.view(x)
    assert view[:5] == (x.ctypes.data, (2, 3), dtype, "cpu", None)
    assert view.bytes == x.nbytes and view.owner is x


def test_fields_are_refused() -> None:
    with pytest.raises(tokitai.BadArgument, match="x has elements of several fields"):
        _arrays.view(np.zeros(3, [("low", "u1"), ("high", "u1")]), "x")


def test_read_only_numpy() -> None:
    x = np.zeros(3, "float32")
    x.flags.writeable = False
    assert _arrays.view(x).pointer == x.ctypes.data


def test_what_is_not_contiguous_is_refused() -> None:
    x = np.zeros((4, 6), "float32")
    with pytest.raises(tokitai.BadArgument, match=r"weight is not contiguous: shape \(6, 4\) with strides \(1, 6\)"):
        _arrays.view(x.T, "weight")
    with pytest.raises(tokitai.BadArgument, match="not contiguous"):
        _arrays.view(x[:, ::2])
    assert _arrays.view(x[2:3, :].T[:, 0]).shape == (6,)
    assert _arrays.view(x[:0, ::2]).elements == 0


def test_big_endian_is_refused() -> None:
    with pytest.raises(tokitai.BadArgument, match="x is big-endian"):
        _arrays.view(np.zeros(3, ">f4"), "x")


@pytest.mark.parametrize("value", [np.zeros(3), np.zeros(3, np.int8), np.zeros(3, complex), np.zeros(3, "U4")])
def test_other_elements_are_refused(value: Any) -> None:
    with pytest.raises(tokitai.BadArgument, match="elements of type .*; allowed are float16, bfloat16"):
        _arrays.view(value)


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(tokitai.BadArgument, match="x is a list, not an array"):
        _arrays.view([1.0], "x")


def test_ml_dtypes_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert _arrays.view(np.zeros(3, ml_dtypes.bfloat16)).dtype == "bf16"


def test_an_imitation_of_ml_dtypes() -> None:
    """Where the package is not there: NumPy shows its type as two bytes, and its name is bfloat16."""

    class Named:
        name = "bfloat16"

    class Imitation:
        dtype = Named()
        __array_interface__ = {"shape": (3,), "typestr": "<V2", "data": (64, False), "version": 3}

    assert _arrays.view(Imitation()).dtype == "bf16"


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, dtype in (
        ("float16", "f16"),
        ("bfloat16", "bf16"),
        ("float32", "f32"),
        ("int32", "i32"),
        ("int64", "i64"),
    ):
        x = torch.zeros(2, 3, dtype=getattr(torch, name))
        assert _arrays.view(x)[:5] == (x.data_ptr(), (2, 3), dtype, "cpu", None)
    x = torch.zeros(2, 3, requires_grad=True)
    assert _arrays.view(x).pointer == x.data_ptr()
    with pytest.raises(tokitai.BadArgument, match="not contiguous"):
        _arrays.view(x.t())
    with pytest.raises(tokitai.BadArgument, match="layout torch.sparse_coo"):
        _arrays.view(torch.eye(2).to_sparse())
    with pytest.raises(tokitai.BadArgument, match="torch.float64"):
        _arrays.view(x.double())
    with pytest.raises(tokitai.Unavailable, match="on the device meta"):
        _arrays.view(x.to("meta"))


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    for name, dtype in (("float16", "f16"), ("bfloat16", "bf16"), ("float32", "f32"), ("int32", "i32")):
        x = jax.numpy.arange(6, dtype=name).reshape(2, 3)
        view = _arrays.view(x)
        assert view[1:5] == ((2, 3), dtype, "cpu", None)
        assert ctypes.string_at(view.pointer, view.bytes) == np.asarray(x).tobytes()
    assert _arrays.guess_framework(jax.jit(lambda x: x), "cpu") == "jax"
    softmax = jax.jit(lambda x: jax.nn.softmax(x.astype("float32"), axis=1).astype(x.dtype))
    certificate = tokitai.certify(softmax, "softmax_fwd", dtype="bf16", mutants=False, shape=(5, 7), family="normal")
    assert certificate.held, certificate


def test_dlpack_on_the_host() -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)
    maker = DLPackArray(x)
    view = _arrays.view(maker)
    assert view[:5] == (x.ctypes.data, (2, 3), "f32", "cpu", None)
    assert maker.streams == [None]
    assert _arrays.view(DLPackArray(x.view("int16").view("uint16"), code=4)).dtype == "bf16"
    assert _arrays.view(DLPackArray(x[1:])).pointer == x[1:].ctypes.data
    with pytest.raises(tokitai.BadArgument, match="not contiguous"):
        _arrays.view(DLPackArray(x.T))


def test_the_capsule_stays_valid_while_the_view_is_kept() -> None:
    view = _arrays.view(DLPackArray(np.full(1000, 7, "int32")))
    assert list((ctypes.c_int32 * 1000).from_address(view.pointer)) == [7] * 1000


def test_dlpack_on_a_gpu_orders_streams() -> None:
    """The maker is told which stream comes next: the default one, which is 1 for CUDA and 0 for ROCm."""
    x = np.zeros((2, 3), "float16")
    cuda, hip = DLPackArray(x, (2, 1)), DLPackArray(x, (10, 0))
    assert _arrays.view(cuda)[3:5] == ("cuda:1", 0)
    assert _arrays.view(hip)[3:5] == ("hip:0", 0)
    assert (cuda.streams, hip.streams) == ([1], [0])
    with pytest.raises(tokitai.Unavailable, match="DLPack's type 7"):
        _arrays.view(DLPackArray(x, (7, 0)))


def test_cuda_array_interface() -> None:
    assert _arrays.view(CudaArray())[:5] == (0x7000000, (2, 3), "f16", "cuda:0", 77)
    assert _arrays.view(CudaArray(stream=1)).stream == 0
    assert _arrays.view(CudaArray(stream=None)).stream is None
    assert _arrays.view(CudaArray(strides=(6, 2))).dtype == "f16"
    with pytest.raises(tokitai.BadArgument, match="not contiguous"):
        _arrays.view(CudaArray(strides=(2, 4)))
    with pytest.raises(tokitai.BadArgument, match="big-endian"):
        _arrays.view(CudaArray(">f2"))


def test_an_array_that_exports_only_one_way() -> None:
    """JAX and CuPy refuse DLPack for some types and have the other interface there."""

    class Both(CudaArray):
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

        def __dlpack__(self, stream: int | None = None) -> object:
            raise BufferError("not for this type")

    assert _arrays.view(Both()).device == "cuda:0"


def test_memory_as_tensors() -> None:
    memory = (ctypes.c_float * 6)(*range(6))
    x = _arrays.as_tensor("numpy", ctypes.addressof(memory), "f32", (2, 3))
    assert x.shape == (2, 3) and x.ctypes.data == ctypes.addressof(memory)
    x[1, 2] = 50
    assert memory[5] == 50
    assert _arrays.as_tensor("numpy", 0, "f16", (0, 3)).shape == (0, 3)
    with pytest.raises(tokitai.BadArgument, match="unknown framework 'tensorflow'"):
        _arrays.as_tensor("tensorflow", 0, "f16", (0, 3))
    with pytest.raises(tokitai.BadArgument, match="NumPy has no arrays on cuda"):
        _arrays.as_tensor("numpy", 0, "f16", (0, 3), "cuda")
    torch = pytest.importorskip("torch")
    y = _arrays.as_tensor("torch", ctypes.addressof(memory), "f32", (3, 2))
    assert y.data_ptr() == ctypes.addressof(memory) and y.dtype == torch.float32 and y.shape == (3, 2)


def test_the_framework_of_a_callable() -> None:
    assert _arrays.guess_framework(lambda x: np.exp(x), "cpu") == "numpy"
    torch = pytest.importorskip("torch")
    assert _arrays.guess_framework(lambda x: torch.exp(x), "cpu") == "torch"
    assert _arrays.guess_framework(torch.nn.GELU(), "cpu") == "torch"
    assert _arrays.guess_framework(torch.softmax, "cpu") == "torch"
    assert _arrays.guess_framework(lambda x: np.exp(x), "cuda") == "torch"


def test_the_framework_of_what_a_callable_calls() -> None:
    def inner(x: Any) -> Any:
        return np.exp(x)

    def outer(x: Any) -> Any:
        return inner(x)

    pytest.importorskip("torch")
    assert _arrays.guess_framework(outer, "cpu") == "numpy"
    assert _arrays.guess_framework(lambda x: x, "cpu") == "numpy"  # this module imports NumPy


def test_masked_arrays_are_refused() -> None:
    """What a mask hides is not a value."""
    with pytest.raises(tokitai.BadArgument, match="x is a masked array"):
        _arrays.view(np.ma.masked_array(np.zeros(3, np.float16), mask=[0, 1, 0]), "x")


@pytest.mark.parametrize("data", [b"\x10\0" * 6, None])
def test_interfaces_without_an_address_are_refused(data: object) -> None:
    """The data of an interface may be an object with a buffer: its first byte is no address."""

    class Described:
        __array_interface__ = {"shape": (2, 3), "typestr": "<f2", "data": data, "version": 3}

    with pytest.raises(tokitai.BadArgument, match="x has an array interface without the address"):
        _arrays.view(Described(), "x")


def test_negations_that_are_put_off() -> None:
    """The memory of such a tensor has the values before the negation: refused, and as a copy for the host resolved."""
    torch = pytest.importorskip("torch")
    lazy = torch._neg_view(torch.ones(3))
    with pytest.raises(tokitai.BadArgument, match="y is a negation"):
        _arrays.view(lazy, "y")
    host = _arrays.view(_arrays.to_host(lazy), "y")
    assert list((ctypes.c_float * 3).from_address(host.pointer)) == [-1, -1, -1]
