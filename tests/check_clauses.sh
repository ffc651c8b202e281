#!/usr/bin/env bash
# Every clause id of a contract ("GELU_BWD.ERR" of src/ops/*/contract.c) stands in at least one test source. Contracts put ids together of the op's
# name and what the clause is about, by macros; so the preprocessor's output is what is read.
# With --self-test: shows on a copy that a clause without a test is found.
set -euo pipefail
shopt -s nullglob
script=$(readlink -f "$0")
root=${SOURCE_DIR:-$(dirname "$script")/..}

id='[A-Z][A-Z0-9_]*\.[A-Z][A-Z0-9_]*'

check() { # root
    local contracts=("$1"/src/ops/*/contract.c) tests=("$1"/src/ops/*/test*.c "$1"/tests/*.c "$1"/tests/*/test_*.c) missing
    if [ ${#contracts[@]} -eq 0 ]; then
        echo "no src/ops/*/contract.c under $1"
        return 1
    fi
    local ids tested
    ids=$(for file in "${contracts[@]}"; do
        "${CC:-cc}" -E -P -DTOKITAI_WITHOUT_OPS -I "$root/include" -I "$1/src" -I "$root/src" "$file" || exit
    done | tr -d '\n' | sed 's/" *"//g' | grep -oE "\"$id\"" | tr -d '"' | sort -u)
    if [ -z "$ids" ]; then
        echo "no clause ids in src/ops/*/contract.c"
        return 1
    fi
    tested=$(cat /dev/null "${tests[@]}" | grep -oE "$id" | sort -u || true)
    missing=$(comm -23 <(echo "$ids") <(echo "$tested"))
    if [ -n "$missing" ]; then
        echo "clauses without a test:"
        sed 's/^/    /' <<<"$missing"
        return 1
    fi
    echo "all $(wc -l <<<"$ids") clauses have a test"
}

self_test() {
    local copy
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    mkdir -p "$copy/src/ops/planted" "$copy/tests"
    cp -r "$root/src/ops" "$copy/src/" 2>/dev/null || true
    cp -r "$root"/tests/*.c "$root"/tests/{judge,trials,certify} "$copy/tests/" 2>/dev/null || true
    printf '    {"PLANTED.CLAUSE", "a clause without a test"},\n' >"$copy/src/ops/planted/contract.c"

    listed() { grep -qxE ' +PLANTED\.CLAUSE' <<<"$(check "$copy")"; }
    listed || { echo "a clause without a test was not found"; return 1; }
    if check "$copy" >/dev/null; then
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
    *) check "$root" ;;
esac
