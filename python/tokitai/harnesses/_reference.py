"""Which op a reference in PyTorch is: its calls are watched while it runs, and one that computes is looked up.

What only moves elements (views, transposes, copies of a layout) is followed. Two calls that compute are a composition,
for which no contract speaks; the tanh form of GELU written out is the exception, since it has many calls and is one op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from .._library import Error, context_for, contract, is_there, make_case
from ._judgement import Judgement, Part, judge_parts, takes_numerics, unknown


class Unrecognised(Exception):
    """No contract is about this; the text says why."""


@dataclass(frozen=True)
class Recognised:
    """A call as a case of a contract: how to judge an output of it."""

    op: str
    shape: tuple[int, ...]  # of the reference's result
    parts: Callable[[Any], Iterator[Part]]  # of an output of that shape
    attributes: Mapping[str, object] = field(default_factory=dict)
    tensor_core: bool = False  # 16-bit inputs on a GPU: judged by the arithmetic of its matrix units
    note: str = ""  # what has to be said beside a verdict

    def judge(self, output: Any, *, numerics: str | None = None, domain: str | None = None) -> Judgement:
        """The verdict on an output for the inputs that the reference had."""
        if not hasattr(output, "shape"):
            return unknown(f"the output is a {type(output).__name__}, not a tensor", self.op)
        if tuple(output.shape) != self.shape:
            return unknown(f"the output has the shape {tuple(output.shape)}, the reference's has {self.shape}", self.op)
        try:
            if numerics is None and self.tensor_core and takes_numerics(self.op):
                numerics = "tensor_core"
            parts = self.parts(output.detach())
            found = judge_parts(self.op, parts, attributes=self.attributes, numerics=numerics, domain=domain)
            return replace(found, message=f"{found.message}; {self.note}") if self.note else found
        except Error as error:  # of the judge, not of what is judged
            return unknown(f"{self.op}: it could not be judged: {error}", self.op)


def _dense(tensor: Any, shape: Sequence[int] | None = None) -> Any:
    """A copy: what runs afterwards may write into its inputs."""
    return (tensor.detach() if shape is None else tensor.detach().reshape(tuple(shape))).clone().contiguous()


def _one(inputs: Mapping[str, Any], name: str, shape: Sequence[int]) -> Callable[[Any], Iterator[Part]]:
    return lambda output: iter([Part(inputs, {name: output.reshape(tuple(shape)).contiguous()})])


def _on_matrix_unit(*tensors: Any) -> bool:
    return all(tensor.is_cuda and tensor.element_size() == 2 for tensor in tensors)


def _rows(tensor: Any) -> int:
    return int(math.prod(tensor.shape[:-1]))


def _by_rows(tensor: Any, dim: int) -> Any:
    """A matrix whose rows are along `dim`."""
    moved = tensor.movedim(dim, -1)
    return moved.reshape(_rows(moved), moved.shape[-1])


# --- the calls that contracts are about ---------------------------------------------------------------------------


def _gelu(x: Any, approximate: str = "none") -> Recognised:
    if approximate != "tanh":
        raise Unrecognised("gelu(approximate='none') is the erf form; the contract gelu_fwd is of the tanh form")
    flat = (x.numel(),)
    return Recognised("gelu_fwd", tuple(x.shape), _one({"x": _dense(x, flat)}, "y", flat))


def _gelu_backward(grad_output: Any, x: Any, *, approximate: str = "none") -> Recognised:
    if approximate != "tanh":
        raise Unrecognised(
            "gelu_backward(approximate='none') is the erf form; the contract gelu_bwd is of the tanh form"
        )
    flat = (x.numel(),)
    inputs = {"grad_output": _dense(grad_output, flat), "x": _dense(x, flat)}
    return Recognised("gelu_bwd", tuple(x.shape), _one(inputs, "grad_input", flat))


def _softmax(x: Any, dim: int | None = None, dtype: Any = None, _stacklevel: int = 3) -> Recognised:
    if dim is None:
        raise Unrecognised("softmax without dim: its axis is unknown")
    if dtype not in (None, x.dtype):
        raise Unrecognised(f"softmax of {x.dtype} in {dtype}; the contract's output has its input's type")
    if x.dim() == 0:
        raise Unrecognised("softmax of a scalar")

    inputs, axis = {"x": _dense(_by_rows(x, dim))}, dim
    return Recognised(
        "softmax_fwd", tuple(x.shape), lambda output: iter([Part(inputs, {"y": _by_rows(output, axis).contiguous()})])
    )


def _aten_softmax(x: Any, dim: int, half_to_float: bool = False) -> Recognised:
    if half_to_float:
        raise Unrecognised("_softmax(half_to_float=True); the contract's output has its input's type")
    return _softmax(x, dim)


def _softmax_backward(grad_output: Any, output: Any, dim: int, input_dtype: Any = None) -> Recognised:
    if input_dtype not in (None, output.dtype):
        raise Unrecognised(f"the gradient of softmax in {input_dtype} for values of {output.dtype}")

    inputs = {"grad_output": _dense(_by_rows(grad_output, dim)), "y": _dense(_by_rows(output, dim))}
    return Recognised(
        "softmax_bwd",
        tuple(output.shape),
        lambda given: iter([Part(inputs, {"grad_input": _by_rows(given, dim).contiguous()})]),
    )


def _matmul(a: Any, b: Any) -> Recognised:
    if a.dim() == 0 or b.dim() == 0:
        raise Unrecognised("a product of a scalar")
    fast = _on_matrix_unit(a, b)
    left = a.unsqueeze(0) if a.dim() == 1 else a
    right = b.unsqueeze(1) if b.dim() == 1 else b
    shape = tuple(left.shape[:-1]) + (right.shape[-1],)
    if right.dim() == 2:
        k, n = right.shape
        inputs = {"a": _dense(left, (_rows(left), k)), "b": _dense(right)}
        result = shape[:-1] if b.dim() == 1 else shape
        result = result[1:] if a.dim() == 1 else result
        return Recognised("gemm", result, _one(inputs, "c", (_rows(left), n)), tensor_core=fast)
    if left.dim() != right.dim() or left.shape[:-2] != right.shape[:-2] or a.dim() == 1:
        raise Unrecognised(f"a product of shapes {tuple(a.shape)} and {tuple(b.shape)}, which are broadcast")
    m, k, n = left.shape[-2], left.shape[-1], right.shape[-1]
    count = math.prod(left.shape[:-2])
    lefts, rights = _dense(left, (count, m, k)), _dense(right, (count, k, n))

    def each(output: Any) -> Iterator[Part]:
        products = output.reshape(count, m, n).contiguous()
        for i in range(count):
            yield Part({"a": lefts[i], "b": rights[i]}, {"c": products[i]})

    return Recognised("gemm", shape, each, tensor_core=fast)


def _linear(x: Any, w: Any, bias: Any = None) -> Recognised:
    n, k = w.shape
    inputs = {"x": _dense(x, (_rows(x), k)), "w": _dense(w)}
    if bias is not None:
        inputs["bias"] = _dense(bias)
    shape = tuple(x.shape[:-1]) + (n,)
    attributes = {"epilogue": "none" if bias is None else "bias"}
    return Recognised("linear_fwd", shape, _one(inputs, "y", (_rows(x), n)), attributes, _on_matrix_unit(x, w))


def _addmm(bias: Any, x: Any, weight: Any, *, beta: float = 1, alpha: float = 1) -> Recognised:
    if beta != 1 or alpha != 1:
        raise Unrecognised(f"addmm(beta={beta}, alpha={alpha}); the contract linear_fwd has no factors")
    if bias.dim() != 1 or bias.shape[0] != weight.shape[1]:
        raise Unrecognised(
            f"addmm of a bias of shape {tuple(bias.shape)}; the contract linear_fwd has one for each column"
        )
    return _linear(x, weight.t(), bias)


def _embedding(
    index: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Recognised:
    if max_norm is not None:
        raise Unrecognised("embedding(max_norm=...) scales rows of its table; the contract embedding_fwd copies them")
    inputs = {"index": _dense(index, (index.numel(),)), "weight": _dense(weight)}
    dim = weight.shape[1]
    return Recognised("embedding_fwd", tuple(index.shape) + (dim,), _one(inputs, "out", (index.numel(), dim)))


def _aten_embedding(weight: Any, index: Any, padding_idx: int = -1, *_: object) -> Recognised:
    return _embedding(index, weight)


def _embedding_backward(
    grad_output: Any, index: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Recognised:
    if padding_idx >= 0 or scale_grad_by_freq:
        raise Unrecognised("embedding_dense_backward with padding_idx or scale_grad_by_freq; the contract has neither")
    dim = grad_output.shape[-1]
    inputs = {"grad_output": _dense(grad_output, (index.numel(), dim)), "index": _dense(index, (index.numel(),))}
    return Recognised("embedding_bwd", (num_weights, dim), _one(inputs, "grad_weight", (num_weights, dim)))


def _cross_entropy(
    logits: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Recognised:
    if size_average is not None or reduce is not None or reduction != "none":
        raise Unrecognised(
            f"cross_entropy(reduction='{reduction}'); the contract xent is of the loss of each row, reduction='none'"
        )
    if weight is not None:
        raise Unrecognised("cross_entropy with weights of classes; the contract xent has none")
    if logits.dim() != 2 or target.dim() != 1:
        raise Unrecognised(
            f"cross_entropy of shapes {tuple(logits.shape)} and {tuple(target.shape)}; the contract has rows"
        )
    if target.is_floating_point():
        raise Unrecognised("cross_entropy with probabilities as targets; the contract xent has a class for each row")
    if logits.element_size() != 4:
        raise Unrecognised(f"cross_entropy gives losses of {logits.dtype}; those of the contract xent are fp32")
    inputs = {"logits": _dense(logits), "target": _dense(target)}
    attributes: dict[str, object] = {"ignore_index": ignore_index, "label_smoothing": float(label_smoothing)}

    def loss_and_ours(output: Any) -> Iterator[Part]:
        # The contract has the gradient too.
        yield Part(inputs, {"loss": output.contiguous(), "grad_logits": _our_gradient(inputs, attributes)})

    note = "grad_logits, which the reference does not return, is the library's own"
    return Recognised("xent", tuple(target.shape), loss_and_ours, attributes, note=note)


def _our_gradient(inputs: Mapping[str, Any], attributes: Mapping[str, object]) -> Any:
    """grad_logits as the library computes it."""
    torch: Any = import_module("torch")
    logits, target = inputs["logits"], inputs["target"]
    loss = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    gradient = torch.empty_like(logits)
    index = "i64" if target.element_size() == 8 else "i32"
    case = make_case("xent", "f32", logits.shape, index_dtype=index, attributes=attributes)
    context = context_for("cpu" if not logits.is_cuda else f"cuda:{logits.device.index or 0}")
    if logits.is_cuda:
        context.set_stream(torch.cuda.current_stream(logits.device).cuda_stream)
    context.run(case, [tensor.data_ptr() for tensor in (logits, target, loss, gradient)])
    context.synchronize()
    return gradient


# By the name that PyTorch's functions and methods have. What they are called with is what these take.
_CALLS: dict[str, Callable[..., Recognised]] = {
    "gelu": _gelu,
    "softmax": _softmax,
    "matmul": _matmul,
    "__matmul__": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "linear": _linear,
    "addmm": _addmm,
    "embedding": _embedding,
    "cross_entropy": _cross_entropy,
}

# By the name of an operator of torch.ops.aten.
ATEN_CALLS: dict[str, Callable[..., Recognised]] = {
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "_softmax": _aten_softmax,
    "softmax": _softmax,
    "_softmax_backward_data": _softmax_backward,
    "matmul": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "linear": _linear,
    "addmm": _addmm,
    "embedding": _aten_embedding,
    "embedding_dense_backward": _embedding_backward,
}


# --- watching a reference ----------------------------------------------------------------------------------------

# These give the same elements at other places.
_MOVES = frozenset(
    "T mT H t transpose permute movedim moveaxis swapaxes view view_as reshape reshape_as flatten unflatten contiguous "
    "clone detach squeeze unsqueeze expand expand_as alias".split()
)
# These leave the order of the elements, too.
_RESHAPES = frozenset(
    "view view_as reshape reshape_as flatten unflatten contiguous clone detach squeeze unsqueeze".split()
)
# These return what they are given, if there is nothing to do.
_CASTS = frozenset("to type type_as float half bfloat16 double cuda cpu requires_grad_".split())


@dataclass
class _Watched:
    """The calls of a reference that compute, with what they were given, and where its tensors come from."""

    calls: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = field(default_factory=list)
    moved_from: dict[int, tuple[str, Any]] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # so that no id() comes twice


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", str(function))
    if name == "__get__":  # of a property: tensor.T
        return str(getattr(getattr(function, "__self__", None), "__name__", name))
    return str(name)


def watch(reference: Callable[[], Any]) -> tuple[Any, _Watched]:
    """Runs a reference and returns its result and what it did."""
    torch: Any = import_module("torch")
    overrides: Any = import_module("torch.overrides")
    watched = _Watched()

    def handle(_: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        watched.kept.append((args, kwargs, result))
        name = _name_of(function)
        source = next((argument for argument in args if isinstance(argument, torch.Tensor)), None)
        if not isinstance(result, torch.Tensor):
            # A size or a type is nothing; several tensors, or x[i] = ..., are calls that compute.
            several = isinstance(result, (tuple, list)) and any(isinstance(item, torch.Tensor) for item in result)
            computes = several or name == "__setitem__"
        elif name in _MOVES and source is not None:
            if result is not source:
                watched.moved_from[id(result)] = (name, source)
            computes = False
        else:
            computes = result is not source or name not in _CASTS
        if computes:
            watched.calls.append((name, tuple(args), dict(kwargs or {}), result))
        return result

    mode = type("Watching", (overrides.TorchFunctionMode,), {"__torch_function__": handle})
    with torch.no_grad(), mode():
        result = reference()
    return result, watched


def recognise(reference: Callable[[], Any]) -> Recognised:
    """The contract that a reference is a case of. It is run once. Unrecognised, with the reason, if there is none."""
    result, watched = watch(reference)
    if not watched.calls:
        raise Unrecognised("the reference calls no PyTorch function that computes")
    if len(watched.calls) == 1:
        name, args, kwargs, value = watched.calls[0]
        if name not in _CALLS:
            known = ", ".join(sorted(call for call in _CALLS if not call.startswith("_")))
            raise Unrecognised(f"the reference computes {name}; contracts exist for {known}")
        if _origin(result, watched) is not value:
            raise Unrecognised(f"the reference does not return the result of {name} in its order")
        found = _call(_CALLS[name], name, args, kwargs)
        return replace(found, shape=tuple(result.shape), parts=_reshaped(found))
    x = _argument_of_gelu(result, watched)
    if x is not None:
        return _gelu(x, "tanh")
    names = ", ".join(name for name, _, _, _ in watched.calls)
    raise Unrecognised(f"the reference is a composition ({names}); a contract is of one op")


def _call(known: Callable[..., Recognised], name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Recognised:
    # `input` and `other` are what PyTorch calls its first arguments.
    positional = list(args) + [kwargs[key] for key in ("input", "other", "mat2") if key in kwargs]
    named = {key: value for key, value in kwargs.items() if key not in ("input", "other", "mat2", "out")}
    if kwargs.get("out") is not None:
        raise Unrecognised(f"{name} with out=")
    try:
        return known(*positional, **named)
    except TypeError as error:
        raise Unrecognised(f"unknown arguments of {name}: {error}") from None


def _reshaped(found: Recognised) -> Callable[[Any], Iterator[Part]]:
    return lambda output: found.parts(output.reshape(found.shape))


def _origin(tensor: Any, watched: _Watched) -> Any:
    """What a tensor was reshaped from."""
    while id(tensor) in watched.moved_from:
        name, source = watched.moved_from[id(tensor)]
        if name not in _RESHAPES:
            return None
        tensor = source
    return tensor


def recognise_aten(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Recognised:
    """The contract of a call of torch.ops.aten.NAME."""
    if name not in ATEN_CALLS:
        raise Unrecognised(f"no contract for aten.{name}; contracts exist for {', '.join(sorted(ATEN_CALLS))}")
    return _call(ATEN_CALLS[name], f"aten.{name}", args, kwargs)


def named(
    op: str, inputs: Sequence[Any] | Mapping[str, Any], attributes: Mapping[str, object] | None = None
) -> Recognised:
    """An op that the user names: its inputs in contract order or by name, in the contract's shapes."""
    view = contract(op)
    settings = dict(attributes or {})
    blank = make_case(view, view.types[0], [0] * len(view.dims), attributes=settings)
    there = [param for param in view.inputs if is_there(blank, param)]
    outputs = [param for param in view.outputs if is_there(blank, param)]
    if not isinstance(inputs, Mapping):
        if len(inputs) != len(there):
            raise Unrecognised(
                f"{op} has the inputs {', '.join(p.name for p in there)}; the reference has {len(inputs)}"
            )
        inputs = {param.name: tensor for param, tensor in zip(there, inputs)}
    copies = {name: _dense(tensor) for name, tensor in inputs.items()}
    if len(outputs) != 1:
        raise Unrecognised(f"{op} has the outputs {', '.join(p.name for p in outputs)}; use tokitai.judge() for them")
    output = outputs[0]
    if view.elementwise:
        shape = tuple(next(iter(copies.values())).shape)
    else:
        sizes = {dim: size for param in there for dim, size in zip(param.dims, copies[param.name].shape)}
        shape = tuple(sizes[dim] for dim in output.dims)
    fast = _on_matrix_unit(*(copies[param.name] for param in there if param.kind == "value"))
    return Recognised(op, shape, lambda given: iter([Part(copies, {output.name: given.contiguous()})]), settings, fast)


# --- GELU written out ---------------------------------------------------------------------------------------------

# x or a number, or a function of such.
_Tree = tuple[Any, ...]


def _argument_of_gelu(result: Any, watched: _Watched) -> Any:
    """x, if the calls are 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) of it; else None."""
    if any(value is argument for _, args, _, value in watched.calls for argument in args):
        return None  # a tensor is written into, and stands for several values
    made = {id(value): (name, args, kwargs) for name, args, kwargs, value in watched.calls}
    leaves: dict[int, Any] = {}

    def tree(node: Any) -> _Tree:
        if isinstance(node, (int, float)):
            return ("number", float(node))
        if id(node) not in made:
            leaves[id(node)] = node
            return ("x",)
        name, args, kwargs = made[id(node)]
        if kwargs:
            return ("other",)
        plain = name.strip("_").replace("radd", "add").replace("rmul", "mul")
        return (plain, *(tree(argument) for argument in args))

    found = _sum_of_products(tree(result))
    if len(leaves) != 1 or found is None:
        return None
    x = next(iter(leaves.values()))
    return x if _is_gelu(found) else None


def _sum_of_products(node: _Tree) -> dict[tuple[Any, ...], float] | None:
    """A polynomial in x and in tanh of polynomials, multiplied out: the factor of each product; None if it is none."""
    if node[0] == "number":
        return {(): node[1]}
    if node[0] == "x":
        return {("x",): 1.0}
    inner = [_sum_of_products(argument) for argument in node[1:]]
    if any(part is None for part in inner):
        return None
    parts = [part for part in inner if part is not None]
    if node[0] == "add" and len(parts) == 2:
        return {key: parts[0].get(key, 0.0) + parts[1].get(key, 0.0) for key in {**parts[0], **parts[1]}}
    if node[0] == "mul" and len(parts) == 2:
        return _product(parts[0], parts[1])
    if node[0] == "pow" and len(parts) == 2 and set(parts[1]) == {()} and parts[1][()] in (2.0, 3.0):
        square = _product(parts[0], parts[0])
        return square if parts[1][()] == 2.0 else _product(square, parts[0])
    if node[0] == "tanh" and len(parts) == 1:
        return {(("tanh", tuple(sorted(parts[0].items()))),): 1.0}
    return None


def _product(a: dict[tuple[Any, ...], float], b: dict[tuple[Any, ...], float]) -> dict[tuple[Any, ...], float]:
    result: dict[tuple[Any, ...], float] = {}
    for left, p in a.items():
        for right, q in b.items():
            key = tuple(sorted(left + right, key=repr))
            result[key] = result.get(key, 0.0) + p * q
    return result


def _is_gelu(polynomial: dict[tuple[Any, ...], float]) -> bool:
    def near(value: float, expected: float) -> bool:
        return abs(value - expected) <= 1e-6 * abs(expected)

    rest = dict(polynomial)
    if not near(rest.pop(("x",), 0.0), 0.5) or len(rest) != 1:
        return False
    ((key, factor),) = rest.items()
    functions = [item for item in key if item != "x"]
    if not near(factor, 0.5) or len(key) != 2 or len(functions) != 1:
        return False
    argument = dict(functions[0][1])
    c = math.sqrt(2 / math.pi)
    return (
        set(argument) == {("x",), ("x", "x", "x")}
        and near(argument[("x",)], c)
        and near(argument[("x", "x", "x")], 0.044715 * c)
    )
