"""The adapter for GPU MODE's reference kernels, with problems and evaluations of the forms that they have."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tokitai.harnesses.gpumode import judge_output, make_check  # noqa: E402


def generate_input(m: int, n: int, k: int, seed: int) -> Any:
    generator = torch.Generator().manual_seed(seed)
    a = torch.rand(m, k, generator=generator).half()
    b = torch.rand(k, n, generator=generator).half()
    return a, b, torch.empty(m, n, dtype=torch.float16)


def ref_kernel(data: Any) -> Any:
    a, b, _ = data
    return (a.float() @ b.float()).half()


def plain_kernel(data: Any) -> Any:
    """In fp32, which PyTorch 1.13 has products of on the CPU."""
    a, b = data
    return a @ b


def exact(data: Any) -> Any:
    a, b = data[:2]
    return (a.double() @ b.double()).to(a.dtype)


def low_precision(data: Any) -> Any:
    a, b = data[:2]
    return (a.bfloat16().double() @ b.bfloat16().double()).to(a.dtype)


def run_testing(
    custom_kernel: Any, check_implementation: Any, make: Any, tests: list[dict[str, int]]
) -> dict[str, str]:
    """The newer evaluation: a pair, or a message, of a check that sees a copy of the data."""
    log: dict[str, str] = {}
    for number, test in enumerate(tests):
        data = make(**test)
        output = custom_kernel(tuple(tensor.clone() for tensor in data))
        result = check_implementation(data, output)
        good, message = result if isinstance(result, tuple) else (not result, result)
        log[f"test.{number}.status"] = "pass" if good else "fail"
        log[f"test.{number}.error"] = message
    log["check"] = "pass" if "fail" not in log.values() else "fail"
    return log


TESTS = [{"m": 16, "n": 16, "k": 16, "seed": 53124}, {"m": 8, "n": 24, "k": 40, "seed": 3321}]


def floats(m: int, n: int, k: int, seed: int) -> Any:
    return tuple(tensor.float() for tensor in generate_input(m, n, k, seed)[:2])


@pytest.mark.parametrize("pair", [True, False])
def test_the_op_is_found_from_the_reference(pair: bool) -> None:
    check = make_check(plain_kernel, pair=pair)
    assert run_testing(plain_kernel, check, floats, TESTS)["check"] == "pass"
    log = run_testing(low_precision, check, floats, TESTS)
    assert log["check"] == "fail"
    assert "GEMM.ERR" in log["test.0.error"] and "exact" in log["test.1.error"]


def test_what_is_returned_has_the_form_that_is_asked_for() -> None:
    data = floats(**TESTS[0])
    assert make_check(plain_kernel, pair=False)(data, plain_kernel(data)) == ""
    good, message = make_check(plain_kernel)(data, plain_kernel(data))
    assert good is True and message.startswith("HELD: gemm for one case")
    assert make_check(plain_kernel)(data, plain_kernel(data).T.contiguous()[:4])[0] is False


def test_an_op_can_be_named_with_its_inputs() -> None:
    check = make_check(op="gemm", inputs=lambda data: data[:2])
    assert run_testing(exact, check, generate_input, TESTS)["check"] == "pass"
    assert run_testing(low_precision, check, generate_input, TESTS)["check"] == "fail"
    by_name = make_check(op="gemm", inputs=lambda data: {"a": data[0], "b": data[1]})
    assert run_testing(exact, by_name, generate_input, TESTS)["check"] == "pass"


def test_unknown_is_not_good_unless_the_problems_own_check_says_so() -> None:
    data = generate_input(**TESTS[0])
    alone = make_check(ref_kernel)(data, ref_kernel(data))
    assert alone[0] is False and alone[1].startswith("UNKNOWN: the reference is a composition")

    def own(data: Any, output: Any) -> str:
        return "" if torch.allclose(output.float(), ref_kernel(data).float()) else "mismatch found!"

    good, message = make_check(ref_kernel, otherwise=own)(data, ref_kernel(data))
    assert good is True and "UNKNOWN" in message and "by the problem's own check: match" in message
    assert make_check(ref_kernel, otherwise=own)(data, ref_kernel(data) + 1)[0] is False
    assert make_check(ref_kernel, otherwise=lambda d, o: (False, "no"), pair=False)(data, data[2]).endswith("no")
    assert judge_output(None, data, data[2]).verdict == "UNKNOWN"


def test_cross_entropy_of_rows() -> None:
    generator = torch.Generator().manual_seed(5)
    logits = torch.randn((4, 9), generator=generator)
    target = torch.tensor([0, 8, -100, 3])

    def reference(data: Any) -> Any:
        return torch.nn.functional.cross_entropy(*data, reduction="none", label_smoothing=0.25)

    right = reference((logits.double(), target)).float()
    judgement = judge_output(reference, (logits, target), right)
    assert judgement.held and judgement.op == "xent", judgement
    assert "grad_logits, which the reference does not return, is the library's own" in str(judgement)
    wrong = right.clone()
    wrong[3] *= 1.01
    judgement = judge_output(reference, (logits, target), wrong)
    assert judgement.verdict == "REFUTED" and "loss" in judgement.message, judgement
    mean = judge_output(lambda data: torch.nn.functional.cross_entropy(*data), (logits, target), right.mean())
    assert mean.verdict == "UNKNOWN" and "reduction='mean'" in mean.message
