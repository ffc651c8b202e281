#!/usr/bin/env bash
# docs/proofs.md lists what proofs/ has: its lower part is made from the sources and from the program's list of theorems. --write makes it anew.
set -euo pipefail
shopt -s nullglob
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=${TOKITAI:-${BUILD_DIR:-$root/build}/tokitai}
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
page=$root/docs/proofs.md
marker='<!-- made by tests/proofs_page.sh -->'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$tokitai" ops --proof --json >"$work/list.json"
sed "\|^$marker\$|q" "$page" >"$work/page.md"
PYTHONDONTWRITEBYTECODE=1 python3 - "$root/proofs" "$work/list.json" "$root/docs/certificates" >>"$work/page.md" <<'PYTHON'
import json, os, sys, textwrap

folder, listed, certificates = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3]
sys.path.insert(0, certificates)
import index


def lines(name):
    path = os.path.join(folder, name)
    return [line.rstrip("\n") for line in open(path)] if os.path.exists(path) else []


def entries(name):
    return [line for line in lines(name) if line and not line.startswith("#")]


def cell(text):
    for character in "\\|*_<>`[]":
        text = text.replace(character, "\\" + character)
    return text


def block(texts):
    print("```text", *texts, "```", "", sep="\n")


# The comment that begins a file, without its marks.
def head(name):
    found = []
    for line in lines(name):
        found.append(line.removeprefix("(* ").removeprefix("   ").removesuffix("*)").rstrip())
        if line.endswith("*)"):
            return found if found[-1] else found[:-1]
    sys.exit(f"{name} does not begin with a comment")


print("\n## What is proved\n")
files = {}
for theorem in listed["theorems"]:
    files.setdefault(theorem["file"].removeprefix("proofs/"), []).append(theorem)
print(f"{len(listed['theorems'])} theorems in {len(files)} files:\n")
for name, theorems in files.items():
    print(f"### proofs/{name}\n")
    block(head(name))
    print("| theorem | says | supports |\n|---|---|---|")
    for theorem in theorems:
        print(f"| {cell(theorem['theorem'])} | {cell(theorem['says'])} | {cell(theorem['supports'].replace(' ', ', '))} |")
    print()
others = sorted(name for name in os.listdir(folder) if name.endswith(".v") and name not in files)
print(textwrap.fill("The other files have definitions and lemmas for them: " + ", ".join(f"`{name}`" for name in others) + ".", 118) + "\n")

print("## What is assumed\n\nThese axioms of Coq's standard library, as `proofs/check.sh` finds them, and nothing else; and Coq itself, with")
print("the compiler that made it.\n")
block(lines("axioms.txt"))

print("## What solvers say\n\nTrusted, not proved: nothing checks the solver's word.\n")
print("| what | solver |\n|---|---|")
solvers = {}
for entry in entries("solvers.txt"):
    what, solver, _ = entry.split(";", 2)
    solvers.setdefault(what.strip(), []).append(solver.strip())
for what, names in solvers.items():
    print(f"| {cell(what)} | {cell(', '.join(names))} |")

print("\n## What is proved by computation\n\nBy trying every input, in a run of the program. It is a proof about the artifact that was run, as far as the")
print("oracle is right.\n")
print("| clauses | type | inputs | run | certificate |\n|---|---|---|---|---|")
rows = index.read_index(certificates)[0]
for entry in entries("exhaustion.txt"):
    clauses, kind, inputs, run, name = (part.strip() for part in entry.split(";"))
    if name not in rows or rows[name].verdict != "PROVED":
        sys.exit(f"proofs/exhaustion.txt: {name}: docs/certificates/index.md has no such certificate that says PROVED")
    print(f"| {cell(clauses)} | {cell(kind)} | {cell(inputs)} | `{run}` | [{cell(name)}](certificates/index.md) |")
PYTHON
sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$work/page.md"
if [ "${1-}" = --write ]; then
    cp "$work/page.md" "$page"
    exit 0
fi
if ! diff "$page" "$work/page.md"; then
    echo "docs/proofs.md is not what the proofs are; to put it right: tests/proofs_page.sh --write"
    exit 1
fi
echo "docs/proofs.md lists what proofs/ has"
