#!/usr/bin/env bash
# Installs the build and uses it from there as a user would: by the CMake package, shared and static, and by pkg-config; from a tree
# that was moved. Skipped (77) with sanitizers, whose run-time would have to be in the user's program as well.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:?the folder of the build}
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
[ -z "$(setting TOKITAI_SANITIZE)" ] || { echo "skipped: built with sanitizers"; exit 77; }
compiler=$(setting CMAKE_C_COMPILER)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/tree"
tree=$work/tree
libdir=$tree/$(setting CMAKE_INSTALL_LIBDIR)
[ "$libdir" != "$tree/" ] || libdir=$(dirname "$(find "$tree" -name 'libtokitai.*' -not -path '*/pkgconfig/*' | head -n 1)")

run() { # folder of programs
    "$1/compute" && "$1/certify" || { echo "$1: a program failed"; exit 1; }
    [ ! -x "$1/serve" ] || "$1/serve" "$tree/bin/tokitai" || { echo "$1: serve failed"; exit 1; }
}

kinds=static
[ ! -e "$libdir/libtokitai.so" ] || kinds="shared static"
for kind in $kinds; do
    echo "-- the CMake package, $kind"
    static=OFF
    [ $kind = shared ] || static=ON
    { cmake -S "$root/tests/package" -B "$work/$kind" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$tree" \
        -DTokitai_USE_STATIC_LIBS=$static && cmake --build "$work/$kind"; } >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    run "$work/$kind"
    loads=$(readelf -d "$work/$kind/certify" | grep -c 'NEEDED.*libtokitai' || true)
    if { [ $kind = shared ] && [ "$loads" -eq 0 ]; } || { [ $kind = static ] && [ "$loads" -ne 0 ]; }; then
        echo "$kind: certify loads $loads libraries of ours"
        exit 1
    fi
done

if command -v pkg-config >/dev/null; then
    echo "-- pkg-config"
    export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
    flag=
    [ -e "$libdir/libtokitai.so" ] || flag=--static
    mkdir "$work/plain"
    for pair in compute:tokitai certify:tokitai-verify serve:tokitai-serve; do
        [ -e "$libdir/pkgconfig/${pair#*:}.pc" ] || continue
        # shellcheck disable=SC2046
        "$compiler" "$root/tests/package/${pair%:*}.c" -o "$work/plain/${pair%:*}" $(pkg-config $flag --cflags --libs "${pair#*:}")
    done
    run "$work/plain"
fi
