#!/usr/bin/env bash
# Ops that files define, in the program: `ops` prints their contracts, `new-kernel` writes kernels that compile without a warning, and what
# is wrong with a file is said with its line and column.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=(-I "$root/include" -I "$(readlink -f "${BUILD_DIR:-$root/build}")/include")
cp "$root"/src/ops/definitions/*.op "$work"
cd "$work"

fails() { # message command...
    local message=$1 status=0
    shift
    "$tokitai" "$@" >said 2>&1 || status=$?
    [ "$status" = 2 ] && grep -qF -- "$message" said && return
    echo "$*: exit status $status, expected 2 and: $message"
    cat said
    exit 1
}

"$tokitai" ops rmsnorm.op:rmsnorm_fwd >said
grep -qx '  op rmsnorm_fwd(x\[rows, cols\], w\[cols\]; eps: real in \[1e-12, 1\] = 1e-6) -> y\[rows, cols\], rstd\[rows\]: f32' said
grep -q 'RMSNORM_FWD.OVERFLOW' said
"$tokitai" ops --json matmul.op | grep -q '"definition": "op matmul('
! "$tokitai" ops --json gelu_fwd | grep -q '"definition"'

fails 'the text defines several ops, and one has to be named: rmsnorm_fwd, rmsnorm_bwd' ops rmsnorm.op
fails 'the text does not define rmsnorm, but rmsnorm_fwd' ops rmsnorm.op:rmsnorm
fails "cannot read 'absent.op'" ops absent.op
printf 'op f(x[n]) -> y[n]\n    y = x +\n' >wrong.op
fails "'wrong.op': line 2, column 12: expected a value" certify wrong.op --kernel wrong.c
fails "'wrong.op': line 2, column 12: expected a value" judge wrong.op --inputs x.npy --outputs y.npy
fails "'wrong.op': line 2, column 12: expected a value" new-kernel wrong.op

count=0
for file in *.op; do
    [ "$file" != wrong.op ] || continue
    for name in $(sed -n 's/^op \([a-z0-9_]*\)(.*/\1/p' "$file"); do
        "$tokitai" new-kernel "$file:$name" >said
        grep -qx "wrote $name.c; now: tokitai certify $file:$name --kernel $name.c" said
        cc -std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror "${headers[@]}" -O2 -fPIC -shared -o "$name.so" "$name.c" -lm
        nm -D --defined-only "$name.so" | grep -q " T tokitai_${name}_v3$"
        count=$((count + 1))
    done
done
[ $count -ge 20 ]
fails "exists; --force replaces it" new-kernel relu.op
echo "$count definitions: contracts and plain loops"
