#!/usr/bin/env python3
"""Asks solvers whether the conversions between float formats are those of SMT-LIB's floating point.

    conversions.py SOURCE_TREE WORK_FOLDER [SOLVER] [FUNCTION]

The functions are translated from the text of the C sources, statement by statement, to SMT-LIB over bit vectors and
floating point; whatever is not understood ends the check. Asked is, for every input that there is: the result is the
number that to_fp gives with rounding to nearest, ties to even, the sign of zero included; a NaN becomes a NaN, quiet and
of the same sign where the source says so; and no signed integer operation overflows. `unsat` means that there is no
counterexample. SOLVER: z3, cvc5 or both, which is the default. Their word is trusted; nothing here checks it. Exit status 0: all
agree; 77: a solver is missing."""

import os
import re
import shutil
import subprocess
import sys
import time


class Failure(Exception):
    pass


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def body_of(text, function):
    m = re.search(r"\b" + function + r"\(([^)]*)\)\s*\{", text)
    if not m:
        raise Failure(f"there is no function {function}")
    depth, place = 1, m.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    return m.group(1), text[m.end():place - 1]


# -- C -----------------------------------------------------------------------------------------------------------------

TYPES = {"uint16_t": (16, False), "int32_t": (32, True), "int": (32, True), "uint32_t": (32, False),
         "uint64_t": (64, False), "int64_t": (64, True)}
FLOATS = {"float": (8, 24), "double": (11, 53)}
TOKEN = re.compile(r"\s*(?:(0x[0-9a-fA-F]+|\d+\.\d+f?|\d+)([uU]?[lL]*)|(\w+(?:\.\w+)?)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^~!?:(),]))")
LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*"]]
SIGNED = {"<": "bvslt", ">": "bvsgt", "<=": "bvsle", ">=": "bvsge"}
UNSIGNED = {"<": "bvult", ">": "bvugt", "<=": "bvule", ">=": "bvuge"}


class Value:
    """An integer (width, signed), a truth value (width 0) or a float: by its bits, or as a term of SMT-LIB."""

    def __init__(self, term, width=0, signed=True, kind=None, bits=None):
        self.term, self.width, self.signed, self.kind, self.bits = term, width, signed, kind, bits


def literal(number, width):
    return f"(_ bv{number % (1 << width)} {width})"


class Translation:
    def __init__(self, name, constants, inlined):
        self.name, self.constants, self.inlined = name, constants, inlined
        self.variables, self.lines, self.overflows, self.count = {}, [], [], 0

    def fail(self, what):
        raise Failure(f"{self.name}: {what}")

    # Integers

    def number(self, value):
        if value.kind:
            self.fail("a float where an integer is expected")
        if value.width == 0:
            return Value(f"(ite {value.term} {literal(1, 32)} {literal(0, 32)})", 32, True)
        return value

    def cast(self, value, width, signed):
        value = self.number(value)
        if width < value.width:
            term = f"((_ extract {width - 1} 0) {value.term})"
        elif width > value.width:
            term = f"((_ {'sign' if value.signed else 'zero'}_extend {width - value.width}) {value.term})"
        else:
            term = value.term
        return Value(term, width, signed)

    def promoted(self, value):
        value = self.number(value)
        return self.cast(value, 32, True) if value.width < 32 else value

    def same_type(self, a, b):
        a, b = self.promoted(a), self.promoted(b)
        width = max(a.width, b.width)
        signed = all(v.signed for v in (a, b) if v.width == width)
        return self.cast(a, width, signed), self.cast(b, width, signed)

    def truth(self, value):
        if value.width == 0 and not value.kind:
            return value.term
        value = self.number(value)
        return f"(not (= {value.term} {literal(0, value.width)}))"

    def shift(self, operator, a, b):
        a, b = self.promoted(a), self.promoted(b)
        amount = self.cast(b, a.width, False)
        self.overflows.append(f"(bvuge {amount.term} {literal(a.width, a.width)})")
        if operator == ">>":
            return Value(f"({'bvashr' if a.signed else 'bvlshr'} {a.term} {amount.term})", a.width, a.signed)
        result = f"(bvshl {a.term} {amount.term})"
        if a.signed:
            self.overflows.append(f"(not (= (bvashr {result} {amount.term}) {a.term}))")
        return Value(result, a.width, a.signed)

    def arithmetic(self, operator, a, b):
        if a.kind or b.kind:
            if a.kind != b.kind or operator not in "+-":
                self.fail(f"'{operator}' of these floats")
            return Value(f"(fp.{'add' if operator == '+' else 'sub'} RNE {a.term} {b.term})", kind=a.kind)
        a, b = self.same_type(a, b)
        name = {"+": "bvadd", "-": "bvsub", "*": "bvmul", "&": "bvand", "|": "bvor", "^": "bvxor"}[operator]
        if a.signed and operator in "+-*":
            wide = [f"((_ sign_extend {a.width}) {v.term})" for v in (a, b)]
            exact = f"({name} {wide[0]} {wide[1]})"
            self.overflows.append(
                f"(not (= {exact} ((_ sign_extend {a.width}) ({name} {a.term} {b.term}))))")
        return Value(f"({name} {a.term} {b.term})", a.width, a.signed)

    def comparison(self, operator, a, b):
        if operator in ("==", "!="):
            a, b = self.same_type(a, b)
            term = f"(= {a.term} {b.term})"
            return Value(term if operator == "==" else f"(not {term})")
        a, b = self.same_type(a, b)
        return Value(f"({(SIGNED if a.signed else UNSIGNED)[operator]} {a.term} {b.term})")

    # Floats

    def bits_of(self, value, width):
        """Of a result of arithmetic: some bits that stand for it. Those of a NaN are any."""
        if value.bits:
            return Value(value.bits, width, False)
        self.count += 1
        name = f"bits{self.count}"
        self.lines.append(f"(declare-const {name} (_ BitVec {width}))")
        self.lines.append(f"(assert (= {from_bits(name, value.kind)} {value.term}))")
        return Value(name, width, False)

    def float_of(self, bits, kind):
        return Value(from_bits(bits.term, kind), kind=kind, bits=bits.term)

    # Expressions

    def parse(self, text):
        self.tokens, place, text = [], 0, text.strip()
        while place < len(text):
            m = TOKEN.match(text, place)
            if not m:
                self.fail(f"'{text[place:place + 20]}' is not understood")
            self.tokens.append(m)
            place = m.end()
        self.at = 0
        value = self.expression()
        if self.at != len(self.tokens):
            self.fail(f"'{self.tokens[self.at].group().strip()}' is not understood")
        return value

    def peek(self):
        return self.tokens[self.at].group().strip() if self.at < len(self.tokens) else None

    def take(self, expected=None):
        token = self.peek()
        if token is None or (expected and token != expected):
            self.fail(f"'{expected}' was expected instead of '{token}'")
        self.at += 1
        return token

    def expression(self):
        condition = self.level(0)
        if self.peek() != "?":
            return condition
        self.take()
        yes = self.expression()
        self.take(":")
        no = self.expression()
        yes, no = self.same_type(yes, no)
        return Value(f"(ite {self.truth(condition)} {yes.term} {no.term})", yes.width, yes.signed)

    def level(self, n):
        if n == len(LEVELS):
            return self.unary()
        left = self.level(n + 1)
        while self.peek() in LEVELS[n]:
            operator = self.take()
            right = self.level(n + 1)
            if operator in ("||", "&&"):
                word = "or" if operator == "||" else "and"
                left = Value(f"({word} {self.truth(left)} {self.truth(right)})")
            elif operator in ("<<", ">>"):
                left = self.shift(operator, left, right)
            elif operator in ("<", ">", "<=", ">=", "==", "!="):
                left = self.comparison(operator, left, right)
            else:
                left = self.arithmetic(operator, left, right)
        return left

    def unary(self):
        token = self.take()
        match = self.tokens[self.at - 1]
        if token == "(":
            if self.peek() in TYPES:
                width, signed = TYPES[self.take()]
                self.take(")")
                return self.cast(self.unary(), width, signed)
            value = self.expression()
            self.take(")")
            return value
        if token == "~":
            value = self.promoted(self.unary())
            return Value(f"(bvnot {value.term})", value.width, value.signed)
        if token == "-":
            return self.arithmetic("-", Value(literal(0, 32), 32, True), self.unary())
        if match.group(1):
            return self.constant(match.group(1), match.group(2))
        if self.peek() == "(":
            return self.call(token)
        if token in self.variables:
            return self.variables[token]
        if token in self.constants:
            number, width, signed = self.constants[token]
            return Value(literal(number, width), width, signed)
        return self.fail(f"'{token}' is not understood")

    def constant(self, text, suffix):
        if "." in text:
            if text != "0.5f":
                self.fail(f"the number {text}")
            return Value("((_ to_fp 8 24) RNE 0.5)", kind="float", bits="#x3f000000")
        number = int(text, 0)
        unsigned = "u" in suffix.lower() or (text.startswith("0x") and number >= 1 << 31)
        if number >= 1 << 32:
            self.fail(f"the number {text}")
        return Value(literal(number, 32), 32, not unsigned)

    def call(self, function):
        self.take("(")
        arguments = [self.expression()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.expression())
        self.take(")")
        if function == "tki_f32_bits" and arguments[0].kind == "float":
            return self.bits_of(arguments[0], 32)
        if function == "tki_f32_from_bits":
            return self.float_of(self.cast(arguments[0], 32, False), "float")
        if function == "UINT64_C":
            return self.cast(arguments[0], 64, False)
        if function == "tki_double_bits" and arguments[0].kind == "double":
            return self.bits_of(arguments[0], 64)
        if function in self.inlined:
            return self.inline(function, arguments)
        return self.fail(f"a call of {function}()")

    def inline(self, function, arguments):
        """A function that is one expression."""
        head, body = self.inlined[function]
        m = re.fullmatch(r"\s*return\s+([^;]*);\s*", body)
        if not m:
            self.fail(f"{function}() is more than one expression")
        inner = Translation(f"{self.name}, {function}", self.constants, self.inlined)
        for parameter, argument in zip(head.split(","), arguments):
            inner.variables[parameter.split()[-1]] = argument
        value = inner.parse(m.group(1))
        self.overflows += inner.overflows
        if inner.lines:
            self.fail(f"{function}() computes with floats")
        return value

    # Statements

    def statement(self, statement, result):
        """(condition, term) of one that returns, where it does."""
        condition = None
        if statement.startswith("if"):
            depth, end = 0, 2
            while not (depth == 0 and statement[end - 1] == ")"):
                depth += {"(": 1, ")": -1}.get(statement[end], 0)
                end += 1
            condition = self.truth(self.parse(statement[2:end]))
            statement = statement[end:].strip()
            if not statement.startswith("return"):
                self.fail("an if that returns nothing")
        if statement.startswith("return"):
            value = self.parse(statement[len("return"):])
            return condition, self.bits_of(value, 32).term if value.kind else self.cast(value, *result).term
        m = re.match(r"const\s+(\w+)\s+(\w+)\s*=(.*)$", statement, re.S)
        if not m:
            self.fail(f"the statement '{statement}'")
        kind, name, text = m.groups()
        if kind == "tki_format":  # its members are constants
            self.variables[name] = Value("format", kind="format")
            return None
        if kind not in TYPES:
            self.fail(f"the type {kind}")
        value = self.cast(self.parse(text), *TYPES[kind])
        self.lines.append(f"(define-fun {name} () (_ BitVec {value.width}) {value.term})")
        self.variables[name] = Value(name, value.width, value.signed)
        return None

    def run(self, body, result):
        """The term that the function returns. What overflows counts where the function has not returned before."""
        returns = []
        for text in [s.strip() for s in body.split(";")]:
            if not text:
                continue
            if returns and returns[-1][0] is None:
                self.fail("a statement behind the last return")
            known = len(self.overflows)
            returned = self.statement(text, result)
            for condition, _ in returns:
                self.overflows[known:] = [f"(and (not {condition}) {o})" for o in self.overflows[known:]]
            returns += [returned] if returned else []
        if not returns or returns[-1][0] is not None:
            self.fail("nothing is returned at the end")
        term = returns[-1][1]
        for condition, early in reversed(returns[:-1]):
            term = f"(ite {condition} {early} {term})"
        return term


def from_bits(term, kind):
    exponent, precision = FLOATS[kind]
    return f"((_ to_fp {exponent} {precision}) {term})"


# -- What is asked -----------------------------------------------------------------------------------------------------

FORMATS = {"f16": (5, 11), "bf16": (8, 8), "f32": (8, 24), "f64": (11, 53)}

# What src/exact/round.c computes with, printed by a C program: name, value, bits, whether it is signed.
MEMBERS = ["f.precision", "f.exponent_min", "f.sign", "f.largest", "f.infinity", "f.nan", "TKI_DOUBLE_SIGN",
           "TKI_DOUBLE_HIDDEN", "TKI_DOUBLE_SPECIAL", "TKI_DOUBLE_BIAS", "TKI_DOUBLE_FRACTION_BITS"]


def constants_of(sources, work, format_name):
    program = os.path.join(work, "constants")
    shown = "".join(f'printf("{m} %lld %d %d\\n", (long long)({m}), (int)(8 * sizeof({m})), '
                    f"(__typeof__(+({m})))-1 < 0);\n" for m in MEMBERS)
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write('#include <stdio.h>\n#include <math.h>\n#include "exact/round.h"\nint main(void) {\n'
                   f"const tki_format f = tki_format_of(TK_{format_name.upper()});\n{shown}return 0;\n}}\n")
    command = [os.environ.get("CC", "gcc"), "-w", "-I", os.path.join(sources, "src"), "-I", os.path.join(sources, "include")]
    with open(os.path.join(work, "tokitai_ops.h"), "w", encoding="utf-8"):
        pass  # the build makes it; no constant is there
    built = subprocess.run(command + ["-I", work, "-o", program, program + ".c"], capture_output=True, text=True,
                           check=False)
    if built.returncode != 0:
        raise Failure("the constants of src/exact/round.c do not compile: " + built.stderr[:300])
    rows = [line.split() for line in subprocess.check_output([program], text=True).strip().split("\n")]
    return {name: (int(value), int(bits), signed == "1") for name, value, bits, signed in rows}


def query(sources, work, conversion):
    file, function, argument, source, target, nan = conversion
    with open(os.path.join(sources, file), encoding="utf-8") as stream:
        text = without_comments(stream.read())
    head, body = body_of(text, function)
    if not head.endswith(argument):
        raise Failure(f"it takes ({head}), not {argument}")
    exponent, precision = FORMATS[target]
    total, result_width, constants, inlined = exponent + precision, exponent + precision, {}, {}
    if function == "tki_round_double":
        result_width, constants = 32, constants_of(sources, work, target)
        with open(os.path.join(sources, "src/exact/round.h"), encoding="utf-8") as stream:
            header = without_comments(stream.read())
        inlined = {"overflow_of": body_of(text, "overflow_of"),
                   "tki_double_exponent_field": body_of(header, "tki_double_exponent_field")}
    t = Translation(function, constants, inlined)
    width = sum(FORMATS[source])
    kind, name = argument.split()
    t.variables[name] = Value(from_bits("x", kind), kind=kind, bits="x") if kind in FLOATS else Value("x", *TYPES[kind])
    returned = t.run(body, (result_width, False))
    lines = ["(set-option :produce-models true)", "(set-logic QF_BVFP)", f"(declare-const x (_ BitVec {width}))"] + t.lines
    given_sort, sort = "{} {}".format(*FORMATS[source]), f"{exponent} {precision}"
    lines += [f"(define-fun returned () (_ BitVec {result_width}) {returned})",
              f"(define-fun result () (_ BitVec {total}) ((_ extract {total - 1} 0) returned))",
              f"(define-fun given () (_ FloatingPoint {given_sort}) ((_ to_fp {given_sort}) x))",
              f"(define-fun got () (_ FloatingPoint {sort}) ((_ to_fp {sort}) result))",
              f"(define-fun expected () (_ FloatingPoint {sort}) ((_ to_fp {sort}) RNE given))"]
    sign = f"(= ((_ extract {total - 1} {total - 1}) result) ((_ extract {width - 1} {width - 1}) x))"
    quiet = f"(= ((_ extract {precision - 2} {precision - 2}) result) #b1)"
    as_nan = {"signed": f"(and (fp.isNaN got) {sign})", "quiet": f"(and (fp.isNaN got) {sign} {quiet})",
              "any": "(fp.isNaN got)"}
    if nan == "canonical":
        as_nan[nan] = f"(= result {literal(constants['f.nan'][0], total)})"
    small = f"(= returned ((_ zero_extend {result_width - total}) result))"
    good = f"(and {small} (ite (fp.isNaN given) {as_nan[nan]} (= got expected)))"
    lines += [f"(assert (or (not {good}) {' '.join(t.overflows)}))", "(check-sat)", "(get-value (x returned))"]
    return "\n".join(lines) + "\n"


# File, function, parameter, formats from and to, and what becomes of a NaN.
CONVERSIONS = [
    ("src/core/dtype.h", "tki_f32_to_f16", "float value", "f32", "f16", "quiet"),
    ("src/core/dtype.h", "tki_f32_to_bf16", "float value", "f32", "bf16", "quiet"),
    ("src/core/dtype.h", "tki_f16_to_f32", "uint16_t bits", "f16", "f32", "any"),
    ("src/core/dtype.h", "tki_bf16_to_f32", "uint16_t bits", "bf16", "f32", "signed"),
    ("src/exact/round.c", "tki_round_double", "double value", "f64", "f16", "canonical"),
    ("src/exact/round.c", "tki_round_double", "double value", "f64", "bf16", "canonical"),
    ("src/exact/round.c", "tki_round_double", "double value", "f64", "f32", "canonical"),
]


def answer(solver, path):
    command = {"z3": ["z3", "-T:1500", path], "cvc5": ["cvc5", "--fp-exp", "--tlimit=1500000", path]}[solver]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip().split("\n")
    return " ".join(lines) if lines[0] == "sat" else lines[0]


def main():
    sources, work = sys.argv[1], sys.argv[2]
    solvers = ["z3", "cvc5"] if len(sys.argv) < 4 or sys.argv[3] == "both" else [sys.argv[3]]
    conversions = [c for c in CONVERSIONS if len(sys.argv) < 5 or c[1] == sys.argv[4]]
    for solver in solvers:
        if not shutil.which(solver):
            print(f"skipped: there is no {solver}")
            return 77
    os.makedirs(work, exist_ok=True)
    failures = 0
    for conversion in conversions:
        name = f"{conversion[1]} to {conversion[4]}"
        try:
            text = query(sources, work, conversion)
        except Failure as failure:
            print(f"FAILED {name}: {failure}")
            failures += 1
            continue
        path = os.path.join(work, name.replace(" ", "_") + ".smt2")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for solver in solvers:
            begin = time.time()
            said = answer(solver, path)
            good = said == "unsat"
            failures += not good
            print(f"{'holds ' if good else 'FAILED'} {name}: {solver} says {said or 'nothing'} ({time.time() - begin:.1f} s)",
                  flush=True)
    return failures > 0 or not conversions


if __name__ == "__main__":
    sys.exit(main())
