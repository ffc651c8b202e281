"""Training with ours and with PyTorch's modules, on the CPU."""

from __future__ import annotations

from typing import List

import pytest

torch = pytest.importorskip("torch")

import tokitai.torch as tt  # noqa: E402
from torch_training import GPT, RATE, SEED, batches, check_training  # noqa: E402


def test_losses_agree_and_repeat() -> None:
    check_training("cpu")


def test_bfloat16_under_autocast_learns_and_repeats() -> None:
    def run() -> List[float]:
        torch.manual_seed(SEED)
        model = GPT()
        tt.replace(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        losses = []
        for text in batches()[:20]:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(text)
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
        return losses

    first = run()
    assert first == run() and first[-1] < first[0] - 0.3
