"""The ops that come as definitions, against PyTorch in double precision, and its automatic gradients: another library's formulas, rounded once.

A definition is oracle, bound and kernel at once, so that a mistake in it would be certified. `FORWARD` has one function of each op; what a
definition with `gradient of` should be follows from that of its forward op."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import tokitai
from tokitai import testing
from tokitai._arrays import numpy_dtype
from tokitai._library import contract, param_dtype

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
F = torch.nn.functional

SEED = 20261119
Tensors = Mapping[str, Any]


def rows(function: Callable[[Any], Any]) -> Callable[[Tensors, Tensors], Any]:
    return lambda t, a: function(t["x"])


def rmsnorm(t: Tensors, a: Tensors) -> Any:
    rstd = (t["x"].pow(2).mean(-1) + a["eps"]).rsqrt()
    return t["x"] * rstd[:, None] * t["w"], rstd


def moments(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    return x.mean(axes), (x.var(axes, unbiased=False) + eps).rsqrt()


def attention(t: Tensors, a: Tensors, causal: bool) -> Any:
    scores = a["scale"] * torch.einsum("btd,bud->btu", t["q"], t["k"])
    if causal:
        hidden = torch.arange(scores.shape[2])[None, :] > torch.arange(scores.shape[1])[:, None]
        scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ t["v"]


def convolution(function: Callable[..., Any], *names: str) -> Callable[[Tensors, Tensors], Any]:
    renamed = {"stride": "stride", "pad": "padding", "dilation": "dilation", "groups": "groups", "more": "output_padding"}
    return lambda t, a: function(t["x"], t["k"], t.get("b"), **{renamed[name]: a[name] for name in names})


def topk(t: Tensors, a: Tensors) -> Any:
    return torch.topk(t["x"], a["count"], -1)


def adamw(t: Tensors, a: Tensors) -> Any:
    p = torch.nn.Parameter(t["p"].clone())
    p.grad = t["grad"].clone()
    optimizer = torch.optim.AdamW([p], a["rate"], (a["beta1"], a["beta2"]), a["eps"], a["decay"])
    state = optimizer.state[p]
    state["step"] = torch.tensor(float(a["step"] - 1))
    state["exp_avg"], state["exp_avg_sq"] = t["m"].clone(), t["v"].clone()
    optimizer.step()
    return p.detach(), state["exp_avg"], state["exp_avg_sq"]


FORWARD: dict[str, Callable[[Tensors, Tensors], Any]] = {
    "adamw": adamw,
    "argmax": rows(lambda x: x.argmax(-1)),
    "attention": lambda t, a: attention(t, a, False),
    "attention_causal": lambda t, a: attention(t, a, True),
    "avg_pool2d": lambda t, a: F.avg_pool2d(t["x"], a["window"], a["stride"], a["pad"]),
    "batch_norm": lambda t, a: (
        F.batch_norm(t["x"], None, None, t["w"], t["b"], True, 0.1, a["eps"]),
        *moments(t["x"], (0, 2), a["eps"]),
    ),
    "batch_norm_known": lambda t, a: F.batch_norm(t["x"], t["mean_x"], t["var_x"], t["w"], t["b"], False, 0.1, a["eps"]),
    "batched_matmul": lambda t, a: torch.bmm(t["x"], t["y"]),
    "bilinear": lambda t, a: F.bilinear(t["x"], t["y"], t["w"]),
    "conv1d": convolution(F.conv1d, "stride", "pad", "dilation"),
    "conv2d": convolution(F.conv2d, "stride", "pad", "dilation", "groups"),
    "conv3d": convolution(F.conv3d, "stride", "pad"),
    "conv_transpose1d": convolution(F.conv_transpose1d, "stride", "pad", "more"),
    "conv_transpose2d": convolution(F.conv_transpose2d, "stride", "pad", "more"),
    "cosine_loss": lambda t, a: (1 - F.cosine_similarity(t["x"], t["target"], -1, a["eps"])).mean()[None],
    "cross_entropy": lambda t, a: F.cross_entropy(t["x"], t["target"].long(), reduction="none"),
    "cross_entropy_all": lambda t, a: F.cross_entropy(
        t["x"], t["target"].long(), reduction="mean" if a["reduction"] == "average" else "sum"
    )[None],
    "cumprod": rows(lambda x: x.cumprod(-1)),
    "cumsum": rows(lambda x: x.cumsum(-1)),
    "elu": lambda t, a: F.elu(t["x"], a["alpha"]),
    "embedding": lambda t, a: F.embedding(t["index"].long(), t["w"]),
    "embedding_grad": lambda t, a: torch.zeros(a["v"], t["grad_y"].shape[1], dtype=torch.float64).index_add(
        0, t["index"].long(), t["grad_y"]
    ),
    "geglu": lambda t, a: F.gelu(t["gate"]) * t["up"],
    "gelu": rows(F.gelu),
    "gelu_tanh": rows(lambda x: F.gelu(x, approximate="tanh")),
    "group_norm": lambda t, a: F.group_norm(t["x"], a["groups"], t["w"], t["b"], a["eps"]),
    "hardsigmoid": rows(F.hardsigmoid),
    "hardswish": rows(F.hardswish),
    "hardtanh": lambda t, a: F.hardtanh(t["x"], a["low"], a["high"]),
    "hinge": lambda t, a: (1 - t["x"] * t["target"]).clamp(min=0).mean()[None],
    "huber": lambda t, a: F.huber_loss(t["x"], t["target"], delta=a["delta"])[None],
    "instance_norm": lambda t, a: F.instance_norm(t["x"], None, None, t["w"], t["b"], True, 0.1, a["eps"]),
    "kl_div": lambda t, a: F.kl_div(t["log_p"], t["target"], reduction="batchmean")[None],
    "layernorm_fwd": lambda t, a: (
        F.layer_norm(t["x"], t["x"].shape[1:], t["w"], t["b"], a["eps"]),
        *moments(t["x"], (1,), a["eps"]),
    ),
    "leaky_relu": lambda t, a: F.leaky_relu(t["x"], a["slope"]),
    "linear": lambda t, a: F.linear(t["x"], t["w"], t.get("b")),
    "log_softmax": rows(lambda x: torch.log_softmax(x, -1)),
    "log_sum_exp": rows(lambda x: torch.logsumexp(x, -1)),
    "matmul": lambda t, a: t["a"] @ t["b"],
    "max_pool2d": lambda t, a: F.max_pool2d(t["x"], a["window"], a["stride"], a["pad"]),
    "mish": rows(F.mish),
    "mse": lambda t, a: F.mse_loss(t["x"], t["target"])[None],
    "normalize_l1": lambda t, a: F.normalize(t["x"], 1, -1, a["eps"]),
    "normalize_l2": lambda t, a: F.normalize(t["x"], 2, -1, a["eps"]),
    "outer_product": lambda t, a: torch.outer(t["x"], t["y"]),
    "reduce_max": rows(lambda x: x.amax(1)),
    "reduce_mean": rows(lambda x: x.mean(1)),
    "reduce_min": rows(lambda x: x.amin(1)),
    "reduce_prod": rows(lambda x: x.prod(1)),
    "reduce_sum": rows(lambda x: x.sum(1)),
    "reduce_var": lambda t, a: t["x"].var(1, unbiased=a["correction"] == 1),
    "relu": rows(F.relu),
    "rmsnorm_fwd": rmsnorm,
    "rope": lambda t, a: t["x"] * t["cosine"][:, None]
    + torch.cat([-t["x"].chunk(2, -1)[1], t["x"].chunk(2, -1)[0]], -1) * t["sine"][:, None],
    "selu": rows(F.selu),
    "sigmoid": rows(torch.sigmoid),
    "silu": rows(F.silu),
    "softmax": rows(lambda x: torch.softmax(x, -1)),
    "softplus": lambda t, a: F.softplus(t["x"], a["beta"], threshold=1e9),
    "softsign": rows(F.softsign),
    "swiglu": lambda t, a: F.silu(t["gate"]) * t["up"],
    "tanh": rows(torch.tanh),
    "topk": topk,
    "triplet": lambda t, a: F.triplet_margin_loss(t["anchor"], t["near"], t["far"], a["margin"])[None],
}
# What draws pseudo-random numbers has no other implementation here; published vectors of Philox are in tests/interpret.
WITHOUT = {"dropout"}

# Sizes that attributes and constraints allow, where those of one to six are not; and other attributes than the defaults.
CASES: dict[str, list[tuple[dict[str, int], dict[str, object]]]] = {
    "attention": [({"b": 2, "t": 5, "u": 7, "d": 4, "e": 3}, {"scale": 0.5})],
    "attention_causal": [({"b": 2, "t": 5, "u": 5, "d": 4, "e": 3}, {"scale": 0.5})],
    "avg_pool2d": [({"n": 2, "c": 2, "h": 7, "w": 6}, {"window": 3, "stride": 2, "pad": 1})],
    "conv1d": [({"n": 2, "c": 3, "w": 11, "o": 4, "r": 3}, {"stride": 2, "pad": 1, "dilation": 2})],
    "conv2d": [
        ({"n": 2, "c": 4, "h": 7, "w": 8, "o": 6, "d": 2, "r": 3, "s": 2}, {"stride": 2, "pad": 1, "groups": 2}),
        ({"n": 1, "c": 3, "h": 6, "w": 5, "o": 2, "d": 3, "r": 2, "s": 3}, {"dilation": 2, "pad": 2, "bias": "no"}),
    ],
    "conv3d": [({"n": 1, "c": 2, "d": 4, "h": 5, "w": 6, "o": 3, "t": 2, "r": 3, "s": 2}, {"stride": 2, "pad": 1})],
    "conv_transpose1d": [({"n": 2, "c": 3, "w": 5, "o": 2, "r": 4}, {"stride": 3, "pad": 1, "more": 2})],
    "conv_transpose2d": [
        ({"n": 2, "c": 3, "h": 4, "w": 3, "o": 2, "r": 3, "s": 2}, {"stride": 2, "pad": 1, "more": 1, "bias": "no"})
    ],
    "group_norm": [({"n": 2, "c": 6, "s": 5}, {"groups": 3})],
    "huber": [({"n": 7}, {"delta": 0.5})],
    "max_pool2d": [({"n": 2, "c": 2, "h": 7, "w": 6}, {"window": 3, "stride": 2, "pad": 1})],
    "reduce_var": [({"outer": 3, "n": 5, "inner": 4}, {"correction": 0}), ({"outer": 3, "n": 5, "inner": 4}, {})],
    "rope": [({"b": 2, "t": 3, "h": 2, "d": 6}, {})],
    "topk": [({"rows": 4, "cols": 9}, {"count": 3})],
}
FAMILIES = ("normal", "wide", "large_offset")


def defaults(op: tokitai.Contract) -> dict[str, Any]:
    return {attribute.name: attribute.default for attribute in op.attributes}


def cases_of(name: str) -> list[tuple[dict[str, int], dict[str, object]]]:
    forward = re.sub("_bwd$", "", name)
    op = contract(name)
    free = [dim for dim in op.dims if dim not in op.derived]
    return CASES.get(name) or CASES.get(forward) or [({dim: 3 + i for i, dim in enumerate(free)}, {})]


def wide(value: Any) -> Any:
    array = np.asarray(value)
    return torch.from_numpy(array.astype("int64" if array.dtype.kind in "iu" else "float64"))


def forward_of(op: tokitai.Contract) -> tuple[tokitai.Contract, list[str], list[str]] | None:
    """The op whose gradient it is, of which outputs, and by which inputs."""
    found = re.search(r"gradient of (\w+)\((.*) by (.*)\)", op.definition)
    return (contract(found[1]), found[2].split(", "), found[3].split(", ")) if found else None


def gradients(case: testing.DrawnCase, attributes: dict[str, Any]) -> list[Any]:
    """By automatic differentiation. Inputs that are named like outputs of the forward op get its values, and not drawn ones."""
    found = forward_of(contract(case.op))
    assert found, f"{case.op} has no function of PyTorch, and is no gradient"
    forward, of, by = found
    settings = {n: v for n, v in case.attributes.items() if n in {a.name for a in forward.attributes}}
    sizes = {n: case.dims[n] for n in forward.dims if n in case.dims}
    drawn = testing.draw(forward, sizes, dtype="f32", family=case.family, seed=SEED, attributes=settings).inputs
    inputs = {n: wide(case.inputs.get(n, value)).requires_grad_(n in by) for n, value in drawn.items()}
    outputs = FORWARD[forward.name](inputs, {**defaults(forward), **attributes})
    named = dict(zip((p.name for p in forward.outputs), outputs if isinstance(outputs, tuple) else (outputs,)))
    for name in named.keys() & case.inputs.keys():
        case.inputs[name] = named[name].detach().numpy().astype("float32")
    scalar = sum((named[n] * wide(case.inputs[f"grad_{n}"])).sum() for n in of)
    return list(torch.autograd.grad(scalar, [inputs[n] for n in by if n in inputs]))


def reference(case: testing.DrawnCase) -> list[Any]:
    op = contract(case.op)
    attributes = {**defaults(op), **case.attributes, **case.dims}
    if op.name in FORWARD:
        outputs = FORWARD[op.name]({name: wide(value) for name, value in case.inputs.items()}, attributes)
        made = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    else:
        made = gradients(case, attributes)
    types = [numpy_dtype(param_dtype(case.case(), param)) for param in op.outputs]
    return [np.ascontiguousarray(output.detach().numpy(), dtype) for output, dtype in zip(made, types)]


@pytest.mark.parametrize("name", sorted(set(tokitai.definition_names()) - WITHOUT))
def test_definition(name: str) -> None:
    op = contract(name)
    refuted = 0
    for dims, attributes in cases_of(name):
        for family in {known.name for known in testing.families(op)} & set(FAMILIES):
            case = testing.draw(op, dims, family=family, seed=SEED, dtype="f32", attributes=attributes)
            outputs = reference(case)
            inputs = case.inputs
            testing.assert_contract(op, inputs, outputs, dtype="f32", attributes=attributes, allow_unknown=True)
            for i, output in enumerate(outputs):
                wrong = list(outputs)
                wrong[i] = (output + (1 if output.dtype.kind in "iu" else 1e-3 * abs(output))).astype(output.dtype)
                certificate = tokitai.judge(op, inputs, wrong, dtype="f32", attributes=attributes)
                refuted += certificate.verdict == "REFUTED"
    assert refuted, "no family tells outputs that are a thousandth off"
