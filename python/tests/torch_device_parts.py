"""What the parts of torch_on_device.py share: their register, tensors, and how they tell what they found."""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

import torch


class Part(NamedTuple):
    name: str
    run: Callable[[], None]
    seconds: float  # at most


PARTS: Dict[str, Part] = {}
DTYPES = [torch.float16, torch.bfloat16, torch.float32]
NAMES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
LARGE = 1 << 22
EVENT = "@@ "  # begins a line for the parent

# "cuda"; or "cpu", where every part runs too, on small tensors, to try the script itself. What only a GPU has (graphs,
# streams, its clock) is left out or imitated there.
device = os.environ.get("TORCH_ON_DEVICE", "cuda")
on_gpu = device != "cpu"


def part(seconds: float) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def add(function: Callable[[], None]) -> Callable[[], None]:
        PARTS[function.__name__] = Part(function.__name__, function, seconds)
        return function

    return add


def tell(**what: Any) -> None:
    """An event for the parent, on a line of its own."""
    print(EVENT + json.dumps(what), flush=True)


def report(name: str, value: float, unit: str, least: Optional[float] = None, most: Optional[float] = None) -> None:
    """A figure. A limit is one of the device's; the CPU has none."""
    least, most = (least, most) if on_gpu else (None, None)
    kept = (least is None or value >= least) and (most is None or value <= most)
    tell(figure=name, value=value, unit=unit, least=least, most=most, kept=kept)


def verdict(subject: str, found: str, about: str = "", checked: str = "") -> None:
    """What was judged, as it was found. `checked` is what 300 bits and more say of the element that refuted it."""
    tell(verdict=found, subject=subject, about=about, checked=checked)


def drawn(*shape: int, dtype: Any = torch.float32, seed: int = 1119, scale: float = 1.0) -> Any:
    """Normal numbers, the same on every device; but large tensors are drawn where they are."""
    place = device if math.prod(shape) > LARGE else "cpu"
    return (
        (torch.randn(shape, generator=torch.Generator(place).manual_seed(seed), device=place) * scale)
        .to(dtype)
        .to(device)
    )


def wait() -> None:
    if on_gpu:
        torch.cuda.synchronize()


def expect(condition: Any, what: str) -> None:
    if not bool(condition):
        raise AssertionError(what)


@contextlib.contextmanager
def beside_stream() -> Iterator[None]:
    """What comes before a capture runs on another stream than the current one, as PyTorch asks for."""
    if not on_gpu:
        yield
        return
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        yield
    torch.cuda.current_stream().wait_stream(side)


def captured(body: Callable[[], Any]) -> Callable[[], Any]:
    """Captures what `body` does; returns what replays it. On the CPU it is done again."""
    if not on_gpu:
        body()
        return body
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    replay: Callable[[], Any] = graph.replay
    return replay


def device_us(call: Callable[[], Any], rounds: int = 20) -> float:
    """Time on the device, the median; on the CPU that of the call."""
    for _ in range(3 if on_gpu else 1):
        call()
    taken = []
    for _ in range(rounds if on_gpu else 3):
        if on_gpu:
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            end.synchronize()
            taken.append(begin.elapsed_time(end) * 1000)
        else:
            started = time.perf_counter()
            call()
            taken.append((time.perf_counter() - started) * 1e6)
    return statistics.median(taken)


def in_turn(calls: Dict[str, Callable[[], Any]], rounds: int = 5) -> Dict[str, float]:
    """Medians of several ways, measured in turn, so that all see the same clock."""
    times: Dict[str, List[float]] = {name: [] for name in calls}
    for _ in range(rounds if on_gpu else 1):
        for name, call in calls.items():
            times[name].append(device_us(call, 10))
    return {name: statistics.median(values) for name, values in times.items()}


def note(text: str) -> None:
    print(f"  {text}", file=sys.stdout, flush=True)
