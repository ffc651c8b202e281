"""The pytest plugin: drawn cases as a fixture, from a seed that the header prints.

    @pytest.mark.tokitai("softmax_fwd", dtypes=["f16", "bf16"], framework="torch")
    def test_softmax(contract_case):
        contract_case.check(my_softmax(contract_case["x"]))

Every shape, family and type becomes a test of its own, whose name says how to draw it again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ._library import TK_SEED_DEFAULT

_MARK = (
    "tokitai(op, shapes=None, families=None, dtypes=('f16',), seeds=None, index_dtype='i64', attributes=None, "
    "framework='numpy'): the op, and the drawn inputs of it, that the fixture contract_case takes in turn"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("tokitai").addoption(
        "--tokitai-seed",
        type=int,
        default=TK_SEED_DEFAULT,
        help="the seed of the inputs that contract_case draws (default: %(default)s)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK)


def pytest_report_header(config: pytest.Config) -> str:
    return f"tokitai: seed {config.getoption('--tokitai-seed')} (--tokitai-seed)"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "contract_case" not in metafunc.fixturenames:
        return
    from .testing import cases

    mark = metafunc.definition.get_closest_marker("tokitai")
    if mark is None or len(mark.args) != 1:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: contract_case needs @pytest.mark.tokitai(op), with the op's name"
        )
    options: dict[str, Any] = dict(mark.kwargs)
    framework = options.pop("framework", "numpy")
    if options.get("seeds") is None:
        options["seeds"] = (metafunc.config.getoption("--tokitai-seed"),)
    drawn = cases(mark.args[0], **options)
    metafunc.parametrize(
        "contract_case", [(case, framework) for case in drawn], indirect=True, ids=[case.id for case in drawn]
    )


@pytest.fixture
def tokitai_seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run."""
    return int(request.config.getoption("--tokitai-seed"))


@pytest.fixture
def contract_case(request: pytest.FixtureRequest) -> Any:
    """A DrawnCase of the op that the mark `tokitai` names, with its inputs."""
    from .testing import fill

    case, framework = request.param
    return fill(replace(case), framework)
