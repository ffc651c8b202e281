#!/usr/bin/env bash
# Every kernel that `tokitai new-kernel` writes for an op of ours is right, in every type. Mutants are those of src/ops/*/test*.c, whatever kernel
# is judged.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"

mkdir plain
for op in $("$tokitai" ops --list ops); do "$tokitai" new-kernel "$op" --out "plain/$op.c" >/dev/null; done
expect 0 "every template holds" certify --kernels plain --jobs 2 --skip-mutants
count 45 out '^kernel\..* HELD '
expect 0 "attributes that do not go together are not tried" certify --kernel plain/padic_gemm.c --skip-mutants --seed 688822168626

finish
