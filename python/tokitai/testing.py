"""For tests: assert that outputs keep an op's contract, and draw the inputs that the C library's own trials draw.

    from tokitai.testing import assert_contract, draw

    case = draw("softmax_fwd", {"rows": 8, "cols": 1000}, family="confident")
    assert_contract("softmax_fwd", case.inputs, [my_softmax(case.inputs["x"])])

pytest has the fixture `contract_case` of tokitai._pytest, and Hypothesis the strategies of tokitai.strategies.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

from ._arrays import LONG_NAMES, framework_has, numpy_dtype
from ._certificate import Certificate
from ._judge import judge
from ._library import (
    DTYPE_SIZES,
    TK_SEED_DEFAULT,
    BadArgument,
    Case,
    Contract,
    Context,
    Internal,
    attribute_text,
    context_for,
    contract,
    is_there,
    lib,
    make_case,
    param_dtype,
    param_shape,
    tk_certify_options,
    tk_kernel,
    tk_setting,
)

__all__ = ["DrawnCase", "Family", "assert_contract", "cases", "draw", "explain", "families"]


# --- the assertion ------------------------------------------------------------------------------------------------


def assert_contract(
    op: str | Contract,
    inputs: Sequence[Any] | Mapping[str, Any],
    outputs: Sequence[Any] | Mapping[str, Any],
    *,
    dtype: str | None = None,
    numerics: str | None = None,
    domain: str | None = None,
    attributes: Mapping[str, object] | None = None,
    context: Context | None = None,
    allow_unknown: bool = False,
) -> Certificate:
    """Judges outputs by the op's contract, as tokitai.judge() does, and returns the certificate if they keep it.

    AssertionError if they do not; its message names the first wrong element, the exact value, what is admissible and
    the clause. UNKNOWN fails too, since nothing is then known, unless `allow_unknown` is set. Outputs without an
    element pass: shapes and types were compared, and there is nothing else to be wrong.
    """
    certificate = judge(
        op,
        inputs=inputs,
        outputs=outputs,
        dtype=dtype,
        numerics=numerics,
        domain=domain,
        attributes=dict(attributes or {}),
        context=context,
    )
    unknown = certificate.verdict == "UNKNOWN" and not allow_unknown and not _is_empty(certificate)
    if certificate.verdict == "REFUTED" or unknown:
        raise AssertionError(explain(certificate, _shapes(contract(op), outputs)))
    return certificate


def _shapes(op: Contract, outputs: Sequence[Any] | Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes that outputs really have: those of an elementwise op are any."""
    named = (
        outputs if isinstance(outputs, Mapping) else {param.name: value for param, value in zip(op.outputs, outputs)}
    )
    return {name: tuple(value.shape) for name, value in named.items() if value is not None}


def _is_empty(certificate: Certificate) -> bool:
    """Do the judged outputs have no element at all?"""
    given = certificate.to_dict()["predicate"]["run"].get("given", {})
    return all(tensor["elements"] == 0 for tensor in given.get("outputs", {}).values())


def explain(certificate: Certificate, shapes: Mapping[str, tuple[int, ...]] | None = None) -> str:
    """The first wrong element of a certificate in a few lines, or why it is UNKNOWN; its headline if it holds.

    `shapes` are those of the outputs, where they may differ from the contract's.
    """
    predicate = certificate.to_dict()["predicate"]
    op = predicate["run"]["op"]
    if certificate.verdict != "REFUTED":
        return f"{op} {certificate.headline}" + (f"\n  reason      {certificate.reason}" if certificate.reason else "")
    result = predicate["result"]
    failure, wrong = result.get("failure"), result.get("refutation", {})
    if not failure:
        return f"{op} {certificate.headline}\n  reason      {certificate.reason}"
    texts = {clause["id"]: clause["text"] for clause in predicate["clauses"]}
    shape = (shapes or {}).get(failure["output"]) or _shape_of(op, failure["output"], failure["trial"]["shape"])
    place = ", ".join(str(i) for i in _unravel(failure["index"], shape))
    lines = [
        f"{op} {predicate['run']['dtype']}: {wrong['elements']} of {wrong['of_elements']} elements are wrong "
        f"({wrong['grade']}, worst {_ulps(wrong['worst_ulp'])} outside)",
        f"  element     {failure['output']}[{place}] of shape {list(shape)}",
    ]
    if "exact" in failure:
        lines.append(f"  exact       {_number(failure['exact'])}")
        low, high = failure["admissible"]
        lines.append(f"  admissible  [{_number(low)}, {_number(high)}], ends included")
    else:
        only = re.search(r"; only (.+?) is admissible", certificate.reason)
        lines.append(f"  admissible  {'only ' + only.group(1) if only else 'see the clause'}")
    lines.append(f"  got         {_number(failure['got'])} = {failure['got_bits']}")
    outside = re.search(r"; (\S+ ulp) outside", certificate.reason)
    lines.append(
        f"  outside by  {outside.group(1) if outside else 'no distance: it is NaN, or no number is admissible'}"
    )
    lines.append(f"  clause      {failure['clause']}: {texts[failure['clause']]}")
    run = predicate["run"]
    if run.get("numerics", "ieee") != "ieee" or run.get("domain", "all") != "all":
        lines.append(f"  under       numerics {run.get('numerics')}, domain {run.get('domain')}")
    return "\n".join(lines)


def _shape_of(op: str, param: str, dims: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(dims[name] for name in contract(op).param(param).dims)


def _unravel(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    place: list[int] = []
    for size in reversed(shape):
        flat, i = divmod(flat, size)
        place.append(i)
    return tuple(reversed(place))


def _number(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _ulps(value: object) -> str:
    return "by no number of ulp" if value == "infinity" else f"{float(str(value)):.4g} ulp"


# --- drawn inputs -------------------------------------------------------------------------------------------------


class Family(NamedTuple):
    """A way of drawing inputs that exposes errors."""

    name: str
    what: str


def families(op: str | Contract | None = None) -> tuple[Family, ...]:
    """The C library's input families, in the order in which they are tried; with `op` those that are of use to it."""
    view = contract(op) if op is not None else None
    found: list[Family] = []
    for i in itertools.count():
        what = ctypes.c_char_p()
        name = lib.tk_family_at(i, ctypes.byref(what))
        if name is None:
            return tuple(found)
        if view is None or lib.tk_family_applies(i, view.pointer):
            found.append(Family(name.decode(), (what.value or b"").decode()))
    raise AssertionError("unreachable")


@dataclass
class DrawnCase:
    """Inputs of an op, and all that it takes to draw them again."""

    op: str | Contract  # its name, or what tokitai.op() gave
    dtype: str
    dims: dict[str, int]
    family: str
    seed: int | None  # None: drawn by Hypothesis
    index_dtype: str = "i64"
    attributes: dict[str, object] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.inputs[name]

    @property
    def id(self) -> str:
        """A name for pytest: softmax_fwd-f16-rows=3,cols=7-normal-20261115."""
        sizes = ",".join(f"{name}={size}" for name, size in self.dims.items())
        extra = "".join(f",{name}={attribute_text(value)}" for name, value in self.attributes.items())
        return f"{contract(self.op).name}-{self.dtype}-{sizes}{extra}-{self.family}-{self.seed}"

    def case(self) -> Case:
        """The case of the C library."""
        return make_case(
            self.op, self.dtype, self.dims, index_dtype=self.index_dtype, attributes=_without_none(self.attributes)
        )

    def check(self, outputs: Any, **options: Any) -> Certificate:
        """assert_contract() of these inputs and the given outputs: one, a sequence in contract order, or a dict."""
        if not isinstance(outputs, (tuple, list, Mapping)):
            outputs = [outputs]
        try:
            return assert_contract(
                self.op, self.inputs, outputs, dtype=self.dtype, attributes=self.attributes, **options
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n  inputs      {self!r}") from None


def drawn_op(view: Contract) -> str | Contract:
    """What a DrawnCase calls its op."""
    return view if view.definition else view.name


def _without_none(attributes: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in attributes.items() if value is not None}


def draw(
    op: str | Contract,
    dims: Mapping[str, int] | Sequence[int],
    *,
    family: str = "normal",
    seed: int = TK_SEED_DEFAULT,
    dtype: str = "f16",
    index_dtype: str = "i64",
    attributes: Mapping[str, object] | None = None,
    framework: str = "numpy",
) -> DrawnCase:
    """The inputs that a trial of the C library has at this shape, family and seed: the same bits everywhere.

    `framework` is the kind of arrays: "numpy" or "torch". NumPy has bf16 by ml_dtypes only; without
    it the elements are their patterns, in uint16.
    """
    view = contract(op)
    if family not in {known.name for known in families(view)}:
        names = ", ".join(known.name for known in families(view))
        raise BadArgument(f"{view.name} has no input family '{family}'; it has {names}")
    settings = _without_none(attributes or {})
    case = make_case(view, dtype, dims, index_dtype=index_dtype, attributes=settings)
    sizes = {name: int(case.dims[i]) for i, name in enumerate(view.dims)}
    drawn = DrawnCase(drawn_op(view), dtype, sizes, family, seed, index_dtype, settings)
    recorded = _record_trial(view, case, family, seed, settings)
    for param in view.inputs:
        if is_there(case, param):
            drawn.inputs[param.name] = to_array(
                recorded[param.name], param_dtype(case, param), param_shape(case, view, param), framework
            )
    return drawn


def _record_trial(
    view: Contract, case: Case, family: str, seed: int, settings: Mapping[str, object]
) -> dict[str, bytes]:
    """What the first call of a restricted certification is given. The kernel declines, so that nothing is judged."""
    recorded: dict[str, bytes] = {}

    def record(called: Any, buffers: Any, _: Any) -> int:
        if recorded:
            return 1
        for param in view.inputs:
            count = lib.tk_case_elements(called, param.position)
            size = count * DTYPE_SIZES[param_dtype(called.contents, param)]
            recorded[param.name] = ctypes.string_at(buffers[param.position], size) if size else b""
        return 1

    kernel = tk_kernel(record)
    options = tk_certify_options(ctypes.sizeof(tk_certify_options), seed=seed, kernel=kernel, kernel_name=b"recorder")
    options.family = family.encode()
    options.dims = (ctypes.c_int64 * len(view.dims))(*(case.dims[i] for i in range(len(view.dims))))
    options.skip_mutants = True
    options.setting_count = len(settings)
    options.settings = (tk_setting * max(1, len(settings)))(
        *(tk_setting(name.encode(), attribute_text(value).encode()) for name, value in settings.items())
    )
    result = ctypes.c_int(case.result_dtype)
    options.result_dtype = ctypes.pointer(result)
    context = context_for("cpu", view)
    certificate = ctypes.c_void_p()
    status = lib.tk_certify(
        context.pointer,
        context.contract(view),
        case.dtype,
        case.index_dtype,
        ctypes.byref(options),
        ctypes.byref(certificate),
    )
    context.check(status)
    lib.tk_certificate_destroy(certificate)
    if not recorded:
        raise Internal(f"{view.name}: no trial of family {family} was made at this shape")
    return recorded


def to_array(data: bytes, dtype: str, shape: Sequence[int], framework: str) -> Any:
    """An array of a framework with the given bytes, which it owns."""
    numpy: Any = import_module("numpy")
    plain = f"int{8 * DTYPE_SIZES[dtype]}"
    patterns = numpy.frombuffer(data, dtype=plain).reshape(tuple(shape)).copy()
    if framework == "torch":
        torch: Any = import_module("torch")
        if dtype == "u64" or not framework_has("torch", dtype):
            raise BadArgument(f"this PyTorch has no tensors of {dtype}")
        return torch.from_numpy(patterns).view(getattr(torch, LONG_NAMES[dtype]))
    if framework != "numpy":
        raise BadArgument(f"framework must be numpy or torch, not '{framework}'")
    return patterns.view(numpy_dtype(dtype))  # without ml_dtypes patterns, which judge() takes for what they stand for


# --- many cases ---------------------------------------------------------------------------------------------------

# One of everything, sizes that are multiples of nothing, and multiples of every vector length.
_SIZES = ((1, 1, 1, 1), (3, 7, 5, 2), (16, 64, 32, 4))


def default_shapes(op: str | Contract) -> tuple[dict[str, int], ...]:
    """Three small shapes of an op: of ones, ragged and aligned."""
    view = contract(op)
    if len(view.dims) == 1:
        return tuple({view.dims[0]: n} for n in (1, 105, 2048))
    return tuple(dict(zip(view.dims, sizes)) for sizes in _SIZES)


def cases(
    op: str | Contract,
    *,
    shapes: Sequence[Mapping[str, int] | Sequence[int]] | None = None,
    families: Sequence[str] | None = None,
    dtypes: Sequence[str] = ("f16",),
    seeds: Sequence[int] = (TK_SEED_DEFAULT,),
    index_dtype: str = "i64",
    attributes: Mapping[str, object] | None = None,
) -> list[DrawnCase]:
    """Every combination, without its inputs, in a fixed order: what `contract_case` is parametrised with."""
    view = contract(op)
    chosen = list(families) if families is not None else [family.name for family in _families_of(view)]
    return list(_combinations(view, shapes or default_shapes(view), chosen, dtypes, seeds, index_dtype, attributes))


_families_of = families  # cases() has a parameter of that name


def _combinations(
    view: Contract,
    shapes: Sequence[Mapping[str, int] | Sequence[int]],
    chosen: Sequence[str],
    dtypes: Sequence[str],
    seeds: Sequence[int],
    index_dtype: str,
    attributes: Mapping[str, object] | None,
) -> Iterator[DrawnCase]:
    for dtype, shape, family, seed in itertools.product(dtypes, shapes, chosen, seeds):
        case = make_case(view, dtype, shape, index_dtype=index_dtype, attributes=attributes or {})
        sizes = {name: int(case.dims[i]) for i, name in enumerate(view.dims)}
        yield DrawnCase(drawn_op(view), dtype, sizes, family, seed, index_dtype, dict(attributes or {}))


def fill(case: DrawnCase, framework: str = "numpy") -> DrawnCase:
    """The same case with its inputs drawn."""
    if case.seed is None:
        raise BadArgument("a case of Hypothesis has no seed to draw it again from")
    return draw(
        case.op,
        case.dims,
        family=case.family,
        seed=case.seed,
        dtype=case.dtype,
        index_dtype=case.index_dtype,
        attributes=case.attributes,
        framework=framework,
    )
