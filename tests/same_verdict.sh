#!/usr/bin/env bash
# The same seed gives the same verdict, reason, elements and command, for every --jobs and for every number of processors.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
kernels=$root/tests/user_kernels

mkdir kernels
for file in wrong/gelu_bwd_four_workers.c wrong/softmax_fwd_cols1024.c wrong/gemm_four_workers.cpp wrong/softmax_bwd_tile96.c \
    wrong/embedding_fwd_many_threads.c wrong/xent_cols1000.cpp right/gelu_fwd_table.c right/softmax_bwd_fp32_sequential.c; do
    is "there is $file" cp "$kernels/$file" kernels/
done

judged() { # NAME COMMAND...: the results, in the order of their names, without what is a matter of time
    local name=$1
    shift
    "$@" "$tokitai" certify --kernels kernels --include "$kernels/shared" --dtype f16 --seed 77 --json-lines "$name.jsonl" "${jobs[@]}" >out 2>err </dev/null
    python3 - "$name" <<'PYTHON'
import json, sys
results = [json.loads(line) for line in open(sys.argv[1] + ".jsonl")]
for result in results:
    result.pop("seconds", None)
results.sort(key=lambda r: (r["file"], r.get("dtype", ""), r.get("index_dtype", "")))
json.dump(results, open(sys.argv[1], "w"), indent=1, sort_keys=True)
PYTHON
}

one_processor=()
command -v taskset >/dev/null && one_processor=(taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')")
jobs=(--jobs 1)
judged first env
is "some are refuted" grep -q REFUTED first
is "some are held" grep -qE 'HELD|PROVED' first
jobs=(--jobs 2)
judged second env
is "the same with --jobs 2" cmp first second
jobs=(--jobs 5)
judged third env OMP_NUM_THREADS=3
is "the same with --jobs 5 and other threads of OpenMP's" cmp first third
if [ ${#one_processor[@]} -gt 0 ]; then
    jobs=(--jobs 1)
    judged fourth "${one_processor[@]}"
    is "the same on one processor" cmp first fourth
else
    skip "the same on one processor" "there is no taskset"
fi
finish
