# Sourced by user_kernels*.sh: judges the kernels of tests/user_kernels/ at a level, and compares with what each file's first line says.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/program_test.bash"
source "$root/tests/share.bash"

seed=20261115

# judge FOLDER [OPTION...]: adds the results of a folder's kernels to results.jsonl. There may be none.
judge() {
    local folder=$1
    shift
    [ -d "$folder" ] || return 0
    rm -f part.jsonl
    "$tokitai" certify --kernels "$folder" --include "$root/tests/user_kernels/shared" --seed "$seed" --jobs "$(nproc)" --timeout 60 \
        --json-lines part.jsonl "$@" >out 2>err </dev/null
    is "    every result of $folder is a line of JSON" test -s part.jsonl
    cat part.jsonl >>results.jsonl
}

# with_head REGEX FILE...: those whose first line matches
with_head() {
    local regex=$1
    shift
    awk -v regex="$regex" 'FNR == 1 {if ($0 ~ regex) print FILENAME; nextfile}' "$@"
}

# Races: whether threads meet is chance, so a kernel with timing=yes has up to eight attempts, the later ones with other seeds. Threads that
# take turns on one processor need not meet at all.
judge_again() {
    local seed file
    [ "$(nproc)" -gt 1 ] || return 0
    for seed in 2 3 4 5 6 7 8; do
        rm -rf again
        while read -r file; do
            grep -q "/${file##*/}\",\"verdict\":\"REFUTED\"" results.jsonl && continue
            mkdir -p again/wrong
            cp "$file" again/wrong
        done < <(with_head ' timing=yes : ' wrong/*)
        judge again/wrong --level quick --no-coverage
    done
}

# judge_user_kernels LEVEL SHARES: the kernels of one share of them have the verdicts that their first lines say. A refutation in any type ends it, so
# each is judged for one type first, by everything, and wrong ones for the others only if that did not refute them. Right ones are
# explored for one type and judged for all. Where a first line names a type, the kernel is wrong for that alone, and judged for it.
judge_user_kernels() {
    local level=$1 shares=$2 index=0 file type title
    [ "$shares" -eq 1 ] || say_share "$shares"
    mkdir wrong right
    : >results.jsonl
    while read -r file; do
        ! in_share $((index++)) "$shares" || cp "$root/tests/user_kernels/$file" "${file%/*}"
    done < <(cd "$root/tests/user_kernels" && find wrong right -type f | sort)
    while read -r file; do
        type=$(sed -n '1s/.* dtype=\([^ ]*\) .*/\1/p' "$file")
        mkdir -p "wrong.$type"
        mv "$file" "wrong.$type"
    done < <(with_head '^/\* WRONG .* dtype=[^ ]* expect=' wrong/*)
    judge wrong --level quick --dtype f16 --index i32
    judge right --level "$level" --dtype f16 --index i32
    for file in wrong.*; do
        judge "$file" --level "$level" --dtype "${file#wrong.}"
    done
    python3 - "$level" <<'PYTHON'
import json, pathlib, re, shutil, sys
results = {}
for result in map(json.loads, open("results.jsonl")):
    results.setdefault(result["file"], []).append(result)
for side in "wrong", "right":
    for file in sorted(pathlib.Path(side).iterdir()):
        op = re.search(r" op=(\w+) ", file.open().readline())[1]
        of_op = [r for r in results.get(str(file), []) if r.get("op") == op]
        if any(r["verdict"] == "REFUTED" for r in of_op):
            continue
        if not of_op or sys.argv[1] != "quick" and side == "wrong":
            to = ["all"]
        else:
            to = ["bf16", "i64"] if "index_dtype" in of_op[0] else ["bf16"]
        for name in to:
            folder = pathlib.Path("left", name, side)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder)
PYTHON
    judge left/all/wrong --level "$level"
    judge left/all/right --level "$level"
    judge left/bf16/wrong --level "$level" --dtype bf16
    judge left/bf16/right --level "$level" --dtype bf16 --no-coverage
    judge left/i64/wrong --level "$level" --dtype f16 --index i64
    judge left/i64/right --level "$level" --dtype f16 --index i64 --no-coverage
    judge_again
    title="at level $level, every kernel has the verdict that its first line says"
    if python3 - "$level" "$(nproc)" <<'PYTHON'
import collections, json, pathlib, re, sys
worst_first = ["REFUTED", "UNKNOWN", "HELD", "PROVED"]
results = collections.defaultdict(list)
for result in map(json.loads, open("results.jsonl")):
    path = pathlib.Path(result["file"])
    side = next(part.split(".")[0] for part in path.parts[::-1] if part.split(".")[0] in ("wrong", "right"))
    results[side, path.name].append(result)
good = True
count = collections.Counter()
for side in "wrong", "right":
    for file in sorted(pathlib.Path().glob(side + "*/*")):
        line = file.open().readline()
        head = re.match(r"/\* (WRONG|RIGHT) op=(\w+) kind=\w+( narrow=(yes|no))?( dtype=[\w-]+)? expect=(REFUTED|HELD|PROVED)( timing=yes)? : ", line)
        assert head and head[1] == side.upper() and (side == "wrong" or head[6] != "REFUTED"), line
        of_op = [r for r in results[side, file.name] if r.get("op") == head[2]]
        verdict = min((r["verdict"] for r in of_op), key=worst_first.index, default="no verdict")
        count[side, verdict] += 1
        # At full more trials may refute a wrong kernel that quick holds, or complete a proof.
        allowed = {head[6]} | ({"REFUTED"} if side == "wrong" and sys.argv[1] != "quick" else set())
        if head[7] and sys.argv[2] == "1":
            allowed |= {"HELD"}
        if verdict in allowed:
            continue
        good = False
        print(f"    {side}/{file.name}: {verdict}, and its first line says expect={head[6]}")
        if side == "wrong" and verdict == "REFUTED":
            print(f"        the judge has become better: change that to expect={verdict}")
        for reason in sorted({r["verdict"] + " " + r["reason"] for r in of_op or results[side, file.name]}):
            print("       ", reason)
for (side, verdict), number in sorted(count.items()):
    print(f"    {side}: {number} {verdict}")
sys.exit(not good)
PYTHON
    then pass "$title"; else fail "$title"; fi
}
