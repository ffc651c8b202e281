#!/usr/bin/env bash
# The wrong kernels that need level full, since the quick trials meet them by chance or not at all: each is refuted by the full ones.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

"$tokitai" ops --json >"$work/ops.json" || exit 1
python3 - "$work/ops.json" >"$work/mutants" <<'PYTHON'
import json, sys
for op in json.load(open(sys.argv[1])):
    for mutant in op["mutants"]:
        if mutant["level"] != "quick":
            print(op["name"], mutant["level"], mutant["name"])
PYTHON
count=0 failed=0
while read -r op level name; do
    count=$((count + 1))
    one=("$op" --dtype f16 --index i32 --mutant "$name")
    "$tokitai" certify "${one[@]}" --level "$level" >"$work/$level" 2>&1
    status=$?
    if [ $status -eq 1 ]; then
        echo "ok       $op $name"
    else
        echo "FAILED   $op $name: exit status $status at $level"
        sed 's/^/    /' "$work/$level"
        failed=$((failed + 1))
    fi
done <"$work/mutants"
echo "$count wrong kernels that need more than quick, $failed not as they should be"
[ $count -ge 11 ] && [ $failed -eq 0 ]
