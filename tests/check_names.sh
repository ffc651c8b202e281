#!/usr/bin/env bash
# A test is found by the name of what it tests: tests/FOLDER/test_NAME.c or test_NAME_ASPECT.c tests src/FOLDER/NAME, so that such a source is there.
# With --self-test: shows on a copy of the names that a test without a source is found.
set -euo pipefail
shopt -s nullglob
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")

# Is there a source of this name, or of a beginning of it before a _?
has_source() { # root folder name
    local name=$3 kind
    while :; do
        for kind in c h def; do
            [ ! -e "$1/src/$2/$name.$kind" ] || return 0
        done
        [[ $name == *_* ]] || return 1
        name=${name%_*}
    done
}

check() { # root
    local test tests=("$1"/tests/*/test_*.c) folder name status=0
    [ ${#tests[@]} -gt 0 ] || { echo "no tests under $1"; return 1; }
    for test in "${tests[@]}"; do
        name=${test##*/test_} folder=${test%/*}
        has_source "$1" "${folder##*/}" "${name%.c}" || { echo "${test#"$1"/}: no source in src/${folder##*/}/ has its name, or begins it"; status=1; }
    done
    [ $status -ne 0 ] || echo "${#tests[@]} tests are named after what they test"
    return $status
}

self_test() {
    local copy name verdict
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    mkdir -p "$copy"/{src,tests}/planted
    touch "$copy"/src/planted/{widget.c,widget_part.h,list.def}
    while read -r name verdict; do
        touch "$copy/tests/planted/test_$name.c"
        if check "$copy" >"$copy/said"; then [ "$verdict" = good ]; else [ "$verdict" = bad ] && grep -q "^tests/planted/test_$name.c: " "$copy/said"; fi ||
            { echo "test_$name.c was not found to be $verdict"; return 1; }
        rm "$copy/tests/planted/test_$name.c"
    done <<'NAMES'
widget good
widget_part good
widget_slow good
widget_part_of_it good
list good
widgets bad
part bad
wid bad
other_widget bad
NAMES
    ! check "$copy" >"$copy/said" || { echo "no tests at all were enough"; return 1; }
    echo "names that fit and names that do not are told apart"
}

case ${1-} in
    --self-test) self_test ;;
    *) check "$root" ;;
esac
