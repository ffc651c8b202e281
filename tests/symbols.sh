#!/usr/bin/env bash
# The shared libraries export what the public headers declare, by a version for everybody, and what is marked TKI_EXPORT and needed by another
# part of the same release, by one for that release. Nothing else. The soname ends with the number of the former. Skipped (77) where the libraries are static.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:?the folder of the build}
[ -e "$build/libtokitai.so" ] || { echo "skipped: the libraries are not shared"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# The functions and variables that headers declare: names before a parenthesis or a bracket, outside of comments, macros and types.
declared() {
    for header in "$@"; do
        [ -e "$root/include/$header" ] && header=$root/include/$header || header=$build/include/$header
        cc -fpreprocessed -dD -E -P "$header" 2>/dev/null
    done | sed '/^#/d' | tr '\n' ' ' | sed -E 's/typedef (struct|enum) [a-z_]+ \{[^}]*\}//g' |
        grep -oE '\btk_[a-z0-9_]+(\(|\[)' | tr -d '([' | sort -u
}

# What a library exports: NAME VERSION.
exported() { nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { sub(/@+/, " ", $3); print $3 }' | sort; }

# What it needs from elsewhere.
needed() { nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $2); print $2 }'; }

# Marked declarations, each of which may take several lines.
grep -rhoE --include='*.h' 'TKI_EXPORT .*\b(tki_[a-z0-9_]+)\(' "$root/src" |
    grep -oE 'tki_[a-z0-9_]+\($' | tr -d '(' | sort -u >"$work/marked"
parts=("$build"/libtokitai.so "$build"/libtokitai-verify.so "$build"/libtokitai-serve.so "$build"/tokitai)
for part in "${parts[@]}"; do [ ! -e "$part" ] || needed "$part"; done | sort -u >"$work/needed"

check() { # library, headers
    local library=$build/$1.so name=$1 total private soname
    shift
    [ -e "$library" ] || return 0
    exported "$library" >"$work/exported"
    soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]$/\1/p')
    if [[ $soname != "$name".so.?* ]]; then
        echo "$library: its soname is '$soname'"
        failed=1
    fi
    awk -v version="TOKITAI_${soname#"$name".so.}" '$2 == version { print $1 }' "$work/exported" >"$work/public"
    awk '$2 ~ /^TOKITAI_PRIVATE_/ { print $1 }' "$work/exported" >"$work/private"
    if ! diff <(declared "$@") "$work/public"; then
        echo "$library: the headers (<) declare something else than it exports (>)"
        failed=1
    fi
    if ! diff /dev/null <(comm -23 "$work/private" "$work/marked"); then
        echo "$library: exports names that are neither public nor marked"
        failed=1
    fi
    if ! diff /dev/null <(comm -23 "$work/private" "$work/needed"); then
        echo "$library: exports names that no other part needs"
        failed=1
    fi
    total=$(wc -l <"$work/exported") private=$(wc -l <"$work/private")
    if [ "$total" -ne $(($(wc -l <"$work/public") + private)) ] || [ "$total" -eq 0 ]; then
        echo "$library: exports names without a version"
        failed=1
    fi
    echo "${library##*/}: $((total - private)) public names, $private of this release"
}
check libtokitai tokitai.h tokitai_ops.h tokitai_cache.h
check libtokitai-verify tokitai_verify.h
check libtokitai-serve tokitai_serve.h
exit $failed
