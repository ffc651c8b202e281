#!/usr/bin/env bash
# Every HIP kernel compiles for three architectures, without spills and warnings; see compile_kernels.bash. With --whole: in all types, and for
# gfx1101 too, whose instructions are those of gfx1100.
# A function of: src/compile src/core src/drivers src/kernels src/ops src/runtime; gpu-compilers
set -uo pipefail
architectures=(gfx90a gfx942 gfx1100) whole=()
[ "${1-}" != --whole ] || { whole=(--whole); architectures+=(gfx1101); }
exec bash "$(dirname "$(readlink -f "$0")")/compile_kernels.bash" "${whole[@]}" hip "${architectures[@]}"
