# Sourced by strangers*.sh: judges the kernels of tests/strangers/ at a level, and compares with what each file's first line says.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/program_test.bash"

# judge_strangers LEVEL LEAST [OPTION...]: at least LEAST per cent of the wrong kernels are refuted, and no right one is anything but held.
judge_strangers() {
    local level=$1 least=$2 side
    shift 2
    for side in wrong right; do
        "$tokitai" certify --kernels "$root/tests/strangers/$side" --level "$level" --seed 20261115 --jobs "$(nproc)" \
            --timeout 60 --json-lines "$side.jsonl" "$@" >out 2>err </dev/null
        is "    every result of $side is a line of JSON" test -s "$side.jsonl"
    done
    if python3 - "$root/tests/strangers" "$least" <<'PYTHON'
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
        head = re.match(r"/\* (WRONG|RIGHT) op=(\w+) kind=(\w+)( narrow=(yes|no))? : ", file.open().readline())
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
