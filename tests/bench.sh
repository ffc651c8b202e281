#!/usr/bin/env bash
# tokitai bench: times nothing without a certificate, makes one when asked, writes a table, JSON and SVG. Nothing here is
# about how fast anything is.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
subcommand=(bench)

tiny=(--lowering best --peers none --seconds 0.05 --dtype f16)
best=$("$tokitai" certify gelu_fwd --dtype f16 --lowering best --shape 1 | grep -oE '^cpu\.gelu_fwd\.f16\.[a-z0-9]+')

echo "-- certificates"
expect 3 "without a certificate" gelu_fwd --shape 1000 "${tiny[@]}"
says err "^tokitai bench: $best has no certificate of this build on this machine; --certify"
silent out
is "    nothing was made" test ! -e state
expect 0 "--certify" gelu_fwd --shape 1000 --certify "${tiny[@]}"
says out "^limits +copy [0-9.]+ GB/s, non-temporal copy [0-9.]+ GB/s .*, multiply-add [0-9]+ GFLOP/s"
says out "^gelu_fwd f16 n=1000$"
says out "^$best +[0-9.]+ (us|ms)"
says out "^limit: non-temporal copy "
certificate=$(find state -name '*.json')
is "    one certificate was kept" test -s "$certificate"
expect 0 "with that certificate" gelu_fwd --shape 1000 "${tiny[@]}"
expect 3 "another dtype has none" gelu_fwd --shape 1000 "${tiny[@]:0:6}" --dtype bf16
cp "$certificate" kept.json
sed -i 's/"undecided": 0/"undecided": 7/' "$certificate"
expect 3 "an edited certificate is none" gelu_fwd --shape 1000 "${tiny[@]}"
cp kept.json "$certificate"
expect 0 "the intact one is" gelu_fwd --shape 1000 "${tiny[@]}"
mv "$certificate" "${certificate%.quick.json}.full.json"
expect 0 "one of another level is" gelu_fwd --shape 1000 "${tiny[@]}"
other=$(dirname "$certificate")/$(printf '%064d' 0).quick.json
mv "${certificate%.quick.json}.full.json" "$other"
expect 3 "one with another key is none" gelu_fwd --shape 1000 "${tiny[@]}"
rm "$other"
"$tokitai" certify gelu_fwd --dtype f16 --lowering best --shape 5 --out single >/dev/null
cp single/"$best".json "$certificate"
expect 3 "one of a single case is none" gelu_fwd --shape 1000 "${tiny[@]}"
cp kept.json "$certificate"

echo "-- wrong arguments"
bad_usage "an op misspelt" "unknown op 'gelu_fw'; did you mean 'gelu_fwd'\?" gelu_fw
bad_usage "a dtype" "unknown dtype 'f32'" gelu_fwd --dtype f32
bad_usage "a peer" "unknown peer 'openblass'; did you mean 'openblas'\?" gelu_fwd --peers sleef,openblass
bad_usage "indices" "unknown way to draw indices 'zip'; did you mean 'zipf'\?" embedding_fwd --indices zip
bad_usage "seconds" "--seconds '0' is not" gelu_fwd --seconds 0
bad_usage "threads" "--threads '-1' is not" gelu_fwd --threads=-1
bad_usage "a lowering" "no lowering 'cpu.gelu_fwd.f16.fast'" gelu_fwd --lowering cpu.gelu_fwd.f16.fast
bad_usage "a shape" "has 2 sizes, but gelu_fwd has 1: n" gelu_fwd --shape 3x4
bad_usage "an empty shape" "without elements" gelu_fwd --shape 0
bad_usage "a shape and growth" "not both" gelu_fwd --shape 5 --growth
bad_usage "scaling and growth" "not both" gelu_fwd --scaling --growth
bad_usage "processor time of two threads" "for one thread of the CPU" gelu_fwd --cpu-time --threads 2
bad_usage "scaling of one thread" "there is only one" gelu_fwd --scaling --threads 1
bad_usage "a chart nowhere" "cannot write to --chart '/dev/null/x.svg'" gelu_fwd --chart /dev/null/x.svg

echo "-- a GPU that is not there, and one that is only pretended"
bad_usage "a backend" "unknown backend 'cudda'; did you mean 'cuda'\?" gelu_fwd --backend cudda
bad_usage "a lowering of another backend" "is not of backend 'cpu'" gelu_fwd --backend cpu --lowering cuda.gelu_fwd.f16.shared
expect 3 "a backend without kernels" gelu_fwd --backend emu
says err "^tokitai bench: backend 'emu' has no kernels in this version$"
silent out
bad_usage "startup of the CPU" "--startup is about a GPU" --startup
bad_usage "threads of a GPU" "are about the CPU" --backend cuda --threads 2
fakes=${BUILD_DIR:-$root/build}/tests/fake_gpu
if [ -e "$fakes/libcuda.so.1" ]; then
    export LD_LIBRARY_PATH=$fakes TOKITAI_CUDA_COMPILER=$fakes/libnvrtc.so FAKE_GPU_FAIL=cuInit=100
    expect 3 "no device" gemm --backend cuda "${tiny[@]}"
    says err "cuda cannot be used"
    silent out
    expect 3 "no device for the lowering of that id" gelu_fwd --lowering cuda.gelu_fwd.f16.shared
    says err "cuda cannot be used"
    expect 3 "no device to start" --backend cuda --startup
    unset FAKE_GPU_FAIL
    expect 3 "without a certificate there" gemm --backend cuda "${tiny[@]}"
    says err "cuda\.gemm\.f16\.shared has no certificate of this build on this machine"
    silent out
    expect 3 "the backend is that of the lowering's id" gelu_fwd --lowering cuda.gelu_fwd.f16.shared
    says err "cuda\.gelu_fwd\.f16\.shared has no certificate of this build on this machine"
    expect 0 "startup there" gemm --backend cuda --dtype f16 --startup
    says out "^gemm +f16 +[0-9]+ ms +[0-9.]+ ms +[0-9.]+ us"
    bad_usage "a peer of the CPU there" "unknown peer 'sleef'" gemm --backend cuda --peers sleef
    unset LD_LIBRARY_PATH TOKITAI_CUDA_COMPILER
else
    echo "skipped: no driver that pretends at $fakes"
fi

echo "-- every op, against every peer that is here"
# Peers are other people's libraries: what they leave allocated is not ours to judge.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
if command -v python3 >/dev/null; then
    xml_good() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"; }
else
    xml_good() { tail -n 1 "$1" | grep -q '^</svg>'; }
fi
peers=plain,sleef,openblas,blis,onednn,libxsmm
run=(--lowering best --certify --seconds 0.05 --peers $peers)
expect 0 "one size" gelu_fwd gelu_bwd --shape 1009 --dtype bf16 "${run[@]}" --json --chart one.svg
is "    is JSON" json_good out
is "    SVG is XML" xml_good one.svg
says out '"verdict": "HELD"'
says out '"in_turn": true'
same_work() { if grep -qE ' differs ' out; then fail "    a peer did other work than ours"; else pass "    the same work"; fi; }
expect 0 "rows" softmax_fwd softmax_bwd xent --shape 13x257 --dtype f16 "${run[@]}" --chart rows.svg
is "    SVG is XML" xml_good rows.svg
same_work
expect 0 "products" gemm gemm_grad_a gemm_grad_b --shape 37x41x29 --dtype bf16 "${run[@]}"
same_work
expect 0 "embeddings" embedding_fwd embedding_bwd --shape 31x65x17 --dtype f16 "${run[@]}"
same_work
for op in embedding_fwd embedding_bwd; do
    says out "^$op f16 queries=31,dim=65,vocab=17 uniform$"
    says out "^$op f16 queries=31,dim=65,vocab=17 zipf$"
done
expect 0 "indices of one kind" embedding_bwd --shape 31x65x17 "${tiny[@]}" --indices zipf
is "    one and no other" test "$(grep -cE '^embedding_bwd .*(uniform|zipf)$' out)" = 1
expect 0 "i64" xent --index i64 --shape 3x5 "${run[@]}" --dtype f16
says out "^xent f16 i64 rows=3,cols=5$"

echo "-- what it comes to"
# A lowering twice as fast as the best peer in one case and eight times in another is four times as fast on average.
expect 0 "means" embedding_bwd --shape 31x65x17 --dtype f16 --lowering best --seconds 0.05 --peers plain --json
means='
import json, math, sys
report = json.load(open("out"))
ratios = []
for result in report["results"]:
    best = {kind: min(a["best_seconds"] for a in result["arms"] if a["kind"] == kind) for kind in ("lowering", "peer")}
    ratios.append(best["peer"] / best["lowering"])
[entry] = report["summary"]
for mean in (entry["to_best_peer"], entry["to_peers"]["plain (fp32 sums)"]):
    assert mean["cases"] == 2 == len(ratios)
    assert math.isclose(mean["mean"], math.sqrt(ratios[0] * ratios[1]), rel_tol=1e-9)
    assert math.isclose(mean["least"], min(ratios), rel_tol=1e-9)
'
if command -v python3 >/dev/null; then is "    are geometric" python3 -c "$means"; fi
expect 0 "the same as a table" embedding_bwd --shape 31x65x17 --dtype f16 --lowering best --seconds 0.05 --peers plain
says out "^geometric means$"
says out "^cpu\.embedding_bwd\.f16\.[a-z0-9]+ +2 +[0-9.]+x +[0-9]+% +[0-9.]+x +31x65x17 (uniform|zipf)$"

expect 0 "processor time" gelu_fwd --shape 1000 "${tiny[@]}" --cpu-time
says out ", 1 thread, processor time$"

echo "-- threads"
expect 0 "scaling" gemm --shape 130x70x50 --dtype f16 --lowering best --certify --seconds 0.05 --scaling --threads 2
says out "^ARM +1 THREAD +2 THREADS +SPEEDUP"
says out "^cpu\.gemm\.f16\.[a-z0-9]+ +[0-9.]+ us +[0-9.]+ us +[0-9.]+x +[0-9.]+x +[0-9]+%$"
says out "^limit: multiply-add +[0-9.]+ us +[0-9.]+ us +[0-9.]+x"
expect 0 "two threads" gemm --shape 130x70x50 --dtype bf16 "${run[@]}" --threads 2
same_work

finish
