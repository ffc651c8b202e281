#!/usr/bin/env bash
# The source hash of a CPU kernel covers all that the compiler reads of the project for it, by the commands that compiled it, for every
# instruction set; and the hash that certificates name is that of these files. Needs SOURCE_DIR and BUILD_DIR.
# With --self-test: shows on a planted tree that a new header is in the list and in the hash, and that one which the list lacks is found.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
sources=$root/src # where the names of kernels begin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the files of the tree that the compiler reads for a kernel and that are not in its list.
missing() { # ROOT KERNEL LIST COMMAND...
    local tree=$1 listed="$2 $3" file count=0 arguments=()
    shift 3
    while [ $# -gt 0 ]; do
        case $1 in
            -o | -MF | -MT | -MQ) shift ;;
            -c | -MD | -MMD | *ccache) ;;
            *) arguments+=("$1") ;;
        esac
        shift
    done
    "${arguments[@]}" -MM -MT object >"$work/rule" || return 1
    while read -r file; do
        count=$((count + 1))
        file=$(realpath --relative-to="$tree" "$file")
        [[ " $listed " == *" $file "* ]] || echo "$file"
    done < <(sed 's/^object://; s/\\$//' "$work/rule" | tr -s ' ' '\n' | sed '/^$/d')
    [ $count -gt 1 ]
}

hash_in() { # HEADER KERNEL
    sed -n "s|.*{\"$2\", \"\([0-9a-f]*\)\"}.*|\1|p" "$1"
}

hash_of() { # ROOT KERNEL LIST
    local files
    read -ra files <<<"$2 $3"
    (cd "$1" && cat "${files[@]}") | sha256sum | cut -d' ' -f1
}

check() {
    local build=${BUILD_DIR:?the build to look at} kernel list file failed=0 kernels=0 commands=0 command words
    local header=$build/generated/tokitai_build.h
    [ -r "$build/compile_commands.json" ] || { echo "skipped: no compile_commands.json"; exit 77; }
    while IFS=: read -r kernel list; do
        list=${list# }
        kernels=$((kernels + 1))
        if [ "$(hash_in "$header" "$kernel")" != "$(hash_of "$sources" "$kernel" "$list")" ]; then
            echo "$kernel: its hash is not that of: $kernel $list"
            failed=1
        fi
        while read -r command; do
            commands=$((commands + 1))
            read -ra words <<<"$command"
            file=$(cd "$build" && missing "$sources" "$kernel" "$list" "${words[@]}") || { echo "$kernel: what was read is not known: $command"; failed=1; }
            [ -z "$file" ] || { echo "$kernel: its hash does not cover" $file; failed=1; }
        done < <(sed -n "s|^ *\"command\": \"\(.*/kernels_[a-z0-9]*\.dir/src/$kernel\.o .*\)\",*$|\1|p; s|^ *\"command\": \"\(.* CMakeFiles/kernels_[a-z0-9]*\.dir/src/$kernel\.o .*\)\",*$|\1|p" "$build/compile_commands.json" | sort -u)
    done <"$build/generated/kernel_files.txt"
    [ $kernels -gt 0 ] && [ $commands -ge $kernels ] || { echo "$kernels kernels, $commands commands: that cannot be all"; failed=1; }
    [ $failed -ne 0 ] || echo "$kernels kernels, compiled by $commands commands: their hashes cover all that was read"
    return $failed
}

self_test() {
    command -v cmake >/dev/null && command -v gcc >/dev/null || { echo "skipped: no cmake or gcc"; exit 77; }
    local tree=$work/tree/src kernel=ops/planted/kernel_cpu.c list first second
    local compile=(gcc -I"$tree" -I"$tree/../include" -o x.o -c "$tree/$kernel")
    mkdir -p "$tree/ops/planted" "$tree/kernels" "$work/tree/include"
    printf '#include "params.h"\n#ifdef NEVER\n#  include "kernels/other.h"\n#endif\n#include "types.h"\n' >"$tree/$kernel"
    echo '#include "kernels/new.h"' >"$tree/ops/planted/params.h"
    touch "$tree/kernels/new.h" "$tree/kernels/other.h" "$work/tree/include/types.h"
    embed() {
        cmake -DOUTPUT="$work/build.h" -DSOURCE_DIR="$tree" -DKERNELS=$kernel -DCOMPILER=gcc -P "$root/cmake/embed_build.cmake" >/dev/null || return 1
        list=$(sed -n "s|^$kernel: ||p" "$work/kernel_files.txt")
    }
    expect() { # WHAT IS EXPECTED
        [ "$2" = "$3" ] || { echo "$1: '$2', not '$3'"; exit 1; }
    }
    embed
    expect "the list" "$list" "ops/planted/params.h kernels/new.h kernels/other.h ../include/types.h"
    first=$(hash_in "$work/build.h" $kernel)
    expect "the hash" "$first" "$(hash_of "$tree" $kernel "$list")"
    expect "what is read and not listed" "$(missing "$tree" $kernel "$list" "${compile[@]}")" ""
    for file in kernels/new.h kernels/other.h ../include/types.h; do
        expect "the build depends on $file" "$(grep -c "$tree/$file\b" "$work/build.h.d")" 1
        echo '/* planted */' >>"$tree/$file"
        embed
        second=$(hash_in "$work/build.h" $kernel)
        [ -n "$second" ] && [ "$second" != "$first" ] || { echo "$file is not in the hash"; exit 1; }
        first=$second
    done
    # By a macro, which only the compiler can follow.
    printf '#define HIDDEN "kernels/hidden.h"\n#include HIDDEN\n' >>"$tree/$kernel"
    touch "$tree/kernels/hidden.h"
    embed
    expect "what is read and not listed" "$(missing "$tree" $kernel "$list" "${compile[@]}")" kernels/hidden.h
    sed -i 's/HIDDEN$/"nowhere.h"/' "$tree/$kernel"
    if (embed 2>/dev/null); then
        echo "a header that is nowhere is passed over"
        exit 1
    fi
    echo "a new header is in the list and in the hash; one that the list lacks is found"
}

case ${1-} in
    --self-test) self_test ;;
    *) check ;;
esac
