"""The script for a GPU, tried without one: its parts run, and one that takes too long does not stop the others."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("the script is for PyTorch 2.4 or later", allow_module_level=True)

import torch_on_device  # noqa: E402


def test_parts_on_the_cpu(capsys: Any) -> None:
    """The short ones; all of them run with `torch_on_device.py --device cpu`."""
    run = torch_on_device.Run("cpu", 300)
    names = ["linear_layers", "autocast", "scaling", "no_waiting", "graphs", "streams", "overhead_in_graphs"]
    limits = {name: 100.0 for name in names + ["training", "bad_indices", "pytorch_products"]}
    run.all(names + ["training", "bad_indices", "pytorch_products"], {**limits, "training": 0.2})
    ended = {part["part"]: part["ended"] for part in run.parts}
    assert ended.pop("training").startswith("FAILED: it took longer than"), ended
    assert list(ended.values()) == ["passed"] * 9, ended
    assert not run.is_right and "training" in run.table()
    assert {figure["part"] for figure in run.figures} == {"overhead_in_graphs"}
    assert {v["subject"] for v in run.verdicts} >= {"PyTorch gemm f16", "PyTorch gemm_grad_b f32"}


def test_parts_have_names_and_times() -> None:
    parts = torch_on_device.parts()
    assert {"contracts", "pytorch_ops", "triton_kernels", "overhead", "cross_entropy_speed", "embedding_speed"} <= set(
        parts
    )
    assert all(0 < part.seconds <= torch_on_device.TOTAL_SECONDS and part.run for part in parts.values())
