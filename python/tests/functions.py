"""Functions that tests have judged, some wrong on purpose; at the top of a module, where another process finds them."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from tokitai._library import FORMATS


def softmax(x: Any) -> Any:
    """Right: in fp32, rounded once."""
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        e = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
        return (e / e.sum(axis=1, keepdims=True)).astype(x.dtype)


def printing_softmax(x: Any) -> Any:
    """Right, and it prints, where replies go in a process of its own."""
    os.write(1, b"text on standard output\n")
    print("more of it")
    return softmax(x)


def doubled(x: Any) -> Any:
    return softmax(x) * x.dtype.type(2)


def crashing(x: Any) -> Any:
    ctypes.string_at(8)
    return x


def ending(x: Any) -> Any:
    os._exit(3)


def raising(x: Any) -> Any:
    raise ZeroDivisionError("on purpose")


def writing(x: Any) -> Any:
    y = softmax(x)
    x[...] = 0
    return y


def xent(logits: Any, target: Any, *, label_smoothing: float, scale: float, ignore_index: int) -> Any:
    """In double arithmetic, rounded once: loss and gradient."""
    wide = logits.astype(np.float64)
    rows, cols = wide.shape
    with np.errstate(all="ignore"):
        top = wide.max(axis=1, keepdims=True, initial=-np.inf)
        e = np.exp(wide - top)
        total = e.sum(axis=1, keepdims=True)
        log_p = wide - top - np.log(total)
        kept = target != ignore_index
        place = np.where(kept, target, 0)
        goal = np.full((rows, cols), label_smoothing / max(cols, 1))
        goal[np.arange(rows), place] += 1 - label_smoothing
        loss = -(np.where(goal != 0, goal * log_p, 0)).sum(axis=1)
        grad = (e / total - goal) * scale
    return {
        "loss": np.where(kept, loss, 0).astype(np.float32),
        "grad_logits": np.where(kept[:, None], grad, 0).astype(logits.dtype),
    }


def values(dtype: str, given: Any) -> Any:
    """The numbers of an array, by the definition of the format: 1.f times a power of two, above all of them NaN."""
    format = FORMATS[dtype]
    patterns = given.view(f"uint{format.bits}").astype(np.int64)
    magnitude, fraction = patterns & (format.sign - 1), 1 << (format.precision - 1)
    exponent = np.maximum(magnitude // fraction, 1)
    whole = magnitude - (exponent - 1) * fraction
    found = np.ldexp(whole.astype(np.float64), exponent - 1 + format.exponent_min - format.precision + 1)
    found[magnitude > format.largest] = np.nan
    if format.infinity:
        found[magnitude == format.infinity] = np.inf
    return np.where(patterns & format.sign, -found, found)


def gelu_of_8_bits(dtype: str, overflow: str) -> tuple[Any, Any]:
    """All 256 codes, and what gelu_fwd rounds to, found by comparison with the value of every code. Ties go to even codes."""
    codes = np.arange(256, dtype=np.uint8)
    x = values(dtype, codes)
    finite = codes[:128][np.isfinite(x[:128])]
    positive = np.append(x[finite], 2 * x[finite[-1]] - x[finite[-2]])  # and the first number beyond the largest
    with np.errstate(all="ignore"):
        exact = x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    y = np.empty(256, np.uint8)
    for i, value in enumerate(exact):
        distance = np.abs(positive - abs(value))
        nearest = int(np.lexsort((np.arange(len(positive)) % 2, distance))[0]) if np.isfinite(value) else len(finite)
        if np.isnan(value):
            y[i] = 0x7F
        elif nearest == len(finite):
            y[i] = finite[-1] if overflow == "saturate" else 0x7F if dtype == "f8_e4m3" else 0x7C
        else:
            y[i] = nearest
        y[i] |= 0x80 if np.signbit(value) and not np.isnan(value) else 0
    return codes, y
