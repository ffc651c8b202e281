#!/usr/bin/env bash
# The program as its users meet it: exit statuses, messages, JSON, output that cannot be written, help, completion, manual.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
unset NO_COLOR

echo "-- help and version"
expect 0 "--help" --help
says out "certify +judge"
silent err
expect 0 "--version" --version
says out "^tokitai [0-9]+\.[0-9]+\.[0-9]+$"
expect 2 "no command"
says err "Usage: tokitai"
silent out
expect 2 "a command misspelt" certfy
says err "unknown command 'certfy'; did you mean 'certify'\?"
expect 2 "a command that is nothing like one" qqqqqq
says err "choose from: ops, devices, certify, judge, new-kernel, corpus, check, replay, diff, report, keygen, bench, tune, padic, kernel, glue, shard, reshard, diff-ckpt, cache"
expect 2 "an unknown option" --frobnicate
expect 0 "help" help
for command in ops devices certify judge check replay diff report keygen bench tune padic kernel glue shard reshard diff-ckpt cache; do
    expect 0 "$command --help" "$command" --help
    says out "^Usage: tokitai $command"
    expect 0 "help $command" help "$command"
    expect 2 "$command --frobnicate" "$command" --frobnicate
    says err "tokitai $command --help"
done

echo "-- kernel programs"
expect 2 "kernel without a program" kernel
says err "an argument is missing: gelu-bwd\|softmax"
expect 2 "a program misspelt" kernel gelu-bw
says err "unknown program 'gelu-bw'; did you mean 'gelu-bwd'"
expect 2 "two programs" kernel softmax softmax
for limit in 0 4294967296 -1 x; do
    expect 2 "kernel --max-frame $limit" kernel softmax --max-frame "$limit"
done
expect 2 "kernel without a header" kernel gelu-bwd
says err "^tokitai kernel: gelu-bwd: header: N is missing$"
expect 10 "a kernel program without a device" kernel gelu-bwd --backend abacus
echo "1 1 2 0 0 14336 14336" | "$tokitai" kernel softmax >out 2>err
is "a request on standard input" test $? = 0
says out "^OUTPUT=0,0$"
printf '2 1 2 3' | "$tokitai" kernel gelu-bwd >out 2>err
is "a kernel program's own exit status" test $? = 5
silent out
says err "input\[1\] is missing"
echo "1 1 2" | "$tokitai" kernel gelu-bwd >/dev/full 2>err
is "a reply that cannot be written" test $? = 23

echo "-- ops"
expect 0 "ops" ops
says out "^gelu_fwd +n +[0-9]+ "
expect 0 "ops --json" ops --json
is "    is JSON" json_good out
says out '"name": "gelu_bwd"'
for op in $("$tokitai" ops --list=ops); do
    expect 0 "ops $op" ops "$op"
    says out "^Clauses$"
    says out "tk_status tk_$op\("
    expect 0 "ops $op --json" ops "$op" --json
    is "    is JSON" json_good out
done
expect 0 "a contract in full" ops gelu_bwd
for text in "formula +grad_input" "bound +B = " "in +grad_output\[n\]" "GELU_BWD\.ERR " "cpu\.gelu_bwd\.bf16\.scalar" "all_zeros "; do
    says out "$text"
done
expect 2 "an op misspelt" ops gelu_fw
says err "unknown op 'gelu_fw'; did you mean 'gelu_fwd'\?"
silent out
expect 2 "an op that is nothing like one" ops qqqqqq
says err "choose from: gelu_fwd, gelu_bwd"
expect 2 "two ops" ops gelu_fwd gelu_bwd
expect 0 "a tensor of three axes" ops grouped_gemm
says out "^  in   b\[g, k, n\] "
expect 0 "choices have numbers, and a residual is of the results' type" ops linear_fwd
says out "^      bias_gelu    1  pre = "
says out "^  in   residual\[m, n\] .*, the type of the results, only with "
expect 0 "ops --families" ops --families
says out "^normal +"
expect 0 "ops --families --json" ops --families --json
is "    is JSON" json_good out

echo "-- devices"
expect 0 "devices" devices
says out "^cpu +usable +"
says out "^cuda +(none|unused|usable) +"
says out "^hip +(none|unused|usable) +"
expect 0 "devices --json" devices --json
is "    is JSON" json_good out
says out '"backend": "cpu"'

if ! ldconfig -p 2>/dev/null | grep -qE 'libcuda\.so\.1|libamdhip64\.so' && [ ! -e /opt/rocm ] && [ ! -e /usr/lib/wsl ]; then
    expect 0 "without drivers" devices
    is "    what to install for CUDA" grep -qE "libcuda.so.1: cannot open .*; install NVIDIA's driver, .* set TOKITAI_CUDA_LIBRARY" <(tr -s ' \n' ' ' <out)
    is "    what to install for HIP" grep -qE "libamdhip64.so.7: cannot open .*; install ROCm's HIP run-time, .* set TOKITAI_HIP_LIBRARY" <(tr -s ' \n' ' ' <out)
else
    skip "without drivers" "there is one"
fi

# Drivers that do as they are told, to see every way in which a real one can disappoint.
fake_gpu=${BUILD_DIR:-$(dirname "$tokitai")}/tests/fake_gpu
if [ -e "$fake_gpu/libcuda.so.1" ]; then
    export LD_LIBRARY_PATH=$fake_gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export FAKE_GPU_DEVICES=2 FAKE_GPU_NAME=$'Fake\033[31mGPU' FAKE_GPU_MEMORY=$((8 << 30))
    expect 0 "two fake GPUs of each kind" devices
    is "    all are listed" test "$(grep -cE '^(cuda|hip) *(usable|unused) *Fake\\x1b\[31mGPU [01], 132 multiprocessors, 8.0 GiB' out)" = 4
    for text in "architecture sm_90" "architecture gfx942" "UUID GPU-10111213-1415-1617-1819-1a1b1c1d1e01" \
        "UUID GPU-0123456789abcde1" "driver (.*, )?CUDA 12\.4" "driver HIP 6\.2\.41134"; do
        says out "^ +$text$"
    done
    expect 0 "as JSON" devices --json
    is "    is JSON" json_good out
    says out '"architecture": "sm_90"'
    says out '"uuid": "GPU-10111213-1415-1617-1819-1a1b1c1d1e00"'
    export FAKE_GPU_DEVICES=1
    # What would compile is told with and without a device, whole, however long its path is.
    long=$work/$(printf 'a%.0s' {1..200})/$(printf 'b%.0s' {1..200})/$(printf 'c%.0s' {1..200})
    mkdir -p "$long"
    cp "$fake_gpu/libnvrtc.so" "$long/"
    compilers() { # FILE-WITH-JSON BACKEND: usable, compiler and detail of its first device
        python3 -c 'import json, sys
for d in json.load(open(sys.argv[1]))["devices"]:
    if d["backend"] == sys.argv[2]:
        print(d["usable"], d["compiler"], d["detail"], sep="\n")
        break' "$1" "$2"
    }
    export TOKITAI_CUDA_COMPILER=$long/libnvrtc.so TOKITAI_HIP_COMPILER=$fake_gpu/libhiprtc.so
    for setting in TOKITAI_NOTHING= TOKITAI_CUDA_LIBRARY=/nowhere/libcuda.so.1; do
        export "${setting?}"
        expect 0 "a compiler with a long path, $setting" devices
        is "    it is whole" grep -qF "compiler NVRTC 12.4 ($long/libnvrtc.so)" <(tr -s ' \n' ' ' <out)
        is "    there is one for HIP" grep -qF "compiler HIPRTC 6.2 ($fake_gpu/libhiprtc.so)" <(tr -s ' \n' ' ' <out)
        unset "${setting%%=*}"
    done
    if command -v python3 >/dev/null; then
        usable() { # TRUE-OR-FALSE BACKEND COMPILER DETAIL TITLE [SETTING...]
            local usable=$1 backend=$2 compiler=$3 detail=$4 title=$5
            shift 5
            env "$@" "$tokitai" devices --json >out 2>err </dev/null
            compilers out "$backend" >seen
            is "$title" test "$(sed -n 1p seen)" = "$usable"
            is "    compiler: $compiler" grep -qE -- "^$compiler" <(sed -n 2p seen)
            is "    detail: $detail" grep -qE -- "^$detail$" <(sed -n 3p seen)
        }
        usable True cuda "NVRTC 12\.4 \(/" "" "a device and its compiler"
        usable False cuda "NVRTC 12\.4 \(/" "/nowhere/.*TOKITAI_CUDA_LIBRARY.*" "a compiler without a device" TOKITAI_CUDA_LIBRARY=/nowhere/libcuda.so.1
        usable False cuda "none: NVRTC: /nowhere/libnvrtc.so: cannot open shared object.*; nvcc: not used" \
            "no compiler for its kernels" "a device without a compiler" TOKITAI_CUDA_COMPILER=/nowhere/libnvrtc.so
        usable False cuda "none: NVRTC: NVRTC 12\.4 does not support sm_52; it supports sm_75 to sm_90; nvcc: " \
            "no compiler for its kernels" "a device that its compiler does not know" FAKE_GPU_CAPABILITY=52
        usable True cuda "NVRTC 12\.4 \(/" "" "a device newer than its compiler" FAKE_GPU_CAPABILITY=120
        usable False hip "none: 'unknown' is not an architecture of hip" \
            "the driver does not report its architecture, .* set TOKITAI_HIP_LIBRARY .*" "a device without an architecture" \
            FAKE_GPU_FAIL=hipGetDevicePropertiesR0600=1
    fi
    FAKE_GPU_FAIL=hipGetDevicePropertiesR0600=1 expect 3 "certify on a device without an architecture" certify gemm --backend hip --dtype f16 --shape 3x4x5
    says err "^tokitai certify: hip cannot be used: the driver does not report its architecture"
    unset TOKITAI_CUDA_COMPILER TOKITAI_HIP_COMPILER
    no_cuda() { # WHY TITLE [SETTING...]
        local why=$1 title=$2
        shift 2
        env "$@" "$tokitai" devices >out 2>err </dev/null
        is "$title" test $? -eq 0
        is "    says: $why" grep -qE "^cuda +none +.*$why" <(tr -s ' \n' ' ' <out | sed 's/ \(cuda\|hip\) /\n\1 /g')
    }
    no_cuda "cuInit failed: CUDA_ERROR_NO_DEVICE \(100, a fake error\): no device found" "a driver without a device" FAKE_GPU_FAIL=cuInit=100
    no_cuda "cuInit failed: unnamed error \(12345\)" "a driver that fails without a name for it" FAKE_GPU_FAIL=cuInit=12345
    no_cuda "no permission" "a driver without permission" FAKE_GPU_FAIL=cuInit=304
    no_cuda "libcuda.so.1: no device found" "a driver with no devices" FAKE_GPU_DEVICES=0
    no_cuda "too old: it has version 10\.2, 11\.4 is needed" "a driver that is too old" FAKE_GPU_VERSION=10020
    no_cuda "has no function cuLaunchKernel" "a driver without a function" TOKITAI_CUDA_LIBRARY="$fake_gpu/libcuda_without_launch.so"
    no_cuda "/dev/null: file too short; TOKITAI_CUDA_LIBRARY is set to it" "a driver that is no library" TOKITAI_CUDA_LIBRARY=/dev/null
    unset FAKE_GPU_DEVICES FAKE_GPU_NAME FAKE_GPU_MEMORY
    expect 0 "a driver found at the second name" devices
    is "    nothing is said of the first" test "$(grep -c 'libamdhip64' out)" = 0
    on_gpu() { # STATUS FILE WHAT-IT-SAYS TITLE [SETTING...]: certify on a GPU whose kernels do nothing
        local status=$1 file=$2 text=$3 title=$4
        shift 4
        env TOKITAI_CACHE="$work/cache" TOKITAI_CUDA_COMPILER="$fake_gpu/libnvrtc.so" "$@" \
            "$tokitai" certify gemm --backend "${device:-cuda}" --dtype f16 --numerics ieee --shape 3x4x5 >out 2>err </dev/null
        is "$title" test $? -eq "$status"
        is "    says: $text" grep -qE -- "$text" <(tr -s ' \n' ' ' <$file)
    }
    on_gpu 1 out "cuda\.gemm\.f16\.[a-z0-9_]+ REFUTED .*GEMM\.WRITE: left c\[0\] unwritten" "a GPU that computes nothing" FAKE_GPU_LOG="$work/launches"
    is "    the launches are those of gemm" grep -qE '^product_64 blocks 1 1 1 threads 128 shared 0 cluster 0$' launches
    on_gpu 3 out "UNKNOWN .*cuLaunchKernelEx failed: .*more registers or shared memory" "a launch that fails" FAKE_GPU_FAIL=cuLaunchKernelEx=701
    on_gpu 3 out "UNKNOWN .*cuLaunchKernel failed: .*more registers or shared memory" "a launch that fails on an older driver" FAKE_GPU_FAIL=cuLaunchKernel=701 FAKE_GPU_VERSION=12020
    on_gpu 3 out "UNKNOWN .*CUDA_ERROR_ILLEGAL_ADDRESS \(700.*context is lost" "a kernel that leaves its memory" FAKE_GPU_FAIL=async=700
    on_gpu 3 out "UNKNOWN .*cuModuleLoadData failed: .*another architecture" "a kernel that cannot be loaded" FAKE_GPU_FAIL=cuModuleLoadData=209
    on_gpu 3 err "allocating [0-9]+ bytes on Fake GPU 0: cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY" "no device memory" FAKE_GPU_FAIL=cuMemAlloc_v2=2@2
    on_gpu 3 err "told to find an error" "a kernel that does not compile" FAKE_GPU_COMPILE=error TOKITAI_CACHE="$work/empty"
    damage() { for entry in "$work"/cache/*.artifact; do truncate -s 300 "$entry"; done; }
    damage
    on_gpu 1 err "^tokitai certify: note: cache entry [0-9a-f]{12}\.\.\. of ops/product/kernel_gemm.cu \(f16\) was damaged \(its .*\); compiled again $" \
        "a damaged cache entry is reported"
    damage
    TOKITAI_CACHE=$work/cache TOKITAI_CUDA_COMPILER=$fake_gpu/libnvrtc.so "$tokitai" certify gemm --backend cuda --dtype f16 --numerics ieee --shape 3x4x5 \
        --out noted >out 2>err
    is "    in the certificate, too" grep -qE '"note": "cache entry [0-9a-f]{12}\.\.\. of ops/product/kernel_gemm.cu \(f16\) was damaged' noted/*.json
    is "    and on its page" grep -qE '^\| note \| cache entry .* was damaged' noted/*.md
    on_gpu 1 out "REFUTED" "    and is whole then"
    is "    of which nothing more is said" test ! -s err
    echo "1 15360 0" | TOKITAI_CACHE=$work/cache TOKITAI_CUDA_COMPILER=$fake_gpu/libnvrtc.so "$tokitai" kernel gelu-bwd --backend cuda >out 2>err
    damage
    echo "1 15360 0" | TOKITAI_CACHE=$work/cache TOKITAI_CUDA_COMPILER=$fake_gpu/libnvrtc.so "$tokitai" kernel gelu-bwd --backend cuda >out 2>err
    says err "^tokitai kernel: note: cache entry .* of ops/gelu/kernel.cu \(f16\) was damaged"
    on_gpu 1 err "note: not kept in the cache: cannot make the directory /dev/null: Not a directory" "a cache that cannot be" TOKITAI_CACHE=/dev/null/cache
    mkdir small
    text=$(
        ulimit -f 0
        TOKITAI_CACHE=$work/small TOKITAI_CUDA_COMPILER=$fake_gpu/libnvrtc.so "$tokitai" cache build --backend cuda --architecture sm_90 \
            --source ops/gelu/kernel.cu --dtype f16 2>&1
    )
    is "a file that may not grow is like a full disk" test $? -eq 0
    is "    and is said" grep -q "not kept in the cache: cannot write .*: File too large" <<<"$text"
    is "    nothing half written stays" test -z "$(ls -A small)"
    device=cuda:1 on_gpu 3 err "no cuda device 1; there are 1, counted from 0" "a device that is not there"
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH#"$fake_gpu"}
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH#:}
else
    skip "fake drivers" "they are not built"
fi
mkdir -p tools
printf '#!/bin/sh\necho "fake compiler"\necho "release 7.5, V7.5"\n' >tools/nvcc
printf '#!/bin/sh\nexit 1\n' >tools/hipcc
chmod +x tools/*
PATH=$work/tools:/usr/bin:/bin expect 0 "fake compilers" devices
says out "^nvcc +release 7\.5, V7\.5$"
says out "^hipcc +found; version unknown$"
PATH= expect 0 "no PATH" devices
says out "^gcc +not found$"

echo "-- certify: wrong arguments are found before anything is run"
bad() { bad_usage "$1" "$2" certify "${@:3}"; } # TITLE MESSAGE ARGUMENT...
bad "an op misspelt" "unknown op 'gelu_bdw'; did you mean 'gelu_bwd'\?" gelu_fwd gelu_bdw
bad "a dtype" "unknown dtype 'f64'; " gelu_fwd --dtype f64
bad "an index type" "unknown index 'i16'; choose from: i32, i64, all" gelu_fwd --index i16
bad "a level" "unknown level 'fll'; did you mean 'full'\?" gelu_fwd --level fll
bad "a seed" "--seed must be a number from 0 to 2\^64 - 1, decimal or 0x, not '0xg'" gelu_fwd --seed 0xg
bad "a seed too large" "not '18446744073709551616'" gelu_fwd --seed 18446744073709551616
bad "threads" "--threads must be a number from 0 to 65536, not '-1'" gelu_fwd --threads=-1
bad "a backend" "unknown backend 'cuad'; did you mean 'cuda'\?" gelu_fwd --backend cuad
bad "a lowering misspelt" "did you mean 'cpu.gelu_fwd.f16.scalar'\?" --lowering cpu.gelu_fwd.f16.scaler
bad "a lowering of another op" "unknown lowering" gelu_bwd --lowering cpu.softmax_fwd.f16.nothing
bad "a lowering of another dtype" "--dtype and --index must be those of" --lowering cpu.gelu_fwd.f16.scalar --dtype bf16
bad "a lowering and a mutant" "--lowering and --mutant exclude each other" gelu_fwd --lowering cpu.gelu_fwd.f16.scalar --mutant all_zeros
bad "a lowering of another backend" "--lowering must be of backend 'hip', not cpu" --lowering cpu.gelu_fwd.f16.scalar --backend hip
bad "a shape with too many sizes" "has 2 sizes, but gelu_fwd has 1: n" gelu_fwd --shape 3x4
bad "a shape with a wrong name" "has a size 'm', but those of gelu_fwd are: n" gelu_fwd --shape m=3
bad "a shape that overflows" "a size must be a number from 0 to" gelu_fwd --shape n=9223372036854775808
bad "a shape too large to address" "too large to be addressed" gelu_fwd --shape n=9223372036854775807
bad "a negative shape" "a size must be a number from 0 to" gelu_fwd --shape n=-1
bad "a family" "unknown family 'norml'; did you mean 'normal'\?" gelu_fwd --family norml
bad "a family that does not apply" "does not apply to gelu_fwd" gelu_fwd --family same_index
bad "a mutant" "unknown mutant of gelu_fwd: 'all_zero'; did you mean 'all_zeros'\?" gelu_fwd --mutant all_zero
bad "a mutant of two ops" "--mutant needs one OP" gelu_fwd gelu_bwd --mutant all_zeros
bad "a variant" "unknown variant of gelu_fwd: 'base2'; did you mean 'base_2'\?" gelu_fwd --variant base2
bad "a variant of two ops" "--variant needs one OP" gelu_fwd gelu_bwd --variant base_2
bad "a mutant and a variant" "--mutant and --variant exclude each other" gelu_fwd --mutant all_zeros --variant base_2
bad "flags of no kernel file" "--flags needs --kernel or --kernels" gelu_fwd --flags=-O3
bad "jobs" "--jobs must be a number from 1 to 256, not 'x'" --kernels . --jobs x
bad "memory" "--memory must be a size of at least [0-9]+K, such as 512M or 4G, not '1'" --kernels . --memory 1
bad "an input without a shape" "--input needs --shape" gelu_fwd --dtype f16 --input x=0x3c00
bad "an input of both dtypes" "one --dtype" gelu_fwd --shape n=1 --input x=0x3c00
bad "an input of another name" "unknown input of gelu_fwd: 'y'" gelu_fwd --dtype f16 --shape n=1 --input y=0x3c00
bad "an input with a wrong count" "has 2 elements, and the shape 1" gelu_fwd --dtype f16 --shape n=1 --input x=0x3c00,0x3c00
bad "an input in decimal" "has decimal elements" gelu_fwd --dtype f16 --shape n=1 --input x=15360
bad "an input too wide" "does not fit in the 16 bits of f16" gelu_fwd --dtype f16 --shape n=1 --input x=0x13c00
bad "an input twice" "gives 'x' twice" gelu_fwd --dtype f16 --shape n=1 --input x=0x3c00 --input x=0x3c00
bad "an input missing" "--input x=... is missing" gelu_bwd --dtype f16 --shape n=1 --input grad_output=0x3c00
bad "an input and a family" "--family and --input exclude each other" gelu_fwd --dtype f16 --shape n=1 --family normal --input x=0x3c00
bad "scale without xent" "gelu_fwd does not take" gelu_fwd --scale 2
bad "an option twice" "--seed is given twice" gelu_fwd --seed 1 --seed 2
bad "--out below a file" "cannot write to --out '/dev/null/x': Not a directory" gelu_fwd --out /dev/null/x
bad "--out that is a file" "cannot write to --out '/dev/null': Not a directory" gelu_fwd --out /dev/null
bad "--out that is empty" "cannot write to --out ''" gelu_fwd --out ''
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod a-w locked
    bad "--out that is locked" "cannot write to --out 'locked': Permission denied" gelu_fwd --out locked
else
    skip "--out that is locked" "nothing is locked for root"
fi
export TOKITAI_CUDA_LIBRARY=/nowhere/libcuda.so TOKITAI_HIP_LIBRARY=/nowhere/libamdhip64.so
for backend in cuda hip; do
    expect 3 "backend $backend without a driver" certify gemm --backend $backend
    says err "$backend cannot be used: /nowhere/lib.*\.so: cannot open shared object file"
    silent out
    expect 3 "a lowering of $backend without a driver" certify --lowering $backend.gemm.bf16.shared
    says err "$backend cannot be used: /nowhere/"
    expect 3 "bench on $backend without a driver" bench gemm --backend $backend
    says err "/nowhere/lib.*: cannot open shared object file"
done
unset TOKITAI_CUDA_LIBRARY TOKITAI_HIP_LIBRARY
if grep -q '^xent$' <("$tokitai" ops --list=ops); then
    bad "label smoothing" "must be a number from 0 to 1, not '1.5'" xent --label-smoothing 1.5
    bad "scale" "must be a finite number" xent --scale inf
    bad "ignore-index" "must be a 64-bit number" xent --ignore-index 1.0
    bad "numerics of an op that has none" "gelu_fwd does not take --numerics" gelu_fwd --numerics tensor_core
    bad "numerics" "ieee, tensor_core" gemm --numerics fp8
    bad "domain" "all, normal" gemm --domain some
    expect 2 "input outside of the domain" certify gelu_fwd --dtype bf16 --shape 1 --input x=0x7f80 --domain normal
    says err "x\[0\] = 0x7f80 = inf lies outside of domain normal"
    expect 0 "numerics and domain" certify gemm --dtype f16 --shape 2x3x4 --numerics tensor_core --domain normal
    expect 0 "xent with options" certify xent --dtype f16 --shape 2x3 --scale 0.5 --ignore-index -1 --label-smoothing 0.1
fi

echo "-- certify"
one=(gelu_fwd --dtype f16 --skip-mutants --lowering best)
expect 0 "one op" certify "${one[@]}"
says out "^SUBJECT +VERDICT"
says out "^cpu\.gelu_fwd\.f16\.[a-z0-9_]+ +HELD +[0-9,]+ +"
says out "^1 certificate: 1 HELD; written to $work/state/tokitai/certificates$"
is "    no colour in a file" test "$(grep -c $'\033' out)" = 0
is "    the certificate is in the state directory" test "$(find state/tokitai/certificates -name '*.json' | wc -l)" = 1
is "    as Markdown too" test "$(find state/tokitai/certificates -name '*.md' | wc -l)" = 1
expect 0 "--out" certify "${one[@]}" --out a/b
certificate=$(find a/b -name '*.json')
is "    made the folder and wrote one certificate" test -s "$certificate"
expect 0 "--json" certify "${one[@]}" --json --out a/b
is "    is JSON" json_good out
says out '"verdict": "HELD"'
silent err
expect 0 "--quiet" certify "${one[@]}" --quiet --out a/b
silent out
silent err
rm -rf state
expect 0 "every lowering that this machine takes" certify gelu_fwd --dtype f16 --shape n=5
says out "^cpu\.gelu_fwd\.f16\.scalar +HELD"
rows=$(grep -c '^cpu\.gelu_fwd\.f16\.' out)
expect 0 "only the fastest" certify gelu_fwd --dtype f16 --shape n=5 --lowering best
is "    is one of them" test "$(grep -c '^cpu\.gelu_fwd\.f16\.' out)" = 1 -a "$rows" -ge 1
says out "^    verdict    HELD for one case: n=5$"
says out "^1 certificate: 1 HELD for one case: n=5; not kept"
expect 0 "all by name" certify gelu_fwd --dtype f16 --shape n=5 --lowering all
is "    as many as by default" test "$(grep -c '^cpu\.gelu_fwd\.f16\.' out)" = "$rows"
expect 0 "the fastest alone when exhaustive" certify gelu_fwd --dtype f16 --skip-mutants --level exhaustive
says out "^1 certificate: 1 PROVED"
rm -rf state
expect 0 "the fastest of several ops" certify gelu_fwd gelu_bwd --dtype f16 --shape n=5 --lowering best --backend cpu
is "    one each" test "$(grep -c '^cpu\.' out)" = 2
says out "^2 certificates: 2 HELD for one case: n=5; not kept"
expect 0 "sizes without names, of ops that name theirs otherwise" certify gemm embedding_fwd --dtype f16 --shape 3x4x5 --lowering best
says out "^    verdict    HELD for one case: m=3 n=4 k=5$"
says out "^    verdict    HELD for one case: queries=3 dim=4 vocab=5$"
says out "^2 certificates: 2 HELD, each for the case named; not kept"
expect 0 "a user kernel in the types that every one was written for" certify softmax_fwd --kernel "$root/examples/kernels/softmax_fwd.c" --shape 2x3
says out "^2 certificates: 2 HELD for one case"
says out "^not judged: f32; --dtype all judges"
expect 0 "in all types" certify softmax_fwd --kernel "$root/examples/kernels/softmax_fwd.c" --shape 2x3 --dtype all
says out "^3 certificates: 3 HELD for one case"
is "    none is left out" test "$(grep -c '^not judged' out)" = 0
for seed in 386635542187 386635542195; do # of which the trial that is sampled has pairs swapped, too
    expect 0 "samples and swapped pairs" certify gemm --kernel "$root/examples/kernels/gemm_blocked.c" --dtype f16 --skip-mutants --no-coverage --seed $seed --out sampled
    expect 0 "    are in the certificate as they were judged" check sampled/kernel.cpu.gemm.f16.gemm_blocked.json
done
expect 2 "the fastest and a mutant" certify gelu_fwd --lowering best --mutant all_zeros
says err "--lowering and --mutant exclude each other"
expect 0 "only the slowest" certify gelu_fwd embedding_fwd --dtype f16 --index i32 --family special --lowering slowest
is "    is the portable one" test "$(grep -c '^cpu\.[a-z_]*\.f16\.scalar ' out)" = 2 -a "$(grep -c '^cpu\.' out)" = 2
expect 2 "the slowest and a mutant" certify gelu_fwd --lowering slowest --mutant all_zeros
expect 0 "the first type of each op" certify gelu_fwd padic_gemm --dtype first --lowering slowest --family bits
is "    one each" test "$(grep -oE '^cpu\.[a-z_]*\.(f16|u64)\.scalar ' out | wc -l)" = 2 -a "$(grep -c '^cpu\.' out)" = 2
expect 0 "a lowering alone" certify --lowering cpu.gelu_fwd.bf16.scalar --skip-mutants --shape n=5 --seed 0x10 --threads 2
says out "^cpu\.gelu_fwd\.bf16\.scalar +HELD"
says out "not kept"
is "    a single case is not kept" test ! -e state
expect 0 "a case bit by bit" certify gelu_fwd --dtype f16 --shape 2 --input x=0x3c00,0xfc00
says out "^cpu\.gelu_fwd\.f16\.[a-z0-9_]+ +HELD +2 "
says out "^    verdict    HELD for one case: n=2, inputs given$"
expect 0 "a family" certify gelu_fwd --dtype f16 --family special --shape 17
says out "^    verdict    HELD for one case: n=17, family special$"
last=$("$tokitai" ops --families | awk 'END { print $1 }')
expect 0 "the last family" certify gemm --dtype f16 --family "$last" --shape 3x4x5 --lowering slowest
expect 0 "a family at every shape" certify gelu_fwd --dtype f16 --family special --lowering best
says out "^1 certificate: 1 HELD for one family: special; not kept"
expect 3 "an empty shape" certify gelu_fwd --dtype f16 --shape n=0
says out "^    verdict    UNKNOWN for one case: n=0$"
says out "why +nothing was judged"

expect 1 "a wrong kernel is refuted" certify gelu_fwd --dtype f16 --mutant all_zeros
says out "^mutant\.gelu_fwd\.f16\.all_zeros +REFUTED"
says out "^    verdict    REFUTED, gross so far: 1 of 1 element wrong, by [0-9.]+ ulp$"
says out "^    why +GELU_FWD\.ERR"
says out "^    reproduce +tokitai certify gelu_fwd "
is "    its certificate is not kept" test ! -e state
line=$(sed -n 's/^    reproduce  tokitai //p' out)
read -r -a words <<<"$line"
expect 1 "the line that reproduces it does" "${words[@]}"
# Which tensors there are follows from the choice, and so does which inputs the line gives.
for case in linear_fwd:epilogue:{bias,bias_gelu,gelu,bias_residual,residual,none} linear_grad_x:epilogue:{none,gelu} \
    linear_grad_w:accumulate:{no,yes}; do
    IFS=: read -r op attribute choice <<<"$case"
    expect 1 "$op with $attribute $choice is refuted" certify "$op" --dtype f16 --mutant last_product_dropped "--$attribute" "$choice"
    read -r -a words <<<"$(sed -n 's/^    reproduce  tokitai //p' out)"
    says out "^    reproduce .* --$attribute $choice --input "
    expect 1 "the line that reproduces it does" "${words[@]}"
done
expect 0 "a correct variant is held" certify gelu_fwd --dtype f16 --variant base_2
says out "^variant\.gelu_fwd\.f16\.base_2 +HELD"
expect 1 "a wrong kernel, quietly" certify gelu_fwd --dtype f16 --mutant all_zeros --quiet
says out "REFUTED"
expect 1 "a wrong kernel, kept" certify gelu_fwd --dtype f16 --mutant all_zeros --out wrong
refuted=$(find wrong -name '*.json')
is "    its certificate is there" test -s "$refuted"

expect 1 "a wrong kernel, how wrong" certify gelu_bwd --dtype f16 --mutant cubic_constant --keep-going --out whole
says out "REFUTED, inexact: [0-9,]+ of [0-9,]+ elements \([0-9.]+ %\) wrong in [0-9]+ of [0-9]+ trials,"
says whole/mutant.gelu_bwd.f16.cubic_constant.md "^inexact: [0-9]+ of [0-9]+ trials failed\.$"
says whole/mutant.gelu_bwd.f16.cubic_constant.md "^\| GELU_BWD\.ERR \| [0-9]+ \| [0-9]+ \| [0-9]+ \| [0-9]+ \| [0-9]+ \| 0 \| 0 \|$"
expect 0 "    it is found so again" replay whole/mutant.gelu_bwd.f16.cubic_constant.json
expect 1 "    stopped at the first failure" certify gelu_bwd --dtype f16 --mutant cubic_constant --out stopped
says out "REFUTED, [a-z]+ so far: "
expect 1 "    which is less" diff stopped/mutant.gelu_bwd.f16.cubic_constant.json whole/mutant.gelu_bwd.f16.cubic_constant.json
says out "^wrong elements$"
expect 0 "near zero and at overflow ulps say little" certify xent --dtype bf16 --index i32 --skip-mutants --lowering best --out near_zero
says out "^cpu\.xent\.bf16\.[a-z0-9_]+ +HELD +[0-9,]+ +[0-9.]+ +[0-9.]+%"
says near_zero/*.md "^\| accepted near zero \(exact value within its bound\) \| [1-9]"

echo "-- check"
expect 0 "an intact certificate" check "$certificate"
says out "cpu\.gelu_fwd\.f16\.[a-z0-9_]+ HELD; intact; not signed$"
says out "^    rests on trials.*GELU_FWD\.NAN"
expect 0 "two, as JSON" check "$certificate" "$refuted" --json
is "    is JSON" json_good out
says out '"kernel": "counterexample"'
says out '"verdict": "REFUTED"'
expect 0 "its page" check "$certificate" --markdown
is "    is the one beside it" cmp out "${certificate%.json}.md"
expect 2 "a page as JSON" check "$certificate" --markdown --json
sed 's/"HELD"/"PROVED"/' "$certificate" >altered.json
expect 1 "an altered one" check altered.json
says err "not intact: altered.json: altered"
expect 1 "no page of an altered one" check altered.json --markdown
silent out
head -c 300 "$certificate" >truncated.json
expect 1 "a truncated one" check truncated.json
echo hello >other.json
expect 1 "something else" check other.json
expect 2 "one that is not there" check nowhere.json
says err "nowhere.json: No such file"
expect 2 "a folder" check a
expect 2 "unreadable goes before altered, which goes before intact" check "$certificate" altered.json nowhere.json
says out "intact; not signed"
expect 1 "altered among intact, as JSON" check "$certificate" altered.json --json
is "    is JSON" json_good out
says out '"intact": false'
expect 2 "no file" check
says err "an argument is missing: CERT"

echo "-- files that are links"
echo precious >precious
for link in dangling:nothing to_a_file:precious; do
    ln -s "${link#*:}" "${link%:*}"
    expect 2 "a page into a link that is ${link%:*}" report "$certificate" -o "${link%:*}"
    says err "cannot write to --output '${link%:*}': Too many levels of symbolic links"
    expect 2 "lines into it" certify gelu_fwd --dtype f16 --shape n=3 --kernel "$root/examples/kernels/gelu_fwd.c" --json-lines "${link%:*}" --out linked
    says err "'${link%:*}': Too many levels of symbolic links"
    expect 2 "results into it" certify gelu_fwd --dtype f16 --shape n=3 --junit "${link%:*}" --out linked
    expect 2 "a kernel into it" new-kernel gelu_fwd --force --out "${link%:*}"
done
is "    nothing was written" [ "$(cat precious)" = precious -a ! -e nothing ]
mkdir linked_out
name=$(basename "$certificate")
ln -s "$PWD/precious" "linked_out/$name"
expect 0 "a certificate in place of a link" certify gelu_fwd --dtype f16 --skip-mutants --out linked_out
is "    what it led to stays" [ "$(cat precious)" = precious ]
expect 0 "the process's own output is no such link" report "$certificate" -o /dev/stdout

echo "-- proofs"
expect 0 "the chain of an op" ops gemm --proof
says out "^GEMM\.ERR$"
says out "^  any_order, proofs/sums\.v, SHA-256 [0-9a-f]{16}$"
says out "^Clauses without a theorem$"
says out "^  GEMM\.WRITE$"
says out "^  Coq\.Logic\.Classical_Prop\.classic$"
expect 0 "as JSON" ops gemm --proof --json
is "    is JSON" json_good out
says out '"statement": "Theorem '
expect 0 "all theorems" ops --proof
says out "^  exactly_one_section, proofs/gluing\.v"
expect 0 "as JSON" ops --proof --json
is "    is JSON" json_good out
expect 2 "of no op" ops nothing --proof
expect 2 "with families" ops --proof --families
expect 0 "a certificate that cites theorems" certify gemm --dtype f16 --shape m=3,n=2,k=4 --lowering best --out cites
cites=$(echo cites/*.json)
expect 0 "    and what it rests on" check "$cites"
says out "^    rests on theorems for steps of its derivation, on trials for this kernel: GEMM\.ERR"
says out "^    rests on trials alone: .*GEMM\.WRITE"
expect 0 "    as JSON" check "$cites" --json
says out '"state": "same"'

echo "-- forged with care: the SHA-256 fits"
forge() { # FROM SED: to forged.json
    sed "$2" "$1" >edited.json
    cmp -s "$1" edited.json && fail "    $2 changes nothing"
    hash=$(sed '/^  "integrity": {$/,/^  },$/d' edited.json | sha256sum | cut -d ' ' -f 1)
    sed "/^  \"integrity\": {\$/,/^  },\$/s/\"sha256\": \".*\"/\"sha256\": \"$hash\"/" edited.json >forged.json
}
expect 0 "one case" certify gelu_fwd --dtype f16 --shape n=1 --lowering best --out single
single=$(echo single/*.json)
forge "$single" 's/^  "headline": "HELD for one case: n=1"/  "headline": "HELD"/'
expect 1 "a headline that says more" check forged.json
says err "not intact: forged.json: it contradicts itself: its headline is 'HELD'; its other members give 'HELD for one case: n=1'"
expect 1 "as JSON" check forged.json --json
says out '"intact": false'
expect 2 "not replayed" replay forged.json
forge "$single" 's/^  "headline": "HELD for one case: n=1"/  "headline": "HELD"/; /^   "shape": {$/,/^   },$/d'
expect 1 "a run that says more" check forged.json
says err "all its trials have one shape, but its run is not restricted to one"
expect 2 "not replayed" replay forged.json
expect 2 "and not compared" diff "$single" forged.json
says err "it contradicts itself"
forge "$cites" '/^   "GEMM.ERR": {$/,/^   },$/s/"trials"/"exhaustion"/'
expect 1 "more than trials" check forged.json
says err "what clause GEMM.ERR rests on does not follow from its verdict and the proofs"
forge "$cites" '0,/^    "sha256": "[0-9a-f]\{8\}/s//    "sha256": "00000000/'
expect 0 "a theorem whose proof was another" check forged.json
says out "cites 1 theorem that this version changed or does not have: proofs/.*; intact; not signed$"
expect 0 "    as JSON" check forged.json --json
says out '"state": "changed"'
forge "$certificate" 's/^   "bound": ".*"/   "bound": "B = 1"/'
expect 1 "another bound" check forged.json
says err "its contract.bound is not that of"
expect 2 "not replayed" replay --json forged.json

echo "-- replay"
expect 0 "a certificate" replay "$certificate"
says out ": same; verdict HELD and every output hash as recorded"
expect 0 "as JSON" replay --json "$certificate"
is "    is JSON" json_good out
says out '"same": true'
says out '"not_listed": 0'
says out '"headline": "HELD"'
expect 0 "a refuted one is refuted again" replay "$refuted"
expect 2 "an altered one" replay altered.json
says err "not intact"
expect 2 "one that is not there" replay nowhere.json
expect 2 "two at once" replay "$certificate" "$refuted"
expect 2 "none" replay

echo "-- signatures"
expect 0 "a pair of keys" keygen ours
says out "^ours, ours\.pub: key [0-9a-f]{64}$"
id=$(grep -oE '[0-9a-f]{64}' out)
is "    the private one is its owner's alone" test "$(stat -c %a ours)" = 600
is "    it is PEM" grep -q "BEGIN PRIVATE KEY" ours
is "    and so is the public one" grep -q "BEGIN PUBLIC KEY" ours.pub
cp ours before
expect 2 "keys are not overwritten" keygen ours
says err "ours\.pub: File exists"
is "    they are as before" cmp -s ours before
expect 0 "another pair, as JSON" keygen theirs --json
is "    is JSON" json_good out
expect 0 "unless they shall be" keygen --force theirs
expect 2 "keys below a file" keygen /dev/null/key
expect 2 "keys without a file" keygen
says err "an argument is missing: FILE"
small=(gelu_fwd --dtype f16 --shape n=5 --lowering best)
expect 0 "certify --sign" certify "${small[@]}" --out signed --sign ours
envelope=$(find signed -name '*.dsse.json')
plain=${envelope%.dsse.json}.json
is "    wrote an envelope beside the certificate" test -s "$envelope" -a -s "$plain"
is "    which is JSON" json_good "$envelope"
expect 0 "an envelope" check "$envelope"
says out " HELD for one case: n=5; intact; signed by $id, not verified$"
expect 0 "verified" check --key ours.pub "$envelope"
says out " HELD for one case: n=5; intact; signed by $id, verified$"
expect 0 "verified, as JSON" check --key ours.pub "$envelope" --json
is "    is JSON" json_good out
says out '"verified": true'
says out '"headline": "HELD for one case: n=5"'
expect 1 "by another key" check --key theirs.pub "$envelope"
says err "not trusted: .*: not signed by [0-9a-f]{64}, but by $id$"
silent out
expect 1 "by another key, as JSON" check --key theirs.pub "$envelope" --json
is "    is JSON" json_good out
says out '"verified": false'
expect 1 "one that is not signed" check --key ours.pub "$plain"
says err "not trusted: .*: not signed$"
expect 0 "signed by others" certify "${small[@]}" --out forged --sign theirs
sed "s/\"keyid\": \"[0-9a-f]*/\"keyid\": \"$id/" "forged/${envelope##*/}" >forged.json
expect 1 "a signature under our name" check --key ours.pub forged.json
says err "the signature of $id does not verify"
expect 2 "a key that is none" check --key "$envelope" "$envelope"
says err "--key: .*: not a PEM key"
expect 2 "a key that is not there" check --key nowhere.pub "$envelope"
expect 0 "an envelope can be replayed" replay "$envelope"
says out ": same; verdict HELD for one case: n=5 and every output hash as recorded"
for mode in 640 604 620; do
    install -m $mode ours loose
    bad "signing with a key of mode $mode" "--sign: loose: others can read or write this private key .mode 0$mode.; chmod 600 it" "${small[@]}" --out signed --sign loose
done
expect 2 "verifying by such a key" check --key loose "$envelope"
mkfifo pipe
expect 2 "a pipe as the key" check --key pipe "$envelope"
expect 2 "a pipe as a certificate" check pipe
rm pipe
bad "signing with the public key" "--sign must be a private key; 'ours.pub' is a public key" "${small[@]}" --out signed --sign ours.pub
bad "signing with no key" "--sign: .*nowhere" "${small[@]}" --out signed --sign nowhere
bad "signing what is not kept" "--sign needs --out" "${small[@]}" --sign ours
if python3 -c 'import cryptography' 2>/dev/null; then
    cat >verify.py <<'PYTHON'
import base64, hashlib, json, sys
from cryptography.hazmat.primitives import serialization
envelope = json.load(open(sys.argv[1]))
key = serialization.load_pem_public_key(open(sys.argv[2], "rb").read())
der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
payload = base64.b64decode(envelope["payload"], validate=True)
kind = envelope["payloadType"].encode()
[signature] = envelope["signatures"]
key.verify(base64.b64decode(signature["sig"], validate=True), b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload))
assert signature["keyid"] == hashlib.sha256(der).hexdigest() and kind == b"application/vnd.in-toto+json"
assert payload == open(sys.argv[3], "rb").read()
PYTHON
    is "another implementation verifies it" python3 verify.py "$envelope" ours.pub "$plain"
else
    skip "another implementation verifies it" "no python3-cryptography"
fi

echo "-- diff"
expect 0 "a certificate and its envelope" diff "$plain" "$envelope"
says out "^output bits: [0-9]+ trials? the same, 0 different$"
expect 0 "made again" certify "${small[@]}" --out again
again=again/${plain##*/}
expect 0 "only the date differs" diff "$plain" "$again"
expect 0 "as JSON" diff --json "$plain" "$again"
is "    is JSON" json_good out
says out '"same": true'
expect 0 "made with another seed" certify "${small[@]}" --seed 7 --out other
expect 1 "another seed" diff "$plain" "other/${plain##*/}"
says out "^seed$"
says out "^  \+ 7$"
says out "only in the first, [1-9][0-9]* only in the second"
expect 1 "another kernel" diff "$plain" "$refuted"
says out "^verdict$"
says out "^  - HELD$"
says out "^  \+ REFUTED$"
expect 1 "another kernel, as JSON" diff --json "$plain" "$refuted"
is "    is JSON" json_good out
says out '"what": "verdict"'
if command -v python3 >/dev/null; then
    # The same trials with other output bits, sealed with care.
    python3 - "$plain" other_bits.json <<'PYTHON'
import hashlib, json, re, sys
text = open(sys.argv[1]).read()
text = re.sub(r'("output_sha256": ")[0-9a-f]{8}', r'\g<1>00000000', text, count=1)
digest = hashlib.sha256(re.sub(r'  "integrity": \{\n.*\n  \},\n', '', text).encode()).hexdigest()
open(sys.argv[2], "w").write(re.sub(r'("integrity": \{\n   "sha256": ")[0-9a-f]{64}', r'\g<1>' + digest, text))
PYTHON
    expect 1 "other bits alone" diff "$plain" other_bits.json
    says out "^output bits: [0-9]+ trials? the same, 1 different$"
    says out "^  first of them: .*\"family\""
    is "    nothing else differs" test "$(grep -c '^  [-+]' out)" = 0
fi
expect 2 "an altered one" diff "$plain" altered.json
says err "not intact"
expect 2 "one that is not there" diff nowhere.json "$plain"
expect 2 "one alone" diff "$plain"
says err "an argument is missing: CERT"
expect 2 "three" diff "$plain" "$plain" "$plain"

echo "-- report"
expect 0 "to standard output" report "$plain"
says out "<!DOCTYPE html>"
expect 0 "to a file, two of one subject" report "$plain" "other/${plain##*/}" -o page.html
is "    nothing on standard output" test ! -s out
is "    what changed" grep -q "Changes: cpu" page.html
expect 1 "one that was altered" report "$plain" altered.json --output=page.html
says err "altered"
is "    is named on the page" grep -q "Not shown:</strong> altered.json: altered" page.html
expect 2 "one that is not there" report nowhere.json
expect 2 "nowhere to write" report "$plain" -o /nowhere/page.html
says err "cannot write"
expect 2 "none" report

echo "-- output that cannot be written"
if [ -c /dev/full ]; then
    full() { # ARGUMENT...
        "$tokitai" "$@" >/dev/full 2>err
        local got=$?
        : >out
        if [ $got -eq 2 ]; then pass "$* >/dev/full"; else fail "$* >/dev/full: exit status $got"; fi
        says err "^tokitai: cannot write standard output"
    }
    full --help
    full --version
    full ops
    full ops --json
    full ops gelu_fwd
    full devices
    full certify gelu_fwd --dtype f16 --shape 3
    full certify gelu_fwd --dtype f16 --shape 3 --json
    full check "$certificate"
    full replay "$certificate"
else
    skip "/dev/full" "there is none"
fi
"$tokitai" ops >&- 2>err
is "standard output closed" test $? -eq 2
"$tokitai" certify gelu_fwd --dtype f16 --shape 3 --lowering best --quiet --out closed >&- 2>err
is "standard output closed and nothing to say" test $? -eq 0
is "    the certificate is whole" "$tokitai" check closed/*.json >/dev/null
rm -rf state
printf 'x' >state
expect 2 "a state directory that cannot be made" certify "${one[@]}"
says err "the certificate was not written: "
rm state

echo "-- terminal"
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "'$tokitai' ops gelu_fwd" /dev/null >out 2>err </dev/null
    is "colour on a terminal" grep -q $'\033\[1m' out
    TERM=xterm NO_COLOR=1 script -qec "'$tokitai' ops gelu_fwd" /dev/null >out 2>err </dev/null
    is "no colour with NO_COLOR" test "$(grep -c $'\033' out)" = 0
    TERM=dumb script -qec "'$tokitai' ops gelu_fwd" /dev/null >out 2>err </dev/null
    is "no colour on a dumb terminal" test "$(grep -c $'\033' out)" = 0
else
    skip "colour" "no script(1)"
fi

echo "-- cache"
export TOKITAI_CACHE=$work/kernels
expect 2 "cache without an action" cache
expect 2 "an action misspelt" cache lst
says err "unknown action 'lst'; did you mean 'list'\?"
expect 2 "an argument too many" cache list more
expect 0 "an empty cache" cache list
says out "^0 compiled kernels, 0 B, in $work/kernels$"
expect 0 "an empty cache as JSON" cache list --json
is "    is JSON" json_good out
expect 0 "an empty cache verified" cache verify
expect 0 "an empty cache cleared" cache clear
says out "^0 removed"
expect 2 "clear less than all" cache clear --dtype f16 --source ops/gelu/kernel.cu
says err "clear does not take --source; build does"
expect 2 "repair by looking" cache list --repair
says err "list does not take --repair; verify does"
expect 2 "verify one backend" cache verify --backend cuda
says err "verify does not take --backend; build does"
expect 2 "build what?" cache build
expect 2 "a backend without kernels" cache build --backend tpu --architecture sm_90
expect 2 "an architecture of another backend" cache build --backend cuda --architecture gfx942
says err "'gfx942' is not an architecture of cuda"
expect 2 "a source that is not there" cache build --backend cuda --architecture sm_90 --source ops/none/kernel.cu
TOKITAI_CUDA_COMPILER=$work/no/such/nvcc expect 3 "no compiler" cache build --backend cuda --architecture sm_90
says err "NVRTC: not used"
says err "nvcc: .*no/such/nvcc could not be started: No such file"

# A compiler that writes what looks like an image, or a message.
cat >nvcc <<'SH'
#!/bin/sh
case $* in
    *--version*) echo "Cuda compilation tools, release 99.1, V99.1.2" ;;
    *--list-gpu-arch*) echo compute_80; echo compute_90 ;;
    *)
        [ ! -e "$0.fails" ] || { echo "kernel.cu(7): error: this is what is wrong"; exit 2; }
        while [ "$1" != -o ]; do shift; done
        { printf '\177ELF'; head -c 5000 /dev/zero; } >"$2"
        echo "ptxas info    : Compiling entry function 'fake' for 'sm_90'"
        echo "    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads"
        echo "ptxas info    : Used 21 registers, 16 bytes smem"
        ;;
esac
SH
chmod +x nvcc
export TOKITAI_CUDA_COMPILER=$work/nvcc
source=$("$tokitai" cache build --backend cuda --architecture sm_90 --dtype f16 --json | grep -oE 'ops/[a-z]+/kernel\.cu' | head -n 1)
expect 0 "cache build" cache build --backend cuda --architecture sm_90 --source "$source"
says out "^$source f16, sm_90, nvcc: Cuda compilation tools, release 99.1, V99.1.2, found in"
says out "^$source bf16, sm_90, .*built in"
says out "fake +21 registers, +16 B shared, +0 B stack, spills 8 B, loads 4 B"
expect 0 "cache build --json" cache build --backend cuda --architecture sm_90 --source "$source" --json
is "    is JSON" json_good out
expect 0 "cache list" cache list
says out "^[0-9a-f]{12}  $source +bf16 +sm_90 +nvcc: Cuda"
expect 0 "cache list --json" cache list --json
is "    is JSON" json_good out
expect 0 "cache verify" cache verify
entries=("$TOKITAI_CACHE"/*.artifact)
printf x | dd of="${entries[0]}" bs=1 seek=3000 conv=notrunc 2>/dev/null
expect 1 "a byte of an image changed" cache verify
says err "damaged: ${entries[0]}: the checksum of its image is wrong"
expect 1 "cache verify --repair" cache verify --repair
says err "damaged, and removed"
expect 0 "    then all is well" cache verify
mv "${entries[1]}" elsewhere && ln -s "$PWD/elsewhere" "${entries[1]}"
expect 1 "a symbolic link is no entry" cache verify
says err "damaged: ${entries[1]}: cannot open it: it is a symbolic link"
mv elsewhere "${entries[1]}"
TOKITAI_CACHE_LIMIT=1GB expect 0 "a limit that is no size" cache list
says out "$source"
says err "note: nothing new is kept in the kernel cache: TOKITAI_CACHE_LIMIT is '1GB'; it must be a size"
TOKITAI_CACHE_LIMIT=99999999999G expect 0 "a limit that is more than all" cache list
is "    nothing is said" test ! -s err
chmod 0777 "$TOKITAI_CACHE"
expect 0 "a folder that everybody can write to" cache list
says err "note: nothing is used in the kernel cache: $TOKITAI_CACHE has mode 0777: everybody can write to it; .*chmod it to 0700"
expect 1 "    is not as it should be" cache verify
says err "has mode 0777"
chmod 0700 "$TOKITAI_CACHE"
long=$work/$(printf '%03100d' 0)
for action in list verify clear; do
    TOKITAI_CACHE=$long expect 2 "a path that is too long: $action" cache $action
    says err "no kernel cache: its path has [0-9]+ bytes; the limit is 3071"
done
expect 2 "clear what is too short to be a key" cache clear ab
expect 2 "clear what is not there" cache clear 0123456789abcdef
key=$(basename "${entries[1]}" .artifact)
expect 0 "clear one" cache clear "${key:0:12}"
says out "^1 removed"
mkdir "$TOKITAI_CACHE/$(printf '%064d' 0).artifact"
touch "$TOKITAI_CACHE/$(printf '%064d' 1).lock"
expect 2 "clear what can be removed" cache clear
says out "^[1-9][0-9]* removed"
says err "note: cannot remove $TOKITAI_CACHE/0{64}.artifact: Is a directory"
says err "1 of [0-9]+ entries were not removed"
rmdir "$TOKITAI_CACHE"/*
is "    nothing else is left, no lock either" test -z "$(ls -A "$TOKITAI_CACHE")"
expect 0 "clear what is empty" cache clear
expect 0 "    then nothing is left" cache list
says out "^0 compiled kernels"
touch nvcc.fails
expect 1 "a source that does not compile" cache build --backend cuda --architecture sm_90 --source "$source"
says err "cannot compile $source for sm_90"
says err "error: this is what is wrong"
unset TOKITAI_CUDA_COMPILER TOKITAI_CACHE

echo "-- completion"
is "completion.bash parses" bash -n "$root/src/cli/completion.bash"
complete_line() { # WORD...: what the last word may become
    PATH=$(dirname "$tokitai"):$PATH bash --norc -c '
        source "$1" || exit 1
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _tokitai
        printf "%s\n" "${COMPREPLY[@]}"' bash "$root/src/cli/completion.bash" "$@" >out 2>err
}
completes() { # EXPECTED WORD...
    local expected=$1
    shift
    complete_line "$@"
    is "$* -> $expected" grep -qxF -- "$expected" out
}
completes certify tokitai cer
is "    and nothing else" test "$(wc -l <out)" = 1
completes gelu_bwd tokitai certify gelu
completes gelu_fwd tokitai ops ""
completes bf16 tokitai certify --dtype b
completes bf16 tokitai certify --dtype = b
completes bf16 tokitai certify gelu_fwd --dtype b
completes exhaustive tokitai certify --level ""
completes tensor_core tokitai certify gemm --numerics t
completes --label-smoothing tokitai certify --label
completes normal tokitai certify --family nor
completes all_zeros tokitai certify gelu_fwd --mutant all
completes base_2 tokitai certify gelu_fwd --variant base
completes cpu.gelu_fwd.f16.scalar tokitai certify gelu_fwd --lowering cpu
completes --shape tokitai certify --sh
completes altered.json tokitai check al
completes ours.pub tokitai check --key ou
completes altered.json tokitai diff al
completes altered.json tokitai report al
completes --force tokitai keygen --f
completes replay tokitai help re
completes best tokitai certify --lowering b
completes gelu_bwd tokitai bench gelu
completes openblas tokitai bench --peers open
completes --growth tokitai bench --gr
completes gemm-bw tokitai kernel ge
completes verify tokitai cache v
completes hip tokitai cache build --backend h
completes cpu tokitai certify --backend c
# Both come from the table of the parser.
manual=${BUILD_DIR:-$root/build}/generated/tokitai.1
for command in $("$tokitai" --complete "" | grep -vxE -- "help|--.*"); do
    "$tokitai" "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -vxE -- '--(usage|version)' >options
    # argp wraps a line in the wrong place if its buffer ends there; then the text has to change.
    is "$command: every line of the help is in its column" test -z "$("$tokitai" "$command" --help | awk '/^ +(-., )?--/ { on = 1; next } /^$/ { on = 0 } on && !/^                             [^ ]/')"
    complete_line tokitai "$command" --
    is "$command: every option is completed" cmp -s <(sort -u options - <<<--help) <(sort -u out)
    is "$command: every option is in the manual" test -z "$(while read -r option; do
        grep -qE -- "^\.It Fl ([a-zA-Z] , )?-${option#--}( |$)" "$manual" || echo "$option"
    done <options)"
done

echo "-- manual"
if command -v mandoc >/dev/null; then
    mandoc -Tlint -Wwarning "$manual" >out 2>err
    is "mandoc finds nothing" test $? -eq 0
else
    skip "mandoc" "it is not installed"
fi

finish
