"""bench(): what is wrong is not timed."""

from __future__ import annotations

from typing import Any

import pytest

import tokitai

np = pytest.importorskip("numpy")
functions = pytest.importorskip("functions")


def test_a_right_function_is_timed_beside_ours_and_a_copy() -> None:
    made = tokitai.bench(functions.softmax, "softmax_fwd", [(64, 100), {"rows": 3, "cols": 7}], seconds=0.01)
    assert [row.arm for row in made.rows] == ["yours", "ours", "copy"] * 2
    assert [row.verdict for row in made.rows] == ["HELD", "HELD", ""] * 2
    for row in made.rows:
        assert row.best is not None and row.median is not None and 0 < row.best <= row.median
        assert row.of_copy is not None and row.of_copy > 0
    assert made.row("copy").of_copy == 1.0
    first = made.row("yours")
    assert first.shape == {"rows": 64, "cols": 100}
    assert first.gigabytes == pytest.approx(2 * 64 * 100 * 2 / first.best / 1e9)
    lines = repr(made).splitlines()
    assert (
        lines[0] == "softmax_fwd f16 on cpu"
        and lines[1].split()[:3] == ["SHAPE", "ARM", "VERDICT"]
        and "64x100" in lines[2]
    )
    assert "<table" in made._repr_html_()


def test_a_wrong_function_is_not_timed() -> None:
    made = tokitai.bench(functions.doubled, "softmax_fwd", [(64, 100)], seconds=0.01)
    yours = made.row("yours")
    assert yours.verdict == "REFUTED" and yours.best is None and yours.reason.startswith("SOFTMAX_FWD.ERR")
    assert made.row("ours").best is not None
    assert "REFUTED" in repr(made) and "SOFTMAX_FWD.ERR" in repr(made)


def test_what_cannot_run_says_why() -> None:
    made = tokitai.bench(functions.raising, "softmax_fwd", [(4, 5)], seconds=0.01)
    assert made.row("yours")[2:5] == ("UNKNOWN", "ZeroDivisionError: on purpose", None)
    made = tokitai.bench(lambda x: x[:, 1:].copy(), "softmax_fwd", [(4, 5)], seconds=0.01)
    assert "cols is 5 by x and 4 by y" in made.row("yours").reason


def test_a_function_that_writes_its_input_is_refuted() -> None:
    """By what it has left there, uniform rows of zeros, its output would be right."""

    def uniform(x: Any) -> Any:
        x[...] = 0
        return np.full_like(x, 1 / x.shape[1])

    made = tokitai.bench(uniform, "softmax_fwd", [(4, 8)], seconds=0.01)
    assert made.row("yours")[2:5] == ("REFUTED", "SOFTMAX_FWD.WRITE: changed its input x", None)
    assert made.row("ours").verdict == "HELD"
    torch = pytest.importorskip("torch")
    made = tokitai.bench(lambda x: x.copy_(torch.softmax(x, 1)), "softmax_fwd", [(4, 8)], dtype="f32", seconds=0.01)
    assert made.row("yours").verdict == "REFUTED" and made.row("torch").verdict == "HELD"


def test_torch_is_an_arm() -> None:
    torch = pytest.importorskip("torch")
    made = tokitai.bench(lambda x: torch.softmax(x, 1), "softmax_fwd", [(8, 16)], dtype="f32", seconds=0.01)
    assert [row.arm for row in made.rows] == ["yours", "ours", "torch", "copy"]
    assert made.row("torch").verdict == "HELD"


def test_indices_and_groups_are_drawn_in_range() -> None:
    def nothing(*inputs: Any, **keywords: Any) -> Any:
        return None

    for op, shape in (("embedding_bwd", (50, 4, 9)), ("grouped_gemm", (12, 5, 6, 3)), ("xent", (6, 11))):
        made = tokitai.bench(nothing, op, [shape], seconds=0.01)
        assert made.row("ours").verdict == "HELD", made
        assert made.row("yours").verdict == "UNKNOWN"
