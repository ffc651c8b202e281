#!/usr/bin/env bash
# tokitai corpus: its table, its JSON, its chart and its exit status. Three groups stand for all: one each without a sum, with an
# index and with a product; that every op's kernels are judged as they should be is what src/ops/*/test*.c look at.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
subcommand=(corpus)

lists() { "$tokitai" ops --list="$1" "$2" | wc -l; }
# The others need level full, or are mistakes in fp32 alone.
quick_mutants() { echo $(($("$tokitai" ops "$1" --json | grep -o '"level": *"quick"' | wc -l) - $("$tokitai" ops "$1" --json | grep -c only_f32_results))); }

echo "-- the table"
wrong=$(quick_mutants gelu_fwd) correct=$(lists variants gelu_fwd)
expect 0 "one op, one type" gelu_fwd --dtype f16 --verbose
says out "^OP +DTYPE +MUTANTS +TOKITAI +USUAL 1E-2 +USUAL 1E-3 +VARIANTS +HELD$"
says out "^gelu_fwd +f16 +$wrong +$wrong +[0-9]+ +[0-9]+ +$correct +$correct$"
says out "^    the usual check accepts tanh_form, with 1e-3 too: "
says out "^$wrong mutants: tokitai rejects $wrong \(100.0%\), the usual check [0-9]+ \([0-9.]+%\)"
says out "^$correct variants: $correct hold; the usual check rejects 0 of them"
says out "^Level quick, seed 20261115; "
if grep -q "accepts all_zeros" out; then fail "    the usual check sees zeros"; else pass "    the usual check sees zeros"; fi

wrong=$(($(quick_mutants gemm) + $(quick_mutants embedding_bwd)))
correct=$(($(lists variants gemm) + $(lists variants embedding_bwd)))
expect 0 "two ops" gemm embedding_bwd --dtype bf16 --seed 7 --chart chart.svg
says out "^total +$wrong +$wrong +[0-9]+ +[0-9]+ +$correct +$correct$"
says out "^Level quick, seed 7; "
says chart.svg "^<svg "
says chart.svg ">$wrong of $wrong<"
says chart.svg "^</svg>$"

echo "-- JSON"
if command -v python3 >/dev/null; then
    expect 0 "--json" embedding_fwd --dtype f16 --json
    if python3 - out "$(quick_mutants embedding_fwd)" "$(lists variants embedding_fwd)" <<'PYTHON'
import json, sys
groups = json.load(open(sys.argv[1]))
assert [(g["op"], g["dtype"], g["level"]) for g in groups] == [("embedding_fwd", "f16", "quick")]
assert groups[0]["usual_shape"] == {"queries": 4096, "dim": 64, "vocab": 5000}
kernels = groups[0]["kernels"]
wrong = [k for k in kernels if k["wrong"]]
assert len(wrong) == int(sys.argv[2]) and len(kernels) - len(wrong) == int(sys.argv[3])
for k in kernels:
    assert k["verdict"] == ("REFUTED" if k["wrong"] else "HELD"), k
    assert bool(k["reason"]) == k["wrong"], k
    assert k["passes_1e-2"] or not k["passes_1e-3"], k
    assert k["wrong"] or k["passes_1e-3"], k
passes = {k["name"] for k in wrong if k["passes_1e-2"]}
assert "nan_masked" in passes and "off_by_one" not in passes, passes
PYTHON
    then pass "    holds what it should"; else fail "    does not hold what it should"; fi
fi

echo "-- wrong usage"
expect 2 "an op" gelu_forward
says err "^tokitai corpus: unknown op 'gelu_forward'"
expect 2 "a level" gelu_fwd --level exhaustive
says err "^tokitai corpus: unknown level 'exhaustive'"
expect 2 "a dtype" gelu_fwd --dtype f64
expect 2 "a seed" gelu_fwd --seed x
expect 2 "a number of threads" gelu_fwd --threads -1
expect 2 "an option twice" gelu_fwd --dtype f16 --dtype f16
expect 2 "a chart nowhere" embedding_fwd --dtype f16 --chart nowhere/chart.svg
says err "^tokitai corpus: cannot write to --chart 'nowhere/chart.svg': No such file or directory$"
is "    before any kernel runs" test ! -s out

finish
