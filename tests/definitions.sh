#!/usr/bin/env bash
# Ops that files define, in the program: `ops` prints their contracts, `new-kernel` writes kernels that compile without a warning, and what
# is wrong with a file is said with its line and column.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=(-I "$root/include" -I "$(readlink -f "${BUILD_DIR:-$root/build}")/include")
export XDG_STATE_HOME=$work/state
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
grep -qx '  TOKITAI_KERNEL3(rmsnorm_fwd)' said
"$tokitai" ops relu.op:relu | grep -qx '  TOKITAI_KERNEL3(relu)'
"$tokitai" ops --json matmul.op:matmul | grep -q '"definition": "op matmul('
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
[ $count -ge 37 ]
fails "exists; --force replaces it" new-kernel relu.op:relu

# Lint names the place and has an exit status of its own; the graph is XML.
printf '# tanh form\nop spelled(x[n]; unused: real = 1) -> y[n]\n    y = 0.5 * x * (1 + tanh(0.79788 * (x + 0.044715 * x * x * x)))\n' >spelled.op
status=0
"$tokitai" ops spelled.op --lint --graph spelled.svg >said || status=$?
[ $status = 1 ]
grep -q '^spelled.op:2:18: unused: nothing depends on unused$' said
grep -q '^spelled.op:3:22: cancels: +: ' said
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("spelled.svg")'
"$tokitai" ops relu.op:relu --lint | grep -qx 'relu: nothing found'
"$tokitai" ops relu.op:relu_bwd --lint | grep -qE '^relu_bwd: nothing found; a gradient in [1-9][0-9]* directions; left out: [1-9][0-9]* elements at kinks, 0 without a derivative$'
sed 's/x > 0, grad_y, 0/x > 0, 1.0001 * grad_y, 0/' relu.op >steeper.op
status=0
"$tokitai" ops steeper.op:relu_bwd --lint >said || status=$?
[ $status = 1 ]
grep -q '^steeper.op:relu_bwd:5:33: gradient: along ' said
rm steeper.op
[ "$("$tokitai" ops --json relu.op:relu --lint)" = '[]' ]
fails '--lint is for definitions, and gelu_fwd is none: FILE.op' ops gelu_fwd --lint
fails 'cannot write' ops relu.op:relu --graph absent/relu.svg

# The attributes of the op are options; what is asked of lowerings and mutants has none.
"$tokitai" certify rmsnorm.op:rmsnorm_fwd --dtype f16 --shape rows=1,cols=2 --eps 0.25 --kernel rmsnorm_fwd.c --out certificates >said
grep -q '"eps": 0.25' certificates/kernel.cpu.rmsnorm_fwd.f16.*.json
fails '--eps must be a number from' certify rmsnorm.op:rmsnorm_fwd --eps 2 --kernel rmsnorm_fwd.c
fails 'relu does not take --eps' certify relu.op:relu rmsnorm.op:rmsnorm_fwd --eps 0.5 --kernel relu.c
fails 'of a definition plain loops in C are timed' bench relu.op:relu --lowering cpu.relu.f32.scalar
"$tokitai" corpus relu.op:relu --dtype f16 >said
grep -q '^relu *f16 *0 ' said

# Without --kernel its plain loops are certified, found again by bench, and replayed from the certificate alone.
status=0
"$tokitai" bench relu.op:relu --dtype f16 --shape n=1000 --peers none --seconds 0.01 >said 2>&1 || status=$?
[ $status = 3 ]
grep -q 'plain.cpu.relu.f16 has no certificate of this build on this machine' said
"$tokitai" certify relu.op:relu --dtype f16 >said
grep -qE '^plain.cpu.relu.f16 +HELD' said
"$tokitai" bench relu.op:relu --dtype f16 --shape n=1000 --peers none --seconds 0.01 >said
grep -q '^plain.cpu.relu.f16 ' said
# Sizes of 0 are refused by this one, and say nothing of its types and settings.
"$tokitai" certify topk.op:topk --family normal >said
grep -qE '^plain.cpu.topk.bf16 +HELD' said
"$tokitai" certify relu.op:relu --dtype f16 --shape n=5 --out plain >said
mkdir elsewhere
mv plain/plain.cpu.relu.f16.json elsewhere
(
    cd elsewhere
    "$tokitai" check plain.cpu.relu.f16.json >said
    "$tokitai" replay plain.cpu.relu.f16.json >said
    grep -q '^plain.cpu.relu.f16: same; verdict HELD for one case: n=5 and every output hash as recorded' said
    "$tokitai" report plain.cpu.relu.f16.json -o page.html
    grep -q 'plain.cpu.relu.f16' page.html
    sed 's/plain.cpu.relu/plain.cpu.silu/' plain.cpu.relu.f16.json >other.json
    ! "$tokitai" check other.json 2>said
)

# A certificate needs the kernel to be replayed, and no definition: it has its own. A refuted one names the file that its command wants, unless the
# definition comes with the library.
"$tokitai" certify relu.op:relu --dtype f16 --shape n=5 --kernel relu.c --out certificates >said
sed 's/a > b/a < b/' relu.c >wrong.c
! "$tokitai" certify relu.op:relu --dtype f16 --kernel wrong.c >said
grep -q 'tokitai certify relu --dtype f16 --kernel wrong.c --shape' said
printf 'op relu(x[n]) -> y[n]\n    y = max(x, 0) * 1\n' >mine.op
! "$tokitai" certify mine.op --dtype f16 --kernel wrong.c >said
grep -q 'tokitai certify relu.op --dtype f16 --kernel wrong.c --shape' said
mkdir alone
cp certificates/kernel.cpu.relu.f16.relu.json alone/relu.json
(
    cd alone
    "$tokitai" check relu.json >said
    grep -q '^relu.json: kernel.cpu.relu.f16.relu HELD for one case: n=5; intact; not signed$' said
    "$tokitai" replay relu.json --kernel ../relu.c >said
    grep -q ': same; verdict HELD for one case: n=5 and every output hash as recorded' said
    sed 's/y = relu(x)/y = silu(x)/' relu.json >other.json
    ! "$tokitai" check other.json 2>said
    grep -q 'altered: its content does not match' said
)
"$tokitai" report certificates/*.json -o report.html
grep -q 'op relu(x\[n\])' report.html
echo "$count definitions: contracts and plain loops"
