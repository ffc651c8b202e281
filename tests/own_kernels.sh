#!/usr/bin/env bash
# Our own CPU kernels as kernel files: each op family becomes a folder of its kernel's sources and a file that calls them as its lowering
# does, compiled with the options of an instruction set and judged as a user kernel is, coverage included. So their certificates say which lines ran, and what
# comparisons and constants in them lead to is tried on them, too.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"

options="-O2 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp -w"
case $(uname -m)$(grep -m1 -oE '\bavx2\b' /proc/cpuinfo) in
    x86_64avx2) isa="-DTKI_ISA=avx2 -mavx2 -mfma -mf16c" ;;
    aarch64*) isa="-DTKI_ISA=neon" ;;
    *) isa="-DTKI_ISA=scalar -DTKI_ISA_PORTABLE" ;;
esac

# FAMILY OP...
judge() {
    local family=$1 op
    shift
    mkdir -p "$family/ops" "$family/kernels" "$family/core"
    cp -r "$root/src/ops/$family" "$family/ops/"
    find "$family/ops" -name '*.c' ! -name kernel_cpu.c -delete
    cp "$root"/src/kernels/cpu_*.h "$family/kernels/"
    cp "$root"/src/core/*.h "$family/core/"
    cp "$root"/include/tokitai{,_types}.h "${BUILD_DIR:?the folder of the build}/include/tokitai_ops.h" "$root/tests/own_kernels/scratch.h" "$family/"
    cp "$root/tests/own_kernels/$family.c" "$family/kernel.c"
    for op in "$@"; do
        expect 0 "$op" certify "$op" --kernel "$family" --flags "$options $isa" --skip-mutants --seed 12 --out certificates
        grep -E 'verdict|^kernel' out | cut -c1-160
    done
}
judge gelu gelu_fwd gelu_bwd
judge softmax softmax_fwd softmax_bwd
judge xent xent
judge embedding embedding_fwd embedding_bwd
judge product gemm gemm_grad_a gemm_grad_b
is "every certificate knows its lines" python3 - certificates 26 <<'PYTHON'
import json, pathlib, sys
files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
good = len(files) == int(sys.argv[2])
for file in files:
    certificate = json.loads(file.read_text())
    certificate = certificate.get("predicate", certificate)
    lines = certificate["coverage"].get("lines", {})
    known = certificate["coverage"]["known"] and lines["known"]
    good &= known and lines["run"] > 20
    print(f"    {file.stem}:", f"{lines['run']} of {lines['count']} lines" if known else certificate["coverage"])
sys.exit(not good)
PYTHON
finish
