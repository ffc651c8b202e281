#!/usr/bin/env bash
# tokitai bench: times nothing without a certificate, makes one when asked, writes a table, JSON and SVG. Nothing here is
# about how fast anything is.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
subcommand=(bench)

if command -v python3 >/dev/null; then
    xml_good() { python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$1"; }
else
    xml_good() { tail -n 1 "$1" | grep -q '^</svg>'; }
fi

tiny=(--lowering best --peers none --seconds 0.05 --dtype f16)
best=$("$tokitai" certify gelu_fwd --dtype f16 --lowering best --shape 1 | grep -oE '^cpu\.gelu_fwd\.f16\.[a-z0-9]+')

echo "-- certificates"
expect 3 "without a certificate" gelu_fwd --shape 1000 "${tiny[@]}"
says err "^tokitai bench: $best has no certificate of this build on this machine; --certify"
silent out
is "    nothing was made" test ! -e state
expect 3 "nor with a chart" gelu_fwd --shape 1000 "${tiny[@]}" --chart early.svg
is "    which was not begun" test ! -e early.svg
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
bad_usage "a dtype" "unknown dtype 'f64'" gelu_fwd --dtype f64
bad_usage "a peer" "unknown peer 'openblass'; did you mean 'openblas'\?" gelu_fwd --peers sleef,openblass
bad_usage "indices" "unknown indices 'zip'; did you mean 'zipf'\?" embedding_fwd --indices zip
bad_usage "seconds" "--seconds must be a number from 1e-06 to 3600" gelu_fwd --seconds 0
bad_usage "threads" "--threads must be a number from 0 to 1024" gelu_fwd --threads=-1
bad_usage "a lowering" "no lowering 'cpu.gelu_fwd.f16.fast'" gelu_fwd --lowering cpu.gelu_fwd.f16.fast
bad_usage "a shape" "has 2 sizes, but gelu_fwd has 1: n" gelu_fwd --shape 3x4
bad_usage "an empty shape" "without elements" gelu_fwd --shape 0
bad_usage "a shape and growth" "--growth and --shape exclude each other" gelu_fwd --shape 5 --growth
bad_usage "scaling and growth" "--growth and --scaling exclude each other" gelu_fwd --scaling --growth
bad_usage "a sweep and growth" "--growth and --sweep exclude each other" softmax_fwd --sweep --growth
bad_usage "a sweep and a shape" "--sweep and --shape exclude each other" softmax_fwd --sweep --shape 5x5
bad_usage "a sweep without rows" "--sweep needs an op on rows" gelu_fwd --sweep
bad_usage "processor time of two threads" "--cpu-time needs --backend cpu and --threads 1" gelu_fwd --cpu-time --threads 2
bad_usage "scaling of one thread" "--scaling needs more than one thread" gelu_fwd --scaling --threads 1
bad_usage "a chart nowhere" "cannot write to --chart '/dev/null/x.svg'" gelu_fwd --chart /dev/null/x.svg

echo "-- kept reports of every kind"
kept() { # KIND: tables of tests/fuzz/corpus/bench_kept/KIND, and the chart in tests/charts
    expect 0 "tables of $1" --from "$root/tests/fuzz/corpus/bench_kept/$1" --chart shown.svg
    is "    the chart is XML" xml_good shown.svg
    # Kept with its elements one behind the other.
    is "    and that of tests/charts" cmp <(tr -d '\n' <shown.svg) <(tr -d '\n' <"$root/tests/charts/$1.svg")
}
kept gpu
says out "^limits   copy 4200 GB/s \(read and written\), empty launch 0\.61 us$"
says out "^peers    torch 2\.11\.0\+cu130, triton 3\.6\.0 on NVIDIA H200$"
says out "^cuda\.gelu_fwd\.f16\.shared +64\.82 us +65\.06 us +0\.001 ns +4125\.71 GB/s +102% +1\.03x$"
says out "^cuda\.embedding_bwd\.f16\.shared +1 +3\.09x +61% +3\.09x  32768x1024x50304 uniform$"
kept growth
says out "^cliffs: steps at which"
kept cublaslt
says out "^peers    cublasLt 13\.1\.0, "
says out "^cublaslt +17\.01 us +17\.17 us +0\.022 ns +30130\.2 GFLOP/s"
says out "^cuda\.gemm\.bf16\.hopper +2 +1\.14x +- +1\.01x level  4096x4096x1024$"
kept sweep
says out "^drawn shapes, seed 20261116: our speed relative to$"
says out "^cuda\.softmax_fwd\.f16\.hopper +copy +12 +100\.5% +78\.8% +72\.4%$"
says out "^cuda\.softmax_bwd\.f16\.hopper +copy +3 +[0-9.]+% +[0-9.]+% +[0-9.]+%$"
says out "^cuda\.xent\.f16\.hopper +copy +3 +[0-9.]+% +[0-9.]+% +[0-9.]+%$"
expect 0 "the table of startup" --from "$root/tests/fuzz/corpus/bench_kept/startup"
says out "^gelu_fwd +bf16 +307 ms +0\.5 ms +4\.27 us +3\.86 us +0\.40 us$"

echo "-- a GPU that is not there, and one that is only pretended"
bad_usage "a backend" "unknown backend 'cudda'; did you mean 'cuda'\?" gelu_fwd --backend cudda
bad_usage "a lowering of another backend" "--lowering must be of backend 'cpu', not cuda" gelu_fwd --backend cpu --lowering cuda.gelu_fwd.f16.shared
bad_usage "startup of the CPU" "--startup needs a GPU" --startup
bad_usage "threads of a GPU" "need --backend cpu" --backend cuda --threads 2
fakes=${BUILD_DIR:-$root/build}/tests/fake_gpu
if [ -e "$fakes/libcuda.so.1" ]; then
    export LD_LIBRARY_PATH=$fakes TOKITAI_CUDA_COMPILER=$fakes/libnvrtc.so TOKITAI_CACHE=$work/kernels FAKE_GPU_FAIL=cuInit=100
    expect 3 "no device" gemm --backend cuda "${tiny[@]}"
    says err "cuda cannot be used"
    silent out
    expect 3 "no device for the lowering of that id" gelu_fwd --lowering cuda.gelu_fwd.f16.shared
    says err "cuda cannot be used"
    expect 3 "no device to start" --backend cuda --startup
    unset FAKE_GPU_FAIL
    expect 3 "without a certificate there" gemm --backend cuda "${tiny[@]}"
    says err "cuda\.gemm\.f16\.hopper has no certificate of this build on this machine"
    silent out
    expect 3 "the backend is that of the lowering's id" gelu_fwd --lowering cuda.gelu_fwd.f16.shared
    says err "cuda\.gelu_fwd\.f16\.shared has no certificate of this build on this machine"
    for entry in "$TOKITAI_CACHE"/*.artifact; do truncate -s 300 "$entry"; done
    expect 3 "damaged kernels in the cache" gemm --backend cuda "${tiny[@]}"
    says err "^tokitai bench: note: cache entry .* of ops/product/kernel_gemm_hopper.cu \(f16\) was damaged"
    expect 0 "startup there" gemm --backend cuda --dtype f16 --startup
    says out "^gemm +f16 +[0-9]+ ms +[0-9.]+ ms +[0-9.]+ us"
    bad_usage "a peer of the CPU there" "unknown peer 'sleef'" gemm --backend cuda --peers sleef
    mkdir -p empty
    TMPDIR=$work/empty expect 0 "startup as JSON" gelu_fwd --backend cuda --dtype f16 --startup --json
    is "    is JSON" json_good out
    for member in device startup empty_cache_seconds full_cache_seconds small_call_seconds bare_launch_seconds; do
        says out "\"$member\": "
    done
    is "    nothing is left in TMPDIR" test -z "$(ls -A empty)"
    cp out startup.json
    FAKE_GPU_NAME=$'X\xff' expect 0 "startup of a device whose name is not UTF-8" gelu_fwd --backend cuda --dtype f16 --startup
    says out "^X\\\\xff 0, sm_90, "
    FAKE_GPU_NAME=$'X\xff' expect 0 "that as JSON" gelu_fwd --backend cuda --dtype f16 --startup --json
    is "    is JSON" json_good out
    says out '"device": "X\\\\xff 0, sm_90, '
    TMPDIR=$work/nowhere expect 3 "startup without room for its cache" gelu_fwd --backend cuda --dtype f16 --startup
    says err "$work/nowhere"
    expect 0 "startup from a file" --from startup.json
    says out "^Fake GPU 0, sm_90, "
    says out "^gelu_fwd +f16 +[0-9]+ ms +[0-9.]+ ms +[0-9.]+ us +[0-9.]+ us +-?[0-9.]+ us$"
    bad_usage "no chart of that" "--chart excludes results of --startup" --from startup.json --chart startup.svg

    # Kernels that compute what they should, and a PyTorch that takes a millisecond for everything.
    export FAKE_GPU_KERNELS=$fakes/kernels.so FAKE_GPU_MEMORY=$((64 << 20)) TOKITAI_CACHE=$work/cache
    export PYTHONPATH=$root/tests/stand_in PYTHONDONTWRITEBYTECODE=1
    case=(gelu_fwd --lowering cuda.gelu_fwd.f16.shared --dtype f16 --shape 1000 --seconds 0.05)
    FAKE_GPU_NAME=$'X\xff' expect 0 "a device whose name is not UTF-8" "${case[@]}" --certify --peers none
    says out "^X\\\\xff 0, sm_90, "
    expect 0 "a table" "${case[@]}" --certify --peers none
    says out "^Fake GPU 0, sm_90, driver .*CUDA 12\.4, 132 multiprocessors, L2 52 MB$"
    says out "^limits +copy [0-9]+ GB/s \(read and written\), empty launch [0-9.]+ us$"
    says out "^peers +not requested$"
    says out "^gelu_fwd f16 n=1000$"
    says out "^cuda\.gelu_fwd\.f16\.shared +[0-9.]+ us +[0-9.]+ us +[0-9.]+ ns +[0-9.]+ GB/s +[0-9]+% *$"
    for limit in "copy" "empty launch"; do says out "^limit: $limit +[0-9.]+ us"; done

    product() { # STATUS TITLE OP, then options: with cuBLASLt alone
        local status=$1 title=$2 op=$3
        shift 3
        rm -f calls
        FAKE_GPU_MEMORY=$((512 << 20)) FAKE_CUBLASLT_LOG=calls expect "$status" "$title" "$op" --lowering "cuda.$op.f16.shared" --shape 5x6x7 \
            --seconds 0.05 --certify --peers cublaslt "$@"
    }
    layouts() { # OPS A B D: what the heuristic was asked, our product transposed
        is "    its layouts are those" grep -qx "asked compute 68 scale 0 transposed $1 a type 2 $2 b type 2 $3 d type 2 $4 workspace 67108864 most 32" calls
    }
    product 0 "cuBLASLt" gemm
    says out "^peers +cublasLt 13\.1\.2, $fakes/libcublasLt\.so\.13$"
    says out "^cublaslt +[0-9.]+ us +[0-9.]+ us"
    layouts "0 0" "6x7 pitch 6" "7x5 pitch 7" "6x5 pitch 6"
    is "    both algorithms that can be used are tried" test "$(grep '^algorithm' calls | sort -u | tr '\n' ' ')" = "algorithm 1 algorithm 3 "
    is "    the faster one is the arm" test "$(tail -n 10 calls | sort -u)" = "algorithm 3"
    product 0 "the gradient by the left factor" gemm_grad_a
    layouts "1 0" "6x7 pitch 6" "6x5 pitch 6" "7x5 pitch 7"
    product 0 "the gradient by the right factor" gemm_grad_b
    layouts "0 1" "6x5 pitch 6" "7x5 pitch 7" "6x7 pitch 6"
    FAKE_CUBLASLT_WRONG=1 product 0 "other results" gemm
    says out "^cublaslt +differs"
    product 0 "as JSON" gemm --json
    is "    is JSON" json_good out
    says out '"cublaslt": "cublasLt 13\.1\.2, '
    cp out product.json
    expect 0 "from a file" --from product.json
    says out "^peers +cublasLt 13\.1\.2, "
    for call in cublasLtMatmulDescCreate cublasLtMatrixLayoutCreate cublasLtMatmulPreferenceCreate cublasLtMatmulAlgoGetHeuristic \
        cublasLtMatmul; do
        FAKE_CUBLASLT_FAIL=$call product 0 "without an arm where $call fails" gemm
        is "    it has none" test "$(grep -c '^cublaslt' out)" = 0
    done
    FAKE_CUBLASLT_FAIL=cublasLtCreate product 0 "a handle that is not made" gemm
    says out "^peers +cublaslt: cublasLtCreate failed with error 14$"
    TOKITAI_CUBLASLT_LIBRARY=/nowhere.so product 0 "no cuBLASLt" gemm
    says out "^peers +cublaslt: /nowhere\.so: cannot open shared object file"
    is "    and no arm" test "$(grep -c '^cublaslt' out)" = 0
    TOKITAI_CUBLASLT_LIBRARY=$fakes/libnvrtc.so product 0 "a library that is another" gemm
    says out "^peers +cublaslt: $fakes/libnvrtc\.so lacks required functions$"
    expect 0 "no memory for its workspace" "${case[@]}" --peers cublaslt
    says out "^peers +cublaslt: .*memory"
    if command -v python3 >/dev/null; then
        expect 0 "JSON and a chart, with peers" "${case[@]}" --json --chart gpu.svg
        is "    is JSON" json_good out
        is "    SVG is XML" xml_good gpu.svg
        for arm in "tokitai shared" pytorch torch.compile; do is "    $arm is drawn" grep -qF "$arm" gpu.svg; done
        cp out gpu.json
        kept='
import json
report = json.load(open("gpu.json"))
assert report["machine"]["peers"] == "torch 0.stand-in, no triton on Stand-in", report["machine"]
assert report["machine"]["cublaslt"].startswith("cublaslt: "), report["machine"]
[result] = report["results"]
arms = {arm["name"]: arm for arm in result["arms"]}
assert list(arms) == ["cuda.gelu_fwd.f16.shared", "limit: copy", "limit: empty launch", "pytorch", "torch.compile"], list(arms)
ours = arms["cuda.gelu_fwd.f16.shared"]
assert ours["verdict"] == "HELD" and 0 < ours["best_seconds"] <= ours["median_seconds"], ours
assert all(arm["samples"] >= 5 and arm["in_turn"] for arm in arms.values()), arms
for peer in ("pytorch", "torch.compile"):
    assert abs(arms[peer]["median_seconds"] - 1e-3) < 1e-9, arms[peer]
assert result["best_peer"] in ("pytorch", "torch.compile"), result
assert result["limit_seconds"] == arms["limit: copy"]["median_seconds"], result
ratio = 1e-3 / ours["median_seconds"]
[entry] = report["summary"]
assert abs(entry["to_best_peer"]["mean"] / ratio - 1) < 1e-9, entry
print("%.2fx" % ratio)
'
        ratio=$(python3 -c "$kept")
        is "    is what was timed" test -n "$ratio"
        expect 0 "the table and the chart of a file" --from gpu.json --chart again.svg
        says out "^peers +torch 0\.stand-in, no triton on Stand-in$"
        is "    the ratio is that of the run" grep -qE "^cuda\.gelu_fwd\.f16\.shared .* +${ratio/./\\.}$" out
        is "    and so is the chart" cmp -s gpu.svg again.svg
        STAND_IN_TORCH=broken expect 0 "peers that fail are left out" "${case[@]}"
        is "    of the table" test "$(grep -cE '^(pytorch|torch\.compile) ' out)" = 0
        STAND_IN_TORCH=blind expect 0 "a PyTorch without a GPU" "${case[@]}"
        says out "^peers +torch 0\.stand-in sees no GPU$"
        STAND_IN_TORCH=absent expect 0 "no PyTorch" "${case[@]}"
        says out "^peers +No module named 'torch'$"
    fi
    unset FAKE_GPU_KERNELS FAKE_GPU_MEMORY TOKITAI_CACHE PYTHONPATH
    unset LD_LIBRARY_PATH TOKITAI_CUDA_COMPILER
else
    echo "skipped: no driver that pretends at $fakes"
fi

echo "-- every op, against every peer that is here"
# Peers are other people's libraries: what they leave allocated is not ours to judge.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
peers=plain,sleef,openblas,blis,onednn,libxsmm,flint
run=(--lowering best --certify --seconds 0.05 --peers $peers)
expect 0 "one size" gelu_fwd gelu_bwd --shape 1009 --dtype bf16 "${run[@]}" --json --chart one.svg
is "    is JSON" json_good out
is "    SVG is XML" xml_good one.svg
says out '"verdict": "HELD"'
says out '"in_turn": true'
same_work() { if grep -qE ' differs ' out; then fail "    a peer did other work than ours"; else pass "    the same work"; fi; }
expect 0 "integers" padic_gemm --shape 20x33x40 --prime 3 --precision 40 "${run[@]}"
same_work
expect 0 "rows" softmax_fwd softmax_bwd xent --shape 13x257 --dtype f16 "${run[@]}" --chart rows.svg
is "    SVG is XML" xml_good rows.svg
same_work
expect 0 "products" gemm gemm_grad_a gemm_grad_b --shape 37x41x29 --dtype bf16 "${run[@]}" --chart products.svg
is "    SVG is XML" xml_good products.svg
is "    with a roofline" grep -q "roofline of products, bf16" products.svg
is "    of what was measured" grep -qE "copy: [0-9.e+]+ GB/s" products.svg
is "    and of the arithmetic" grep -qE "(multiply-adds|highest measured): [0-9.e-]+ TFLOP/s" products.svg
same_work
expect 0 "a linear layer" linear_fwd --shape 37x41x29 --dtype bf16 "${run[@]}" --epilogue bias_gelu --json
says out '"epilogue": "bias_gelu"'
cp out layer.json
expect 0 "from a file" --from layer.json
says out "^linear_fwd bf16 m=37,n=41,k=29 epilogue=bias_gelu$"
bad_usage "an attribute of others" "gemm does not take --epilogue" gemm --epilogue bias
bad_usage "no such choice" "unknown epilogue 'bia'; did you mean 'bias'" linear_fwd --epilogue bia
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
says out "^cpu\.embedding_bwd\.f16\.[a-z0-9]+ +2 +[0-9.]+x( level)? +[0-9]+% +[0-9.]+x( level)? +31x65x17 (uniform|zipf)$"

echo "-- what was kept"
expect 0 "results as JSON" embedding_bwd --shape 31x65x17 --dtype f16 --lowering best --seconds 0.05 --peers plain --json --chart kept.svg
cp out kept.json
expect 0 "shown again" --from kept.json --chart again.svg
says out "^peers +plain +built in$"
says out "^embedding_bwd f16 queries=31,dim=65,vocab=17 zipf$"
says out "^cpu\.embedding_bwd\.f16\.[a-z0-9]+ +2 +[0-9.]+x( level)? +[0-9]+% +[0-9.]+x( level)? +31x65x17 (uniform|zipf)$"
is "    the chart is that of the run" cmp -s kept.svg again.svg
bad_usage "no such file" "cannot read --from 'nothing.json': .*No such file" --from nothing.json
mkfifo pipe.json
bad_usage "a pipe" "cannot read --from 'pipe.json': not a regular file" --from pipe.json
truncate -s 100M sparse.json
bad_usage "a giant" "cannot read --from 'sparse.json': too large" --from sparse.json
bad_usage "a file that is no JSON" "cannot read --from" --from kept.svg
echo '{}' >other.json
bad_usage "another JSON" "'other.json' is not output of 'tokitai bench --json'" --from other.json
sed 's/"zipf"/"zip"/' kept.json >other.json
bad_usage "a word that is none" "results\[1\] is not output of 'tokitai bench --json'" --from other.json
sed '0,/"median_seconds": [^,]*/s//"median_seconds": -1/' kept.json >other.json
bad_usage "a time below zero" "results\[0\] is not output of 'tokitai bench --json'" --from other.json
sed 's/"best_peer": "[^"]*"/"best_peer": "nobody"/' kept.json >other.json
bad_usage "a best peer that was not timed" "results\[0\] is not output of 'tokitai bench --json'" --from other.json
cp kept.json same.json
bad_usage "a chart over the data" "--chart and --from must be different files, not both 'same.json'" --from same.json --chart same.json
ln same.json link.json
bad_usage "the same file by another name" "--chart and --from must be different files, not both './link.json'" --from same.json --chart ./link.json
is "    the data are as they were" cmp -s kept.json same.json
bad_usage "a chart of bad data" "is not output of 'tokitai bench --json'" --from other.json --chart none.svg
is "    leaves no file" test ! -e none.svg
bad_usage "an op beside it" "--from excludes OP" --from kept.json gemm
bad_usage "an option beside it" "--from and --json exclude each other" --from kept.json --json
bad_usage "a chart of it nowhere" "cannot write to --chart '/dev/null/x.svg'" --from kept.json --chart /dev/null/x.svg

echo "-- kept numbers beyond what is measured"
kept_growth() { # THREADS FLOPS SECONDS [LIMIT]: results of --growth, of one product
    cat <<JSON
{"machine": {"device": "x", "threads": $1, "time": "elapsed", "peers": {}}, "results": [{"op": "gemm", "dtype": "f16",
"shape": {"m": 8, "n": 8, "k": 8}, "bytes": 1.0, "flops": $2, "elements": 8.0, "limit_seconds": ${4:-0.0}, "arms": [{"name":
"cpu.gemm.f16.scalar", "kind": "lowering", "threads": 1, "same_work": true, "in_turn": true, "best_seconds": $3,
"median_seconds": $3, "samples": 3}]}], "summary": [], "cliffs": []}
JSON
}
refused() { # TITLE MESSAGE: growth.json, with and without a chart
    bad_usage "$1" "'growth.json'$2 is not output of 'tokitai bench --json'" --from growth.json
    bad_usage "$1, drawn" "'growth.json'$2 is not output of 'tokitai bench --json'" --from growth.json --chart growth.svg
    is "    draws nothing" test ! -e growth.svg
}
ulimit -S -f 1024 # a chart without end stops here
kept_growth 1e+300 1.0 0.001 >growth.json
refused "threads beyond an int" ""
for threads in 0 1.5 1048577 -1 '"2"' null; do
    kept_growth "$threads" 1.0 0.001 >growth.json
    refused "$threads threads" ""
done
kept_growth 1 1e+308 1e-12 >growth.json
refused "operations beyond measure" ": results\\[0\\]"
kept_growth 1 1.0 1e300 >growth.json
refused "a time beyond measure" ": results\\[0\\]"
kept_growth 1 1.0 0.001 1e-300 >growth.json
refused "a limit too short for a clock" ": results\\[0\\]"
drawn() { # TITLE TICKS: growth.json gives a chart whose vertical axis has lines, or has none
    expect 0 "$1" --from growth.json --chart growth.svg
    is "    SVG is XML" xml_good growth.svg
    is "    numbers, all of them" test "$(grep -ciE '[" ,>](-?nan|-?inf)[" ,<]' growth.svg)" = 0
    is "    $2 lines across" test "$(grep -c 'class="grid"' growth.svg)" -eq "$2"
    rm -f growth.svg
}
kept_growth 2 1.0 0.001 >growth.json
drawn "no arm of so many threads" 0
sed 's/"gemm"/"gelu_fwd"/; s/"m": 8/"n": 8/; s/"n": 8, "k": 8//; s/"n": 8, }/"n": 8}/; s/"flops": 1.0/"flops": 0/' growth.json >no_product.json
mv no_product.json growth.json
drawn "nor of an op that is no product" 0
kept_growth 1 1e-320 0.001 >growth.json
drawn "a rate of nothing" 0
kept_growth 1 5e-312 0.001 >growth.json
drawn "a rate next to nothing" 0
kept_growth 2.0 1.0 0.001 | sed 's/"threads": 1,/"threads": 2,/' >growth.json
drawn "2.0 threads are two" 6
says out "^x, 2 threads$"
kept_growth 1 1e30 1e-12 >growth.json
drawn "the largest of all" 6
if [ -c /dev/full ]; then
    expect 2 "a chart that does not fit" --from growth.json --chart /dev/full
    says err "cannot write --chart '/dev/full': No space left on device"
fi
ulimit -S -f unlimited

kept_start() { # SECONDS
    printf '{"device": "x", "startup": [{"op": "gemm", "dtype": "f16", "empty_cache_seconds": 0.5, "full_cache_seconds": %s,' "$1"
    printf ' "small_call_seconds": 5e-6, "bare_launch_seconds": 4e-6}]}'
}
kept_start 0.001 >start.json
expect 0 "a startup" --from start.json
says out "^gemm +f16 +500 ms +1\.0 ms +5\.00 us +4\.00 us +1\.00 us$"
for seconds in 1e300 -1 0 null '"1"'; do
    kept_start "$seconds" >start.json
    bad_usage "a startup of $seconds seconds" "'start.json': startup\[0\] is not output of 'tokitai bench --json'" --from start.json
done
kept_start 0.001 | sed 's/gemm/gem/' >start.json
bad_usage "a startup of no op" "'start.json': startup\[0\] is not output of 'tokitai bench --json'" --from start.json
for startup in 5 '[]' null '{}'; do
    echo "{\"device\": \"x\", \"startup\": $startup}" >start.json
    bad_usage "a startup that is $startup" "'start.json' is not output of 'tokitai bench --json'" --from start.json
done
kept_start 0.001 | sed 's/"device": "x", //' >start.json
bad_usage "a startup of no device" "'start.json' is not output of 'tokitai bench --json'" --from start.json

expect 0 "processor time" gelu_fwd --shape 1000 "${tiny[@]}" --cpu-time
says out ", 1 thread, processor time$"

echo "-- threads"
expect 0 "scaling" gemm --shape 130x70x50 --dtype f16 --lowering best --certify --seconds 0.05 --scaling --threads 2
says out "^ARM +1 THREAD +2 THREADS +SPEEDUP"
says out "^cpu\.gemm\.f16\.[a-z0-9]+ +[0-9.]+ us +[0-9.]+ us +[0-9.]+x +[0-9.]+x +[0-9]+%$"
says out "^limit: multiply-add +[0-9.]+ us +[0-9.]+ us +[0-9.]+x"
expect 0 "two threads" gemm --shape 130x70x50 --dtype bf16 "${run[@]}" --threads 2
same_work

echo "-- the peers of a GPU by themselves, without PyTorch"
if command -v python3 >/dev/null; then
    ask() { PYTHONPATH=$root/tests/stand_in PYTHONDONTWRITEBYTECODE=1 python3 "$root/src/bench/peers/gpu.py" 0 "$@" >out 2>err; }
    answers() { # TITLE, then the answers that are in out
        local title=$1
        shift
        printf '%s\n' "$@" >wanted
        is "$title" cmp -s wanted out
    }
    ask all <<'REQUESTS'
case gelu_fwd f16 uniform i32 100000 1000
run 0 5
run 1 7
run 2 5
nonsense

end
run 0 1
case gelu f16 uniform i32 1 1
end
REQUESTS
    answers "each request has its answer" "found torch 0.stand-in, no triton on Stand-in" "arms pytorch torch.compile" \
        0.001 0.001 "failed list index out of range" "failed unknown request" "failed list index out of range" ended \
        "failed 'NoneType' object has no attribute 'time'" "failed not enough values to unpack (expected 3, got 1)" ended
    for op in "gelu_bwd 9" "softmax_fwd 3 5" "softmax_bwd 3 5" "xent 3 5" "embedding_fwd 9 2 5" "embedding_bwd 9 2 5"; do
        for law in uniform zipf equal; do printf 'case %s bf16 %s i64 1000 %s\nrun 1 3\n' "${op%% *}" $law "${op#* }"; done
    done >requests
    ask all <requests
    is "every op is taken" test "$(grep -cxE 'arms pytorch torch\.compile' out) $(grep -cx 0.001 out) $(wc -l <out)" = "18 18 37"
    printf 'case %s f16 uniform i32 1000 3 4 5\nrun 0 2\n' gemm gemm_grad_a gemm_grad_b >requests
    ask all <requests
    is "a product has one arm" test "$(grep -cx 'arms pytorch' out) $(grep -cx 0.001 out) $(wc -l <out)" = "3 3 7"
    printf 'case %s f16 uniform i32 1000 3 4 5\nrun 0 2\nrun 1 2\n' linear_fwd:bias linear_fwd:bias_gelu linear_fwd:residual linear_grad_x:gelu \
        linear_grad_w:no >requests
    ask all <requests
    is "a linear layer is compiled, too" test "$(grep -cx 'arms pytorch torch.compile' out) $(grep -cx 0.001 out) $(grep -cx 0.002 out)" = "5 6 4"
    ask torch.compile,triton <<<"case gelu_fwd f16 uniform i32 1000 9"
    answers "only those that are asked for" "found torch 0.stand-in, no triton on Stand-in" "arms torch.compile"
    STAND_IN_TORCH=broken ask all <<<"case gelu_fwd f16 uniform i32 1000 9"
    answers "an arm that fails is none" "found torch 0.stand-in, no triton on Stand-in" "arms"
    STAND_IN_TORCH=blind ask all </dev/null
    answers "no GPU" "missing torch 0.stand-in sees no GPU"
    STAND_IN_TORCH=absent ask all </dev/null
    answers "no torch" "missing No module named 'torch'"
else
    skip "the peers of a GPU" "there is no python3"
fi

finish
