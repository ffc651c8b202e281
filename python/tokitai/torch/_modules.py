"""Modules with the state of PyTorch's own, and replace(), which swaps them in."""

from __future__ import annotations

from collections import Counter
from typing import Callable, Dict, List, NamedTuple, Optional, Type

import torch
from torch import Tensor, nn

from . import _functions, _run


class GELU(nn.GELU):
    """torch.nn.GELU(approximate="tanh")."""

    def __init__(self, approximate: str = "tanh") -> None:
        if approximate != "tanh":
            raise ValueError(f'tokitai.torch.GELU: approximate must be "tanh", not {approximate!r}')
        super().__init__(approximate=approximate)

    def forward(self, input: Tensor) -> Tensor:
        return _functions.gelu(input)


class Softmax(nn.Softmax):
    """torch.nn.Softmax(dim)."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)

    def forward(self, input: Tensor) -> Tensor:
        assert self.dim is not None
        return _functions.softmax(input, self.dim)


class CrossEntropyLoss(nn.CrossEntropyLoss):
    """torch.nn.CrossEntropyLoss() without weights of classes. Targets that are probabilities are left to PyTorch."""

    def __init__(
        self,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        expected_grad: Optional[float] = None,
        repeatable: bool = False,
        graph_break: bool = False,
    ) -> None:
        super().__init__(ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
        self.expected_grad = expected_grad
        self.repeatable = repeatable
        self.graph_break = graph_break

    # For those that replace() made of PyTorch's own.
    expected_grad: Optional[float] = None
    repeatable: bool = False
    graph_break: bool = False

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        if target.is_floating_point():
            return super().forward(input, target)
        return _functions.cross_entropy(
            input,
            target,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
            expected_grad=self.expected_grad,
            repeatable=self.repeatable,
            graph_break=self.graph_break,
        )


class Embedding(nn.Embedding):
    """torch.nn.Embedding(vocab, dim, padding_idx=...) with a dense gradient."""

    def forward(self, input: Tensor) -> Tensor:
        refusal = _embedding_options_refusal(self)
        if refusal:
            raise ValueError(f"tokitai.torch.Embedding: {refusal}")
        return _functions.embedding(input, self.weight, self.padding_idx)


class Linear(nn.Linear):
    """torch.nn.Linear(in, out, bias), and with activation="gelu" gelu (tanh form) of its output."""

    activation: Optional[str] = None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        activation: Optional[str] = None,
        device: object = None,
        dtype: Optional[torch.dtype] = None,
    ) -> None:
        super().__init__(in_features, out_features, bias=bias, device=device, dtype=dtype)
        if activation is not None:
            self.activation = activation

    def forward(self, input: Tensor) -> Tensor:
        return _functions.linear(input, self.weight, self.bias, activation=self.activation)

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", activation={self.activation}" if self.activation else "")


# --- replace() -----------------------------------------------------------------------------------------------------


def _parameter_refusal(module: nn.Module) -> str:
    for name, parameter in module.named_parameters(recurse=False):
        if parameter.dtype not in _run.DTYPES:
            return f"its {name} is {parameter.dtype}; it must be float16, bfloat16 or float32"
        if parameter.device.type not in ("cpu", "cuda", "meta"):
            return f"its {name} is on {parameter.device}"
        if type(parameter) is not nn.Parameter:
            return f"its {name} is a {type(parameter).__name__}"
    return ""


def _gelu_refusal(module: nn.GELU) -> str:
    if module.approximate != "tanh":
        return f'approximate is "{module.approximate}", another function than the tanh form'
    return ""


def _softmax_refusal(module: nn.Softmax) -> str:
    if module.dim != -1:
        return f"dim is {module.dim}; only dim = -1 is supported"
    return ""


def _cross_entropy_refusal(module: nn.CrossEntropyLoss) -> str:
    return "it has weights of classes" if module.weight is not None else ""


def _embedding_options_refusal(module: nn.Embedding) -> str:
    if module.max_norm is not None:
        return "max_norm changes the table in the forward pass"
    if module.scale_grad_by_freq:
        return "scale_grad_by_freq divides gradients by their counts"
    if module.sparse:
        return "sparse asks for sparse gradients"
    return ""


def _embedding_refusal(module: nn.Embedding) -> str:
    return _embedding_options_refusal(module) or _parameter_refusal(module)


class _Rule(NamedTuple):
    ours: Type[nn.Module]
    refusal: Callable[..., str]  # why a module of exactly this class is not equivalent to ours; "" if it is


_RULES: Dict[Type[nn.Module], _Rule] = {
    nn.GELU: _Rule(GELU, _gelu_refusal),
    nn.Softmax: _Rule(Softmax, _softmax_refusal),
    nn.CrossEntropyLoss: _Rule(CrossEntropyLoss, _cross_entropy_refusal),
    nn.Embedding: _Rule(Embedding, _embedding_refusal),
    nn.Linear: _Rule(Linear, _parameter_refusal),
}


class Replaced(NamedTuple):
    """A module that replace() swapped."""

    name: str  # "" for the model itself
    kind: str


class Left(NamedTuple):
    """A module that replace() left alone, and why."""

    name: str
    kind: str
    reason: str


class Replacement:
    """What replace() did. Printed, it is a table."""

    def __init__(self) -> None:
        self.replaced: List[Replaced] = []
        self.left: List[Left] = []
        self.others: Counter[str] = Counter()  # modules without children of classes that there is no op for

    def __str__(self) -> str:
        kinds = Counter(entry.kind for entry in self.replaced)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "nothing"
        lines = [f"replaced {counts}"]
        lines += [f"  {entry.name or '(the model itself)'}: {entry.kind}" for entry in self.replaced]
        if self.left:
            lines.append("left alone")
            lines += [f"  {entry.name or '(the model itself)'}: {entry.kind}: {entry.reason}" for entry in self.left]
        if self.others:
            others = ", ".join(f"{count} {kind}" for kind, count in sorted(self.others.items()))
            lines.append(f"no op for: {others}")
        return "\n".join(lines)

    __repr__ = __str__


def _subclassed(module: nn.Module) -> str:
    """Why a module of a class derived from a known one is left alone; "" if it is not of one."""
    for known in _RULES:
        if isinstance(module, known):
            kind = type(module)
            if kind.__module__.startswith("tokitai.torch"):
                return "it is one of ours already"
            return f"its class {kind.__name__} is derived from {known.__name__} and may compute something else"
    return ""


def replace(model: nn.Module) -> Replacement:
    """Swaps the modules of a model, in place, for those of this package that do the same, and says what it did.

    A module keeps its parameters, buffers, hooks and name, and whoever refers to it refers to the new one: its class
    alone changes. Functions that a model calls itself (torch.nn.functional.gelu) are not seen.
    """
    result = Replacement()
    for name, module in model.named_modules():
        rule = _RULES.get(type(module))
        if rule is not None:
            reason = rule.refusal(module)
            if reason:
                result.left.append(Left(name, type(module).__name__, reason))
            else:
                result.replaced.append(Replaced(name, type(module).__name__))
                module.__class__ = rule.ours
            continue
        reason = _subclassed(module)
        if reason:
            result.left.append(Left(name, type(module).__name__, reason))
        elif next(module.children(), None) is None:
            result.others[type(module).__name__] += 1
    return result
