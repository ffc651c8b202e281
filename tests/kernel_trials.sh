#!/usr/bin/env bash
# Trials of kernels that come as files: those that coverage and constants of the source lead to.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"

echo "-- coverage: what leads to a trial, how it is shown, and that it is the same however many are at work"
mkdir covered
product() { # name, condition under which it is wrong
    cat >"covered/$1.c" <<C
#include <tokitai_kernel.h>
int tokitai_gemm(const tokitai_call *call, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c)
{
    for (int64_t i = 0; i < m * n; i++) {
        float sum = 0;
        for (int64_t t = 0; t < k; t++)
            sum += tokitai_load(*call, a, i / n * k + t) * tokitai_load(*call, b, t * n + i % n);
        if ($2)
            sum = 2 * sum + 1;
        tokitai_store(*call, c, i, sum);
    }
    return 0;
}
C
}
product one_size 'k == 1192'
product unreachable 'call->threads < 0'
for jobs in 1 2; do
    expect 1 "coverage, $jobs at a time" certify --kernels covered --jobs "$jobs" --dtype f16 --seed 5 --skip-mutants --out "jobs$jobs"
    says out "^kernel\.cpu\.gemm\.f16\.one_size +REFUTED"
    says out "reproduce .* --shape m=[0-9]+,n=[0-9]+,k=1192 "
    says out "^kernel\.cpu\.gemm\.f16\.unreachable +HELD .* 8/9\$"
    says out "verdict +HELD, 1 line never ran: 9\$"
done
for name in one_size unreachable; do
    expect 0 "$name: the same trials" diff "jobs1/kernel.cpu.gemm.f16.$name.json" "jobs2/kernel.cpu.gemm.f16.$name.json"
done
expect 0 "a trial that was found comes again" replay jobs1/kernel.cpu.gemm.f16.one_size.json
expect 1 "without coverage a constant of the source finds it" certify --kernel covered/one_size.c --no-coverage --skip-mutants --dtype f16 --seed 5 --json
says out '"reason": "coverage was not requested"'
product counts_in_fp32 '(int64_t)(float)i != i'
expect 1 "code that counts in fp32 is called beyond the integers that fp32 holds" certify --kernel covered/counts_in_fp32.c --no-coverage --skip-mutants --dtype f16 --seed 5
product beyond_a_constant 'i > 3 * 1000003'
expect 1 "and beyond the large constants of its source" certify --kernel covered/beyond_a_constant.c --no-coverage --skip-mutants --dtype f16 --seed 5

finish
