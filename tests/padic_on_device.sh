#!/usr/bin/env bash
# padic_gemm on a real GPU: certified as a whole and modulo a power of two, above and below 2^52, then timed at 4096^3 against one core of the
# CPU on the same machine. Fails if the GPU is less than TIMES times as fast (20). Skipped without a device. On another machine than that
# of the build, with the portable program (cmake --preset portable):
#     TOKITAI=build-portable/tokitai tests/padic_on_device.sh [certify|time]...
# BACKEND=cpu tries all but the device: the CPU is then held against itself, TIMES is 0 unless it is given, and SIZE (4096) is better small.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=${TOKITAI:-$root/build-portable/tokitai}
[ -x "$tokitai" ] || tokitai=$root/build/tokitai
tokitai=$(readlink -f "$tokitai")
[ -x "$tokitai" ] || { echo "no program at $tokitai"; exit 1; }
backend=${BACKEND:-cuda} size=${SIZE:-4096}
if [ "$backend" != cpu ] && [ ! -e /dev/nvidiactl ] && ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped: no NVIDIA GPU"
    exit 77
fi
times=${TIMES:-$([ "$backend" = cpu ] && echo 0 || echo 20)}
PATH=$PATH:/usr/local/cuda/bin

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
status=0

# prime precision
rings=("2 32" "2 64" "3 20" "7 16" "7 22" "3 40" "2147483647 2")

# held ARGUMENT...: every lowering of the backend is certified.
held() {
    timeout "${LIMIT:-900}" "$tokitai" certify padic_gemm --backend "$backend" "$@" >"$work/out" 2>&1 </dev/null
    local got=$?
    grep -E 'HELD|REFUTED|UNKNOWN|certificate' "$work/out"
    if [ $got -ne 0 ] || ! grep -qE "^$backend\.padic_gemm\.u64\.[a-z0-9]+ +HELD " "$work/out"; then
        echo "WRONG: certify $*: status $got"
        tail -n 30 "$work/out"
        status=1
    fi
}

certify() {
    local ring
    held
    held --level full --skip-mutants
    for ring in "${rings[@]}"; do
        read -r prime precision <<<"$ring"
        held --prime "$prime" --precision "$precision" --skip-mutants
    done
}

# milliseconds BACKEND PRIME PRECISION: the best time of its fastest lowering, on one thread.
milliseconds() {
    timeout "${LIMIT:-900}" "$tokitai" bench padic_gemm --backend "$1" --lowering best --prime "$2" --precision "$3" \
        --shape "${size}x${size}x${size}" --threads 1 --peers none --seconds "${SECONDS_EACH:-20}" --certify --json 2>"$work/err" </dev/null |
        awk -v arm="\"$1.padic_gemm." '/"name":/ { ours = index($2, arm) == 1 }
            /"best_seconds":/ && ours { t = 1e3 * $2; if (!best || t < best) best = t }
            END { if (!best) exit 1; printf "%.6f\n", best }'
}

time_rings() {
    local ring ours core
    for ring in "${rings[@]}"; do
        read -r prime precision <<<"$ring"
        core=$(milliseconds cpu "$prime" "$precision") && ours=$(milliseconds "$backend" "$prime" "$precision") || {
            echo "WRONG: $prime^$precision was not timed"
            tail -n 5 "$work/err"
            status=1
            continue
        }
        awk -v ring="$prime^$precision" -v size="$size" -v core="$core" -v ours="$ours" -v times="$times" -v backend="$backend" 'BEGIN {
            printf "%-14s %d^3  one core %10.1f ms  %s %9.2f ms  ratio %6.1f\n", ring, size, core, backend, ours, core / ours
            exit core < times * ours
        }' || { echo "WRONG: less than $times times one core"; status=1; }
    done
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
[ $# -gt 0 ] || set -- certify time
for part; do
    case $part in
        certify) certify ;;
        time) time_rings ;;
        *) echo "there is no part '$part'"; exit 2 ;;
    esac
done
exit $status
