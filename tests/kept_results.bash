#!/usr/bin/env bash
# kept_results.bash SCRIPT [ARGUMENT...]: runs a test that is a function of files and tools, unless it has passed with the very same before. The
# script names them in a line
#     # A function of: PATH...; TOOL...
# where a path is a file or a folder of the source tree, and a tool a program that tells its version, or `gpu-compilers`, those that tokitai finds.
# What passed is kept in $TOKITAI_TEST_STORE, else ~/.cache/tokitai-tests: a file named by the SHA-256 of all that, with what the test said. `off`
# keeps nothing. What failed or was skipped is not kept.
set -uo pipefail
script=$(readlink -f "$1")
shift
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$script")/..}")
store=${TOKITAI_TEST_STORE:-${HOME:-/nonexistent}/.cache/tokitai-tests}
[ "$store" != off ] || exec bash "$script" "$@"

IFS=';' read -r paths tools < <(sed -n 's/^# A function of: //p' "$script")
read -ra paths <<<"$paths"
read -ra tools <<<"$tools"
describe() {
    echo "$(basename "$script") $* ${TOKITAI_EFFORT-}"
    uname -m
    grep -m 1 '^flags' /proc/cpuinfo # kernels for this processor may be what is compiled
    local tool
    for tool in "${tools[@]}"; do
        echo "$tool"
        case $tool in
            gpu-compilers) "${TOKITAI:?the program}" devices | grep compiler ;;
            *) command -v "$tool" && "$tool" --version 2>&1 ;;
        esac
    done
    ! grep -q 'share\.bash' "$script" || (source "$root/tests/share.bash" && echo "share $share_number")
    cd "$root" || return 1
    find "${paths[@]}" "$script" tests/*.bash -type f ! -name '*.vo*' ! -name '*.glob' ! -name '.*.aux' ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
}
key=$(describe "$@" | sha256sum | cut -d' ' -f1)
kept=$store/$key
if [ -s "$kept" ]; then
    cat "$kept"
    echo "kept: passed on $(date -u -r "$kept" +%F) with the same files and tools ($kept)"
    exit 0
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
bash "$script" "$@" 2>&1 | tee "$said"
status=${PIPESTATUS[0]}
# What said that a part was left out has not shown all.
if [ "$status" = 0 ] && ! grep -q '^skipped' "$said" && mkdir -p "$store" 2>/dev/null; then
    cp "$said" "$store/.$key.$$" && mv "$store/.$key.$$" "$kept"
fi
exit "$status"
