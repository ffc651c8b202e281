"""KernelBench: pairs of `Model` and `ModelNew`, with get_inputs() and get_init_inputs().

    from tokitai.harnesses import kernelbench
    print(kernelbench.judge_pair(Model, ModelNew, get_inputs, get_init_inputs, dtype=torch.float16))

or, for everything that KernelBench evaluates from now on:

    import kernelbench.eval
    from tokitai.harnesses.kernelbench import install
    install(kernelbench.eval)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ._judgement import Judgement, raised, unknown
from ._reference import Recognised, Unrecognised, named, recognise

DEFAULT_SEED = 42  # KernelBench's own


def _prepared(inputs: Sequence[Any], device: Any, dtype: Any) -> list[Any]:
    """Inputs on the device; floating-point ones in the type that is asked for, as KernelBench has them."""
    torch: Any = import_module("torch")
    prepared = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            value = value.to(device=device)
            if dtype is not None and value.is_floating_point():
                value = value.to(dtype=dtype)
        prepared.append(value)
    return prepared


def recognise_model(
    model: Any,
    inputs: Sequence[Any],
    *,
    op: str | None = None,
    attributes: Mapping[str, object] | None = None,
) -> Recognised:
    """The contract of a reference model, from the calls of its forward; or `op`, with the inputs in contract order."""
    if op is not None:
        return named(op, inputs, attributes)
    return recognise(lambda: model(*inputs))


def judge_pair(
    model: Callable[..., Any],
    model_new: Callable[..., Any],
    get_inputs: Callable[[], Sequence[Any]],
    get_init_inputs: Callable[[], Sequence[Any]] = list,
    *,
    op: str | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
    device: Any = "cpu",
    dtype: Any = None,
    trials: int = 1,
    seed: int = DEFAULT_SEED,
) -> Judgement:
    """Makes both models from the same seed, runs them on the same inputs, and judges what ModelNew returns.

    The op is that of Model, or `op`. The weights that the contract is about are Model's: ModelNew has the same if it
    makes them in the same order, as KernelBench asks. Returns the first judgement that does not hold, or the last one.
    """
    torch: Any = import_module("torch")

    def make(kind: Callable[..., Any]) -> Any:
        torch.manual_seed(seed)
        instance = kind(*get_init_inputs())
        return instance.to(device=device, dtype=dtype) if dtype is not None else instance.to(device=device)

    made = [make(model)]
    try:
        made.append(make(model_new))
    except Exception as error:
        return raised("ModelNew", error, op)
    judgement = unknown("no trial was asked for")
    for trial in range(trials):
        torch.manual_seed(seed + trial)
        inputs = _prepared(get_inputs(), device, dtype)
        judgement = judge_models(
            made[0], made[1], inputs, op=op, attributes=attributes, numerics=numerics, domain=domain
        )
        if not judgement:
            break
    return judgement


def judge_models(
    model: Any,
    model_new: Any,
    inputs: Sequence[Any],
    *,
    op: str | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
) -> Judgement:
    """The same for two models that are made, and given inputs."""
    torch: Any = import_module("torch")
    try:
        recognised = recognise_model(model, inputs, op=op, attributes=attributes)
    except Unrecognised as reason:
        return unknown(str(reason), op)
    try:
        with torch.no_grad():
            output = model_new(*inputs)
    except Exception as error:  # whatever a kernel under test may raise
        return raised("ModelNew", error, recognised.op)
    return recognised.judge(output, numerics=numerics, domain=domain)


def judge_sources(reference: str, custom: str, **options: Any) -> Judgement:
    """The same for two texts, as KernelBench's files have them: one with Model, get_inputs and get_init_inputs, one
    with ModelNew. Both are executed here: give only what you would run."""
    first: dict[str, Any] = {"__name__": "kernelbench_reference"}
    second: dict[str, Any] = {"__name__": "kernelbench_custom"}
    exec(compile(reference, "<reference>", "exec"), first)
    exec(compile(custom, "<custom>", "exec"), second)
    return judge_pair(first["Model"], second["ModelNew"], first["get_inputs"], first["get_init_inputs"], **options)


def install(
    module: Any,
    *,
    op: str | None = None,
    attributes: Mapping[str, object] | None = None,
    numerics: str | None = None,
    domain: str | None = None,
) -> Callable[..., Any]:
    """Puts a contract in the place of the tolerance in `module`, KernelBench's eval; returns what was there.

    run_and_check_correctness() first does what it did: it builds, runs and compares. Then its result is the verdict's,
    which stands in metadata["tokitai"]. UNKNOWN leaves the result as it is, and says so there.
    """
    original: Callable[..., Any] = module.run_and_check_correctness

    def run_and_check_correctness(
        original_model_instance: Any,
        new_model_instance: Any,
        get_inputs_fn: Callable[[], Sequence[Any]],
        metadata: dict[str, Any],
        num_correct_trials: int,
        *rest: Any,
        **options: Any,
    ) -> Any:
        result = original(
            original_model_instance, new_model_instance, get_inputs_fn, metadata, num_correct_trials, *rest, **options
        )
        given = dict(zip(("verbose", "seed", "device", "backend", "precision"), rest), **options)
        judgement = _judge_trials(
            original_model_instance,
            new_model_instance,
            get_inputs_fn,
            num_correct_trials,
            given,
            {"op": op, "attributes": attributes, "numerics": numerics, "domain": domain},
        )
        result.metadata["tokitai"] = str(judgement)
        if judgement.verdict != "UNKNOWN":
            result.correctness = judgement.held
        return result

    module.run_and_check_correctness = run_and_check_correctness
    return original


def _judge_trials(
    model: Any,
    model_new: Any,
    get_inputs: Callable[[], Sequence[Any]],
    trials: int,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Judgement:
    torch: Any = import_module("torch")
    device, precision = given.get("device"), given.get("precision")
    judgement = unknown("no trial was asked for")
    # The seeds that KernelBench draws for its trials.
    torch.manual_seed(given.get("seed", DEFAULT_SEED))
    seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(trials)]
    for seed in seeds:
        torch.manual_seed(seed)
        inputs = _prepared(get_inputs(), device, precision)
        judgement = judge_models(model, model_new, inputs, **options)
        if not judgement:
            break
    return judgement
