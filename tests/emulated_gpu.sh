#!/usr/bin/env bash
# The GPU kernels of HIP, judged on a GPU that this processor plays (tests/emulated_gpu/device.hpp): what their sources mean, in several
# orders of threads and blocks, with warps of 64 and of 32 lanes. With --whole: all of them, in all types. With --self-test: kernels with a
# mistake planted in them do not hold.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
subcommand=(certify --backend hip --out "$work/certificates")

fakes=${BUILD_DIR:-$root/build}/tests/fake_gpu
[ "$(uname -m)" = x86_64 ] || { echo "skipped: it is made for x86-64"; exit 77; }
[ -e "$fakes/libamdhip64.so.6" ] || { echo "skipped: the pretended driver was not built"; exit 77; }
command -v clang++-19 >/dev/null || { echo "skipped: there is no clang++-19"; exit 77; }
export TOKITAI_HIP_LIBRARY=$fakes/libamdhip64.so.6 TOKITAI_HIP_COMPILER=$root/tests/emulated_gpu/hipcc TOKITAI_CACHE=$work/cache

held() { # ARCHITECTURE SEED ARGUMENT...
    export FAKE_GPU_ARCHITECTURE=$1 FAKE_GPU_EMULATE=$2
    shift 2
    expect 0 "$FAKE_GPU_ARCHITECTURE, order $FAKE_GPU_EMULATE: $*" "$@"
    grep -E ' HELD ' out
    is "    something was judged" grep -qE '^hip\.[^ ]+ +HELD +[0-9]+' out
}

# ARCHITECTURE SEED STATUS TEXT EDIT ARGUMENT...: with that edit a kernel is refuted (1), or fails (3), and TEXT is said.
noticed() {
    export FAKE_GPU_ARCHITECTURE=$1 FAKE_GPU_EMULATE=$2 EMULATED_GPU_EDIT=$5
    export TOKITAI_CACHE=$work/edited # the cache does not know of edits
    local status=$3 text=$4
    rm -rf edited
    shift 5
    expect "$status" "$EMULATED_GPU_EDIT" "$@"
    cat out err >said
    says said "$text"
    unset EMULATED_GPU_EDIT
}

case ${1-} in
--self-test)
    padic=(padic_gemm --lowering hip.padic_gemm.u64.shared --shape m=65,n=66,k=40)
    softmax=(softmax_fwd --lowering hip.softmax_fwd.f16.shared --shape rows=3,cols=1000)
    product=(gemm --lowering hip.gemm.f16.tensor --shape m=33,n=48,k=40)
    # A barrier of the valuations; the one after a tile's loads, and the one before the next.
    noticed gfx942 0 1 'PADIC_GEMM\.' 'ops/padic/kernel.cu 0,/ block_barrier();/s// ;/' "${padic[@]}"
    noticed gfx942 0 1 'PADIC_GEMM\.' 'ops/padic/kernel.cu /block_barrier();/{N;/unroll sums/s/block_barrier();//}' "${padic[@]}"
    noticed gfx942 0 1 'PADIC_GEMM\.' 'ops/padic/kernel.cu /unroll sums/,/block_barrier/s/block_barrier();//' "${padic[@]}"
    # A place that is left out one valuation too early; a product of parts that is forgotten; sums that are never folded.
    noticed gfx942 0 1 'PADIC_GEMM\.ERR' 'ops/padic/kernel.cu s/^ *p.precision;$/p.precision - 1;/' \
        padic_gemm --lowering hip.padic_gemm.u64.shared
    noticed gfx942 0 1 'PADIC_GEMM\.ERR' 'ops/padic/kernel.cu s/s.sum.1. += x1 \* y0;//' "${padic[@]}" --prime 7 --precision 16
    noticed gfx942 0 1 'PADIC_GEMM\.ERR' 'ops/padic/kernel.cu s/^ *fold(p, s.i .*/;/' \
        padic_gemm --lowering hip.padic_gemm.u64.shared --prime 67108859 --precision 2 --shape m=2,n=2,k=9000
    # A thread that leaves where others wait; a lane that does not vote or shuffle.
    noticed gfx942 0 3 'wait for others of their warp that have left' \
        'ops/padic/kernel.cu s/^    sums s.SIDE..SIDE. = ..;/    if (thread == 77) return;\n&/' "${padic[@]}"
    noticed gfx942 0 3 'wait at a barrier for others that have left' \
        'ops/padic/kernel.cu s/^    least.share..place. = /    if (thread >= 192) return;\n&/' "${padic[@]}"
    noticed gfx942 0 3 'lanes wait for others of their warp that have left|threads wait for different things' \
        'kernels/device.h s/^DEVICE float shuffle_xor(float value, unsigned mask)$/&\n{ if (lane_index() == 40) return value;/;/^DEVICE float shuffle_xor/{n;s/^{//}' \
        "${softmax[@]}"
    # The places of a square's sums; MFMA's as WMMA's.
    noticed gfx942 0 1 'GEMM\.' 'kernels/device_mma.h s|return lane / 16 \* 4 + i;|return 4 * i + lane / 16;|' "${product[@]}"
    noticed gfx1100 0 1 'GEMM\.' 'kernels/device_mma.h s|return 2 \* i + lane / 16;|return i + lane / 16 * 8;|' "${product[@]}"
    noticed gfx1100 0 3 'halves of a warp' 'kernels/device_mma.h s|const int line = first + block . 16 + lane % 16;|const int line = first + block * 16 + lane % 32 / 2;|' "${product[@]}"
    # Sums of 32 lanes where a warp has 64.
    noticed gfx942 0 1 'SOFTMAX_FWD\.' 'kernels/device.h s/enum { warp_lanes = 64 };/enum { warp_lanes = 32 };/' "${softmax[@]}"
    finish ;;
--whole)
    for architecture in gfx942 gfx1100 gfx90a; do
        for order in 0 1 2; do
            held $architecture $order
        done
    done
    finish ;;
esac

held gfx942 2 softmax_fwd softmax_bwd embedding_bwd --dtype f16 --index i32
held gfx942 1 linear_fwd --dtype f32
for shape in m=33,n=48,k=40 m=257,n=129,k=65; do
    held gfx942 0 gemm --lowering hip.gemm.bf16.tensor --shape $shape
    held gfx1100 2 gemm_grad_b --lowering hip.gemm_grad_b.f16.tensor --shape $shape
done
held gfx1100 1 xent gelu_bwd grouped_gemm --dtype bf16 --index i64
held gfx1100 2 padic_gemm
says_count() { sed -n 's/.*left out \([0-9]* of [0-9]*\) slices.*/\1/p' certificates/"$1".*.json | sort -u; }
held gfx942 1 padic_gemm --skip-mutants
"$tokitai" certify padic_gemm --backend cpu --lowering best --skip-mutants --out certificates >/dev/null 2>&1
is "the GPU leaves out the slices that the CPU leaves out: $(says_count hip)" test "$(says_count hip)" = "$(says_count cpu)"
# One ring for each kind of sum, at its border.
for ring in "2 32" "2 33" "2 64" "65521 2" "4294967291 1" "4294967311 1" "67108859 2" "4503599627370517 1" "9223372036854775783 1"; do
    held gfx942 2 padic_gemm --prime "${ring% *}" --precision "${ring#* }" --shape m=3,n=66,k=1100
done
finish
