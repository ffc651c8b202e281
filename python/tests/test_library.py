"""The mirrored structs and prototypes against the headers, and the views of contracts."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import tokitai
from tokitai import _library

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR") or os.environ["TOKITAI_LIBRARIES"])


def header_text() -> str:
    text = "".join(
        (SOURCE / "include" / name).read_text() for name in ("tokitai.h", "tokitai_verify.h", "tokitai_serve.h")
    )
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def members_in_header(name: str) -> list[str]:
    found = re.search(rf"typedef (?:struct|union) {name} \{{(.*?)\}} {name};", header_text(), flags=re.DOTALL)
    assert found, name
    members = []
    for declaration in found.group(1).split(";"):
        if declaration.strip():
            pointer = re.search(r"\(\*(\w+)\)", declaration)
            members.append(pointer.group(1) if pointer else re.findall(r"(\w+)\s*(?:\[\w+\])?\s*$", declaration)[0])
    return members


def test_structs_have_the_layout_of_the_headers(tmp_path: pathlib.Path) -> None:
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    lines = ["#include <stdio.h>", '#include "tokitai_verify.h"', '#include "tokitai_serve.h"', "int main(void) {"]
    for name in _library.MIRRORED:
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for member in members_in_header(name):
            lines.append(
                f'printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));'
            )
    lines.append("return 0; }")
    (tmp_path / "layout.c").write_text("\n".join(lines))
    subprocess.run(
        [compiler, "-I", SOURCE / "include", "-I", BUILD / "include", "layout.c", "-o", "layout"],
        cwd=tmp_path,
        check=True,
    )
    of_c = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout.splitlines()
    of_python = []
    for name, mirror in _library.MIRRORED.items():
        of_python.append(f"{name} {ctypes.sizeof(mirror)}")
        for member, *_ in mirror._fields_:
            field = getattr(mirror, member)
            of_python.append(f"{name}.{member} {field.offset} {field.size}")
    assert of_python == of_c


def test_every_prototype_is_declared_with_as_many_arguments() -> None:
    text = header_text()
    for functions in _library._PROTOTYPES.values():
        for name, (_, arguments) in functions.items():
            declared = re.search(rf"[ *]{name}\(([^;{{]*)\);", text)
            assert declared, name
            given = declared.group(1).strip()
            assert len(arguments) == (0 if given == "void" else given.count(",") + 1), name
            assert getattr(_library.lib, name).argtypes is not None


def test_lists_are_those_of_the_library() -> None:
    for i, name in enumerate(_library.DTYPES):
        assert _library.lib.tk_dtype_name(i).decode() == name
        assert _library.lib.tk_dtype_size(i) == _library.DTYPE_SIZES[name]
    assert [_library.lib.tk_verdict_name(i).decode() for i in range(4)] == list(_library.VERDICTS)
    assert [_library.lib.tk_level_name(i).decode() for i in range(3)] == list(_library.LEVELS)
    text = header_text()

    def names(enum: str, prefix: str) -> tuple[str, ...]:
        found = re.search(rf"typedef enum {enum} \{{(.*?)\}} {enum};", text, flags=re.DOTALL)
        assert found
        return tuple(n.removeprefix(prefix).lower() for n in re.findall(r"\bTK_\w+", found.group(1)))

    assert names("tk_kind", "TK_KIND_") == _library.KINDS
    assert names("tk_judged_by", "TK_BY_") == _library.JUDGED_BY
    assert names("tk_clause_kind", "TK_CLAUSE_") == _library.CLAUSE_KINDS
    assert names("tk_attribute_type", "TK_ATTRIBUTE_") == _library.ATTRIBUTE_TYPES
    assert f"TK_SEED_DEFAULT = {_library.SEED_DEFAULT}" in text
    statuses = names("tk_status", "TK_")
    assert len(statuses) == len(_library.ERRORS) + 1
    of_python = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", error.__name__).lower(): error.status for error in _library.ERRORS.values()
    }
    of_python["io"] = of_python.pop("input_output")
    assert {name: i for i, name in enumerate(statuses) if i} == of_python


def test_contracts_are_seen_as_they_are() -> None:
    assert "gemm" in tokitai.contract_names()
    softmax = tokitai.contract("softmax_fwd")
    assert softmax.dims == ("rows", "cols")
    assert [param.name for param in softmax.inputs] == ["x"]
    assert softmax.outputs[0].may_alias == "x" or softmax.outputs[0].may_alias is None
    for name in tokitai.contract_names():
        op = tokitai.contract(name)
        assert op.name == name and op.params and op.clauses and op.types
        assert op is tokitai.contract(op)


def test_unknown_op() -> None:
    with pytest.raises(tokitai.UnknownOp, match="there is no op 'gelou'; the ops are gelu_fwd") as caught:
        tokitai.contract("gelou")
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, LookupError)


def test_a_case_runs() -> None:
    case = _library.make_case("gelu_fwd", "f32", [3])
    x = (ctypes.c_float * 3)(0.0, 1.0, -1.0)
    y = (ctypes.c_float * 3)()
    context = _library.context_for("cpu")
    context.run(case, [ctypes.addressof(x), ctypes.addressof(y)])
    assert list(y) == pytest.approx([0.0, 0.841192, -0.158808], abs=1e-6)
    assert _library.context_for("cpu") is context


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(tokitai.BadArgument, match="has the sizes n; given: 2 numbers"):
        _library.make_case("gelu_fwd", "f32", [3, 4])
    with pytest.raises(tokitai.BadArgument, match="has the sizes n; given: m"):
        _library.make_case("gelu_fwd", "f32", {"m": 1})
    with pytest.raises(tokitai.BadArgument, match="names no element types"):
        _library.make_case("gelu_fwd", "f8", [3])
    case = _library.make_case("gelu_fwd", "f32", [3])
    with pytest.raises(tokitai.BadArgument) as caught:
        _library.context_for("cpu").run(case, [None, None])
    assert caught.value.status == 1 and "x" in str(caught.value)
    with pytest.raises(tokitai.Unavailable):
        _library.Context("cuda:77")


def test_attributes() -> None:
    for name in tokitai.contract_names():
        op = tokitai.contract(name)
        for attribute in op.attributes:
            case = _library.make_case(
                op, op.types[0], [1] * len(op.dims), attributes={attribute.name: attribute.default}
            )
            assert _library.attribute_of(case, op, attribute.name) == attribute.default
    with pytest.raises(tokitai.BadArgument, match="has no attribute 'nothing'"):
        _library.make_case("gelu_fwd", "f32", [3], attributes={"nothing": 1})


def test_import_is_quick_and_alone() -> None:
    """Less than 50 ms of a processor, whatever else the machine is doing, and no framework is imported."""
    program = (
        "import sys, time; start = time.process_time(); import tokitai; seconds = time.process_time() - start;"
        "print(seconds, *(name for name in ('numpy', 'torch', 'jax', 'cupy', 'pytest') if name in sys.modules))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(7)
    ]
    outputs = [run.stdout.split() for run in runs]
    assert all(len(output) == 1 for output in outputs), outputs
    assert min(float(output[0]) for output in outputs) < 0.050


def test_the_program_is_started() -> None:
    run = subprocess.run([sys.executable, "-m", "tokitai", "--version"], capture_output=True, text=True)
    assert run.stdout == f"tokitai {tokitai.__version__}\n"


def test_a_missing_library_is_explained(tmp_path: pathlib.Path) -> None:
    program = "import tokitai; tokitai.contract('gemm')"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "TOKITAI_LIBRARIES": str(tmp_path)},
    )
    assert run.returncode == 1 and "set TOKITAI_LIBRARIES to a folder" in run.stderr
