#!/usr/bin/env python3
"""The index of the certificates that were made on a device, and what is wrong with it. A few of their files lie in this folder.

    index.py                             write index.md: every certificate, and whether its kernel is the present one
    index.py --with TOKITAI              the same, by a program with the compiler that they name: a source that changed and still
                                         gives an artifact does not make its certificates stale
    index.py --add PART FILE... [--keep] take certificates in as PART.SUBJECT, then write index.md; --keep puts their files here, too,
                                         of one line each. A file that is kept already is replaced
    index.py --check [--release]         say which are edited, missing or not listed (exit status 1), and which are stale: a warning,
                                         and an error with --release

A file that is deleted here stays listed, as not kept; to forget a certificate, delete its row as well. A certificate is stale if its
kernel has changed: the SHA-256 of the source and all that it includes is not the one in the index, which is that of the certificate,
or of later sources that gave the same artifact. --root DIR: another tree than this one."""
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

Made by [index.py](index.py); [README.md](README.md) says what these are. The last column is the SHA-256 of the certificate's own file,
`RUN.SUBJECT.json`; those with `yes` are in this folder.

| run | subject | verdict | date | artifact | kept | SHA-256 |
|---|---|---|---|---|---|---|
"""
ARTIFACTS_HEAD = """
## Artifacts

`artifact` and `sources` are the beginning of a SHA-256: of the kernel as the device ran it, and of the sources that gave it, with
these options.

| artifact | source | options | compiler | sources | kernel |
|---|---|---|---|---|---|
"""
SHORT = 16
Row = collections.namedtuple("Row", "run subject verdict date artifact kept sha256")
Artifact = collections.namedtuple("Artifact", "artifact source options compiler sources kernel")


def name_of(row):
    return f"{row.run}.{row.subject}"


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
    """The rows by name, and the artifacts by hash."""
    rows, artifacts = {}, {}
    try:
        with open(os.path.join(folder, "index.md"), encoding="utf-8") as file:
            for line in file:
                cells = [cell.strip(" `*") for cell in line.strip().strip("|").split("|")]
                if len(cells) == len(Row._fields) and re.fullmatch("[0-9a-f]{64}", cells[-1]):
                    rows[name_of(Row(*cells))] = Row(*cells)
                elif len(cells) == len(Artifact._fields) and re.fullmatch("[0-9a-f]{16}", cells[0]):
                    artifacts[cells[0]] = Artifact(*cells)
    except FileNotFoundError:
        pass
    return rows, artifacts


def write_index(folder, rows, artifacts):
    with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as file:
        file.write(HEAD)
        for row in sorted(rows.values()):
            file.write(f"| {row.run} | {row.subject} | {row.verdict} | {row.date} | `{row.artifact}` | {row.kept} | `{row.sha256}` |\n")
        file.write(ARTIFACTS_HEAD)
        for a in sorted(artifacts.values(), key=lambda a: (a.source, a.options, a.artifact)):
            kernel = "**stale**" if a.kernel == "stale" else a.kernel
            file.write(f"| `{a.artifact}` | {a.source} | `{a.options}` | {a.compiler} | `{a.sources}` | {kernel} |\n")


class Tree:
    def __init__(self, root):
        self.root = root
        self.folder = os.path.join(root, "docs", "certificates")
        self.rows, self.artifacts = read_index(self.folder)
        self.hashes = {}

    def all_sources_now(self, source):
        if source not in self.hashes:
            self.hashes[source] = present_sources(self.root, source) or "none"
        return self.hashes[source]

    def state(self, artifact):
        return "present" if artifact.sources == self.all_sources_now(artifact.source)[:SHORT] else "stale"

    def names(self):
        return sorted(name[: -len(".json")] for name in os.listdir(self.folder) if name.endswith(".json"))

    def path(self, name):
        return os.path.join(self.folder, name + ".json")

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def entry(self, name, data, kept):
        """What the index should say of a certificate; raises ValueError if it is none."""
        try:
            predicate = json.loads(data)["predicate"]
            built = predicate["built"]
            # --no-cache changes no image, only what the compiler tells about one.
            artifact = Artifact(built["artifact_sha256"][:SHORT], built["source"], built["options"].replace(" --no-cache", ""),
                                built["compiler"], built["source_sha256"][:SHORT], "")
            verdict, date = predicate["verdict"], predicate["created"][:10]
            run, subject = name.split(".", 1)
            if not (subject + ".").startswith(predicate["run"]["subject"] + "."):
                raise ValueError("its subject is " + predicate["run"]["subject"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{name}: not a certificate of a kernel: {error!r}") from error
        listed = self.artifacts.get(artifact.artifact)
        if listed and listed[:4] != artifact[:4]:
            raise ValueError(f"{name}: its artifact is listed as that of {listed.source} with other options or another compiler")
        if listed and self.state(artifact) != "present":
            artifact = listed
        return Row(run, subject, verdict, date, artifact.artifact, kept, sha256(data)), artifact._replace(kernel=self.state(artifact))

    def take(self, name, data, kept):
        row, artifact = self.entry(name, data, kept)
        self.rows[name] = row
        self.artifacts[artifact.artifact] = artifact


def artifacts_now(tokitai, artifacts):
    """For each what the present sources give and these sources' SHA-256, or None if its compiler is not here."""
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, TOKITAI_CACHE=cache)
        for source, architecture in sorted({(a.source, re.search(r"=(sm_[0-9]+)", a.options + "=sm_0").group(1)) for a in artifacts}):
            subprocess.run([tokitai, "cache", "build", "--backend", "cuda", "--architecture", architecture, "--source", source],
                           env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for name in os.listdir(cache):
            with open(os.path.join(cache, name), "rb") as file:
                head = file.read(8192).split(b"\n\n")[0].decode("utf-8", "replace")
            fields = dict(line.split(" ", 1) for line in head.splitlines() if " " in line)
            if "image" in fields:
                key = fields["source"], fields["options"].replace(" --no-cache", ""), fields["compiler"]
                found[key] = fields["image"], fields["source_hash"]
    return [found.get(a[1:4]) for a in artifacts]


def write(tree, tokitai):
    files = tree.names()
    for name in set(tree.rows) - set(files):
        tree.rows[name] = tree.rows[name]._replace(kept="no")
    for name in files:
        tree.take(name, tree.read(name), "yes")
    used = {row.artifact for row in tree.rows.values()}
    artifacts = [artifact for artifact in tree.artifacts.values() if artifact.artifact in used]
    for i, now in enumerate(artifacts_now(tokitai, artifacts) if tokitai else []):
        if now and now[0][:SHORT] == artifacts[i].artifact:
            artifacts[i] = artifacts[i]._replace(sources=now[1][:SHORT])
    tree.artifacts = {artifact.artifact: artifact._replace(kernel=tree.state(artifact)) for artifact in artifacts}
    write_index(tree.folder, tree.rows, tree.artifacts)
    stale = sum(tree.artifacts[row.artifact].kernel == "stale" for row in tree.rows.values())
    print(f"{len(tree.rows)} certificates, {stale} of them stale, {len(files)} kept")


def add(tree, part, files, keep):
    for path in files:
        with open(path, encoding="utf-8") as file:
            data = one_line(file.read()).encode()
        name = f"{part}.{os.path.basename(path).removesuffix('.json')}"
        tree.take(name, data, "no")
        if keep or os.path.exists(tree.path(name)):
            with open(tree.path(name), "wb") as file:
                file.write(data)
    write(tree, None)


def check_file(tree, name):
    """What is wrong with a kept file, or None."""
    listed = tree.rows.get(name)
    if not listed:
        return f"{name}: the index does not list it: run index.py"
    data = tree.read(name)
    try:
        row, artifact = tree.entry(name, data, "yes")
    except ValueError as error:
        return f"edited: {error}"
    if row.sha256 != listed.sha256:
        return f"{name}: edited: it is not the file that the index lists"
    if row != listed or artifact.artifact not in tree.artifacts:
        return f"{name}: the index does not say what it says: run index.py"
    return None


def check(tree, release):
    warnings = []
    files = tree.names()
    problems = [] if tree.rows else ["index.md lists no certificate"]
    problems += [f"{name}: missing: the index has it as kept" for name, row in sorted(tree.rows.items())
                 if row.kept != "no" and name not in files]
    problems += filter(None, (check_file(tree, name) for name in files))
    for name, row in sorted(tree.rows.items()):
        artifact = tree.artifacts.get(row.artifact)
        if not artifact:
            problems.append(f"{name}: the index does not list its artifact")
        elif tree.state(artifact) == "stale":
            warnings.append(f"{name}: stale: its kernel has changed" + ("" if artifact.kernel == "stale" else "; mark it by index.py"))
        elif artifact.kernel == "stale":
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
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--release", action="store_true")
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    if arguments.check:
        return check(tree, arguments.release)
    try:
        if arguments.add:
            add(tree, arguments.add[0], arguments.add[1:], arguments.keep)
        else:
            write(tree, arguments.tokitai)
    except (OSError, ValueError) as error:
        print(f"index.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
