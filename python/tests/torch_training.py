"""A small GPT, trained for 50 steps with PyTorch's modules and with ours; for tests, and for torch_on_device.py."""

from __future__ import annotations

import math
from typing import Any, List, Tuple

import torch
from torch import nn

import tokitai.torch as tt

SEED, STEPS, RATE = 1119, 50, 0.5
VOCAB, LENGTH, BATCH, WIDTH, HEADS, LAYERS = 64, 24, 8, 64, 2, 2


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query_key_value, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.softmax = nn.Softmax(dim=-1)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Any) -> Any:
        parts = self.query_key_value(self.before_attention(x)).chunk(3, dim=-1)
        q, k, v = (part.reshape(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH / HEADS)
        later = torch.ones(LENGTH, LENGTH, dtype=torch.bool, device=x.device).triu(1)
        attended = self.softmax(scores.masked_fill(later, float("-inf"))) @ v
        x = x + self.out(attended.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.mlp(self.before_mlp(x))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.05)

    def forward(self, text: Any) -> Any:
        inputs, target = text[:, :-1], text[:, 1:]
        x = self.tokens(inputs) + self.places(torch.arange(LENGTH, device=text.device))
        logits = self.head(self.norm(self.blocks(x)))
        return self.loss(logits.reshape(-1, VOCAB), target.masked_fill(target == 0, -100).reshape(-1))


def batches() -> List[Any]:
    """Sequences that count on in steps of their own, so that there is something to learn."""
    generator = torch.Generator().manual_seed(SEED)
    result = []
    for _ in range(STEPS):
        first, by = (torch.randint(1, 8, (BATCH, 1), generator=generator) for _ in range(2))
        result.append((first + by * torch.arange(LENGTH + 1)) % VOCAB)
    return result


def train(with_ours: bool, dtype: Any = torch.float32, device: str = "cpu") -> Tuple[List[float], List[Any]]:
    torch.manual_seed(SEED)
    model = GPT().to(device, dtype)
    if with_ours:
        report = tt.replace(model)
        assert len(report.replaced) == 2 + LAYERS * 6 + 2 and not report.left, report
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    losses = []
    for text in batches():
        optimizer.zero_grad()
        loss = model(text.to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().double().item())
    return losses, [p.detach().clone() for p in model.parameters()]


# The composed error of one step. A loss passes through at most 9 ops in each block (two norms, four products, softmax,
# the product of attention twice, gelu) and 5 around them. Each is within (n + 20) u of its inputs' magnitudes, n = 256
# being the longest sum; forward and backward make it twice that. Errors of earlier steps stay in the weights: they add
# up.
ONE_STEP = 2 * (9 * LAYERS + 5) * (256 + 20) * 2.0**-24


def check_training(device: str) -> Tuple[float, float]:
    """The largest errors of ours and of PyTorch's fp32, against PyTorch in double."""
    ours, weights = train(True, device=device)
    again, weights_again = train(True, device=device)
    theirs, _ = train(False, device=device)
    exact, _ = train(False, torch.float64, device)
    assert ours == again and all(torch.equal(a, b) for a, b in zip(weights, weights_again))
    assert exact[-1] < exact[0] - 1  # it learns, so that gradients matter
    for step, (a, b) in enumerate(zip(ours, theirs)):
        assert abs(a - b) <= (step + 1) * ONE_STEP * b, (step, a, b)
    # The bound above is for the worst case. What happens is judged by PyTorch in double: ours is about as far from it
    # as PyTorch's fp32 is.
    error = max(abs(a - b) for a, b in zip(ours, exact))
    usual = max(abs(a - b) for a, b in zip(theirs, exact))
    assert error <= 8 * usual + 2.0**-20, (error, usual)
    return error, usual
