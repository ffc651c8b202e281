#!/usr/bin/env bash
# The conversions between float formats. Solvers are asked whether those of src/core/dtype.h and src/exact/round.c, translated from the C text, are SMT-LIB's
# (proofs/conversions.py); the vector layers that this processor runs convert all 2^32 numbers as src/core/dtype.h does (its own exhaustive
# test is core.dtype). --self-test changes each of them in a copy and sees it fail. Skipped (77) where a solver is missing.
# A function of: proofs src/core src/kernels src/exact src/model include; z3 cvc5 gcc python3
set -euo pipefail
cd "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}"
for command in python3 z3 cvc5 "${CC:-gcc}"; do
    if ! command -v "$command" >/dev/null; then
        echo "skipped: there is no $command"
        exit 77
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=2

has() { grep -qw "$1" /proc/cpuinfo; }
layers=(portable:-DTKI_ISA_PORTABLE)
if has avx2 && has fma && has f16c; then layers+=("avx2:-mavx2 -mfma -mf16c"); fi
if has avx512f && has avx512bw && has avx512dq && has avx512vl; then
    layers+=("avx512:-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c")
fi

# vector_layer SOURCES LAYER [STEP]
vector_layer() {
    local options
    touch "$work/tokitai_ops.h" # the build makes it; nothing of it is used here
    read -ra options <<<"${2#*:}"
    "${CC:-gcc}" -std=gnu17 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp "${options[@]}" \
        -I "$1/src" -I "$1/include" -I "$work" "$1/proofs/vector_conversions.c" -o "$work/vectors"
    "$work/vectors" "${@:3}"
}

if [ "${1-}" != --self-test ]; then
    python3 proofs/conversions.py . "$work"
    for layer in "${layers[@]}"; do
        echo "vectors, ${layer%%:*}:"
        vector_layer . "$layer"
    done
    exit
fi

failures=0
# change FILE OLD NEW: in a copy of the sources
change() {
    rm -rf "$work/copy"
    mkdir "$work/copy"
    cp -r --parents src/core src/kernels src/exact/round.* src/model include proofs/*.py proofs/*.c "$work/copy"
    python3 - "$work/copy/$1" "$2" "$3" <<'PYTHON'
import sys
path, old, new = sys.argv[1:]
text = open(path, encoding="utf-8").read()
if old not in text:
    sys.exit(f"{path} has no '{old}'")
open(path, "w", encoding="utf-8").write(text.replace(old, new, 1))
PYTHON
}

# solvers_notice FUNCTION FILE OLD NEW
solvers_notice() {
    change "${@:2}"
    for solver in z3 cvc5; do
        if python3 proofs/conversions.py "$work/copy" "$work/smt" $solver "$1" >"$work/output" || ! grep -q "^FAILED $1 " "$work/output"; then
            echo "$1, '$3' changed to '$4': $solver does not notice"
            cat "$work/output"
            failures=$((failures + 1))
        else
            echo "noticed: $(grep -m1 "^FAILED $1 " "$work/output")"
        fi
    done
}

# vectors_notice FILE OLD NEW: of the portable layer
vectors_notice() {
    change "$@"
    if vector_layer "$work/copy" "${layers[0]}" 64 >"$work/output"; then
        echo "$1, '$2' changed to '$3': not noticed"
        failures=$((failures + 1))
    else
        echo "noticed: $(grep -m1 -v ' 0 differ' "$work/output")"
    fi
}

solvers_notice tki_f32_to_f16 src/core/dtype.h '0x0fff + odd' '0x1000 + odd'
solvers_notice tki_f32_to_f16 src/core/dtype.h 'rounded < 0x7c00 ? rounded : 0x7c00' 'rounded < 0x7bff ? rounded : 0x7c00'
solvers_notice tki_f32_to_f16 src/core/dtype.h 'magnitude < 0x38800000 ? magnitude : 0x38800000' 'magnitude < 0x38000000 ? magnitude : 0x38000000'
solvers_notice tki_f32_to_f16 src/core/dtype.h 'const int32_t normal =' 'int32_t normal; normal =' # not understood
solvers_notice tki_f32_to_bf16 src/core/dtype.h '0x7fff + odd' '0x8000'
solvers_notice tki_f32_to_bf16 src/core/dtype.h 'bits >> 16 | 0x40' 'bits >> 16'
solvers_notice tki_f16_to_f32 src/core/dtype.h '255 - 31' '254 - 31'
solvers_notice tki_bf16_to_f32 src/core/dtype.h '(uint32_t)bits << 16' '(uint32_t)bits << 15'
solvers_notice tki_round_double src/exact/round.c '(rest == half && (kept & 1) != 0)' 'rest == half'
solvers_notice tki_round_double src/exact/round.c 'exponent < f.exponent_min - f.precision' 'exponent <= f.exponent_min - f.precision'
vectors_notice src/kernels/cpu_vector_portable.h '127 - 15, 127 - 15' '127 - 16, 127 - 15'

echo "$failures changes were not noticed"
[ "$failures" = 0 ]
