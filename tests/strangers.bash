# Sourced by strangers*.sh: judges the kernels of tests/strangers/ at a level, and compares with what each file's first line says.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/program_test.bash"

# judge SIDE FOLDER [OPTION...]: adds the results of a folder's kernels to SIDE.jsonl.
judge() {
    local side=$1 folder=$2
    shift 2
    "$tokitai" certify --kernels "$folder" --include "$root/tests/strangers/shared" --seed 20261115 --jobs "$(nproc)" --timeout 60 --json-lines part.jsonl "$@" \
        >out 2>err </dev/null
    is "    every result of $folder is a line of JSON" test -s part.jsonl
    cat part.jsonl >>"$side.jsonl"
}

# judge_strangers LEVEL LEAST SHARE: of one kernel among SHARE, the middle one by name, at least LEAST per cent of the wrong ones are refuted, and no
# right one is anything but held. A wrong one is judged for one type without coverage first, and by everything only if that did not refute it: a
# refutation ends it either way. Where its first line names a type, it is wrong for that alone, and judged for it. Right ones are explored for
# one type and judged for all.
judge_strangers() {
    local level=$1 least=$2 share=$3 side file dtype folder
    rm -rf wrong.jsonl right.jsonl wrong right left left.*
    mkdir wrong right left
    for side in wrong right; do
        find "$root/tests/strangers/$side" -type f | sort | awk -v share="$share" 'NR % share == int(share / 2)' | xargs -d '\n' cp -t $side
    done
    judge wrong wrong --level quick --dtype f16 --index i32 --no-coverage
    python3 - wrong <<'PYTHON'
import json, pathlib, re, shutil, sys
folder = pathlib.Path(sys.argv[1])
refuted = {(pathlib.Path(r["file"]).name, r["op"])
           for r in map(json.loads, open("wrong.jsonl")) if r["verdict"] == "REFUTED" and "op" in r}
for file in folder.iterdir():
    if (file.name, re.search(r" op=(\w+) ", file.open().readline())[1]) not in refuted:
        shutil.copy(file, "left")
PYTHON
    for file in $(grep -l -m 1 '^/\* WRONG .* dtype=[^ ]* : ' left/*); do
        dtype=$(sed -n '1s/.* dtype=\([^ ]*\) : .*/\1/p' "$file")
        mkdir -p "left.$dtype"
        mv "$file" "left.$dtype"
    done
    judge wrong left --level "$level"
    for folder in left.*; do
        [ ! -d "$folder" ] || judge wrong "$folder" --level "$level" --dtype "${folder#left.}"
    done
    judge right right --level "$level" --dtype f16 --index i32
    judge right right --level "$level" --no-coverage
    if python3 - . "$least" <<'PYTHON'
import collections, json, pathlib, re, sys
folder, least = pathlib.Path(sys.argv[1]), float(sys.argv[2])
good = True
for side, wanted in (("wrong", {"REFUTED"}), ("right", {"HELD", "PROVED"})):
    verdicts = collections.defaultdict(list)
    for line in open(side + ".jsonl"):
        result = json.loads(line)
        verdicts[pathlib.Path(result["file"]).name].append(result)
    files = sorted(folder.joinpath(side).iterdir())
    as_wanted = 0
    for file in files:
        head = re.match(r"/\* (WRONG|RIGHT) op=(\w+) kind=(\w+)( narrow=(yes|no))?( dtype=[\w-]+)? : ", file.open().readline())
        assert head and head[1] == side.upper(), file
        results = [r for r in verdicts[file.name] if r.get("op") == head[2]]
        if side == "wrong":
            fine = any(r["verdict"] in wanted for r in results)
        else:
            fine = bool(results) and all(r["verdict"] in wanted for r in results)
        as_wanted += fine
        if not fine:
            print(f"    {side}/{file.name}:", *sorted({r["verdict"] + " " + r["reason"] for r in results}))
    print(f"    {side}: {as_wanted} of {len(files)} as they should be")
    good &= as_wanted >= len(files) * (least / 100 if side == "wrong" else 1)
sys.exit(not good)
PYTHON
    then pass "at level $level, at least $least % of the wrong kernels are refuted and all right ones are held"
    else fail "at level $level, at least $least % of the wrong kernels are refuted and all right ones are held"; fi
}
