#!/usr/bin/env bash
# Kernels of definitions, written by hand. The first lines of each file of tests/definition_kernels name ops, and the ways in which its kernel of
# that op can be wrong: the right one is held, and each wrong one refuted. At each commit another op; with --whole: all.
. "$(dirname "$0")/program_test.bash"
. "$root/tests/share.bash"

judged() { # SOURCE FILE.op:NAME WAY...: the kernel NAME in it; WRONG RIGHT is not refuted, all others are
    local source=$1 op=$2 name=${2#*:} wrong
    shift 2
    expect 0 "$name: a right kernel is held" certify "$root/src/ops/definitions/$op" --kernel "$source" --dtype f32
    for wrong in "$@"; do
        sed "s/^#define WRONG RIGHT/#define WRONG $wrong/" "$source" >"${name}_${wrong,,}.c"
        expect 1 "$name: ${wrong,,} is refuted" certify "$root/src/ops/definitions/$op" --kernel "${name}_${wrong,,}.c" --dtype f32
    done
}

for source in "$root"/tests/definition_kernels/*.c; do
    sed -n "s,^ \*     \([a-z0-9_]*\.op:[a-z0-9_]*\): \([A-Z_ ]*\)\$,$source \1 \2,p" "$source"
done >kernels
for file in "$root"/src/ops/definitions/*.op; do
    sed -n "s/^op \([a-z0-9_]*\)(.*/${file##*/}:\1/p" "$file"
done | sort >defined
is "each kernel is of a definition" test -z "$(comm -13 defined <(cut -d ' ' -f 2 kernels | sort))"
is "    and none has two" test -z "$(cut -d ' ' -f 2 kernels | sort | uniq -d)"

shares=$(wc -l <kernels)
[ "${1-}" != --whole ] || shares=1
say_share "$shares"
index=0
while read -r source op ways; do
    read -ra ways <<<"$ways"
    is "$op can be wrong in three ways" [ ${#ways[@]} -ge 3 ]
    ! in_share $((index++)) "$shares" || judged "$source" "$op" "${ways[@]}"
done <kernels
finish
