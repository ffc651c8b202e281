"""What is made from the headers against C, and the views of contracts."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

import tokitai
from tokitai import _library
from tokitai import _headers  # _library says where it is

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR") or os.environ["TOKITAI_LIBRARIES"])


HEADERS = ["tokitai_types.h", "tokitai.h", "tokitai_cache.h", "tokitai_verify.h", "tokitai_serve.h"]


def blank(kind: Any) -> str:
    return "{0}" if issubclass(kind, (ctypes.Structure, ctypes.Union, ctypes.Array)) else "0"


def test_all_is_as_in_c(tmp_path: pathlib.Path) -> None:
    """Constants, and the layout of structs; each with all its members, or its initializer would be refused. The sizes of
    results and arguments."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    headers = "".join((SOURCE / "include" / name).read_text() for name in HEADERS)
    headers = re.sub(r"/\*.*?\*/", " ", headers, flags=re.DOTALL)
    asked: list[tuple[str, int]] = []
    lines: list[str] = []
    for name, value in vars(_headers).items():
        if name.startswith("TK_"):
            asked.append((name, value))
        elif isinstance(value, type) and issubclass(value, (ctypes.Structure, ctypes.Union)) and name.startswith("tk_"):
            asked.append((f"sizeof({name})", ctypes.sizeof(value)))
            for member, kind in value._fields_:
                asked.append((f"offsetof({name}, {member})", getattr(value, member).offset))
                asked.append((f"sizeof((({name} *)0)->{member})", ctypes.sizeof(kind)))
            if issubclass(value, ctypes.Structure):
                lines.append(f"({name}){{{', '.join(blank(kind) for _, kind in value._fields_)}}};")
    assert set(re.findall(r"\btk_\w+(?=\()", headers)) == set(_headers.FUNCTIONS)
    for name, (_, result, arguments) in _headers.FUNCTIONS.items():
        declared = re.search(rf"([\w ]+[ *]+){name}\(([^;{{]*)\);", headers)
        assert declared and getattr(_library.lib, name).argtypes is not None, name
        given = [] if declared.group(2) == "void" else declared.group(2).split(",")
        of_c = [re.sub(r"\w+\[\]$", "*", re.sub(r"\w+$", "", " ".join(each.split()))) for each in given]
        assert len(of_c) == len(arguments), name
        if result is not None:
            of_c, arguments = [declared.group(1).replace("TK_MUST_USE", ""), *of_c], (result, *arguments)
        asked += [(f"sizeof({c})", ctypes.sizeof(python)) for c, python in zip(of_c, arguments)]
    lines += [f'printf("%lld\\n", (long long)({expression}));' for expression, _ in asked]
    includes = "".join(f'#include "{name}"\n' for name in ["tokitai_cache.h", "tokitai_serve.h", "tokitai_verify.h"])
    text = f"#include <stdio.h>\n{includes}int main(void)\n{{\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    (tmp_path / "layout.c").write_text(text)
    subprocess.run(
        [compiler, "-Werror", "-Wmissing-field-initializers", "-Wno-unused-value"]
        + ["-I", SOURCE / "include", "-I", BUILD / "include", "layout.c", "-o", "layout"],
        cwd=tmp_path,
        check=True,
    )
    of_c = subprocess.run([tmp_path / "layout"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(asked) > 800
    assert [f"{expression} {value}" for expression, value in asked] == [
        f"{expression} {value}" for (expression, _), value in zip(asked, of_c, strict=True)
    ]


@pytest.mark.parametrize(
    "text, said",
    [
        ("typedef struct tk_a {\n    int x : 3;\n} tk_a;", "2: ':' where ';' belongs"),
        ("typedef struct tk_a {\n    long x;\n} tk_a;", "2: there is no type long"),
        ("typedef struct tk_a {\n    int x[2][3];\n} tk_a;", "2: '[' where ';' belongs"),
        ("typedef struct tk_a {\n    int x[MOST];\n} tk_a;", "2: there is no constant MOST"),
        ("struct tk_b;\ntypedef struct tk_a {\n    struct tk_b x;\n} tk_a;", "3: tk_b has no members here"),
        ("typedef enum tk_a {\n    TK_X = 1,\n    TK_Y\n} tk_a;", "2: tk_a does not count from 0"),
        ("enum { TK_X = 1 + 2 };", "1: '+' where '}' belongs"),
        ("\n/* of\n * two lines */\nint tk_a(int x, ...);", "4: '.' where a name belongs"),
        ("#define A \\\n    1\nint tk_a(void)\n", "4: '' where ';' belongs"),
        ("typedef int tk_a;", "1: 'tk_a' where '(' belongs"),
        ("static int tk_a(void);", "1: there is no type static"),
    ],
)
def test_what_cannot_be_read_ends_the_build(tmp_path: pathlib.Path, text: str, said: str) -> None:
    header = tmp_path / "tokitai.h"
    header.write_text(text)
    run = subprocess.run(
        [BUILD / "tokitai-generate", tmp_path / "_headers.py", "--", "libtokitai.so", header],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1 and f"{header}:{said}\n" in run.stderr, run.stderr
    assert not (tmp_path / "_headers.py").exists()


def test_lists_are_those_of_the_library() -> None:
    lib = _library.lib
    assert [lib.tk_dtype_name(i).decode() for i in range(len(_library.DTYPES))] == list(_library.DTYPES)
    assert [lib.tk_dtype_size(i) for i in range(len(_library.DTYPES))] == list(_library.DTYPE_SIZES.values())
    assert [lib.tk_verdict_name(i).decode() for i in range(4)] == list(_library.VERDICTS)
    assert [lib.tk_level_name(i).decode() for i in range(3)] == list(_headers.tk_level_names)
    of_python = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", error.__name__).lower(): error.status for error in _library.ERRORS.values()
    }
    of_python["io"] = of_python.pop("input_output")
    assert {name: i for i, name in enumerate(_headers.tk_status_names) if i} == of_python


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
    with pytest.raises(tokitai.UnknownOp, match="unknown op 'gelou'; choose from gelu_fwd") as caught:
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
    with pytest.raises(tokitai.BadArgument, match="unknown element types"):
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


def test_what_is_missing_is_explained(tmp_path: pathlib.Path) -> None:
    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "import tokitai; tokitai.contract('gemm')"]
        environment = {**os.environ, "TOKITAI_LIBRARIES": str(tmp_path)}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    for missing in ("tokitai._headers", "libtokitai.so."):
        ended = run()
        assert ended.returncode == 1 and missing in ended.stderr, ended.stderr
        assert "set TOKITAI_LIBRARIES to a folder" in ended.stderr
        shutil.copytree(BUILD / "tokitai-python", tmp_path / "tokitai-python", dirs_exist_ok=True)
