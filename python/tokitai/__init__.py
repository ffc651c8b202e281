"""Tokitai: verified kernels for deep learning, and a judge for anybody's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._library import (
    BadArgument,
    BadFile,
    BadIndex,
    Contract,
    Error,
    InputOutput,
    Internal,
    KernelFault,
    NoMemory,
    Timeout,
    Unavailable,
    UnknownOp,
    Unsupported,
    contract,
    contract_names,
)

if TYPE_CHECKING:
    from ._bench import Bench, bench
    from ._call import BadOutput
    from ._certificate import Certificate, Certificates
    from ._certify import certify
    from ._judge import judge

    __version__: str

# What is loaded on first use, so that the import stays quick.
_LATER = {
    "Bench": "_bench",
    "bench": "_bench",
    "BadOutput": "_call",
    "Certificate": "_certificate",
    "Certificates": "_certificate",
    "certify": "_certify",
    "judge": "_judge",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from . import _library

        return _library.version()
    if name not in _LATER:
        raise AttributeError(f"module 'tokitai' has no attribute '{name}'")
    import importlib

    value: object = getattr(importlib.import_module(f"tokitai.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "BadArgument",
    "BadFile",
    "BadIndex",
    "BadOutput",
    "Bench",
    "Certificate",
    "Certificates",
    "Contract",
    "Error",
    "InputOutput",
    "Internal",
    "KernelFault",
    "NoMemory",
    "Timeout",
    "Unavailable",
    "UnknownOp",
    "Unsupported",
    "__version__",
    "bench",
    "certify",
    "contract",
    "contract_names",
    "judge",
]
