#!/usr/bin/env bash
# The CUDA sources of tests/device_kernels/ and examples/kernels/ compile for the devices that they are for, without warnings; skipped without nvcc.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "skipped: no nvcc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0 count=0
for file in "$root"/tests/device_kernels/*.cu "$root"/examples/kernels/*.cu; do
    count=$((count + 1))
    nvcc -O1 -arch=sm_90a -Werror all-warnings -I "$root/tests/device_kernels/shared" -I "$root/include" -I "${BUILD_DIR:-$root/build}/include" -cubin -o "$work/cubin" "$file" || { echo "does not compile: $file"; status=1; }
done
[ $status -ne 0 ] || echo "$count sources compile"
exit $status
