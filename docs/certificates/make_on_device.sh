#!/usr/bin/env bash
# Makes these certificates on a machine with a CUDA device:
#     TOKITAI=build/tokitai docs/certificates/make_on_device.sh FOLDER [PART...]
# Parts, all of them by default, in this order: quick, full, exhaustive, beyond (tensors of more than 2^31 elements; 100 GiB of memory), sanitizers
# (compute-sanitizer on small shapes). Certificates lie in FOLDER/PART as soon as they are made, so that whoever is stopped keeps what there
# is; `index.py --add PART FOLDER/PART/*.json` takes them in. Exits with 1 if anything is not as it should be.
set -uo pipefail
tokitai=$(readlink -f "${TOKITAI:-$(dirname "$(readlink -f "$0")")/../../build/tokitai}")
folder=${1:?usage: make_on_device.sh FOLDER [PART...]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(quick full exhaustive beyond sanitizers)
mkdir -p "$folder" || exit 1
folder=$(readlink -f "$folder")
export OMP_WAIT_POLICY=passive
status=0

certify() { # PART ARGUMENT...
    local part=$1
    shift
    "$tokitai" certify --backend cuda --out "$folder/$part" "$@" 2>&1 | tee -a "$folder/$part.txt" | grep -E '^cuda\.|certificates?:|^tokitai'
    [ "${PIPESTATUS[0]}" -eq 0 ]
}

quick() {
    certify quick --lowering best --skip-mutants
}

full() {
    certify full --level full
}

exhaustive() {
    local dtype failed=0
    for dtype in f16 bf16; do
        certify exhaustive gelu_fwd gelu_bwd --level exhaustive --dtype $dtype || failed=1
    done
    return $failed
}

# One after the other: each takes all processors at times, and several times the memory of its tensors.
beyond() {
    local op failed=0
    for op in gelu_fwd gelu_bwd; do
        certify beyond-2-31 $op --lowering cuda.$op.f16.shared --family normal --shape n=2147483777 || failed=1
    done
    for op in softmax_fwd softmax_bwd xent; do
        certify beyond-2-31 $op --lowering cuda.$op.f16.hopper --family normal --shape 32769x65544 || failed=1
    done
    return $failed
}

small_cases() { # a line each: LOWERING SHAPE
    local dtype op row shape index
    for dtype in f16 bf16; do
        for op in gelu_fwd gelu_bwd; do
            for shape in n=1 n=257 n=5000; do echo cuda.$op.$dtype.shared $shape; done
        done
        for op in softmax_fwd softmax_bwd xent; do
            for row in shared hopper; do
                for shape in 3x7 9x61 5x300 7x301 5x701 3x4096 5x3001 5x5003 2x40000 4x33001; do echo cuda.$op.$dtype.$row $shape; done
            done
        done
        for op in embedding_fwd embedding_bwd; do
            for index in "" .i64; do
                for shape in 1x1x1 60x16x50 60x66x50 70x33x11 300x64x50 5000x8x3; do echo cuda.$op.$dtype.shared$index $shape; done
            done
        done
        for op in gemm gemm_grad_a gemm_grad_b; do
            for shape in 1x1x1 33x65x17 130x129x64; do echo cuda.$op.$dtype.shared $shape; done
        done
    done
}

run_sanitizer() { # TOOL LOWERING SHAPE
    local op said
    op=$(cut -d. -f2 <<<"$2")
    said=$(compute-sanitizer --tool "$1" --error-exitcode 9 "$TOKITAI" certify "$op" --lowering "$2" --shape "$3" --family normal 2>&1)
    if [ $? -eq 0 ] && grep -q '1 certificate: 1 HELD' <<<"$said" && grep -qE 'ERROR SUMMARY: 0 errors|SUMMARY: 0 hazards' <<<"$said"; then
        echo clean
    else
        echo "NOT CLEAN: $*"
        tail -n 5 <<<"$said"
    fi
}

sanitizers() {
    export TOKITAI=$tokitai
    export -f run_sanitizer
    local tool runs clean
    runs=$(small_cases | while read -r line; do for tool in memcheck racecheck initcheck synccheck; do echo "$tool $line"; done; done)
    OMP_NUM_THREADS=2 xargs -P 10 -L 1 bash -c 'run_sanitizer "$@"' _ <<<"$runs" >"$folder/sanitizers.txt"
    clean=$(grep -c '^clean$' "$folder/sanitizers.txt")
    echo "$clean of $(wc -l <<<"$runs") runs of compute-sanitizer are clean"
    grep '^NOT CLEAN' "$folder/sanitizers.txt"
    [ "$clean" -eq "$(wc -l <<<"$runs")" ]
}

for part in "${parts[@]}"; do
    case $part in
        quick | full | exhaustive | beyond | sanitizers) echo "== $part"; $part || { status=1; echo "$part: not all as it should be"; } ;;
        *) echo "unknown part '$part': quick, full, exhaustive, beyond, sanitizers"; exit 2 ;;
    esac
done
exit $status
