"""What an adapter found, and how it judges a recognised op."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._call import explain as one_line
from .._certificate import Certificate
from .._judge import judge
from .._library import BadArgument, BadIndex, contract
from ..testing import explain


@dataclass(frozen=True)
class Judgement:
    """The verdict on one output of a harness."""

    verdict: str  # "HELD", "REFUTED" or "UNKNOWN"
    op: str | None  # None: it was not recognised
    message: str  # the headline if it holds; the first wrong element, or why it is UNKNOWN
    certificates: tuple[Certificate, ...] = field(default=(), repr=False)

    @property
    def held(self) -> bool:
        return self.verdict == "HELD"

    def __bool__(self) -> bool:
        """Only what holds is true: UNKNOWN is not."""
        return self.held

    def __str__(self) -> str:
        return f"{self.verdict}: {self.message}"


def unknown(reason: str, op: str | None = None) -> Judgement:
    return Judgement("UNKNOWN", op, reason)


def raised(who: str, error: Exception, op: str | None = None) -> Judgement:
    """Of what did not return: there is nothing to judge."""
    return unknown(f"{who} raised {one_line(error)}", op)


@dataclass(frozen=True)
class Part:
    """One case of a contract: a product of a batch, or all there is."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def judge_parts(
    op: str, parts: Iterable[Part], *, attributes: Mapping[str, object], numerics: str | None, domain: str | None
) -> Judgement:
    """Judges every part and stops at the first that does not hold."""
    certificates: list[Certificate] = []
    settings = dict(attributes)
    for number, part in enumerate(parts):
        where = f" (product {number} of a batch)" if number else ""
        try:
            certificate = judge(
                op, inputs=part.inputs, outputs=part.outputs, numerics=numerics, domain=domain, attributes=settings
            )
        except BadIndex as error:
            return unknown(f"{op}: {error}: the contract has no result for these inputs{where}", op)
        except BadArgument as error:
            return unknown(f"{op}: {error}{where}", op)
        certificates.append(certificate)
        if certificate.verdict not in ("HELD", "PROVED"):
            shapes = {name: tuple(value.shape) for name, value in part.outputs.items()}
            refuted = certificate.verdict == "REFUTED"
            text = explain(certificate, shapes) if refuted else f"{op}: {certificate.reason}"
            return Judgement(certificate.verdict, op, text + where, tuple(certificates))
    if not certificates:
        return unknown(f"{op}: nothing to judge", op)
    batch = f"; so are all {len(certificates)} products of the batch" if len(certificates) > 1 else ""
    return Judgement("HELD", op, f"{op} {certificates[0].headline.partition(' ')[2]}{batch}", tuple(certificates))


def takes_numerics(op: str) -> bool:
    return any(attribute.name == "numerics" for attribute in contract(op).attributes)
