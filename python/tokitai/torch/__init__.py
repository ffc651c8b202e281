"""Tokitai's ops for PyTorch: gelu, softmax, cross_entropy, embedding and linear, with gradients.

    import tokitai.torch
    print(tokitai.torch.replace(model))    # swaps the modules that are equivalent, and says which

docs/python-torch.md describes them.
"""

from __future__ import annotations

from ._functions import cross_entropy, embedding, gelu, linear, softmax
from ._modules import GELU, CrossEntropyLoss, Embedding, Left, Linear, Replaced, Replacement, Softmax, replace
from ._run import prepare_capture, synchronize

__all__ = [
    "CrossEntropyLoss",
    "Embedding",
    "GELU",
    "Left",
    "Linear",
    "Replaced",
    "Replacement",
    "Softmax",
    "cross_entropy",
    "embedding",
    "gelu",
    "linear",
    "prepare_capture",
    "replace",
    "softmax",
    "synchronize",
]
