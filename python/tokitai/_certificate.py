"""Certificates: what was judged, the verdict, and how they show themselves in a terminal and in a notebook."""

from __future__ import annotations

import ctypes
import json
import math
import os
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from . import _library
from ._library import VERDICTS, NoMemory, context_for, lib

WIDTH = 100  # of reasons in the table, as the program's


class Refutation(NamedTuple):
    """How wrong a refuted kernel is; docs/certificate.md says what each grade means."""

    grade: str  # "slight", "inexact", "gross", "structural"
    elements: int  # wrong
    judged: int  # in the trials that failed
    nan: int  # wrong and NaN
    median_ulp: float
    worst_ulp: float


_REFUTATION = "grade", "elements", "of_elements", "nan", "median_up_to_ulp", "worst_ulp"


def _member(path: str, kind: type, doc: str = "") -> Any:
    """A member of the certificate, by its path in the predicate; where there is none: empty, 0, or of objects None."""

    def get(certificate: Certificate) -> Any:
        found: Any = certificate.predicate
        for name in path.split("."):
            found = found.get(name) or {}
        return kind(found) if found else None if kind is dict else kind()

    return property(get, doc=doc or None)


def printable(text: str) -> str:
    """One line, in which what would not be visible as itself is escaped: names and reasons may come from anywhere."""
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" if ord(c) > 255 else f"\\x{ord(c):02x}" for c in text)


class Certificate:
    """The outcome of certify() or judge(). It is true (`if certificate:`) where the contract held."""

    def __init__(self, pointer: int, exception: BaseException | None = None) -> None:
        """Takes over a tk_certificate."""
        self._pointer = ctypes.c_void_p(pointer)
        self._destroy = lib.tk_certificate_destroy
        self._dict: dict[str, Any] | None = None
        self.exception = exception  # what the callable raised, where it ended so; None in a certificate that was read

    def __del__(self) -> None:
        destroy = getattr(self, "_destroy", None)
        if destroy is not None:
            destroy(self._pointer)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Certificate.parse, (self.json,))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Certificate:
        """Reads a certificate from its file. BadFile if a byte of it was changed, or if it contradicts itself."""
        pointer = ctypes.c_void_p()
        context = context_for()
        context.check(lib.tk_certificate_read(context.pointer, os.fsencode(path), ctypes.byref(pointer)))
        return Certificate(pointer.value or 0)

    @staticmethod
    def parse(text: str) -> Certificate:
        """The certificate of a JSON text; BadFile as of read()."""
        pointer = ctypes.c_void_p()
        context = context_for()
        data = text.encode()
        context.check(lib.tk_certificate_parse(context.pointer, data, len(data), ctypes.byref(pointer)))
        return Certificate(pointer.value or 0)

    @property
    def verdict(self) -> str:
        """ "PROVED", "HELD", "REFUTED" or "UNKNOWN"; `headline` has its restrictions, too."""
        return VERDICTS[int(lib.tk_certificate_verdict(self._pointer))]

    @property
    def held(self) -> bool:
        """HELD or PROVED."""
        return self.verdict in ("HELD", "PROVED")

    def __bool__(self) -> bool:
        return self.held

    @property
    def headline(self) -> str:
        """The verdict in one line with all its restrictions."""
        return _library.text(lib.tk_certificate_headline(self._pointer))

    @property
    def reason(self) -> str:
        """Why it is refuted or unknown, or "": made of its data by this library."""
        return _library.text(lib.tk_certificate_reason(self._pointer))

    @property
    def reproduce(self) -> str:
        """The command that shows the failure again, or "": made of its data by this library."""
        return _library.text(lib.tk_certificate_reproduce(self._pointer))

    @property
    def remarks(self) -> str:
        """What is to be known of a certificate of another version, or ""; `tokitai check` shows it beside the headline."""
        remarks = ctypes.c_void_p()
        context = context_for()
        context.check(lib.tk_certificate_remarks(context.pointer, self._pointer, ctypes.byref(remarks)))
        if not remarks.value:
            return ""
        text = ctypes.string_at(remarks.value).decode("utf-8", "replace")
        _library.free(remarks)
        return text

    subject: str = _member("run.subject", str)
    op: str = _member("run.op", str)
    dtype: str = _member("run.dtype", str)
    elements: int = _member("result.elements", int, "Elements that were judged.")
    worst_ulp: float = _member("result.worst_ulp", float, "The largest distance; infinite where one of the two is.")
    bound_used: float = _member("result.bound_used", float, "The largest share of the bound that an element took.")
    seconds: float = _member("result.seconds", float)
    mutants_kept: str = _member("run.mutants.kept", str, "When they were judged, if not for this certificate, or \"\".")
    worst: dict[str, Any] | None = _member("result.worst", dict, "output, index, got, exact, admissible, ...")
    clauses: list[dict[str, Any]] = _member("clauses", list, "Of the contract: id, text, verdict, checks, failures.")
    non_claims: list[str] = _member("non_claims", list, "What the certificate does not show.")

    @property
    def accepted_ulp(self) -> float:
        """The same over accepted elements for which an ulp has a meaning."""
        return float(lib.tk_certificate_accepted_ulp(self._pointer))

    @property
    def mutants(self) -> tuple[int, int]:
        """Mutants that were run for it, and how many of these were rejected."""
        mutants = self.predicate["mutants"]
        return len(mutants), sum(bool(mutant["rejected"]) for mutant in mutants)

    @property
    def refutation(self) -> Refutation | None:
        """How wrong it is, where it is refuted."""
        found = self.predicate["result"].get("refutation")
        figures = ((name, found.get(name, 0)) for name in _REFUTATION) if found else ()
        return Refutation._make(float(n) if name.endswith("ulp") else n for name, n in figures) if found else None

    def _text(self, write: Any) -> str:
        text = write(self._pointer)
        if text is None:
            raise NoMemory("no memory for the certificate's text")
        return _library.text(text)

    @property
    def json(self) -> str:
        """The certificate itself: an in-toto Statement, docs/certificate.md."""
        return self._text(lib.tk_certificate_json)

    @property
    def markdown(self) -> str:
        """The report as Markdown."""
        return self._text(lib.tk_certificate_markdown)

    def to_dict(self) -> dict[str, Any]:
        """The JSON, parsed anew."""
        parsed: dict[str, Any] = json.loads(self.json)
        return parsed

    @property
    def predicate(self) -> dict[str, Any]:
        """The part of the JSON that speaks of the kernel; not to be changed."""
        if self._dict is None:
            self._dict = self.to_dict()
        found: dict[str, Any] = self._dict["predicate"]
        return found

    def save(self, folder: str | os.PathLike[str] | None = None) -> str:
        """Writes FOLDER/SUBJECT.json and .md; the former's path. Without a folder: into the user's state directory."""
        path = ctypes.c_void_p()
        context = context_for()
        given = None if folder is None else os.fsencode(folder)
        if given is not None:
            os.makedirs(given, exist_ok=True)
        context.check(lib.tk_certificate_write(context.pointer, self._pointer, given, ctypes.byref(path)))
        written = ctypes.string_at(path.value or 0)
        _library.free(path)
        return os.fsdecode(written)

    def __repr__(self) -> str:
        return table([self])

    def _repr_html_(self) -> str:
        return page([self])


class Certificates(list[Certificate]):
    """Several certificates; their verdict is the worst of them."""

    @property
    def verdict(self) -> str:
        verdicts = [certificate.verdict for certificate in self]
        return next((verdict for verdict in ("REFUTED", "UNKNOWN", "HELD", "PROVED") if verdict in verdicts), "UNKNOWN")

    @property
    def held(self) -> bool:
        """Every contract held."""
        return bool(self) and all(certificate.held for certificate in self)

    def save(self, folder: str | os.PathLike[str] | None = None) -> list[str]:
        """Writes each, and returns the paths."""
        return [certificate.save(folder) for certificate in self]

    def __repr__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        return page(self)


# --- in a terminal ------------------------------------------------------------------------------------------------

COLUMNS = ("SUBJECT", "VERDICT", "ELEMENTS", "WORST ULP", "OF BOUND", "MUTANTS", "SECONDS")


def _ulp(value: float) -> str:
    return "inf" if math.isinf(value) else f"{value:.4g}" if value < 1e6 else f"{value:.1e}"


def _cells(certificate: Certificate) -> tuple[str, ...]:
    run, rejected = certificate.mutants
    judged = certificate.elements > 0
    return (
        printable(certificate.subject),
        certificate.verdict,
        f"{certificate.elements:,}",
        _ulp(certificate.worst_ulp) if judged else "-",
        f"{100 * certificate.bound_used:.1f}%" if judged else "-",
        f"{rejected}/{run}{'*' if certificate.mutants_kept else ''}" if run else "-",
        f"{certificate.seconds:.1f}",
    )


def _notes(certificate: Certificate) -> Iterable[tuple[str, str]]:
    if certificate.headline != certificate.verdict:
        yield "verdict", certificate.headline
    if certificate.remarks:
        yield "remarks", certificate.remarks
    if certificate.mutants_kept:
        yield "mutants*", f"judged by this build on {certificate.mutants_kept[:10]}, not run again"
    if certificate.reason:
        yield "why", certificate.reason
    if certificate.reproduce:
        yield "reproduce", certificate.reproduce


def table(certificates: Sequence[Certificate]) -> str:
    """The program's table."""
    rows = [COLUMNS, *(_cells(certificate) for certificate in certificates)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = []
    for i, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
        for name, text in _notes(certificates[i - 1]) if i else ():
            if name == "reproduce":  # to be copied
                lines.append(f"    {name:<10} {printable(text)}")
                continue
            for number, part in enumerate(textwrap.wrap(printable(text), WIDTH - 15) or [""]):
                lines.append(f"    {name if not number else '':<10} {part}")
    return "\n".join(lines)


# --- in a notebook ------------------------------------------------------------------------------------------------

_COLOURS = {"PROVED": "#1a7f37", "HELD": "#1a7f37", "REFUTED": "#cf222e", "UNKNOWN": "#9a6700"}


def _escape(text: str) -> str:
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def chart(certificate: Certificate) -> str:
    """The errors as inline SVG: how many elements are up to so many ulp off; "" if none was judged."""
    bars = [
        (bar.get("up_to_ulp"), int(bar["elements"]))
        for bar in certificate.predicate.get("result", {}).get("ulp_histogram", [])
    ]
    if not any(count for _, count in bars):
        return ""
    width, height, step = 44 * len(bars) + 10, 96, 44
    most = math.log10(1 + max(count for _, count in bars))
    colour = _COLOURS[certificate.verdict]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 38}" role="img" '
        'aria-label="elements by their error in ulp" font-family="sans-serif" font-size="10" fill="currentColor">'
    ]
    for i, (limit, count) in enumerate(bars):
        tall = height * math.log10(1 + count) / most if count else 0
        shown = "more" if limit is None else f"{float(limit):g}"
        x, y = 10 + i * step, 14 + height - tall
        parts.append(f'<rect x="{x}" y="{y:.1f}" width="{step - 8}" height="{tall:.1f}" fill="{colour}">')
        parts.append(f"<title>{count:,} elements, up to {shown} ulp</title></rect>")
        parts.append(f'<text x="{x + (step - 8) / 2}" y="{y - 3:.1f}" text-anchor="middle">{_short(count)}</text>')
        parts.append(f'<text x="{x + (step - 8) / 2}" y="{height + 26}" text-anchor="middle">{shown}</text>')
    parts.append(f'<text x="10" y="{height + 37}">up to so many ulp off; elements on a logarithmic scale</text></svg>')
    return "".join(parts)


def _short(count: int) -> str:
    for limit, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= limit:
            return f"{count / limit:.3g}{unit}"
    return str(count)


def page(certificates: Sequence[Certificate]) -> str:
    """A fragment of HTML: the table, and of each certificate the errors, the reason and what is not claimed."""
    head = "".join(f'<th style="text-align:left">{name.lower()}</th>' for name in COLUMNS)
    rows, details = [], []
    for certificate in certificates:
        colour = _COLOURS[certificate.verdict]
        cells = [f"<td>{_escape(cell)}</td>" for cell in _cells(certificate)]
        cells[1] = f'<td style="color:{colour};font-weight:bold">{certificate.verdict}</td>'
        rows.append("<tr>" + "".join(cells) + "</tr>")
        notes = "".join(f"<p><b>{name}</b> <code>{_escape(text)}</code></p>" for name, text in _notes(certificate))
        claims = "".join(f"<li>{_escape(text)}</li>" for text in certificate.non_claims)
        details.append(
            f"<h4>{_escape(certificate.subject)}</h4>{notes}{chart(certificate)}"
            f"<details><summary>what is not claimed</summary><ul>{claims}</ul></details>"
        )
    listed = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="tokitai">{listed}{"".join(details)}</div>'
