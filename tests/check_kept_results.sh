#!/usr/bin/env bash
# tests/kept_results.bash: what passed is not run again while its files and tools are the same; what failed or was skipped is.
set -euo pipefail
runner=$(dirname "$(readlink -f "$0")")/kept_results.bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/tests" "$work/tree/data"
cp "$(dirname "$runner")/share.bash" "$work/tree/tests/"
echo 1 >"$work/tree/data/number"
cat >"$work/tree/tests/planted.sh" <<'SH'
# A function of: data; bash tool
echo run >>"$RUNS"
echo "the number is $(cat "$SOURCE_DIR/data/number"), $*"
exit "$(cat "$SOURCE_DIR/../status")"
SH
printf '#!/bin/sh\necho 1.0\n' >"$work/tool"
chmod +x "$work/tool"
export PATH=$work:$PATH SOURCE_DIR=$work/tree TOKITAI_TEST_STORE=$work/store RUNS=$work/runs

expect() { # RUNS STATUS WHAT [ARGUMENT...]: so many runs in all behind this one
    local runs=$1 expected=$2 what=$3 status=0
    shift 3
    bash "$runner" "$work/tree/tests/planted.sh" "$@" >"$work/said" 2>&1 || status=$?
    if [ "$status" != "$expected" ] || [ "$(wc -l <"$RUNS")" != "$runs" ] || ! grep -qF "the number is $(cat "$work/tree/data/number"), $*" "$work/said"; then
        echo "$what: exit status $status, $(wc -l <"$RUNS") runs, it said:"
        cat "$work/said"
        exit 1
    fi
}
echo 1 >"$work/status"
expect 1 1 "a failure"
expect 2 1 "a failure is not kept"
echo 77 >"$work/status"
expect 3 77 "what is skipped"
expect 4 77 "what is skipped is not kept"
echo 0 >"$work/status"
expect 5 0 "a pass"
expect 5 0 "a pass is kept"
expect 6 0 "with an argument" --whole
expect 6 0 "with an argument, again" --whole
expect 6 0 "without one, again"
echo 2 >"$work/tree/data/number"
expect 7 0 "a changed file"
echo 1 >"$work/tree/data/number"
expect 7 0 "as it was"
touch "$work/tree/data/new"
expect 8 0 "a new file"
sed -i 's/1\.0/1.1/' "$work/tool"
expect 9 0 "another tool"
echo '# more' >>"$work/tree/tests/planted.sh"
expect 10 0 "another script"
TOKITAI_TEST_STORE=off expect 11 0 "nothing is kept"
TOKITAI_TEST_STORE=/proc/nowhere expect 12 0 "no store"
echo "what passed is kept with its files and tools, and nothing else is"
