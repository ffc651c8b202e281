"""tokitai.testing, its pytest plugin and tokitai.strategies. Seeds are fixed and stand in the cases' names."""

from __future__ import annotations

import ctypes
import importlib
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tokitai
from tokitai import testing
from tokitai._arrays import bits_of_numpy
from tokitai._judge import judge
from tokitai._library import (
    FORMATS,
    tk_certify_options,
    context_for,
    contract,
    contract_names,
    dtype_code,
    is_there,
    lib,
    make_case,
    param_dtype,
    param_shape,
)
from tokitai._certificate import Certificate

np = pytest.importorskip("numpy")
values = pytest.importorskip("functions").values

SEED = 20261118


def softmax(x: Any) -> Any:
    """Rounded once from double arithmetic: right wherever an element is not within a hair of a tie."""
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True).astype(np.float64))
        return (exact / exact.sum(axis=1, keepdims=True)).astype(x.dtype)


def logits(rows: int, cols: int, dtype: Any = np.float16) -> Any:
    return np.random.default_rng(SEED).standard_normal((rows, cols)).astype(dtype)


def run_ours(case: testing.DrawnCase) -> dict[str, Any]:
    """The outputs of the library's own kernel."""
    view, c = contract(case.op), case.case()
    outputs = {}
    pointers: list[int | None] = []
    for param in view.params:
        if not is_there(c, param):
            pointers.append(None)
            continue
        if param.output:
            outputs[param.name] = np.empty(param_shape(c, view, param), bits_of_numpy(param_dtype(c, param)))
            pointers.append(outputs[param.name].ctypes.data)
        else:
            pointers.append(case.inputs[param.name].ctypes.data)
    context_for("cpu").run(c, pointers)
    return outputs


def types_of_ours(op: str) -> list[str]:
    """The types that some kernel of the library takes on this machine's CPU."""
    context, id = context_for("cpu").pointer, ctypes.create_string_buffer(128)

    def is_taken(dtype: str) -> bool:
        case = ctypes.byref(make_case(op, dtype, {name: 1 for name in contract(op).dims}))
        rows = itertools.takewhile(lambda i: lib.tk_lowering_id(case, i, id, len(id)), itertools.count())
        return any(lib.tk_lowering_refusal(context, case, i) is None for i in rows)

    return [dtype for dtype in contract(op).types if is_taken(dtype)]


# --- assert_contract ----------------------------------------------------------------------------------------------


def test_right_outputs_pass() -> None:
    x = logits(5, 33)
    certificate = testing.assert_contract("softmax_fwd", [x], [softmax(x)])
    assert certificate.verdict == "HELD"


def test_a_failure_names_element_value_interval_distance_and_clause() -> None:
    x = logits(4, 8)
    y = softmax(x)
    right = y[2, 3]
    y[2, 3] = np.nextafter(np.nextafter(np.nextafter(right, np.float16(1)), np.float16(1)), np.float16(1))
    y[3, 1] = np.float16(0.5)
    with pytest.raises(AssertionError) as failed:
        testing.assert_contract("softmax_fwd", [x], [y])
    message = str(failed.value)
    lines = {line.split()[0]: line for line in message.splitlines()[1:]}
    row = np.exp(x[2].astype(np.float64) - float(x[2].max()))
    exact = float(re.search(r"exact +(\S+)", message).group(1))  # type: ignore[union-attr]
    assert exact == pytest.approx(row[3] / row.sum(), rel=1e-12)
    assert "2 of 32 elements are wrong" in message.splitlines()[0]
    assert "y[2, 3] of shape [4, 8]" in lines["element"]
    low, high = (float(end) for end in re.findall(r"[\d.e+-]+(?=[,\]])", lines["admissible"]))
    assert low <= float(right) <= high < float(y[2, 3])
    assert lines["got"].split() == ["got", repr(float(y[2, 3])), "=", f"0x{y.view(np.uint16)[2, 3]:04x}"]
    assert float(lines["outside"].split()[2]) == pytest.approx(3, abs=1.01)
    assert "SOFTMAX_FWD.ERR: in a row without NaN and +inf" in lines["clause"]


def test_an_elementwise_op_keeps_its_tensors_shape() -> None:
    case = testing.draw("gelu_fwd", [24], dtype="f32")
    x = case["x"].reshape(2, 3, 4)
    y = run_ours(case)["y"].reshape(2, 3, 4)
    testing.assert_contract("gelu_fwd", [x], [y])
    y[1, 2, 0] += 1
    with pytest.raises(AssertionError, match=r"y\[1, 2, 0\] of shape \[2, 3, 4\]"):
        testing.assert_contract("gelu_fwd", [x], [y])


def test_special_values_name_their_clause() -> None:
    x = logits(2, 4)
    x[1, 2] = np.inf
    with pytest.raises(AssertionError) as failed:
        testing.assert_contract("softmax_fwd", [x], [np.nan_to_num(softmax(x))])
    message = str(failed.value)
    assert "y[1, 0]" in message and "only NaN" in message and "SOFTMAX_FWD.NAN: a NaN, a +inf" in message
    assert "4 of 8 elements" in message


def test_bit_exact_ops_name_the_bits() -> None:
    weight = np.array([[1, -0.0], [3, 4]], np.float16)
    index = np.array([1, 0, 0], np.int64)
    testing.assert_contract("embedding_fwd", {"index": index, "weight": weight}, {"out": weight[index]})
    wrong = weight[index] + np.float16(0)  # -0 becomes +0
    with pytest.raises(AssertionError, match=r"out\[1, 1\](.|\n)*only 0x8000(.|\n)*0x0000(.|\n)*EMBEDDING_FWD.EXACT"):
        testing.assert_contract("embedding_fwd", [index, weight], [wrong])


def test_an_op_with_attributes_and_several_outputs() -> None:
    case = testing.draw("xent", {"rows": 4, "cols": 9}, attributes={"label_smoothing": 0.25, "scale": 0.5})
    outputs = run_ours(case)
    case.check(outputs)
    case.check([outputs["loss"], outputs["grad_logits"]])
    with pytest.raises(AssertionError, match=r"XENT"):
        testing.assert_contract("xent", case.inputs, outputs, attributes={"label_smoothing": 0.5})
    outputs["grad_logits"][3, 8] = 7
    with pytest.raises(AssertionError, match=r"grad_logits\[3, 8\](.|\n)*inputs +DrawnCase\(op='xent'.*seed=20261115"):
        case.check(outputs)


def test_unknown_fails_unless_it_is_allowed() -> None:
    # A row so long that W >= 1/2: the contract gives no bound.
    x = np.zeros((1, 1 << 23), np.float16)
    x[0, 0] = 1
    y = np.zeros_like(x)
    with pytest.raises(AssertionError, match="UNKNOWN(.|\n)*reason"):
        testing.assert_contract("softmax_fwd", [x], [y])
    assert testing.assert_contract("softmax_fwd", [x], [y], allow_unknown=True).verdict == "UNKNOWN"


def test_outputs_without_elements_pass_and_wrong_shapes_do_not() -> None:
    x = np.empty((0, 4), np.float16)
    testing.assert_contract("softmax_fwd", [x], [x])
    with pytest.raises(tokitai.BadArgument):
        testing.assert_contract("softmax_fwd", [x], [np.empty((1, 4), np.float16)])


# --- drawn inputs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", contract_names())
def test_a_drawn_case_is_that_of_the_librarys_own_trial(op: str) -> None:
    """Our kernel on the drawn inputs gives the hash that the certificate of the same trial records."""
    dtype = contract(op).types[0]
    for number, family in enumerate(testing.families(op)):
        if number % 7:
            continue
        case = testing.draw(
            op, testing.default_shapes(op)[1], family=family.name, seed=SEED, dtype=dtype, index_dtype="i32"
        )
        given = judge(op, inputs=case.inputs, outputs=run_ours(case)).to_dict()["predicate"]
        assert given["verdict"] == "HELD", (family.name, given["reason"])
        trial = first_trial(case)
        assert trial["family"] == family.name and trial["seed"] == SEED
        assert given["run"]["trials"][0]["output_sha256"] == trial["output_sha256"], family.name


def first_trial(case: testing.DrawnCase) -> dict[str, Any]:
    """The record of the first trial of a certification of our own kernel, restricted to a case."""
    view = contract(case.op)
    options = tk_certify_options(size=ctypes.sizeof(tk_certify_options), seed=case.seed or 0, family=case.family.encode())
    options.dims = (ctypes.c_int64 * len(case.dims))(*case.dims.values())
    options.skip_mutants = True
    pointer = ctypes.c_void_p()
    context = context_for("cpu")
    types = dtype_code(case.dtype), dtype_code(case.index_dtype)
    context.check(lib.tk_certify(context.pointer, view.pointer, *types, ctypes.byref(options), ctypes.byref(pointer)))
    trial: dict[str, Any] = Certificate(pointer.value or 0).to_dict()["predicate"]["run"]["trials"][0]
    return trial


def test_the_same_seed_gives_the_same_bits_and_another_others() -> None:
    first, again, other = (testing.draw("gemm", [3, 4, 5], seed=seed) for seed in (1, 1, 2))
    assert first["a"].tobytes() == again["a"].tobytes() != other["a"].tobytes()


def test_families_are_those_of_the_op() -> None:
    names = {family.name for family in testing.families()}
    assert {"normal", "subnormal", "huge", "cancel", "special", "one_hot", "zipf", "same_index", "ends"} <= names
    assert "zipf" not in {family.name for family in testing.families("gemm")}
    assert all(family.what for family in testing.families())
    with pytest.raises(tokitai.BadArgument, match="no input family 'zipf'; it has normal"):
        testing.draw("gemm", [1, 1, 1], family="zipf")


def test_families_are_what_they_say() -> None:
    small = testing.draw("gelu_fwd", [512], family="subnormal")["x"]
    assert np.abs(small).max() <= 2 * np.finfo(np.float16).tiny and np.any(small != 0)
    ends = testing.draw("embedding_fwd", [64, 2, 9], family="ends")["index"]
    assert set(ends) == {0, 8}
    assert not np.isfinite(testing.draw("softmax_fwd", [9, 9], family="special")["x"]).all()


def test_all_types_and_frameworks() -> None:
    assert testing.draw("gemm", [1, 2, 3], dtype="bf16")["a"].dtype in ("uint16", "bfloat16")
    assert testing.draw("embedding_fwd", [2, 2, 2], index_dtype="i32")["index"].dtype == np.int32
    with pytest.raises(tokitai.BadArgument, match="framework must be"):
        testing.draw("gemm", [1, 1, 1], framework="abacus")
    torch = pytest.importorskip("torch")
    tensor = testing.draw("gemm", [1, 2, 3], dtype="bf16", framework="torch")["a"]
    assert tensor.dtype == torch.bfloat16 and tensor.shape == (1, 3)


# --- the plugin ---------------------------------------------------------------------------------------------------

_TESTS = """
import numpy as np
import pytest

@pytest.mark.tokitai("softmax_fwd", shapes=[(3, 5), {"rows": 2, "cols": 64}], families=["normal", "special"])
def test_softmax(contract_case):
    x = contract_case["x"].astype(np.float64)
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        y = (e / e.sum(axis=1, keepdims=True)).astype(np.float16)
    if KEEPS_NAN:
        y = np.nan_to_num(y)
    contract_case.check(y)

def test_seed(tokitai_seed):
    assert tokitai_seed == SEED
"""


def run_pytest(folder: Path, text: str, *options: str) -> str:
    (folder / "test_drawn.py").write_text(text)
    package = Path(tokitai.__file__).parent.parent
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tokitai._pytest", "-p", "no:cacheprovider", "-v", *options, "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return run.stdout


def test_the_fixture_makes_a_test_of_every_case(tmp_path: Path) -> None:
    out = run_pytest(tmp_path, _TESTS.replace("SEED", "20261115").replace("KEEPS_NAN", "False"))
    assert "tokitai: seed 20261115" in out
    assert "test_softmax[softmax_fwd-f16-rows=3,cols=5-normal-20261115] PASSED" in out
    assert "test_softmax[softmax_fwd-f16-rows=2,cols=64-special-20261115] PASSED" in out
    assert "5 passed" in out


def test_a_wrong_kernel_fails_where_it_is_wrong(tmp_path: Path) -> None:
    text = _TESTS.replace("SEED", "7").replace("KEEPS_NAN", "True")
    out = run_pytest(tmp_path, text, "--tokitai-seed=7")
    assert "2 failed, 3 passed" in out
    assert "rows=2,cols=64-special-7] FAILED" in out and "only NaN" in out


def test_the_fixture_needs_its_mark(tmp_path: Path) -> None:
    out = run_pytest(tmp_path, "def test_it(contract_case):\n    pass\n")
    assert "contract_case needs @pytest.mark.tokitai(op)" in out


# --- strategies ---------------------------------------------------------------------------------------------------


def strategies() -> Any:
    pytest.importorskip("hypothesis")
    from tokitai import strategies

    return strategies


def examples(strategy: Any, count: int = 25) -> list[Any]:
    """Examples of a strategy from a fixed seed."""
    hypothesis = pytest.importorskip("hypothesis")
    found: list[Any] = []

    @hypothesis.seed(SEED)
    @hypothesis.settings(max_examples=count, database=None, deadline=None)
    @hypothesis.given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


FLOATING = [name for name, format in FORMATS.items() if format.number == "floating"]


@pytest.mark.parametrize("dtype", FLOATING)
def test_edge_tensors_are_what_they_say(dtype: str) -> None:
    s = strategies()
    tiny, largest = 2.0 ** FORMATS[dtype].exponent_min, {"f16": 65504, "f8_e4m3": 448, "f8_e5m2": 57344}.get(dtype, 3e38)

    def drawn(family: str, **options: Any) -> list[Any]:
        return [values(dtype, t) for t in examples(s.tensors(dtype, (4, 6), family=family, **options))]

    assert all(np.abs(t).max() <= tiny for t in drawn("subnormal"))
    assert any(np.any(t != 0) for t in drawn("subnormal"))
    assert all(np.isfinite(t).all() and np.abs(t).min() >= largest / 2 for t in drawn("huge"))
    assert any(np.isnan(t).any() for t in drawn("special"))
    assert any(np.isinf(t).any() for t in drawn("special")) == (FORMATS[dtype].infinity != 0)
    assert any(np.abs(t).max() >= largest for t in drawn("special"))
    assert all(np.isfinite(t).all() and np.all(t[:, :3] == -t[:, 3:]) for t in drawn("cancel"))
    assert all(np.count_nonzero(row) <= 1 for t in drawn("one_hot") for row in t)
    assert all(len(set(row.tolist())) == 1 for t in drawn("constant_rows") for row in t)
    assert any(len(set(t[:, 0].tolist())) > 1 for t in drawn("constant_rows"))
    assert all(not t.any() for t in drawn("zeros")) and any(np.signbit(t).any() for t in drawn("zeros"))
    lowest = -np.inf if FORMATS[dtype].infinity else -largest
    assert all(np.count_nonzero(row == lowest) >= 5 for t in drawn("one_hot", background=float("-inf")) for row in t)


@pytest.mark.parametrize("dtype", FLOATING)
def test_ties_are_ties(dtype: str) -> None:
    """1 and half of its last place add up to a number in the middle between two of the type."""
    one, next_one, half, above, below, place = strategies()._Patterns(dtype).near_ties()

    def value(pattern: int) -> float:
        return float(values(dtype, np.array([pattern], f"uint{FORMATS[dtype].bits}"))[0])

    assert value(one) == 1 and value(next_one) - 1 == value(place) == 2 * value(half)
    assert value(below) < value(half) < value(above)


@pytest.mark.parametrize("dtype", ["f8_e4m3", "f8_e5m2"])
def test_cases_of_8_bits(dtype: str) -> None:
    """Their elements are bytes, and the judge takes what rounds every value right."""
    seen = []

    @strategies().given_case("gelu_fwd", dtype=[dtype], max_examples=25, max_elements=64)
    def check(case: testing.DrawnCase) -> None:
        x = case["x"]
        assert case.dtype == dtype and x.itemsize == 1
        right = x.view(np.uint8) & (FORMATS[dtype].sign - 1)  # y = x where x is large or NaN, and 0 at -0 and 0
        is_large = (values(dtype, x) >= 16) | ~np.isfinite(values(dtype, x)) & ~np.signbit(values(dtype, x))
        seen.append(bool(is_large.all()))
        if is_large.all():
            case.check(right.view(x.dtype))
            with pytest.raises(AssertionError, match="GELU_FWD"):
                case.check((right - 1).view(x.dtype))

    check()
    assert len(seen) >= 25 and any(seen)


def test_indices_are_of_their_family() -> None:
    s = strategies()
    assert all(((0 <= i) & (i < 1000)).all() and i.dtype == np.int64 for i in examples(s.indices((50,), 1000)))
    assert all(len(set(i.tolist())) == 1 for i in examples(s.indices((50,), 9, family="equal")))
    assert all(set(i.tolist()) <= {0, 8} for i in examples(s.indices((50,), 9, family="ends")))
    zipf = np.concatenate([i for i in examples(s.indices((400,), 1000, family="zipf"))])
    assert np.mean(zipf < 100) > 0.5
    assert examples(s.indices((0,), 0))[0].shape == (0,)
    with pytest.raises(tokitai.BadArgument, match="an index needs"):
        examples(s.indices((3,), 0))


def test_shapes_keep_to_their_limit_and_meet_edges() -> None:
    s = strategies()
    found = examples(s.shapes("linear_fwd", max_elements=300), 50)
    for dims in found:
        assert max(dims["m"] * dims["k"], dims["n"] * dims["k"], dims["m"] * dims["n"]) <= 300
    assert any(0 in dims.values() for dims in examples(s.shapes("gemm", zero=True), 50))
    met = set(examples(s.sizes(), 100))
    assert 1 in met and len(met & {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}) > 5


@pytest.mark.parametrize("op", contract_names())
def test_our_kernels_keep_their_contracts_on_whole_cases(op: str) -> None:
    s = strategies()
    seen = []

    @s.given_case(op, dtype=types_of_ours(op), max_examples=25, zero=True, max_elements=256)
    def check(case: testing.DrawnCase) -> None:
        seen.append((case.family, case.dtype))
        case.check(run_ours(case), allow_unknown=True)

    check()
    assert len(seen) >= 25 and len(set(seen)) > 3


def test_a_wrong_kernel_is_shrunk_to_a_small_case_and_the_seed_is_printed() -> None:
    s = strategies()

    @s.given_case("softmax_fwd", dtype="f16")
    def check(case: testing.DrawnCase) -> None:
        y = softmax(case["x"])
        case.check(np.nan_to_num(y))

    with pytest.raises(AssertionError) as failed:
        check()
    assert "y[0, 0] of shape [1, 1]" in str(failed.value) and "only NaN" in str(failed.value)
    assert any("Hypothesis seed 20261115" in line for line in getattr(failed.value, "__notes__", []))


def test_the_same_seed_draws_the_same_cases() -> None:
    s = strategies()
    runs: list[list[bytes]] = []
    for seed in (SEED, SEED, SEED + 1):
        found: list[bytes] = []

        @s.given_case("gelu_fwd", dtype="f16", hypothesis_seed=seed, max_examples=20)
        def collect(case: testing.DrawnCase) -> None:
            found.append(case["x"].tobytes())

        collect()
        runs.append(found)
    assert runs[0] == runs[1] != runs[2]


def test_what_the_page_imports_is_there() -> None:
    page = Path(__file__).parents[2] / "docs" / "python-harnesses.md"
    lines = re.findall(r"^from (tokitai[.\w]*) import (.+)$", page.read_text(), re.MULTILINE)
    assert len(lines) > 5
    pytest.importorskip("hypothesis")
    for module, names in lines:
        for name in names.split(", "):
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"
