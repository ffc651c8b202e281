"""allclose() and assert_close() by contract."""

from __future__ import annotations

from typing import Any

import pytest

import tokitai
from tokitai.harnesses.allclose import allclose, assert_close

np = pytest.importorskip("numpy")

SEED = 20261118


def case() -> tuple[Any, Any]:
    x = np.random.default_rng(SEED).standard_normal((6, 40)).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return x, (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


def test_the_contract_decides_and_not_the_tolerance() -> None:
    x, y = case()
    assert allclose(y, y, op="softmax_fwd", inputs=[x]) is True
    wrong = y * np.float32(1.001)
    assert np.allclose(wrong, y, 1e-2, 1e-2)
    assert allclose(wrong, y, 1e-2, 1e-2, op="softmax_fwd", inputs=[x]) is False
    # A wrong expectation is no matter, and neither is a tolerance that nothing meets.
    assert allclose(y, wrong, rtol=0, atol=0, op="softmax_fwd", inputs={"x": x}) is True


def test_the_failure_is_explained() -> None:
    x, y = case()
    assert_close(y, y, atol=0, rtol=0, op="softmax_fwd", inputs=[x])
    y[5, 39] = 0
    with pytest.raises(AssertionError, match=r"1 of 240 elements(.|\n)*y\[5, 39\](.|\n)*SOFTMAX_FWD.ERR"):
        assert_close(y, y, op="softmax_fwd", inputs=[x])


def test_without_the_op_it_is_an_error() -> None:
    x, y = case()
    for named in ({}, {"op": "softmax_fwd"}, {"inputs": [x]}):
        with pytest.raises(tokitai.BadArgument, match="needs the op and its inputs"):
            allclose(y, y, **named)
    with pytest.raises(tokitai.UnknownOp):
        allclose(y, y, op="softmacs", inputs=[x])
    with pytest.raises(tokitai.BadArgument):
        allclose(y[:2], y, op="softmax_fwd", inputs=[x])
    with pytest.raises(tokitai.BadArgument, match="1 outputs; 2 were given"):
        allclose([y, y], y, op="softmax_fwd", inputs=[x])
    with pytest.raises(TypeError, match="no parameter 'tol'"):
        assert_close(y, y, op="softmax_fwd", inputs=[x], tol=1)
