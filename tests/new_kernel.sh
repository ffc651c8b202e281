#!/usr/bin/env bash
# The kernel that `tokitai new-kernel` writes for every op compiles without a warning as C, and as CUDA where nvcc is;
# what `tokitai ops` prints as an op's prototype is what tokitai_kernel.h declares; the header is C++ as well.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=(-I "$root/include" -I "$(readlink -f "${BUILD_DIR:-$root/build}")/include")
cd "$work"

warnings=(-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Werror "${headers[@]}")
echo '#include <tokitai_kernel.h>' >prototypes.c
mapfile -t ops < <("$tokitai" ops --list ops)
[ ${#ops[@]} -gt 0 ]
typed=()
for op in "${ops[@]}"; do
    "$tokitai" new-kernel "$op" >said
    grep -q "^wrote $op.c; now: tokitai certify $op --kernel $op.c$" said
    cc -std=c11 "${warnings[@]}" -O2 -fPIC -shared -o "$op.so" "$op.c" -lm
    # An attribute that kernel ABI 1 has no place for leaves the general form alone; types that ABI 2 lacks, that of ABI 3.
    "$tokitai" ops "$op" >described
    if grep -q 'f8_e4m3' described; then
        nm -D --defined-only "$op.so" | grep -q " T tokitai_${op}_v3$"
        if nm -D --defined-only "$op.so" | grep -qE " T tokitai_${op}(_v2)?$"; then
            echo "the template of $op has a form that does not reach 8 bits"
            exit 1
        fi
        grep -qx "  TOKITAI_KERNEL($op)" described && continue
        awk '/^  int tokitai_/ { on = 1 } on { print } /;$/ { on = 0 }' described >>prototypes.c
        typed+=("$op")
        continue
    fi
    if grep -qx "  TOKITAI_KERNEL($op)" described; then
        nm -D --defined-only "$op.so" | grep -q " T tokitai_${op}_v2$"
        continue
    fi
    typed+=("$op")
    nm -D --defined-only "$op.so" | grep -q " T tokitai_$op$"
    awk '/^  int tokitai_/ { on = 1 } on { print } /;$/ { on = 0 }' described >>prototypes.c
done
[ ${#typed[@]} -lt ${#ops[@]} ]
grep -c '^  int tokitai_' prototypes.c | grep -qx ${#typed[@]}
# Conflicting declarations do not compile; one that the header lacks is told by its name.
cc -std=c11 "${warnings[@]}" -Wredundant-decls -fsyntax-only prototypes.c 2>redundant && exit 1
for op in "${typed[@]}"; do
    grep -q "redundant redeclaration of .*tokitai_$op" redundant || { echo "tokitai_kernel.h does not declare $op"; exit 1; }
done
! grep -q 'conflicting types' redundant
echo "${#ops[@]} templates compile as C, and ${#typed[@]} are declared by tokitai_kernel.h"

# Nothing is written over, and what cannot be written is said.
! "$tokitai" new-kernel gelu_fwd 2>said
grep -q "'gelu_fwd.c' exists; --force replaces it" said
"$tokitai" new-kernel gelu_fwd --force >/dev/null
! "$tokitai" new-kernel gelu_fwd --out nowhere/k.c 2>said
grep -q "cannot write 'nowhere/k.c'" said
"$tokitai" new-kernel gelu_fwd --backend hip --out - | grep -q hipStream_t

if command -v c++ >/dev/null; then
    echo '#include <tokitai_kernel.h>' >header.cpp
    c++ -std=c++11 -Wall -Wextra -Wconversion -Werror "${headers[@]}" -fsyntax-only header.cpp
    cp gelu_fwd.c gelu_fwd.cpp
    c++ -Wall -Wextra -Werror "${headers[@]}" -O2 -fPIC -shared -o cpp.so gelu_fwd.cpp
    nm -D --defined-only cpp.so | grep -q " T tokitai_gelu_fwd_v3$"
fi

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -n "$nvcc" ] && "$nvcc" --version >/dev/null 2>&1; then
    for op in gelu_bwd xent embedding_bwd linear_fwd; do
        "$tokitai" new-kernel "$op" --backend cuda >/dev/null
        "$nvcc" -Werror all-warnings "${headers[@]}" -O2 -Xcompiler -fPIC -shared -o "$op.cu.so" "$op.cu"
        nm -D --defined-only "$op.cu.so" | grep -qE " T tokitai_$op(_v[23])?$"
    done
    echo "CUDA templates compile"
else
    echo "skipped: CUDA templates, since there is no nvcc"
fi
