#!/usr/bin/env bash
# The options that certificates of the library's own kernels name are those that they were compiled with, for each instruction set.
set -euo pipefail
build=${BUILD_DIR:-$(dirname "$(readlink -f "${TOKITAI:?the program}")")}
header=$build/generated/tokitai_build.h
commands=$build/compile_commands.json
[ -r "$commands" ] || { echo "skipped: no compile_commands.json"; exit 77; }
failed=0 seen=0
# What makes code differ; warnings, paths and what says which instruction set the names are of do not.
options() { tr ' ' '\n' | grep -E '^-(std=|O|f|m|D)' | grep -vE '^-(DTKI_ISA=|ffile-prefix-map=|fdebug|fmacro)' | sort -u; }
all=$(sed -n 's/^#define TKI_BUILD_KERNEL_OPTIONS "\(.*\)"$/\1/p' "$header")
[ -n "$all" ] || { echo "tokitai_build.h has no options"; exit 1; }
while IFS='|' read -r isa own; do
    command=$(grep -m 1 -o "\"command\": \".*kernels_$isa\.dir/src/ops/[a-z]*/kernel_cpu[a-z_]*\.c\.o .*\"" "$commands" | sed 's/^"command": "//; s/"$//')
    [ -n "$command" ] || { echo "$isa: nothing was compiled for it"; failed=1; continue; }
    seen=$((seen + 1))
    # Where two say something else, -O2 and -O3, the last counts, and both are named.
    if ! diff <(options <<<"$all $own") <(options <<<"$command"); then
        echo "$isa: certificates (<) name other options than were used (>)"
        failed=1
    fi
    extra=$(tr ' ' '\n' <<<"$own" | grep -v '^-' || true)
    [ -z "$extra" ] || { echo "$isa: '$extra' is no option"; failed=1; }
done < <(sed -n '/^#define TKI_BUILD_ISA_OPTIONS/,/^$/s/^ *{"\([^"]*\)", "\(.*\)"}.*/\1|\2/p' "$header")
[ $seen -gt 0 ] || { echo "tokitai_build.h names no instruction set"; exit 1; }
echo "$seen instruction sets: their options are as certificates name them"
exit $failed
