#!/usr/bin/env bash
# The judge on a real GPU: kernels of tests/device_kernels/ and examples/kernels/ that are right or wrong in ways that only a device shows, a
# product on tensor cores under both numerics, and our own kernels. Prints what came out beside what was expected; skipped without a device.
# On another machine than that of the build, with the portable program (cmake --preset portable) and the source tree:
#     TOKITAI=build-portable/tokitai tests/judge_on_device.sh [places|sanitizer|tensor|own]...
# JOBS steps run side by side (4), each with a limit of LIMIT seconds (900): at full there are arrays of more than 2^32 elements.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=${TOKITAI:-$root/build-portable/tokitai}
[ -x "$tokitai" ] || tokitai=$root/build/tokitai
tokitai=$(readlink -f "$tokitai")
[ -x "$tokitai" ] || { echo "no program at $tokitai"; exit 1; }
if [ ! -e /dev/nvidiactl ] && ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped: no NVIDIA GPU"
    exit 77
fi
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "skipped: no nvcc"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
jobs=${JOBS:-4} limit=${LIMIT:-900} number=0

# step VERDICT REGEX TITLE ARGUMENT...: certify ends so, and says so; in the background.
step() {
    local verdict=$1 regex=$2 title=$3 status=0
    shift 3
    number=$((number + 1))
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    case $verdict in HELD) status=0 ;; REFUTED) status=1 ;; esac
    # Containers with GPUs may offer neither Landlock nor mounts. These kernels are ours.
    [[ " $* " != *" --kernel "* ]] || set -- "$@" --allow-weak-sandbox
    [[ " $* " != *" $kernels/"* ]] || set -- "$@" --include "$kernels/shared"
    (
        at=$work/$(printf %03d $number)
        begin=$SECONDS
        timeout -k 20 "$limit" "$tokitai" certify "$@" --out "$at.certificates" >"$at.out" 2>"$at.err" </dev/null
        got=$?
        tr -s ' \n' ' ' <"$at.out" >"$at.line"
        good=no
        [ $got -eq $status ] && grep -qE -- "$regex" "$at.line" && good=yes
        {
            printf '%-5s %4d s  %-8s %s\n' "$([ $good = yes ] && echo ok || echo WRONG)" $((SECONDS - begin)) "$verdict" "$title"
            if [ $good = yes ]; then
                grep -oE "why .* reproduce|[0-9]+ certificates?: [^;]*" "$at.line" | head -1 | cut -c1-300 | sed 's/^/            /; s/ reproduce$//'
            else
                echo "        expected $status and /$regex/; status $got of: tokitai certify $*"
                cat "$at.out" "$at.err" | tail -n 30 | sed 's/^/        /'
                sed -n '/"sanitizer": {/,/^   }/p' "$at".certificates/*.json 2>/dev/null | head -60 | sed 's/^/        /'
            fi
        } >"$at.result"
        echo $good >"$at.good"
    ) &
}

kernels=$root/tests/device_kernels examples=$root/examples/kernels
quick=(--skip-mutants --seed 12 --no-sanitize)
watched=(--skip-mutants --seed 12 --sanitize)

# Where arrays lie, and what outputs hold before a call.
places() {
    local name
    for name in aligned_tail aligned_ragged offsets_differ unless_poison leaves_zeros leaves_copy; do
        step REFUTED "why GELU_FWD\." "gelu_$name at quick" --kernel "$kernels/gelu_$name.cu" "${quick[@]}"
    done
    step HELD "2 HELD" "gelu_right at quick" --kernel "$kernels/gelu_right.cu" "${quick[@]}"
}

# What no output shows.
sanitizer() {
    if ! command -v compute-sanitizer >/dev/null && ! ls /usr/local/cuda*/compute-sanitizer/compute-sanitizer >/dev/null 2>&1; then
        echo "no compute-sanitizer: that part is left out"
        return
    fi
    local name
    for name in right warp_shared early_return; do
        step HELD "2 HELD" "gelu_$name, watched" --kernel "$kernels/gelu_$name.cu" "${watched[@]}"
    done
    step HELD "2 HELD" "softmax_fwd.cu, watched" --kernel "$examples/softmax_fwd.cu" "${watched[@]}"
    step HELD "2 HELD" "gelu_bwd.cu, watched" --kernel "$examples/gelu_bwd.cu" "${watched[@]}"
    step REFUTED "SOFTMAX_FWD.REPEAT: .*racecheck: .*bad_softmax_missing_barrier.cu:[0-9]+" "softmax without a barrier, watched at quick" \
        --kernel "$examples/bad_softmax_missing_barrier.cu" --dtype f16 "${watched[@]}"
    step REFUTED "SOFTMAX_FWD\.[A-Z]+: " "softmax without a barrier at full, as by default" \
        --kernel "$examples/bad_softmax_missing_barrier.cu" --dtype f16 --skip-mutants --seed 12 --level full
    step REFUTED "GELU_FWD.SHAPE: .*memcheck: Invalid __global__ read .*gelu_stray_read.cu:[0-9]+" "a read behind, watched" \
        --kernel "$kernels/gelu_stray_read.cu" --dtype f16 "${watched[@]}"
    step REFUTED "GELU_FWD.(SHAPE|REPEAT): .*(memcheck|initcheck): " "a read before, watched" \
        --kernel "$kernels/gelu_stray_read_before.cu" --dtype f16 "${watched[@]}"
    step HELD "1 HELD" "a read behind, not watched" --kernel "$kernels/gelu_stray_read.cu" --dtype f16 "${quick[@]}"
    step REFUTED "GELU_FWD.REPEAT: .*initcheck: Uninitialized __global__ .*gelu_unwritten_scratch.cu:[0-9]+" "memory that nothing wrote" \
        --kernel "$kernels/gelu_unwritten_scratch.cu" --dtype f16 "${watched[@]}"
    step REFUTED "GELU_FWD.REPEAT: .*initcheck: Uninitialized" "an output before it was written" \
        --kernel "$kernels/gelu_reads_output.cu" --dtype f16 "${watched[@]}"
}

# Without flags: nvcc is told the device.
tensor() {
    step HELD "2 HELD" "gemm_wmma, tensor_core, watched" --kernel "$examples/gemm_wmma.cu" --numerics tensor_core "${watched[@]}"
    step HELD "2 HELD" "gemm_wmma, tensor_core, full" --kernel "$examples/gemm_wmma.cu" --numerics tensor_core --level full \
        --skip-mutants --seed 12 --no-sanitize
    step REFUTED "GEMM.ERR: .*tensor_core" "gemm_wmma, ieee, quick" --kernel "$examples/gemm_wmma.cu" "${quick[@]}"
}

# Our own kernels, every op and type.
own() {
    step HELD "[0-9]+ certificates: 46 HELD" "our own kernels at quick" --backend cuda --skip-mutants
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
nvcc --version | tail -2 | head -1
compute-sanitizer --version 2>/dev/null | tail -1
[ $# -gt 0 ] || set -- own tensor sanitizer places
for part; do
    case $part in
        places | sanitizer | tensor | own) "$part" ;;
        *) echo "there is no part '$part'"; exit 2 ;;
    esac
done
wait
cat "$work"/*.result
bad=$(cat "$work"/*.good | grep -c no)
echo "$((number - bad)) of $number as expected"
[ "$bad" -eq 0 ]
