"""The Triton kernels of cross_entropy, without a device: interpreted, and compiled for sm_90."""

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
from tokitai.torch import _loss

run = _loss.kernels()
# The interpreter does not round to bf16 as devices do; torch_on_device.py tries that.
for dtype, integers in ((torch.float16, torch.int16), (torch.float32, torch.int32)):
    for rows, cols in ((3, 2048), (5, 2049), (4, 5000), (2, 1)):
        grad = torch.randn(rows, cols, generator=torch.Generator().manual_seed(rows)).to(dtype)
        each = torch.tensor([0.3, 1.0, 1 / 7, 1.0, -2.5])[:rows]
        # grad_output; what was expected; rows and valid rows of a mean
        for case in (
            (each, 1.0, 1, None),
            (torch.tensor(0.3), 1.0, 1, None),
            (torch.tensor(1.0), 1.0, 1, None),
            (torch.tensor(0.3).expand(rows), 1.0, 1, None),
            (torch.tensor(7.0), 3.0, 1, None),
            (torch.tensor(3.0), 3.0, 1, None),
            (torch.tensor(1.0), 1.0, 49, torch.tensor(49.0)),
            (torch.tensor(1.0), 1.0, 49, torch.tensor(48.0)),
            (torch.tensor(2.0), 1.0, 1, torch.tensor(48)),
            (torch.tensor(1.0), 1.0, 49, torch.tensor(0.0)),
        ):
            got = grad.clone()
            _loss.launch_scale(run, got, *case)
            expected = (grad.float() * _loss.factor_of(*case).reshape(-1, 1)).to(dtype)
            assert torch.equal(got.view(integers), expected.view(integers)), (dtype, rows, cols, case)
nan = torch.full((2, 2048), float("nan"))
nan[0] = 1
_loss.launch_scale(run, nan, torch.tensor([float("inf"), 1.0]), 1.0, 1, None)
assert bool((nan[0] == float("inf")).all()) and bool(torch.isnan(nan[1]).all())

for index_dtype in (torch.int32, torch.int64):
    for rows, ignore_index in ((1, -100), (7, -100), (2048, 3), (5000, -100), (8192, 1 << 40)):
        target = torch.arange(rows, dtype=index_dtype) % 5
        if ignore_index == -100:
            target[1::3] = -100
        loss = torch.rand(rows, generator=torch.Generator().manual_seed(rows)) * (target.long() != ignore_index)
        mean, valid = _loss.Mean(loss[:, None], target, ignore_index).launch(run, loss, target)
        count = int((target.long() != ignore_index).sum())
        assert valid.item() == count, (rows, ignore_index, valid)
        exact = loss.double().sum().item() / count
        # Each place adds up at most 4 losses below 1, then 11 levels of a tree.
        assert abs(mean.item() - exact) <= 15 * 2.0**-24 * exact, (rows, mean, exact)
        whole = torch.ones(rows)
        assert _loss.Mean(whole[:, None], target * 0, ignore_index).launch(run, whole, target * 0)[0].item() == 1
ignored = torch.full((4,), -100)
mean, valid = _loss.Mean(torch.zeros(4, 1), ignored, -100).launch(run, torch.zeros(4), ignored)
assert torch.isnan(mean) and valid.item() == 0
print("all right")
"""


COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from tokitai.torch._loss_triton import mean_of_rows, scale_rows
from torch_device_triton import cross_entropy_rows, softmax_rows


def compiled(kernel, signature, constants):
    source = ASTSource(fn=kernel, signature={**signature, **dict.fromkeys(constants, "constexpr")}, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm


for element in ("*bf16", "*fp16", "*fp32"):
    for valid in ("*fp32", "*i64"):
        for is_mean in (True, False):
            signature = {"grad": element, "factor": "*fp32", "valid": valid, "expected": "fp32", "rows": "i32"}
            signature.update({"cols": "i32", "factor_stride": "i32"})
            made = compiled(scale_rows, signature, {"IS_MEAN": is_mean, "BLOCK": 2048})
            assert len(made["cubin"]) > 0 and "div.full" not in made["ptx"]
for index in ("*i32", "*i64"):
    for ignore_index in ("i32", "i64"):
        signature = {"loss": "*fp32", "target": index, "mean": "*fp32", "valid": "*fp32", "rows": "i32"}
        made = compiled(mean_of_rows, {**signature, "ignore_index": ignore_index}, {"BLOCK": 2048})
        assert len(made["cubin"]) > 0 and "div.rn" in made["ptx"] and "div.full" not in made["ptx"]
for element in ("*bf16", "*fp16", "*fp32"):
    made = compiled(softmax_rows, {"x": element, "y": element, "cols": "i32"}, {"BLOCK": 1024})
    assert len(made["cubin"]) > 0
    signature = {"logits": element, "target": "*i64", "loss": "*fp32", "grad": element, "cols": "i32"}
    signature.update({"smoothing": "fp32", "scale": "fp32", "ignore_index": "i32"})
    assert len(compiled(cross_entropy_rows, signature, {"BLOCK": 1024})["cubin"]) > 0
print("all right")
"""


@pytest.mark.parametrize("program", [INTERPRETED, COMPILED])
def test_kernel(program: str, tmp_path: pathlib.Path) -> None:
    environment = dict(os.environ, TRITON_INTERPRET=str(int(program is INTERPRETED)), TRITON_CACHE_DIR=str(tmp_path))
    folders = [str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(folders)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "all right" in done.stdout, done.stdout + done.stderr
