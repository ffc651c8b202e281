#!/usr/bin/env python3
"""Do two builds give the same verdicts and the same bits?

    same_output.py BEFORE AFTER    two folders, each made by `tokitai certify --seed N --out FOLDER` with the same N, by one build each

For every subject: the verdict, each clause's verdict, the mutants that are rejected, and for each trial that both ran its seed, its shape and the hash
of its output. Trials that one of them alone ran are counted. Exits with 1 if anything differs or a subject is missing."""
import collections
import json
import pathlib
import sys


def read(folder):
    certificates = {}
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        predicate = json.loads(file.read_text())["predicate"]
        trials = {json.dumps({k: v for k, v in t.items() if k != "output_sha256"}, sort_keys=True): t.get("output_sha256")
                  for t in predicate["run"]["trials"]}
        certificates[file.name] = {
            "verdict": predicate["verdict"],
            "clauses": {c["id"]: c["verdict"] for c in predicate["clauses"]},
            "mutants": {m["name"]: m["rejected"] for m in predicate.get("mutants") or []},
            "trials": trials,
        }
    return certificates


def main():
    before, after = map(read, sys.argv[1:])
    differences, count = [], collections.Counter()
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            differences.append(f"{name}: in one folder alone")
            continue
        a, b = before[name], after[name]
        count["subjects"] += 1
        for member in ("verdict", "clauses", "mutants"):
            if a[member] != b[member]:
                differences.append(f"{name}: {member}: {a[member]} before, {b[member]} after")
        both = a["trials"].keys() & b["trials"].keys()
        count["trials"] += len(both)
        count["trials before alone"] += len(a["trials"]) - len(both)
        count["trials after alone"] += len(b["trials"]) - len(both)
        differences += [f"{name}: another output: {t}" for t in sorted(both) if a["trials"][t] != b["trials"][t]]
        if not both:
            differences.append(f"{name}: no trial in common")
    for line in differences[:40]:
        print(line)
    print(", ".join(f"{number} {what}" for what, number in count.items()) + f": {len(differences)} differences")
    return 1 if differences or not count["subjects"] else 0


if __name__ == "__main__":
    sys.exit(main())
