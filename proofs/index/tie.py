#!/usr/bin/env python3
"""Compares the index maps of kernel sources with those of the proofs.

    tie.py SOURCE_TREE WORK_FOLDER [POINTS]     few POINTS are compiled without optimising, which takes less time

maps.cc says what is compared, and on which points. Its lines //@ stand for text of the sources, which is taken out
here as it is and compiled for the host with integers that notice when they wrap (traced.h):

    //@function FILE NAME [n]        a function; the n-th of that name
    //@declaration FILE FUNCTION NAME    the statement of FUNCTION that declares NAME
    //@assignment FILE FUNCTION NAME     the first one that assigns to NAME
    //@enumeration FILE NAME         the enum that has NAME
    //@region FILE FIRST ... LAST    lines from one that begins with FIRST up to one that begins with LAST
    //@steps FILE FIRST ... LAST     the same within a function, whatever the lines' indentation
    //@lines FILE FIRST              all lines that begin with FIRST
    //@include FILE                  another file of such lines
    //=value FILE FUNCTION CALL[#k] n    within a line: argument n of the first (k-th) call of CALL in FUNCTION
    //=condition FILE FUNCTION       within a line: the condition of its first if
    //=first, //=step FILE FUNCTION NAME    what the loop over NAME begins with, and what it adds

coq::NAME is a Definition of proofs/*.v, translated to C++ over integers of 128 bits. Whatever is not found or not
understood ends the check with a message. Exit status 0: all agree."""

import os
import re
import subprocess
import sys


class Failure(Exception):
    pass


# -- Text of the sources -----------------------------------------------------------------------------------------------


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def closing(text, place, pair):
    """Where the bracket that opens at `place` closes."""
    depth = 0
    for i in range(place, len(text)):
        if text[i] == pair[0]:
            depth += 1
        elif text[i] == pair[1]:
            depth -= 1
            if depth == 0:
                return i
    raise Failure("a bracket is not closed")


class Sources:
    def __init__(self, root):
        self.root = root
        self.texts = {}

    def text(self, name):
        if name not in self.texts:
            path = os.path.join(self.root, name)
            if not os.path.exists(path):
                raise Failure(f"{name}: there is no such file")
            with open(path, encoding="utf-8") as file:
                self.texts[name] = without_comments(file.read())
        return self.texts[name]

    def function(self, name, function):
        """(head, body) of the function, of which there has to be one definition."""
        text = self.text(name)
        found = []
        for m in re.finditer(r"^[^\n#]*\b" + re.escape(function) + r"\(", text, re.M):
            end = closing(text, m.end() - 1, "()")
            rest = re.match(r"(\s|const\b)*\{", text[end + 1:])
            if not rest:
                continue
            begin = end + 1 + rest.end() - 1
            before = re.search(r"template\s*<[^;{}]*>\s*$", text[:m.start()])
            found.append((text[before.start() if before else m.start():end + 1], text[begin:closing(text, begin, "{}") + 1]))
        for m in re.finditer(r"^KERNEL(\([^)]*\b" + re.escape(function) + r"\b[^)]*\)\s*)\{", text, re.M):
            found.append((m.group(1), text[m.end() - 1:closing(text, m.end() - 1, "{}") + 1]))
        if not found:
            raise Failure(f"{name}: there is no function {function}")
        return found

    def one_function(self, name, function, number=0):
        return self.function(name, function)[number]

    def declaration(self, name, function, variable):
        for _, body in self.function(name, function):
            depth_free = body
            m = re.search(r"(?:^|[;{}])\s*((?:const\s+)?(?:\w+\s+\*?)?(?:[\w\[\]]+\s*=[^;{}]*,\s*)?\b"
                          + re.escape(variable) + r"\s*=[^;=][^;]*;)", depth_free)
            if not m:
                m = re.search(r"(?:^|[;{}])\s*((?:const\s+)?(?:struct\s+)?\w+[^;(){}]*[^;{}]*?[\s,]"
                              + re.escape(variable) + r"\s*=[^;=][^;]*;)", depth_free)
            if m:
                return re.sub(r"\s+", " ", m.group(1))
        raise Failure(f"{name}: {function}() declares no {variable}")

    def assignment(self, name, function, variable):
        for _, body in self.function(name, function):
            m = re.search(r"[;{})]\s*(" + re.escape(variable) + r"\s*=[^;=][^;]*;)", body)
            if m:
                return re.sub(r"\s+", " ", m.group(1))
        raise Failure(f"{name}: {function}() does not assign to {variable}")

    def enumeration(self, name, constant):
        text = self.text(name)
        for m in re.finditer(r"\benum\s*\w*\s*\{", text):
            end = closing(text, m.end() - 1, "{}")
            body = text[m.start():end + 1]
            if re.search(r"[{,]\s*" + re.escape(constant) + r"\s*[=,}]", body):
                return body + ";"
        raise Failure(f"{name}: there is no enum with {constant}")

    def region(self, name, first, last, indented=False):
        lines = self.text(name).split("\n")
        if indented:
            lines = [line.strip() for line in lines]
        begin = [i for i, line in enumerate(lines) if line.startswith(first)]
        if not begin:
            raise Failure(f"{name}: no line begins with '{first}'")
        for i in range(begin[0], len(lines)):
            if lines[i].startswith(last):
                return "\n".join(lines[begin[0]:i + 1])
        raise Failure(f"{name}: behind '{first}' no line begins with '{last}'")

    def lines(self, name, first):
        lines = [line for line in self.text(name).split("\n") if line.startswith(first)]
        if not lines:
            raise Failure(f"{name}: no line begins with '{first}'")
        return "\n".join(lines)

    def loop(self, name, function, variable, part):
        """What a loop's variable begins with, or what is added to it."""
        for _, body in self.function(name, function):
            m = re.search(r"for (\()(?:int|int64_t) " + re.escape(variable) + r" = ([^;]*);[^;]*;\s*"
                          + re.escape(variable) + r" \+= ", body)
            if m:
                step = body[m.end():closing(body, m.start(1), "()")].split(", slot ^= 1")[0]
                return "(" + re.sub(r"\s+", " ", m.group(2) if part == "first" else step) + ")"
        raise Failure(f"{name}: {function}() has no loop over {variable}")

    def condition(self, name, function):
        """Of the first if."""
        for _, body in self.function(name, function):
            m = re.search(r"\bif \(", body)
            if m:
                return body[m.end() - 1:closing(body, m.end() - 1, "()") + 1]
        raise Failure(f"{name}: {function}() has no if")

    def value(self, name, function, call, which, number):
        for _, body in self.function(name, function):
            calls = list(re.finditer(re.escape(call) + r"(?:<[^;()]*>)?\(", body))
            if len(calls) < which:
                continue
            m = calls[which - 1]
            inside = body[m.end():closing(body, m.end() - 1, "()")]
            parts, depth, part = [], 0, ""
            for c in inside:
                depth += (c in "([{") - (c in ")]}")
                if c == "," and depth == 0:
                    parts.append(part)
                    part = ""
                else:
                    part += c
            parts.append(part)
            if number >= len(parts):
                raise Failure(f"{name}: {call}() in {function}() has no argument {number}")
            return "(" + re.sub(r"\s+", " ", parts[number]).strip() + ")"
        raise Failure(f"{name}: {function}() does not call {call}()")


def with_places(text):
    """Subscripts by place_at(), which takes the integers of traced.h too."""
    result, place = "", 0
    while True:
        begin = text.find("[", place)
        if begin < 0:
            return result + text[place:]
        end = closing(text, begin, "[]")
        inside = text[begin + 1:end]
        result += text[place:begin]
        result += f"[{inside}]" if inside.strip() in ("", "&", "=") else f"[place_at({with_places(inside)})]"
        place = end + 1


def for_host(text):
    """Parameters of templates stay what they are; all other ints are those of traced.h."""
    text = re.sub(r"\btemplate\s*<[^>]*>", lambda m: re.sub(r"\bint\b", "plain_int", m.group()), text)
    text = re.sub(r"\bunsigned char\b", "plain_byte", text)
    return with_places(re.sub(r"^#pragma unroll.*$", "", text, flags=re.M))


def expand(line, sources):
    words = line[len("//@"):].split()
    kind, name, rest = words[0], words[1], words[2:]
    if kind == "function":
        number = int(rest[1]) if len(rest) > 1 else 0
        head, body = sources.one_function(name, rest[0], number)
        return for_host(head) + "\n" + for_host(body)
    if kind == "declaration":
        return for_host(sources.declaration(name, rest[0], rest[1]))
    if kind == "assignment":
        return for_host(sources.assignment(name, rest[0], rest[1]))
    if kind == "enumeration":
        return sources.enumeration(name, rest[0])
    if kind in ("region", "steps"):
        first, last = " ".join(rest).split(" ... ")
        return for_host(sources.region(name, first, last, kind == "steps"))
    if kind == "lines":
        return sources.lines(name, rest[0])
    raise Failure(f"maps.cc: what is '{line}'?")


# -- Definitions of the proofs -----------------------------------------------------------------------------------------

TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][\w.']*)|(<\?|<=\?|=\?|&&|\|\||:=|[-+*/^()\[\];,:]))")
CALLS = {"Z.min": 2, "Z.max": 2, "Z.lxor": 2, "Z.land": 2, "Z.lor": 2, "Z.shiftr": 2, "Z.shiftl": 2, "negb": 1}


class Gallina:
    """One body, translated by recursive descent."""

    def __init__(self, name, text, definitions):
        self.name, self.definitions, self.needed = name, definitions, set()
        self.tokens, place = [], 0
        text = text.strip()
        while place < len(text):
            m = TOKEN.match(text, place)
            if not m:
                raise Failure(f"Definition {name}: '{text[place:place + 20]}' is not understood")
            self.tokens.append(m.group(1) or m.group(2) or m.group(3))
            place = m.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, expected=None):
        token = self.peek()
        if token is None or (expected and token != expected):
            raise Failure(f"Definition {self.name}: '{expected}' was expected instead of '{token}'")
        self.at += 1
        return token

    def whole(self):
        result = self.expression()
        if self.peek() is not None:
            raise Failure(f"Definition {self.name}: '{self.peek()}' is not understood")
        return result

    def expression(self):
        if self.peek() == "let":
            self.take()
            name = self.take()
            self.take(":=")
            value = self.expression()
            self.take("in")
            return f"[&] {{ const Z {self.variable(name)} = {value}; return {self.expression()}; }}()"
        if self.peek() == "if":
            self.take()
            condition = self.expression()
            self.take("then")
            yes = self.expression()
            self.take("else")
            return f"({condition} ? {yes} : {self.expression()})"
        return self.disjunction()

    @staticmethod
    def variable(name):
        return name.replace("'", "_")

    def binary(self, inner, operators):
        left = inner()
        while self.peek() in operators:
            left = operators[self.take()].format(left, inner())
        return left

    def disjunction(self):
        return self.binary(self.conjunction, {"||": "({} || {})"})

    def conjunction(self):
        return self.binary(self.comparison, {"&&": "({} && {})"})

    def comparison(self):
        return self.binary(self.total, {"<?": "({} < {})", "<=?": "({} <= {})", "=?": "({} == {})"})

    def total(self):
        return self.binary(self.product, {"+": "({} + {})", "-": "({} - {})"})

    def product(self):
        return self.binary(self.power, {"*": "({} * {})", "/": "divided({}, {})", "mod": "remainder({}, {})"})

    def power(self):
        if self.peek() == "-":
            self.take()
            return f"(-{self.power()})"
        left = self.application()
        if self.peek() == "^":
            self.take()
            return f"power({left}, {self.power()})"
        return left

    def application(self):
        token = self.peek()
        if token in CALLS or token in self.definitions:
            self.take()
            if token in CALLS:
                function, count = token.replace(".", "_"), CALLS[token]
            else:
                function, count = token, len(self.definitions[token].arguments)
                self.needed.add(token)
            return f"{function}({', '.join(self.atom() for _ in range(count))})"
        return self.atom()

    def atom(self):
        token = self.take()
        if token == "(":
            inside = self.expression()
            self.take(")")
            return inside
        if token == "[":
            items = [self.expression()]
            while self.peek() == ";":
                self.take()
                items.append(self.expression())
            self.take("]")
            return "list{" + ", ".join(items) + "}"
        if token.isdigit():
            return f"(Z){token}"
        if token in self.definitions and not self.definitions[token].arguments:
            self.needed.add(token)
            return f"{token}()"
        if re.fullmatch(r"[a-z_]\w*'?", token) and token not in CALLS:
            return self.variable(token)
        raise Failure(f"Definition {self.name}: '{token}' is not understood")


class Definition:
    def __init__(self, file, name, arguments, result, body):
        self.file, self.name, self.arguments, self.result, self.body = file, name, arguments, result, body


def definitions_of(root):
    found = {}
    folder = os.path.join(root, "proofs")
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".v"):
            continue
        with open(os.path.join(folder, file), encoding="utf-8") as stream:
            text = re.sub(r"\(\*.*?\*\)", " ", stream.read(), flags=re.S)
        for m in re.finditer(r"\bDefinition\s+(\w+)\s*((?:\([\w\s']+:\s*\w+\)\s*)*):\s*(Z|bool|list Z)\s*:=(.*?)\.(?=\s)",
                             text, re.S):
            arguments = []
            for group in re.findall(r"\(([^)]*)\)", m.group(2)):
                names, kind = group.split(":")
                arguments += [(name, kind.strip()) for name in names.split()]
            if file.startswith("til"):
                found[m.group(1)] = Definition(file, m.group(1), arguments, m.group(3), m.group(4))
    return found


def translate(names, definitions):
    done, lines = set(), []

    def add(name):
        if name in done:
            return
        if name not in definitions:
            raise Failure(f"proofs: there is no Definition {name} over Z")
        done.add(name)
        d = definitions[name]
        parser = Gallina(name, d.body, definitions)
        body = parser.whole()
        for other in sorted(parser.needed):
            add(other)
        result = {"Z": "Z", "bool": "bool", "list Z": "list"}[d.result]
        arguments = ", ".join(f"{'bool' if kind == 'bool' else 'Z'} {Gallina.variable(a)}" for a, kind in d.arguments)
        lines.append(f"inline {result} {name}({arguments})\n{{\n    return {body};\n}}")

    for name in names:
        add(name)
    return "\n".join(lines)


# -- The program -------------------------------------------------------------------------------------------------------


def included(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def build(root, work, optimise):
    sources, definitions = Sources(os.path.join(root, "src")), definitions_of(root)
    with open(os.path.join(root, "proofs/index/maps.cc"), encoding="utf-8") as file:
        template = re.sub(r"^//@include (\S+)$", lambda m: included(root, m.group(1)), file.read(), flags=re.M)
    names = sorted({n for n in re.findall(r"coq::(\w+)", template) if not n.startswith("Z_")})
    lines = []
    for number, line in enumerate(template.split("\n"), 1):
        if line.strip() == "//@proofs":
            lines.append(translate(names, definitions))
        elif line.strip().startswith("//@"):
            lines.append(expand(line.strip(), sources))
        else:
            line = re.sub(r"//=condition (\S+) (\w+)", lambda m: sources.condition(m.group(1), m.group(2)), line)
            line = re.sub(r"//=(first|step) (\S+) (\w+) (\w+)",
                          lambda m: sources.loop(m.group(2), m.group(3), m.group(4), m.group(1)), line)
            lines.append(re.sub(r"//=value (\S+) (\w+) (\w+)(?:#(\d+))? (\d+)",
                                lambda m: sources.value(m.group(1), m.group(2), m.group(3), int(m.group(4) or 1),
                                                        int(m.group(5))), line))
    path = os.path.join(work, "tied_maps.cc")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    program = os.path.join(work, "tied_maps")
    command = [os.environ.get("CXX", "g++"), "-std=c++20", optimise, "-w", "-I", os.path.join(root, "src"), "-I", root, "-o", program, path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Failure("the sources' formulas do not compile as maps.cc has them:\n"
                      + "\n".join(result.stderr.split("\n")[:30]))
    return program, len(names)


def main():
    root, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(work, exist_ok=True)
    try:
        program, names = build(root, work, "-O2" if len(sys.argv) < 4 else "-O0")
    except Failure as failure:
        print(f"tile maps: {failure}")
        return 1
    print(f"{names} definitions of proofs/*.v")
    return subprocess.run([program] + sys.argv[3:], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
