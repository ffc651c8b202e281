"""mypy --strict on the package, and on a user's program."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

PYTHON = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR") or os.environ["TOKITAI_LIBRARIES"])

USER = """
    import tokitai

    def gelu(x: object) -> object:
        return x

    certificates = tokitai.certify(gelu, "gelu_fwd", attributes={"domain": "normal"})
    first: str = certificates[0].verdict
    one: tokitai.Certificate = tokitai.certify(gelu, "gelu_fwd", dtype="f16", isolated=True)
    worst: float = tokitai.judge("gelu_fwd", inputs=[1], outputs=[2]).worst_ulp
    rows = [row.best for row in tokitai.bench(gelu, "gelu_fwd", shapes=[(100,)]).rows]
    print(certificates.verdict, first, one, worst, rows, tokitai.contract("gelu_fwd").dims, tokitai.__version__)
"""


def mypy(*arguments: str | os.PathLike[str], cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    whole = cwd / "whole" / "tokitai"  # with what the build makes, as in the wheel
    whole.mkdir(parents=True)
    for file in [*(PYTHON / "tokitai").iterdir(), BUILD / "tokitai-python" / "_headers.py"]:
        (whole / file.name).symlink_to(file)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", BUILD / "mypy_cache", *arguments]
    environment = {**os.environ, "MYPYPATH": str(whole.parent)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)


def test_the_package(tmp_path: pathlib.Path) -> None:
    run = mypy("-p", "tokitai", cwd=tmp_path)
    assert run.returncode == 0, run.stdout


def test_a_users_program(tmp_path: pathlib.Path) -> None:
    (tmp_path / "user.py").write_text(textwrap.dedent(USER))
    run = mypy("user.py", cwd=tmp_path)
    assert run.returncode == 0, run.stdout


def test_mistakes_of_a_user_are_seen(tmp_path: pathlib.Path) -> None:
    (tmp_path / "user.py").write_text(
        "import tokitai\nn: int = tokitai.judge('gemm', [], []).verdict\ntokitai.certify(abs, 'gemm', dtyp='f16')\n"
    )
    run = mypy("user.py", cwd=tmp_path)
    assert "Incompatible types in assignment" in run.stdout and "No overload variant" in run.stdout, run.stdout
