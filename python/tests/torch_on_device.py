#!/usr/bin/env python3
"""tokitai.torch on a GPU: that it is right there, what PyTorch's and Triton's ops are judged, and what all of it costs.
For PyTorch 2.4 or later; run by hand, on the device.

    python3 python/tests/torch_on_device.py [--device cpu] [--part NAME]... [--out FILE.json] [--total SECONDS]

Parts run in a process of their own, each for so many seconds at most; after one that fails or takes too long, the others
go on in a new process. At the end come tables of parts, verdicts and figures; figures with a limit say whether they keep
it. Exit status: 0 if all parts passed and all limits were kept, 1 if not. With --device cpu every part runs on small
tensors, to try the script itself; limits do not count there.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time
import traceback
from typing import Any, Dict, List, Optional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
START_SECONDS = 120  # for a process to import PyTorch and reach its device
TOTAL_SECONDS = 480


def parts() -> Dict[str, Any]:
    """All parts by name, in the order in which they run."""
    import torch_device_parts
    import torch_device_right  # noqa: F401
    import torch_device_speed  # noqa: F401
    import torch_device_verdicts  # noqa: F401

    return torch_device_parts.PARTS


def work(names: List[str]) -> int:
    """The process that runs parts, up to the first that fails: what follows might suffer from it."""
    from torch_device_parts import tell, wait

    from tokitai._devices import describe

    known = parts()
    tell(claimed_device=describe("torch", os.environ["TORCH_ON_DEVICE"]) or "")
    for name in names:
        tell(begin=name)
        started = time.perf_counter()
        try:
            known[name].run()
            wait()
        except Exception as error:
            traceback.print_exc()
            tell(failed=name, seconds=time.perf_counter() - started, why=f"{type(error).__name__}: {error}")
            return 3
        tell(done=name, seconds=time.perf_counter() - started)
    return 0


class Run:
    """The parent's side: what was told, and how every part ended."""

    def __init__(self, device: str, total: float) -> None:
        self.device, self.end = device, time.monotonic() + total
        self.parts: List[Dict[str, Any]] = []
        self.verdicts: List[Dict[str, Any]] = []
        self.figures: List[Dict[str, Any]] = []
        self.claimed = ""

    def all(self, names: List[str], limits: Dict[str, float]) -> None:
        pending = list(names)
        while pending:
            if time.monotonic() > self.end:
                self.parts += [{"part": name, "ended": "LEFT OUT: no time is left", "seconds": 0.0} for name in pending]
                return
            before = len(pending)
            self.some(pending, limits)
            if len(pending) == before:  # it did not come to the first of them
                self.parts.append({"part": pending.pop(0), "ended": "FAILED: its process ended", "seconds": 0.0})

    def some(self, pending: List[str], limits: Dict[str, float]) -> None:
        """One process; takes from `pending` what has ended."""
        command = [sys.executable, __file__, "--work", "--device", self.device]
        for name in pending:
            command += ["--part", name]
        environment = {**os.environ, "TORCH_ON_DEVICE": self.device, "PYTHONUNBUFFERED": "1"}
        if self.device == "cpu":
            environment["TRITON_INTERPRET"] = "1"
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
        )
        lines: "queue.Queue[Optional[str]]" = queue.Queue()

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        current: Optional[str] = None
        begun = time.monotonic()
        limit = float(START_SECONDS)
        try:
            while True:
                try:
                    line = lines.get(timeout=max(0.01, min(begun + limit, self.end) - time.monotonic()))
                except queue.Empty:
                    ended = f"FAILED: it took longer than {time.monotonic() - begun:.0f} s"
                    self.close(pending, current or pending[0], ended, time.monotonic() - begun)
                    return
                if line is None:
                    if current is not None:
                        code = process.wait()
                        self.close(pending, current, f"FAILED: its process ended, {code}", time.monotonic() - begun)
                    return
                if not line.startswith("@@ "):
                    print(line, end="", flush=True)
                    continue
                event = json.loads(line[3:])
                if "begin" in event:
                    current, begun = event["begin"], time.monotonic()
                    limit = limits[event["begin"]]
                    print(current, flush=True)
                elif "done" in event or "failed" in event:
                    name = event.get("done") or event["failed"]
                    ended = "passed" if "done" in event else f"FAILED: {event['why']}"
                    self.close(pending, name, ended, event["seconds"])
                    current, begun, limit = None, time.monotonic(), float(START_SECONDS)
                else:
                    self.note(event, current or "")
        finally:
            process.kill()
            process.wait()

    def close(self, pending: List[str], name: str, ended: str, seconds: float) -> None:
        pending.remove(name)
        self.parts.append({"part": name, "ended": ended, "seconds": seconds})
        print(f"  {ended}, {seconds:.1f} s", flush=True)

    def note(self, event: Dict[str, Any], current: str) -> None:
        if "figure" in event:
            self.figures.append({"part": current, **event})
        elif "verdict" in event:
            self.verdicts.append({"part": current, **event})
        elif "claimed_device" in event:
            self.claimed = event["claimed_device"] or self.claimed

    @property
    def is_right(self) -> bool:
        passed = all(part["ended"] == "passed" for part in self.parts)
        return passed and all(figure["kept"] for figure in self.figures)

    def table(self) -> str:
        lines = ["", "PARTS"]
        lines += [f"  {p['part']:24}{p['seconds']:7.1f} s  {p['ended']}" for p in self.parts]
        lines += ["", "VERDICTS"]
        for v in self.verdicts:
            lines.append(f"  {v['subject']:32}{v['verdict']:9}{v['about']}".rstrip())
            lines += [f"      {v['checked']}"] if v["checked"] else []
        lines += ["", "FIGURES"]
        for f in self.figures:
            limit = f"  at least {f['least']}" if f["least"] is not None else ""
            limit += f"  at most {f['most']}" if f["most"] is not None else ""
            missed = "" if f["kept"] else "  MISSED"
            lines.append(f"  {f['figure']:88}{f['value']:12.3f} {f['unit']}{limit}{missed}")
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--part", action="append", help="this one alone; may be given again")
    parser.add_argument("--list", action="store_true", help="the names of the parts")
    parser.add_argument("--out", help="a file for parts, verdicts and figures, as JSON")
    parser.add_argument("--total", type=float, default=TOTAL_SECONDS, help="seconds for all parts")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["TORCH_ON_DEVICE"] = options.device
    if options.work:
        return work(options.part)
    import torch

    known = parts()
    if options.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in options.part or [] if name not in known]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(known)}")
    run = Run(options.device, options.total)
    run.all(
        [name for name in known if not options.part or name in options.part], {n: p.seconds for n, p in known.items()}
    )
    print(f"\nPyTorch {torch.__version__}, {run.claimed or options.device}")
    print(run.table())
    if options.out:
        told = {"parts": run.parts, "verdicts": run.verdicts, "figures": run.figures}
        about = {"torch": torch.__version__, "device": run.claimed or options.device}
        pathlib.Path(options.out).write_text(json.dumps({**about, **told}, indent=1))
    print("\nall right" if run.is_right else "\nNOT RIGHT")
    return 0 if run.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
