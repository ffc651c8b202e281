#!/usr/bin/env bash
# Every clause id of our contracts ("GELU_BWD.ERR") stands in at least one test source. Some clauses follow from sizes and tensors, so the
# program is asked for them.
# With --self-test: shows on a copy that a clause without a test is found.
set -euo pipefail
shopt -s nullglob
script=$(readlink -f "$0")
root=${SOURCE_DIR:-$(dirname "$script")/..}
tokitai=${TOKITAI:-${BUILD_DIR:-$root/build}/tokitai}

id='[A-Z][A-Z0-9_]*\.[A-Z][A-Z0-9_]*'

clauses() {
    local op
    for op in $(sed -nE 's/^OP\(([a-z0-9_]+),.*/\1/p' "$root/src/ops/ops.def"); do
        "$tokitai" ops "$op" --json || return
    done | sed -nE "s/^ *\"id\": \"($id)\".*/\1/p" | sort -u
}

check() { # root ids
    local tests=("$1"/src/ops/*/test*.c "$1"/tests/*.c "$1"/tests/*/test_*.c) tested missing
    if [ -z "$2" ]; then
        echo "no clause ids: $tokitai"
        return 1
    fi
    tested=$(cat /dev/null "${tests[@]}" | grep -oE "$id" | sort -u || true)
    missing=$(comm -23 <(echo "$2") <(echo "$tested"))
    if [ -n "$missing" ]; then
        echo "clauses without a test:"
        sed 's/^/    /' <<<"$missing"
        return 1
    fi
    echo "all $(wc -l <<<"$2") clauses have a test"
}

self_test() {
    local copy ids
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    mkdir -p "$copy/src" "$copy/tests"
    cp -r "$root/src/ops" "$copy/src/"
    cp -r "$root"/tests/*.c "$root"/tests/{judge,trials,certify} "$copy/tests/"
    ids=$(clauses; echo PLANTED.CLAUSE)
    ids=$(sort -u <<<"$ids")

    listed() { grep -qxE ' +PLANTED\.CLAUSE' <<<"$(check "$copy" "$ids")"; }
    listed || { echo "a clause without a test was not found"; return 1; }
    if check "$copy" "$ids" >/dev/null; then
        echo "a clause without a test did not fail the check"
        return 1
    fi
    echo '/* PLANTED.CLAUSE_OTHER */' >"$copy/tests/test_planted.c"
    listed || { echo "a longer id was taken for the clause"; return 1; }
    echo '/* PLANTED.CLAUSE */' >>"$copy/tests/test_planted.c"
    if listed; then
        echo "a clause with a test was listed"
        return 1
    fi
    echo "a clause without a test is found, one with a test is not"
}

case ${1-} in
    --self-test) self_test ;;
    *) check "$root" "$(clauses)" ;;
esac
