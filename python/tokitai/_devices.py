"""What a framework calls the device that its arrays are on: for certificates, which repeat it as the caller's claim."""

from __future__ import annotations

import ctypes
import sys
from importlib import import_module
from typing import Any

from ._library import lib, text, tk_device

_NAMES = {"torch": "PyTorch", "cupy": "CuPy", "jax": "JAX", "numpy": "NumPy"}


def _by_torch(index: int) -> tuple[str, str]:
    """Name and architecture."""
    torch: Any = import_module("torch")
    properties = torch.cuda.get_device_properties(index)
    # ROCm's are "gfx942:sramecc+:xnack-"
    architecture = str(getattr(properties, "gcnArchName", "")) if torch.version.hip else ""
    return str(properties.name), architecture or f"sm_{properties.major}{properties.minor}"


def _by_cupy(index: int) -> tuple[str, str]:
    cupy: Any = import_module("cupy")
    properties = cupy.cuda.runtime.getDeviceProperties(index)
    return properties["name"].decode(), f"sm_{properties['major']}{properties['minor']}"


def _by_jax(index: int) -> tuple[str, str]:
    jax: Any = import_module("jax")
    device = jax.devices("gpu")[index]
    capability = str(getattr(device, "compute_capability", "")).replace(".", "")
    return str(device.device_kind), f"sm_{capability}" if capability else ""


def _driver(backend: str, index: int, name: str) -> str:
    """The driver's version, where the library sees a device of the same name at the same place; else ""."""
    device, i = tk_device(), 0
    while lib.tk_device_at(i, ctypes.byref(device)):
        i += 1
        if text(device.backend) != backend or not device.name:
            continue
        if index == 0:
            return text(device.driver) if text(device.name) == name else ""
        index -= 1
    return ""


def describe(framework: str, device: str) -> str | None:
    """A device in words, and whose they are: "cuda:0: NVIDIA H200, sm_90 (PyTorch 2.11.0); driver 580.82.07, CUDA 13.0
    (the library)". None for the CPU, which certificates name anyway."""
    backend, _, number = device.partition(":")
    if backend == "cpu":
        return None
    index = int(number or 0)
    who = _NAMES.get(framework, framework)
    place = f"{backend}:{index}"
    tellers = {"torch": _by_torch, "cupy": _by_cupy, "jax": _by_jax}
    try:
        name, architecture = tellers[framework](index)
    except Exception as error:  # whatever a framework without its device raises
        return f"{place}, which {who} does not describe: {type(error).__name__}"
    version = getattr(sys.modules.get(framework), "__version__", "")
    said = ", ".join(part for part in (name, architecture) if part)
    driver = _driver(backend, index, name)
    beside = f"; driver {driver} (the library)" if driver else ""
    return f"{place}: {said} ({' '.join(part for part in (who, version) if part)}){beside}"
