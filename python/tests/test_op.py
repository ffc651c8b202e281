"""Ops that are definitions: whatever takes an op's name takes what tokitai.op() gives."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import pytest

import tokitai
from tokitai import testing
from tokitai._library import contract, make_case, refusal

np = pytest.importorskip("numpy")

SEED = 20261119
NORM = tokitai.op(
    """
    op norm(x[rows, cols], w[cols]; eps: real in [1e-12, 1] = 1e-6) -> y[rows, cols]   # two spaces too many
        rstd = rsqrt(mean[cols](square(x)) + eps)
        y = x * rstd  * w
    """
)
POOL = """
op pool(x[n, w]; block: int in [1, 8] = 2, mode: choice(max, mean) = max) -> y[n, p]
    where p = w // block
    if mode == max: y[n, p] = max[r < block](x[n, p * block + r])
    if mode == mean: y[n, p] = mean[r < block](x[n, p * block + r])
op logit(x[n] in (0, 1)) -> y[n]
    y = log(x / (1 - x))
"""
DEFINITIONS = pathlib.Path(__file__).resolve().parents[2] / "src" / "ops" / "definitions"


def norm(x: Any, w: Any, eps: float) -> Any:
    with np.errstate(all="ignore"):
        wide = x.astype("float64")
        mean = np.sum(wide**2, axis=-1, keepdims=True) / x.shape[-1] if x.shape[-1] else 0
        return (wide / np.sqrt(mean + eps) * w).astype(x.dtype)


def norm_without_eps(x: Any, w: Any, eps: float) -> Any:
    return norm(x, w, 0.0)


def pool(x: Any, block: int, mode: str) -> Any:
    blocks = x[:, : x.shape[1] // block * block].astype("float64").reshape(len(x), -1, block)
    with np.errstate(invalid="ignore"):
        return (blocks.max(axis=2) if mode == "max" else blocks.mean(axis=2)).astype(x.dtype)


def test_the_op() -> None:
    assert NORM.name == "norm" and NORM.dims == ("rows", "cols") and NORM.types == ("f32", "f16", "bf16")
    assert NORM.definition.splitlines()[2] == "    y = x * rstd * w"
    assert tokitai.op(NORM.definition) is NORM and contract(NORM) is NORM
    assert "norm" not in tokitai.contract_names()
    with pytest.raises(tokitai.UnknownOp):
        tokitai.judge("norm", [], [])


def test_those_of_the_library_have_names() -> None:
    names = tokitai.definition_names()
    assert "rmsnorm_fwd" in names and not set(names) & set(tokitai.contract_names())
    for name in names:
        assert contract(name).name == name and contract(name).definition
    x = np.array([-1, 0, 2], "float32")
    assert tokitai.judge("relu", [x], [np.maximum(x, 0)]).verdict == "HELD"
    assert tokitai.judge("relu", [x], [x]).verdict == "REFUTED"
    with pytest.raises(tokitai.UnknownOp, match="choose from gelu_fwd, .*rmsnorm_fwd"):
        contract("relu6")


def test_texts_with_several_or_without_one() -> None:
    assert tokitai.op(POOL, "logit").formula == "y = log(x / (1 - x))"
    with pytest.raises(tokitai.BadArgument, match="one has to be named: pool, logit"):
        tokitai.op(POOL)
    with pytest.raises(tokitai.BadArgument, match="does not define norm"):
        tokitai.op(POOL, "norm")
    with pytest.raises(tokitai.BadArgument, match="line 2, column 6: expected a value"):
        tokitai.op("op f(x[n]) -> y[n]\n y = *")
    with pytest.raises(tokitai.BadArgument, match="an op gelu_fwd exists already"):
        tokitai.op("op gelu_fwd(x[n]) -> y[n]\n y = x")


@pytest.mark.parametrize("isolated", [False, True])
def test_certify(isolated: bool, tmp_path: pathlib.Path) -> None:
    options: dict[str, Any] = {"dtype": "f32", "seed": SEED, "isolated": isolated}
    held = tokitai.certify(norm, NORM, shape=(3, 8) if isolated else None, **options)
    assert held.verdict == "HELD", held.reason
    assert held.subject == "python.cpu.norm.f32.norm"
    assert held.predicate["contract"]["definition"] == NORM.definition
    assert tokitai.certify(norm_without_eps, NORM, shape=(3, 8), **options).refutation is not None
    # Who reads it has no definition but the certificate's.
    path = held.save(tmp_path)
    read = f"import tokitai; print(tokitai.Certificate.read({str(path)!r}).remarks)"
    assert subprocess.run([sys.executable, "-c", read], check=True, capture_output=True, text=True).stdout == "\n"


def test_two_ops_of_one_name() -> None:
    twice = tokitai.op("op norm(x[n]) -> y[n]\n    y = 2 * x\n")
    x = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
    w = np.ones(4, "float32")
    for _ in range(2):
        assert tokitai.judge(twice, [x.reshape(-1)], [2 * x.reshape(-1)]).verdict == "HELD"
        assert tokitai.judge(NORM, [x, w], [norm(x, w, 1e-6)]).verdict == "HELD"
    assert tokitai.judge(twice, [x], [x]).verdict == "REFUTED"


def test_judge_and_assert_contract() -> None:
    op = tokitai.op(POOL, "pool")
    x = np.arange(10, dtype="float32").reshape(2, 5)
    right = np.array([[1, 3], [6, 8]], "float32")
    assert testing.assert_contract(op, [x], [right]).verdict == "HELD"
    thirds = {"block": 3, "mode": "mean"}
    testing.assert_contract(op, {"x": x}, {"y": x[:, 1:2].copy()}, attributes=thirds)
    with pytest.raises(AssertionError, match="POOL.ERR"):
        testing.assert_contract(op, [x], [right + 1])
    with pytest.raises(tokitai.BadArgument, match="p is 3"):
        testing.assert_contract(op, [x], [np.zeros((2, 3), "float32")])


def test_derived_sizes() -> None:
    op = tokitai.op(POOL, "pool")
    assert op.derived == ("p",)
    for sizes in ({"n": 2, "w": 7}, (2, 7), (2, 7, 3), {"n": 2, "w": 7, "p": 3}):
        assert list(make_case(op, "f32", sizes).dims[:3]) == [2, 7, 3]
    assert make_case(op, "f32", (2, 7), attributes={"block": 4}).dims[2] == 1
    with pytest.raises(tokitai.BadArgument, match="pool has the sizes n, w, p; given: w"):
        make_case(op, "f32", {"w": 7})
    convolution = tokitai.op((DEFINITIONS / "conv2d.op").read_text(), "conv2d")
    small = {name: 1 for name in convolution.dims if name not in convolution.derived}
    assert refusal(make_case(convolution, "f32", small), convolution) is None
    assert "negative" in str(refusal(make_case(convolution, "f32", {**small, "r": 9}), convolution))


def test_drawn_cases() -> None:
    for case in testing.cases(NORM, dtypes=("f32",), families=("normal", "special"), seeds=(SEED,)):
        drawn = testing.fill(case)
        assert drawn.id.startswith("norm-f32-rows=") and drawn.op is NORM
        assert set(drawn.inputs) == {"x", "w"}
        drawn.check(norm(drawn["x"], drawn["w"], 1e-6), allow_unknown=True)


def test_strategies() -> None:
    pytest.importorskip("hypothesis")
    from tokitai.strategies import given_case

    seen: list[str] = []

    @given_case(tokitai.op(POOL, "pool"), dtype="f32", max_elements=64, max_examples=40, family="finite")
    def pools(case: testing.DrawnCase) -> None:
        seen.append(str(case.attributes["mode"]))
        with np.errstate(all="ignore"):
            case.check(pool(case["x"], 2, seen[-1]), allow_unknown=True)

    @given_case(tokitai.op(POOL, "logit"), dtype="f32", max_elements=64, max_examples=40)
    def logits(case: testing.DrawnCase) -> None:
        x = case["x"].astype("float64")
        assert np.all((x > 0) & (x < 1))
        case.check(np.log(x / (1 - x)).astype("float32"))

    @given_case(tokitai.op((DEFINITIONS / "conv2d.op").read_text(), "conv2d"), dtype="f32", max_elements=64, max_examples=40)
    def convolutions(case: testing.DrawnCase) -> None:
        assert case.dims["p"] >= 0 and case.dims["q"] >= 0
        seen.append("convolution")

    pools()
    logits()
    convolutions()
    assert {"max", "mean", "convolution"} <= set(seen)


def test_bench() -> None:
    rows = tokitai.bench(norm, NORM, [(3, 8)], dtype="f32", seconds=0.01).rows
    assert [(row.arm, row.verdict) for row in rows] == [("yours", "HELD"), ("copy", "")]
    ranged = tokitai.bench(
        lambda x: np.log(x / (1 - x)), tokitai.op(POOL, "logit"), [(8,)], dtype="f32", seconds=0.01
    ).rows
    assert ranged[0].verdict == "HELD", ranged[0].reason


def test_numerics_are_asked_for() -> None:
    """Products of factors that are cut to TF32 are within the bound of these numerics alone; rows of three show it."""
    product = tokitai.op("op cut_product(a[m, k], b[k, n]) -> y[m, n]\n    y[m, n] = sum[k](a * b)\n")
    random = np.random.default_rng(SEED)
    a, b = (random.standard_normal(shape).astype("float32") for shape in ((40, 60), (60, 30)))
    a[:, 3:] = 0
    cut = [(part.view("uint32") & np.uint32(0xFFFFE000)).view("float32").astype("float64") for part in (a, b)]
    y = (cut[0] @ cut[1]).astype("float32")
    assert tokitai.judge(product, [a, b], [y]).verdict == "REFUTED"
    held = tokitai.judge(product, [a, b], [y], numerics="tf32")
    assert held.verdict == "HELD" and held.predicate["run"]["attributes"]["numerics"] == "tf32"
    wrong = (cut[0] @ cut[1] * (1 + 2.0**-7)).astype("float32")
    assert tokitai.judge(product, [a, b], [wrong], numerics="tf32").verdict == "REFUTED"
