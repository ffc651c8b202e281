"""Tokitai: verified kernels for deep learning, and a judge for anybody's."""

from __future__ import annotations

from ._errors import (
    BadArgument,
    BadFile,
    BadIndex,
    Error,
    InputOutput,
    Internal,
    KernelFault,
    NoMemory,
    Timeout,
    Unavailable,
    UnknownOp,
    Unsupported,
)

TYPE_CHECKING = False  # of the module typing, whose import would take as long as all else
if TYPE_CHECKING:
    from ._bench import Bench, bench
    from ._call import BadOutput
    from ._certificate import Certificate, Certificates
    from ._certify import certify
    from ._judge import judge
    from ._library import Contract, contract, contract_names, definition_names, op

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
    "Contract": "_library",
    "contract": "_library",
    "contract_names": "_library",
    "definition_names": "_library",
    "op": "_library",
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
    "definition_names",
    "judge",
    "op",
]
