#!/usr/bin/env bash
# Plain loops of definitions for GPUs: those of one kind each are compiled by nvcc for sm_90 without a warning, and judged as host code, by
# tests/generate/cuda_runtime.h, since what the source means does not depend on where it runs; rows that are computed again for each element are short.
# With --whole: those of all our definitions are compiled.
. "$(dirname "$0")/program_test.bash"

definitions=$root/src/ops/definitions
include=(-I "$root/include" -I "$(readlink -f "${BUILD_DIR:-$root/build}")/include")
mkdir -p headers
cp "$root/tests/generate/cuda_runtime.h" headers

compiled() { # FILE.cu
    nvcc -arch=sm_90 -O1 -Xcompiler -Wall,-Wextra -Werror all-warnings "${include[@]}" -c -o "$1.o" "$1" >out 2>err
}
lacks() { # FILE TEXT
    ! grep -qF -- "$2" "$1"
}
certified() { # STATUS TITLE OP FILE SHAPE
    expect "$1" "$2" certify "$3" --kernel "$4" --include headers --dtype f32 --seed 7 --no-coverage --shape "$5"
}

judged() { # OP NAME SHAPE: a launch is a loop
    sed -E 's/(compute_[a-z0-9_]+)<<<(.*), THREADS, 0, stream>>>\((.*)\);/LAUNCH(\1, \2, THREADS, \3);/' "$2.cu" >"$2.cpp"
    is "    no launch is left" lacks "$2.cpp" '<<<'
    certified 0 "$2: as host code it is held" "$1" "$2.cpp" "$3"
}

shape_of() { # NAME
    case $1 in
    relu) echo n=300 ;;
    rmsnorm_fwd | layernorm_fwd | cumsum | softmax | log_softmax) echo rows=3,cols=70 ;;
    topk) echo rows=5,cols=20,k=4 ;;
    max_pool2d) echo n=2,c=3,h=9,w=11,p=4,q=5 ;;
    embedding_grad) echo q=40,d=7,v=9 ;;
    esac
}

have_nvcc=$(command -v nvcc || true)
[ -n "$have_nvcc" ] || skip "compiled by nvcc" "there is no nvcc"
for file in "$definitions"/*.op; do
    for name in $(sed -n 's/^op \([a-z0-9_]*\)(.*/\1/p' "$file"); do
        expect 0 "$name: a kernel for cuda is written" new-kernel "$file:$name" --backend cuda
        shape=$(shape_of "$name")
        if [ -n "$have_nvcc" ] && [ -n "$shape${1-}" ]; then is "    nvcc compiles it without a warning" compiled "$name.cu"; fi
        [ -z "$shape" ] || judged "$file:$name" "$name" "$shape"
    done
done
# A mistake in such a kernel is seen, and hip is another prefix.
sed 's/exp(e1 - m1)/exp(e1)/' softmax.cpp >wrong.cpp
certified 1 "softmax without its largest element is refuted" "$definitions/softmax.op:softmax" wrong.cpp rows=3,cols=70
expect 0 "a kernel for hip is written" new-kernel "$definitions/relu.op:relu" --backend hip
says relu.hip '^#include <hip/hip_runtime.h>$'
says relu.hip 'hipGetLastError\(\) != hipSuccess'
finish
