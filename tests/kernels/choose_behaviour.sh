#!/usr/bin/env bash
# choose_behaviour.sh MODULE PREFIX NAME...: a copy PREFIX NAME.so of the module for each of its functions, which runs that one. The module
# has a place of 64 bytes for the name.
set -euo pipefail
module=$1 prefix=$2
shift 2
place=$(grep -abo 'the chosen behaviour' "$module" | cut -d: -f1)
[[ $place =~ ^[0-9]+$ ]] || { echo "$module: not one place for a name, but: $place"; exit 1; }
for name in "$@"; do
    [ ${#name} -lt 64 ] || { echo "$name: too long a name"; exit 1; }
    cp "$module" "$prefix$name.so"
    printf '%s\0' "$name" | dd of="$prefix$name.so" bs=1 seek="$place" conv=notrunc status=none
done
