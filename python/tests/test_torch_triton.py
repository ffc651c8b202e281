"""The Triton kernel of cross_entropy's backward, without a device: interpreted, and compiled for sm_90."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
numpy = pytest.importorskip("numpy")
if tuple(int(part) for part in numpy.__version__.split(".")[:2]) >= (2, 4):
    pytest.skip("Triton's interpreter does not work with NumPy 2.4", allow_module_level=True)

# In processes of their own: Triton reads the setting when a kernel is defined.
INTERPRETED = """
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


COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tokitai.torch._scale_triton import scale_rows

for element in ("*bf16", "*fp16", "*fp32"):
    signature = {"grad": element, "factor": "*fp32", "cols": "i32", "factor_stride": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=scale_rows, signature=signature, constexprs={"BLOCK": 2048})
    assert len(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]) > 0
print("all right")
"""


@pytest.mark.parametrize("program", [INTERPRETED, COMPILED])
def test_kernel(program: str, tmp_path: pathlib.Path) -> None:
    environment = dict(os.environ, TRITON_INTERPRET=str(int(program is INTERPRETED)), TRITON_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "all right" in done.stdout, done.stdout + done.stderr
