#!/usr/bin/env bash
# Users' CUDA kernels in a worker on a real GPU; skipped without one. On another machine than that of the build:
#     BUILD_DIR=build SOURCE_DIR=. tests/worker_on_device.sh
# which needs, of the build, libtokitai.so.0.2, tokitai-worker and tests/worker_on_device.
set -uo pipefail
root=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}
build=${BUILD_DIR:-$root/build}

if [ ! -e /dev/nvidiactl ] && ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped: no NVIDIA GPU"
    exit 77
fi
PATH=$PATH:/usr/local/cuda/bin
if ! command -v nvcc >/dev/null; then
    echo "skipped: no nvcc"
    exit 77
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
nvcc --version | tail -2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TMPDIR=$scratch "$build/tests/worker_on_device" "$root/tests/kernels/gelu_on_cuda.cu" "$root/include" "$build/include"
status=$?

left=$(ls -A "$scratch")
[ -z "$left" ] || { echo "left in the scratch folder: $left"; status=1; }
sleep 1
left=$(pgrep -f "scratch=$scratch") && { echo "processes left: $left"; status=1; }
nvidia-smi --query-compute-apps=pid,name --format=csv,noheader || true
exit $status
