"""Parts of torch_on_device.py: PyTorch's ops and Triton kernels by the one-liner, verdicts as found. The element that a
REFUTED certificate names is computed anew, in over 300 bits."""

from __future__ import annotations

import collections
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Tuple

import torch

import exact_elements
import tokitai
from tokitai._library import contract
from tokitai._torch_ops import torch_function
from torch_device_parts import device, expect, on_gpu, part, verdict

# To try the script, one small shape of each.
SMALL: Dict[str, Tuple[int, ...]] = {
    "gelu_fwd": (300,),
    "gelu_bwd": (300,),
    "embedding_fwd": (40, 5, 7),
    "embedding_bwd": (40, 5, 7),
    "gemm": (5, 6, 9),
    "gemm_grad_a": (5, 6, 9),
    "gemm_grad_b": (5, 6, 9),
}
OPS = ["gelu_fwd", "gelu_bwd", "softmax_fwd", "softmax_bwd", "xent", "embedding_fwd", "embedding_bwd"]
PRODUCTS = ["gemm", "gemm_grad_a", "gemm_grad_b"]
# The case that refutes is made small at the end, so that it is among the last calls.
KEPT_CALLS, KEPT_ELEMENTS = 400, 1 << 16


class Recorder:
    """A function that keeps its last calls, such as are small, in the memory of the host."""

    def __init__(self, function: Callable[..., Any], op: str) -> None:
        self.function, self.op = function, contract(op)
        self.calls: Deque[Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]] = collections.deque(maxlen=KEPT_CALLS)
        self.__name__ = getattr(function, "__name__", "function").strip("<>")

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        result = self.function(*inputs, **keywords)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        if sum(t.numel() for t in inputs if t is not None) <= KEPT_ELEMENTS:
            named = {p.name: t.detach().cpu().clone() for p, t in zip(self.op.inputs, inputs) if t is not None}
            given = {p.name: t.detach().cpu().clone() for p, t in zip(self.op.outputs, outputs)}
            self.calls.append((named, given, dict(keywords)))
        return result

    def find(self, failure: Mapping[str, Any]) -> Optional[Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]]:
        """The last call whose output has the refuted element's bits in its place, at the shape of the refutation."""
        param = self.op.param(failure["output"])
        shape = tuple(failure["trial"]["shape"][name] for name in param.dims)
        for call in reversed(self.calls):
            output = call[1][failure["output"]]
            if tuple(output.shape) == shape and bits_of(output, failure["index"]) == int(failure["got_bits"], 16):
                return call
        return None


def bits_of(tensor: Any, index: int) -> int:
    kind, mask = (torch.int16, 0xFFFF) if tensor.element_size() == 2 else (torch.int32, 0xFFFFFFFF)
    return int(tensor.contiguous().view(kind).reshape(-1)[index].item()) & mask


def check_in_many_digits(recorder: Recorder, certificate: Any) -> str:
    """What exact arithmetic says of the element that refuted; an error if it would admit it."""
    failure = certificate.to_dict()["predicate"]["result"].get("failure")
    if not failure:
        return "no element: another clause"
    if "exact" not in failure:
        return "no number is exact there"
    call = recorder.find(failure)
    if call is None:
        return "not checked: the call was not kept"
    inputs, outputs, keywords = call
    output = outputs[failure["output"]]
    names = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
    numbers = {name: tensor.tolist() for name, tensor in inputs.items()}
    exact = exact_elements.exact_element(
        recorder.op.name, failure["output"], numbers, failure["index"], output.shape[-1], keywords
    )
    got = float(output.reshape(-1)[failure["index"]].item())
    admitted = exact_elements.is_admissible(got, exact, failure["bound"], names[output.dtype])
    expect(not admitted, f"{recorder.op.name}: {got} is admissible, and was refuted; exact is {exact:.30}")
    # The judge's is a double, of a value that has its own error; no type here has numbers below 2^-149.
    near = abs(float(exact) - failure["exact"]) <= 2.0**-40 * abs(failure["exact"]) + 2.0**-300
    expect(near, f"{recorder.op.name}: exact is {exact:.30}; the certificate has {failure['exact']!r}")
    return f"wrong indeed: {got!r} for {exact:.20}"


def judged(
    name: str,
    function: Callable[..., Any],
    op: str,
    dtypes: List[str],
    shape: Optional[Tuple[int, ...]],
    **options: Any,
) -> None:
    """certify() of each type; on a GPU at the level's own shapes."""
    for dtype in dtypes:
        recorder = Recorder(function, op)
        if op in PRODUCTS and on_gpu and dtype != "f32":
            options["numerics"] = "tensor_core"
        certificate = tokitai.certify(
            recorder,
            op,
            dtype=dtype,
            device=device,
            framework="torch",
            seed=20261118,
            mutants=False,
            shape=shape,
            **options,
        )
        options.pop("numerics", None)
        checked = check_in_many_digits(recorder, certificate) if certificate.verdict == "REFUTED" else ""
        # On a device what is raised is a finding, and the verdict UNKNOWN; here it would be a mistake of this script.
        expect(on_gpu or certificate.exception is None, f"{name} {op} {dtype}: {certificate.exception!r}")
        verdict(f"{name} {op} {dtype}", certificate.verdict, certificate.reason, checked)


def of_pytorch(ops: List[str]) -> None:
    for op in ops:
        function = torch_function(op)
        assert function is not None
        judged("PyTorch", function, op, ["f16", "bf16", "f32"], None if on_gpu else SMALL.get(op, (7, 30)))


@part(150)
def pytorch_ops() -> None:
    of_pytorch(OPS)


@part(90)
def pytorch_products() -> None:
    of_pytorch(PRODUCTS)


@part(120)
def triton_kernels() -> None:
    """On the CPU Triton's interpreter runs them, which does not round to bf16 as devices do."""
    import torch_device_triton as kernels

    dtypes = ["f16", "bf16", "f32"] if on_gpu else ["f16", "f32"]
    shape = None if on_gpu else (3, 37)
    judged("Triton", kernels.softmax, "softmax_fwd", dtypes, shape)
    judged("Triton", kernels.cross_entropy, "xent", dtypes, shape)
