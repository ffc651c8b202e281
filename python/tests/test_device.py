"""Arrays on a GPU that exists only in memory (tests/fake_gpu): judged where they lie, on the stream that they name."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("numpy")

DRIVER = (
    pathlib.Path(os.environ.get("BUILD_DIR") or os.environ["TOKITAI_LIBRARIES"]) / "tests" / "fake_gpu" / "libcuda.so.1"
)

PRELUDE = """
    import ctypes, os
    import numpy as np
    import tokitai
    from tokitai import _library
    from tokitai._library import lib
    import functions

    context = _library.context_for("cuda:0")
    driver = ctypes.CDLL(os.environ["TOKITAI_CUDA_LIBRARY"])
    driver.fake_gpu_stream_make.restype = ctypes.c_void_p

    class OnDevice:
        def __init__(self, array, stream):
            memory = ctypes.c_void_p()
            context.check(lib.tk_memory_alloc(context.pointer, array.nbytes, ctypes.byref(memory)))
            context.check(lib.tk_memory_write(context.pointer, memory, array.ctypes.data, array.nbytes))
            self.__cuda_array_interface__ = {
                "shape": array.shape, "typestr": array.dtype.str, "data": (memory.value, False), "version": 3,
                "stream": stream}

    x = np.random.default_rng(3).standard_normal((6, 10)).astype(np.float16)
    y = functions.softmax(x)
"""


def run(program: str) -> str:
    if not DRIVER.exists():
        pytest.skip("the stand-in for a GPU's driver is not built")
    folders = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TOKITAI_CUDA_LIBRARY": str(DRIVER), "PYTHONPATH": folders}
    text = textwrap.dedent(PRELUDE) + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_device_memory_is_judged() -> None:
    out = run("""
        stream = driver.fake_gpu_stream_make()
        for given in (None, 1, stream):
            print(tokitai.judge("softmax_fwd", [OnDevice(x, given)], [OnDevice(y, given)]).verdict)
        y[2, 3] *= 2
        certificate = tokitai.judge("softmax_fwd", [OnDevice(x, stream)], [OnDevice(y, stream)])
        print(certificate.verdict, certificate.worst["index"], certificate.predicate["run"]["given"]["memory"])
        """)
    assert out.splitlines() == ["HELD", "HELD", "HELD", "REFUTED 23 device"]


def test_a_context_of_another_device_is_refused() -> None:
    out = run("""
        from tokitai._library import Context
        for device in ("cpu", "cuda"):
            try:
                print(tokitai.judge("softmax_fwd", [OnDevice(x, 0)], [OnDevice(y, 0)], context=Context(device)).verdict)
            except tokitai.BadArgument as error:
                print(error)
        """)
    assert out.splitlines() == ["softmax_fwd: the tensors are on cuda:0, and the context works on cpu", "HELD"]


def test_the_stream_is_used() -> None:
    """One that is none is refused by the driver."""
    out = run("""
        memory = ctypes.create_string_buffer(4096)
        try:
            tokitai.judge("softmax_fwd", [OnDevice(x, ctypes.addressof(memory))], [OnDevice(y, None)])
        except tokitai.Error as error:
            print("refused:", error)
        """)
    assert out.startswith("refused:")


def test_tensors_of_two_devices_are_refused() -> None:
    out = run("""
        try:
            tokitai.judge("softmax_fwd", [OnDevice(x, None)], [y])
        except tokitai.BadArgument as error:
            print(error)
        """)
    assert out == "softmax_fwd: all tensors have to be on one device; given: x on cuda:0 and y on cpu\n"


def test_outputs_on_a_device_are_read_back() -> None:
    """certify() of a function that returns what is no framework's tensor, but lies on the device."""
    out = run("""
        def on_device(x):
            return OnDevice(functions.softmax(x), driver_stream)

        driver_stream = driver.fake_gpu_stream_make()
        print(tokitai.certify(on_device, "softmax_fwd", dtype="f16", mutants=False, shape=(3, 5), framework="numpy"))
        """)
    assert "HELD" in out
