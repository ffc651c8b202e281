"""The Triton kernel of cross_entropy's backward, interpreted: what it computes, and that a factor of 1 writes nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
numpy = pytest.importorskip("numpy")
if tuple(int(part) for part in numpy.__version__.split(".")[:2]) >= (2, 4):
    pytest.skip("Triton's interpreter does not work with NumPy 2.4", allow_module_level=True)

# In a process of its own: Triton reads the setting when a kernel is defined.
PROGRAM = """
import torch
from tokitai.torch import _scale

run = _scale.kernel()
# The interpreter does not round to bf16 as devices do; torch_on_device.py tries that.
for dtype, integers in ((torch.float16, torch.int16), (torch.float32, torch.int32)):
    for rows, cols in ((3, 2048), (5, 2049), (4, 5000), (2, 1)):
        grad = torch.randn(rows, cols, generator=torch.Generator().manual_seed(rows)).to(dtype)
        factor = torch.tensor([0.3, 1.0, 1 / 7, 1.0, -2.5])[:rows]
        expected = (grad.float() * factor[:, None]).to(dtype)
        got = grad.clone()
        _scale.launch(run, got, factor)
        assert torch.equal(got.view(integers), expected.view(integers)), (dtype, rows, cols)
        for number in (torch.tensor(0.3), torch.tensor(1.0)):
            got = grad.clone()
            _scale.launch(run, got, number)
            expected = (grad.float() * number).to(dtype)
            assert torch.equal(got.view(integers), expected.view(integers)), (dtype, rows, cols, number)
        spread = torch.tensor(0.3).expand(rows)
        got = grad.clone()
        _scale.launch(run, got, spread)
        assert torch.equal(got.view(integers), (grad.float() * 0.3).to(dtype).view(integers))
nan = torch.full((2, 2048), float("nan"))
nan[0] = 1
_scale.launch(run, nan, torch.tensor([float("inf"), 1.0]))
assert bool((nan[0] == float("inf")).all()) and bool(torch.isnan(nan[1]).all())
print("all right")
"""


def test_kernel() -> None:
    environment = dict(os.environ, TRITON_INTERPRET="1")
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "all right" in done.stdout, done.stdout + done.stderr
