"""Tokitai: verified kernels for deep learning, and a judge for anybody's."""

from __future__ import annotations

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

__all__ = [
    "BadArgument",
    "BadFile",
    "BadIndex",
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
    "contract",
    "contract_names",
]
