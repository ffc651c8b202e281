"""Functions that tests have judged, some wrong on purpose; at the top of a module, where another process finds them."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np


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
