#!/usr/bin/env bash
# Workers under the real compute-sanitizer on a real GPU; skipped without either. On another machine than that of the build:
#     BUILD_DIR=build SOURCE_DIR=. tests/sanitizer_on_device.sh
# which needs, of the build, libtokitai.so.0.2, tokitai-worker and tests/sanitizer_on_device. tests/judge_on_device.sh has the verdicts.
set -uo pipefail
root=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}
build=${BUILD_DIR:-$root/build}

if [ ! -e /dev/nvidiactl ] && ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped: no NVIDIA GPU"
    exit 77
fi
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "skipped: no nvcc"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TMPDIR=$scratch "$build/tests/sanitizer_on_device" "$root/tests/device_kernels" "$root/tests/device_kernels/shared" "$root/include" "$build/include"
status=$?

left=$(ls -A "$scratch")
[ -z "$left" ] || { echo "left in the scratch folder: $left"; status=1; }
sleep 1
left=$(pgrep -f "scratch=$scratch") && { echo "processes left: $left"; status=1; }
exit $status
