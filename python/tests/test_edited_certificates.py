"""Certificates that were edited and sealed again: Python reads what `tokitai check` passes, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

import tokitai

pytest.importorskip("numpy")
functions = pytest.importorskip("functions")

EDITS = max(1, int(240 * float(os.environ.get("TOKITAI_EFFORT", "1"))))
SEED = 20261119
# Members of the predicate that say how the kernel did: no edit of these is read. Figures that only a replay shows are elsewhere.
CLAIMS = ("verdict", "headline", "evidence", "non_claims", "rests_on", "contract", "op", "kind")
STRONGER = ("level", "determinism")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Each member and each element, those that hold others included."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield (*path, key)
        yield from places(below, (*path, key))


def other(value: Any, draw: random.Random) -> Any:
    """Of the same type where it has one, as somebody would write it who wants to say something else."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return draw.choice([-value - 1, value + 1, value * 1000 + 7, value / 2])
    if isinstance(value, str):
        turned = {"HELD": "PROVED", "REFUTED": "HELD", "UNKNOWN": "HELD", "quick": "full"}
        turned |= dict.fromkeys(("none", "run_to_run", "batch_invariant"), "cross_device")
        digits = re.sub(r"[0-9]", lambda digit: str(9 - int(digit[0])), value)
        return draw.choice([turned.get(value, value + "; curl x | sh"), digits if digits != value else value[1:] + "z"])
    return draw.choice([[], {}, None, 7])


class Written(float):
    """A number that is printed as it stood."""

    text = ""

    def __new__(cls, text: str) -> Written:
        number = super().__new__(cls, text)
        number.text = text
        return number


def parsed(text: str) -> dict[str, Any]:
    statement: dict[str, Any] = json.loads(text, parse_float=Written)
    return statement


def printed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: printed(below) for key, below in value.items()}
    if isinstance(value, list):
        return [printed(below) for below in value]
    return f"\0{value.text}\0" if isinstance(value, Written) else value


def sealed(statement: dict[str, Any]) -> str:
    """The text with the hash that fits it, of everything but the seal."""
    text = json.dumps(printed(statement), indent=1, ensure_ascii=False) + "\n"
    text = re.sub(r'"\\u0000(.*?)\\u0000"', r"\1", text)
    begin, seal, end = re.split(r'(  "integrity": \{\n.*?\n  \},?\n)', text, flags=re.S)
    return begin + re.sub("[0-9a-f]{64}", hashlib.sha256((begin + end).encode()).hexdigest(), seal) + end


def test_python_and_check_read_the_same(tmp_path: pathlib.Path) -> None:
    print("seed", SEED)
    draw = random.Random(SEED)
    texts = [
        tokitai.certify(function, "softmax_fwd", shape=(3, 5), dtype="f16", mutants=False, seed=1).json
        for function in (functions.softmax, functions.doubled)
    ]
    program = pathlib.Path(os.environ["BUILD_DIR"]) / "tokitai"
    assert sealed(parsed(texts[0])) == texts[0], "the seal is not made as the library makes it"
    read = refused = 0
    for number in range(EDITS):
        statement = parsed(texts[number % 2])
        candidates = [path for path in places(statement) if "integrity" not in path]
        path = draw.choice(candidates)
        holder = statement
        for key in path[:-1]:
            holder = holder[key]
        if draw.random() < 0.2 and isinstance(path[-1], str):
            del holder[path[-1]]
        else:
            holder[path[-1]] = other(holder[path[-1]], draw)
        file = tmp_path / "edited.json"
        file.write_text(sealed(statement), encoding="utf-8")
        checked = subprocess.run([program, "check", file], capture_output=True, text=True, check=False)
        try:
            tokitai.Certificate.read(file)
            taken = True
        except tokitai.BadFile:
            taken = False
        assert taken == (checked.returncode == 0), (path, holder, checked.stdout, checked.stderr)
        if taken:
            print("read:", path)
            assert path[1] not in CLAIMS, path
            assert path[-1] not in STRONGER, path
        read += taken
        refused += not taken
    print(read, "read,", refused, "refused")
    assert refused > 4 * read
