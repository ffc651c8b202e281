#!/usr/bin/env bash
# What kernel files may have at most: memory, tasks, files, folders, time. As asked for, as held, as written down, and in a replay never more
# than its reader allows.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
examples=$root/examples/kernels
cert=kernel.cpu.gelu_fwd.f16

echo "-- wrong usage"
for option in "--memory 1G" "--tasks 9" "--output-size 1M" "--folder-depth 2" --allow-weak-sandbox; do
    # shellcheck disable=SC2086
    bad_usage "$option without a kernel file" 'needs --kernel or --kernels' certify gelu_fwd $option
    # shellcheck disable=SC2086
    bad_usage "$option with a program" 'needs --kernel or --kernels' certify gelu_fwd --program true $option
done
bad_usage "a time for all without user kernels" '--total-timeout needs --kernel, --kernels or --program' certify gelu_fwd --total-timeout 9
for command in "certify gelu_fwd --kernel x.c" "replay x.json"; do
    for bad in "memory 0" "memory 1K" "memory 1X" "memory -1" "tasks 0" "tasks 4194305" "tasks x" "output-size 0" "output-size 4095" \
        "folder-depth 0" "folder-depth 65" "total-timeout 0" "total-timeout x"; do
        # shellcheck disable=SC2086
        expect 2 "$command --$bad" $command --${bad% *} ${bad#* }
        says err "${bad% *} must be .*, not '${bad#* }'"
    done
done

echo "-- as asked for, and as written down"
# Returns 9 where it may write files of more than MOST bytes.
cat >file_limit.c <<'C'
#include <sys/resource.h>
#define tokitai_gelu_fwd gelu
#include "gelu_fwd.h"
#undef tokitai_gelu_fwd
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_max > MOST ? 9 : gelu(call, n, x, y);
}
C
mkdir -p limited
cp file_limit.c limited/kernel.c
cp "$examples/gelu_fwd.c" limited/gelu_fwd.h
judge() { # STATUS TITLE MOST ARGUMENT...
    local status=$1 title=$2 most=$3
    shift 3
    expect "$status" "$title" certify gelu_fwd --kernel limited --dtype f16 --skip-mutants --no-coverage --seed 7 --flags "-O2 -DMOST=$most" \
        --out out_files "$@"
}
judge 0 "by default" 1073741824
says out_files/$cert.limited.json '"output_bytes": 1073741824'
says out_files/$cert.limited.json '"folder_depth": 16'
says out_files/$cert.limited.json '"total_seconds": 3600.0'
says out_files/$cert.limited.json '"memory_bytes": [0-9]+,'
says out_files/$cert.limited.md '^## Limits'
cp out_files/$cert.limited.json default.json
judge 3 "not more than that" 1073741823
judge 0 "less" 16777216 --output-size 16M --memory 2G --folder-depth 1 --total-timeout 3000
says out_files/$cert.limited.json '"output_bytes": 16777216'
says out_files/$cert.limited.json '"memory_bytes": 2147483648'
says out_files/$cert.limited.json '"folder_depth": 1'
says out_files/$cert.limited.json '"total_seconds": 3000.0'
cp out_files/$cert.limited.json less.json
judge 0 "more than the machine has" 1073741824 --memory 1000000T
held() { sed -n "/^   \"limits\": {\$/,/^   },\$/s/.*\"$1\": \([0-9]*\).*/\1/p" out_files/$cert.limited.json; }
is "    is cut to that" test "$(held memory_bytes)" -eq $(($(getconf _PHYS_PAGES) * $(getconf PAGESIZE)))
expect 3 "a compiler, too" certify gelu_fwd --kernel "$examples/gelu_fwd.c" --dtype f16 --output-size 4K
says err "File size limit exceeded|file truncated|too large"
cat >loud_cc <<'C'
#!/bin/sh
i=0
while [ $i -lt 2000 ]; do
    echo "line $i of many"
    i=$((i + 1))
done
exit 1
C
chmod +x loud_cc
loud() { # ARGUMENT...
    expect 3 "a compiler that prints much" certify gelu_fwd --kernel "$examples/gelu_fwd.c" --dtype f16 --compiler "$work/loud_cc" --json-lines lines "$@"
    says lines '"log":"line 0 of many'
}
loud
says lines 'line 400 of many' # of some 16 bytes each
loud --output-size 4K
count 0 lines 'line 400 of many'

echo "-- in a replay"
expect 0 "by default" replay --kernel limited default.json
expect 0 "what it says is less" replay --kernel limited less.json
forge less.json 's/"output_bytes": 16777216/"output_bytes": 1073741824/'
expect 1 "what it says is more" replay --kernel limited forged.json
forge default.json 's/"output_bytes": 1073741824/"output_bytes": 109951162777600/'
expect 2 "more than was asked for" replay --kernel limited forged.json
says err "which was asked for or is the default"
forge default.json 's/"output_bytes": 1073741824/"output_bytes": 109951162777600/; s/^   "kernel": {$/&\n    "asked": {\n     "output_bytes": 109951162777600\n    },/'
expect 0 "no more than the default" replay --kernel limited forged.json
expect 0 "no more than the reader allows" replay --kernel limited --output-size 16M forged.json
forge less.json 's/"output_bytes": 16777216/"output_bytes": -1/'
expect 2 "what is none is refused" replay --kernel limited --output-size 16M forged.json
says err "output_bytes is -1; allowed is positive"
forge less.json '/^   "limits": {$/,/^   },$/d'
expect 1 "one that has none" check forged.json
expect 2 "and its replay" replay --kernel limited --output-size 16M forged.json
expect 3 "memory of a trial" replay --kernel limited --trial-memory 1K default.json
says err "--trial-memory raises it"

echo "-- the reproducing command has them"
expect 1 "a wrong kernel" certify gelu_fwd --kernel "$examples/bad_gelu_tail.c" --dtype f16 --skip-mutants --memory 2G --tasks 99 --output-size 16M --folder-depth 3
says out "reproduce .* --memory 2147483648 --tasks 99 --output-size 16777216 --folder-depth 3 "

echo "-- folders in each other"
deep=deep
mkdir deep
cp "$examples/gelu_fwd.c" deep/kernel.c
for _ in $(seq 2 17); do deep=$deep/more; done
mkdir -p "$deep"
echo >"$deep/last.h"
expect 2 "17 of them" certify gelu_fwd --kernel deep --dtype f16 --shape n=5
says err "more than 16 deep"
expect 0 "17, if that is allowed" certify gelu_fwd --kernel deep --dtype f16 --shape n=5 --folder-depth 17 --out deep_out
says deep_out/$cert.deep.json '"folder_depth": 17'
expect 2 "in a replay the reader's hold" replay --kernel deep deep_out/$cert.deep.json
says err "more than 16 deep"
expect 0 "allowed there, too" replay --kernel deep --folder-depth 17 deep_out/$cert.deep.json

echo "-- time of the whole judgement"
# The kernel never returns: without a limit for all the one for a call would be reached, in ten hours.
expect 3 "a kernel that does not end" certify gelu_fwd --kernel "$examples/bad_endless.c" --dtype f16 --timeout 36000 --total-timeout 1 --out late
says out "total time limit of 1 seconds reached after 0 of [0-9]+ trials"
says late/$cert.bad_endless.json '"total_seconds": 1.0'
cat >later.c <<'C'
#define tokitai_gelu_fwd gelu
#include "gelu_fwd.h"
#undef tokitai_gelu_fwd
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    for (volatile int64_t forever = n > 1000; forever;)
        ;
    return gelu(call, n, x, y);
}
C
mkdir later && mv later.c later/kernel.c && cp limited/gelu_fwd.h later/
expect 3 "one that ends at times" certify gelu_fwd --kernel later --dtype f16 --timeout 36000 --total-timeout 3 --skip-mutants --no-coverage --out late
says out "total time limit of 3 seconds reached after [0-9]+ of [0-9]+ trials"
expect 3 "its replay" replay --kernel later late/$cert.later.json
says err "total time limit of 3 seconds reached"
expect 3 "a replay that the reader gives less" replay --kernel later --total-timeout 0.5 late/$cert.later.json
says err "total time limit of 0.5 seconds"
forge late/$cert.later.json 's/"total_seconds": 3.0/"total_seconds": 86400.0/; s/total time limit of 3 seconds/total time limit of 86400 seconds/'
expect 3 "no longer than that, whatever it says" replay --kernel later --total-timeout 0.5 forged.json
says err "total time limit of 0.5 seconds"
expect 3 "a program that hangs" certify gelu_bwd --program "sleep 36000" --timeout 0.3 --total-timeout 0.01 --dtype f16 --skip-mutants --out late
says out "total time limit of 0.01 seconds"
says late/program.gelu_bwd.f16.json '"total_seconds": 0.0[01]'
finish
