#!/usr/bin/env bash
# Every HIP kernel compiles for four architectures, without spills and warnings; see compile_kernels.bash.
set -uo pipefail
exec bash "$(dirname "$(readlink -f "$0")")/compile_kernels.bash" hip gfx90a gfx942 gfx1100 gfx1101
