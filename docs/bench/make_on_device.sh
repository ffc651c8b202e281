#!/usr/bin/env bash
# Measures again what docs/bench shows, reports as JSON and charts:
#     TOKITAI=build/tokitai docs/bench/make_on_device.sh FOLDER [PART...]
# Parts, all of them by default, in this order: table, startup, sweep, products, tune on a CUDA device; cpu on this processor. README.md says
# what each shows. `tokitai bench --from FILE` prints the table of a report again, --chart draws its chart. Exits with 1 if a part failed.
set -uo pipefail
tokitai=$(readlink -f "${TOKITAI:-$(dirname "$(readlink -f "$0")")/../../build/tokitai}")
folder=${1:?usage: make_on_device.sh FOLDER [PART...]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(table startup sweep products tune cpu)
mkdir -p "$folder" && cd "$folder" || exit 1
status=0

table() {
    "$tokitai" bench --backend cuda --certify --lowering best --seconds 0.3 --json --chart gpu.svg >gpu.json
}

startup() {
    "$tokitai" bench --backend cuda --startup --json >gpu-startup.json
}

sweep() {
    local dtype failed=0
    for dtype in f16 bf16; do
        "$tokitai" bench --backend cuda --sweep --certify --dtype $dtype --seconds 0.03 --peers none --json --chart gpu-sweep-$dtype.svg \
            softmax_fwd softmax_bwd xent >gpu-sweep-$dtype.json || failed=1
    done
    return $failed
}

products() {
    "$tokitai" bench gemm --backend cuda --lowering cuda.gemm.bf16.hopper --peers cublaslt --certify --seconds 0.3 --json \
        --chart gpu-products.svg >gpu-products.json
}

tune() {
    local op dtype failed=0
    for op in gemm gemm_grad_a gemm_grad_b; do
        for dtype in f16 bf16; do
            "$tokitai" tune --lowering cuda.$op.$dtype.hopper --candidates 40 --seconds 0.3 --dry-run --json >gpu-tune-$op-$dtype.json || failed=1
        done
    done
    return $failed
}

cpu() {
    local op failed=0
    for op in gelu_fwd gelu_bwd softmax_fwd softmax_bwd xent embedding_fwd embedding_bwd gemm gemm_grad_a gemm_grad_b; do
        "$tokitai" bench $op --growth --cpu-time --dtype f16 --certify --json --chart cpu-$op.svg >cpu-$op.json || failed=1
    done
    return $failed
}

for part in "${parts[@]}"; do
    case $part in
        table | startup | sweep | products | tune | cpu) echo "== $part"; $part || { status=1; echo "$part: failed"; } ;;
        *) echo "unknown part '$part': table, startup, sweep, products, tune, cpu"; exit 2 ;;
    esac
done
for chart in *.svg; do # elements one behind the other: a chart is not read by line
    [ ! -e "$chart" ] || sed -i -e '1,3b' -e ':join' -e 'N; $!b join' -e 's/>\n</></g' "$chart"
done
exit $status
