#!/usr/bin/env python3
"""The index of the certificates in this folder, and what is wrong with them.

    index.py                      write index.md: every certificate, and whether its kernel is the present one
    index.py --with TOKITAI       the same, by a program with the compiler that they name: a source that changed and still gives
                                  the artifact of a certificate does not make it stale
    index.py --add PART FILE...   take certificates in, as PART.SUBJECT.json of one line each, then write index.md
    index.py --check [--release]  say which are edited, missing or not listed (exit status 1), and which are stale: a warning, and
                                  an error with --release

A certificate is stale if its kernel has changed: the SHA-256 of the source and all that it includes is not the one in the index,
which is that of the certificate, or of later sources that gave the same artifact. --root DIR: another tree than this one."""
import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

HEAD = """# Index

Made by [index.py](index.py); [README.md](README.md) says what these are. `artifact` and `sources` are the beginning of a SHA-256: of the
kernel as the device ran it, and of the sources that gave it. The last column is that of the certificate's own file, `RUN.SUBJECT.json`.

| run | subject | verdict | date | artifact | sources | kernel | SHA-256 |
|---|---|---|---|---|---|---|---|
"""
SHORT = 16
Row = collections.namedtuple("Row", "run subject verdict date artifact sources kernel sha256")


def file_name(row):
    return f"{row.run}.{row.subject}.json"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def include_names(text):
    return re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', text, re.MULTILINE)


def present_sources(root, source):
    """SHA-256 of a kernel and everything that it includes, as src/compile/kernel_sources.c has it; None if a file is not there."""
    root, order = os.path.join(root, "src"), []

    def visit(path):
        order.append(path)
        with open(os.path.join(root, path), encoding="utf-8") as file:
            names = include_names(file.read())
        for name in names:
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            found = beside if os.path.isfile(os.path.join(root, beside)) else name
            if found not in order:
                visit(found)

    try:
        visit(source)
        return sha256(b"".join(open(os.path.join(root, path), "rb").read() for path in order))
    except OSError:
        return None


def one_line(text):
    """Without white space outside of strings: what tki_statement_line() writes."""
    kept = re.sub(r'"(?:[^"\\]|\\.)*"|\s+', lambda m: m.group() if m.group()[0] == '"' else "", text)
    return kept + "\n"


def read_index(folder):
    rows = {}
    try:
        with open(os.path.join(folder, "index.md"), encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip(" `*") for cell in line.strip().strip("|").split("|")]
                if len(cells) == len(Row._fields) and re.fullmatch("[0-9a-f]{64}", cells[-1]):
                    rows[file_name(Row(*cells))] = Row(*cells)
    except FileNotFoundError:
        pass
    return rows


def write_index(folder, rows):
    with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as file:
        file.write(HEAD)
        for row in rows:
            kernel = "**stale**" if row.kernel == "stale" else row.kernel
            file.write(f"| {row.run} | {row.subject} | {row.verdict} | {row.date} | `{row.artifact}` | `{row.sources}` | {kernel} "
                       f"| `{row.sha256}` |\n")


class Tree:
    def __init__(self, root):
        self.root = root
        self.folder = os.path.join(root, "docs", "certificates")
        self.listed = read_index(self.folder)
        self.hashes = {}

    def sources_now(self, source):
        if source not in self.hashes:
            self.hashes[source] = present_sources(self.root, source) or "none"
        return self.hashes[source][:SHORT]

    def names(self):
        return sorted(name for name in os.listdir(self.folder) if name.endswith(".json"))

    def row(self, name):
        """What the index should say of a file; raises ValueError if it is no certificate."""
        with open(os.path.join(self.folder, name), "rb") as file:
            data = file.read()
        try:
            predicate = json.loads(data)["predicate"]
            built = predicate["built"]
            artifact, sources = built["artifact_sha256"][:SHORT], built["source_sha256"][:SHORT]
            verdict, date, source = predicate["verdict"], predicate["created"][:10], built["source"]
            run, subject = name[: -len(".json")].split(".", 1)
            if not (subject + ".").startswith(predicate["run"]["subject"] + "."):
                raise ValueError("its subject is " + predicate["run"]["subject"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{name}: not a certificate of a kernel: {error!r}") from error
        listed = self.listed.get(name)
        if listed and listed.artifact == artifact and listed.sha256 == sha256(data):
            sources = listed.sources
        kernel = "present" if sources == self.sources_now(source) else "stale"
        return Row(run, subject, verdict, date, artifact, sources, kernel, sha256(data))


def artifacts_now(tokitai, predicates):
    """For each the artifact that the present sources give and these sources' SHA-256, or None if its compiler is not here."""
    def key(words):
        # --no-cache changes no image, only what the compiler tells about one.
        return words["source"], words["options"].replace(" --no-cache", ""), words["compiler"]

    found = {}
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, TOKITAI_CACHE=cache)
        for source, architecture in sorted({(p["built"]["source"], p["machine"]["architecture"]) for p in predicates}):
            subprocess.run([tokitai, "cache", "build", "--backend", "cuda", "--architecture", architecture, "--source", source],
                           env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for name in os.listdir(cache):
            with open(os.path.join(cache, name), "rb") as file:
                head = file.read(8192).split(b"\n\n")[0].decode("utf-8", "replace")
            fields = dict(line.split(" ", 1) for line in head.splitlines() if " " in line)
            if "image" in fields:
                found[key(fields)] = fields["image"], fields["source_hash"]
    return [found.get(key(predicate["built"])) for predicate in predicates]


def write(tree, tokitai):
    rows = sorted(tree.row(name) for name in tree.names())
    if tokitai:
        predicates = [json.load(open(os.path.join(tree.folder, file_name(row)), encoding="utf-8"))["predicate"] for row in rows]
        for i, now in enumerate(artifacts_now(tokitai, predicates)):
            if now and now[0] == predicates[i]["built"]["artifact_sha256"]:
                kernel = "present" if now[1][:SHORT] == tree.sources_now(predicates[i]["built"]["source"]) else "stale"
                rows[i] = rows[i]._replace(sources=now[1][:SHORT], kernel=kernel)
    write_index(tree.folder, rows)
    stale = sum(row.kernel == "stale" for row in rows)
    print(f"{len(rows)} certificates, {stale} of them stale")


def add(tree, part, files):
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = f"{part}.{os.path.basename(path)}"
        with open(os.path.join(tree.folder, name), "w", encoding="utf-8") as file:
            file.write(one_line(text))
        tree.row(name)
    write(tree, None)


def check(tree, release):
    problems, warnings = [], []
    names = tree.names()
    if not tree.listed:
        problems.append("index.md lists no certificate")
    problems += [f"{name}: missing: the index lists it" for name in sorted(set(tree.listed) - set(names))]
    for name in names:
        listed = tree.listed.get(name)
        if not listed:
            problems.append(f"{name}: the index does not list it: run index.py")
            continue
        try:
            row = tree.row(name)
        except ValueError as error:
            problems.append(f"edited: {error}")
            continue
        if row.sha256 != listed.sha256:
            problems.append(f"{name}: edited: it is not the file that the index lists")
        elif row._replace(kernel=listed.kernel) != listed:
            problems.append(f"{name}: the index does not say what it says: run index.py")
        elif row.kernel == "stale":
            warnings.append(f"{name}: stale: its kernel has changed" + ("" if listed.kernel == "stale" else "; mark it by index.py"))
        elif listed.kernel == "stale":
            warnings.append(f"{name}: marked stale, and its kernel is the present one: run index.py")
    for text in warnings:
        print(f"{'error' if release else 'warning'}: {text}")
    for text in problems:
        print(f"error: {text}")
    return 1 if problems or (release and warnings) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
    parser.add_argument("--with", dest="tokitai")
    parser.add_argument("--add", nargs="+", metavar="PART FILE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--release", action="store_true")
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    if arguments.check:
        return check(tree, arguments.release)
    try:
        if arguments.add:
            add(tree, arguments.add[0], arguments.add[1:])
        else:
            write(tree, arguments.tokitai)
    except (OSError, ValueError) as error:
        print(f"index.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
