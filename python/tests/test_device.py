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


def test_a_certificate_names_the_device_as_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch is real; its device is not: what is put there stays on the CPU."""
    import types
    from typing import Any

    torch: Any = pytest.importorskip("torch")
    import tokitai
    from tokitai import _arrays, _devices

    def softmax(x: Any) -> Any:
        return torch.softmax(x.float(), 1).to(x.dtype)

    options: Any = {"dtype": "f16", "shape": (3, 5), "mutants": False, "seed": 1}
    here = tokitai.certify(softmax, "softmax_fwd", **options)
    assert "claimed_device" not in here.predicate["machine"] and not any("caller claims" in n for n in here.non_claims)

    h200 = types.SimpleNamespace(name="NVIDIA H200", major=9, minor=0)
    monkeypatch.setattr(_arrays, "_torch_device", lambda device: "cpu")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: {0: h200}[index])
    there = tokitai.certify(softmax, "softmax_fwd", device="cuda", framework="torch", **options)
    claim = f"cuda:0: NVIDIA H200, sm_90 (PyTorch {torch.__version__})"
    assert there.held and there.predicate["machine"]["claimed_device"] == claim
    assert there.predicate["machine"]["device"] == here.predicate["machine"]["device"]
    assert any(claim in text and "caller claims" in text for text in there.non_claims)
    assert claim in there.markdown

    unknown = tokitai.certify(softmax, "softmax_fwd", device="cuda:7", framework="torch", **options)
    assert unknown.predicate["machine"]["claimed_device"] == "cuda:7, which PyTorch does not describe: KeyError"
    assert _devices.describe("torch", "cpu") is None


def test_the_driver_is_that_of_the_device_of_that_name() -> None:
    out = run("""
        from tokitai import _devices
        print([_devices._driver("cuda", 0, name) for name in ("Fake GPU 0", "NVIDIA H200")])
        print([_devices._driver(*of) for of in (("cuda", 99, "Fake GPU 0"), ("hip", 0, "Fake GPU 0"))])
        """)
    assert out.splitlines() == ["['CUDA 12.4', '']", "['', '']"]
