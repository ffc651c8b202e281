#!/usr/bin/env bash
# Both forms of a kernel's function: tokitai_OP_v2 of ABI 2, in C, C++ and CUDA and as the documentation has it; which of the two is judged
# where a file has both; and kernels of ABI 1 and 2, as sources, in libraries that are built here with the header of ABI 1 as it was, and as
# bytes of libraries that were built with the headers of both (tests/kernels/built/make.sh).
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
abi1=$root/tests/kernels/abi1 abi2=$root/tests/kernels/abi2
headers=(-I "$root/include" -I "$(readlink -f "${BUILD_DIR:-$root/build}")/include")
quick=(--level quick --skip-mutants)
strict=(-Wall -Wextra -Wconversion -Wshadow -Werror -O2 -fPIC -shared)

holds() { # TITLE OP FILE ARGUMENT...: f16 and bf16, the types of ABI 1
    local title=$1 op=$2 file=$3 name
    name=$(basename "${file%.*}")
    shift 3
    for dtype in f16 bf16; do
        expect 0 "$title, $dtype" certify "$op" --kernel "$file" --dtype "$dtype" "${quick[@]}" "$@"
        says out "^kernel\.cpu\.$op\.$dtype\.$name +(HELD|PROVED) +[1-9]"
    done
}

echo "-- ABI 2"
awk '/^```c$/ { on = 1; text = ""; next } /^```$/ { if (on && text ~ /TOKITAI_KERNEL\(/) printf "%s", text; on = 0 } on { text = text $0 "\n" }' \
    "$root/docs/bring-your-own-kernel.md" >documented.c
is "the documentation has one example" [ "$(grep -c '^TOKITAI_KERNEL(' documented.c)" -eq 1 ]
is "it compiles without a warning" cc -std=c11 "${strict[@]}" "${headers[@]}" -o documented.so documented.c -lm
holds "the documentation's example" gelu_fwd documented.c
is "xent compiles without a warning" cc -std=c11 "${strict[@]}" "${headers[@]}" -o xent2.so "$abi2/xent.c" -lm
holds "attributes by name" xent "$abi2/xent.c"
sed 's/"label_smoothing"/"label_smoothin"/' "$abi2/xent.c" >misnamed.c
expect 1 "a name that no attribute has gives 0, which is wrong" certify xent --kernel misnamed.c --dtype f16 "${quick[@]}"
if command -v c++ >/dev/null; then
    holds "C++" gelu_bwd "$abi2/gelu_bwd.cpp"
    is "C++ compiles without a warning" c++ "${strict[@]}" "${headers[@]}" -o gelu_bwd.so "$abi2/gelu_bwd.cpp"
else
    skip "C++" "there is no compiler"
fi
if command -v nvcc >/dev/null; then
    is "CUDA compiles" nvcc -arch=sm_80 -Xcompiler -fPIC -shared "${headers[@]}" -o gelu_cuda.so "$abi2/gelu_fwd.cu"
    is "and has its function" grep -q ' T tokitai_gelu_fwd_v2$' <(nm -D --defined-only gelu_cuda.so)
else
    skip "CUDA" "there is no nvcc"
fi
expect 0 "without a name, the ops that a file has" certify --kernel documented.c --dtype f16 "${quick[@]}"
says out "^kernel\.cpu\.gelu_fwd\.f16\.documented +(HELD|PROVED)"

echo "-- ABI 3: 8 bits, which functions of ABI 1 and 2 are not called with"
"$tokitai" new-kernel gelu_bwd --out abi3.c >/dev/null
sed 's/tokitai_store(call, grad_input, i,/tokitai_store(call, grad_input, i, tokitai_saturated(call.dtype,/; s/(rest \* h))));/&)/; s/(1 + rest \* h))));/(1 + rest * h)))));/' abi3.c >saturating.c
is "the other choice" test "$(grep -c 'tokitai_saturated' saturating.c)" = 1
for dtype in f32 f8_e4m3 f8_e5m2; do
    expect 0 "the template in $dtype" certify gelu_bwd --kernel abi3.c --dtype $dtype "${quick[@]}"
    says out "^kernel\.cpu\.gelu_bwd\.$dtype\.abi3 +HELD +[1-9]"
done
for dtype in f8_e4m3 f8_e5m2; do
    expect 0 "saturating in $dtype" certify gelu_bwd --kernel saturating.c --dtype $dtype --overflow saturate "${quick[@]}"
    says out "overflow=saturate"
    expect 1 "    as asked for alone" certify gelu_bwd --kernel saturating.c --dtype $dtype "${quick[@]}"
    expect 1 "    the template does not" certify gelu_bwd --kernel abi3.c --dtype $dtype --overflow saturate "${quick[@]}"
    expect 3 "a function of ABI 2 in $dtype" certify gelu_fwd --kernel documented.c --dtype $dtype "${quick[@]}"
    says out "element type that ABI 2 lacks"
done

echo "-- both forms in one file"
wrong='int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    (void)x;
    for (int64_t i = 0; i < n; i++)
        tokitai_store(*call, y, i, 7);
    return 0;
}'
{ cat documented.c; echo "$wrong"; } >right_by_2.c
{ cat "$abi1/gelu_fwd.c"; sed 's/^int .*/TOKITAI_KERNEL(gelu_fwd)/; s/(void)x;/const int64_t n = tensors[0].shape[0];/; s/, y, i/, tensors[1].data, i/' <<<"$wrong"; } >wrong_by_2.c
is "the wrong one is of ABI 2" grep -q 'TOKITAI_KERNEL(gelu_fwd)' wrong_by_2.c
holds "judged by the right one of ABI 2" gelu_fwd right_by_2.c
expect 1 "judged by the wrong one of ABI 2" certify gelu_fwd --kernel wrong_by_2.c --dtype f16 "${quick[@]}"
says out "^kernel\.cpu\.gelu_fwd\.f16\.wrong_by_2 +REFUTED"

echo "-- ABI 1"
is "the header is that of ABI 1" grep -qx '#define TOKITAI_KERNEL_ABI 1' "$abi1/tokitai_kernel.h"
for op in gelu_fwd xent; do
    is "$op compiles with the header of ABI 1" cc -std=c11 -Wall -Wextra -Werror -O2 -fPIC -shared -I "$abi1" -o "${op}_1.so" "$abi1/$op.c" -lm
    holds "a library of ABI 1" $op "${op}_1.so" --backend cpu
    holds "its source with the header of today" $op "$abi1/$op.c"
done

echo "-- bytes of libraries"
if [ "$(uname -m)" = x86_64 ]; then
    for abi in 1 2; do
        base64 -d "$root/tests/kernels/built/abi$abi.b64" | gzip -d >"bytes_$abi.so"
        for op in gelu_fwd xent; do
            holds "ABI $abi, right" $op "bytes_$abi.so" --backend cpu
        done
        for dtype in f16 bf16; do
            expect 1 "ABI $abi, wrong, $dtype" certify softmax_fwd --kernel "bytes_$abi.so" --backend cpu --dtype "$dtype" "${quick[@]}"
            says out "^kernel\.cpu\.softmax_fwd\.$dtype\.bytes_$abi +REFUTED"
            says out "SOFTMAX_FWD\.(ERR|NAN): "
        done
    done
    expect 0 "ABI 2, right in f32" certify xent --kernel bytes_2.so --backend cpu --dtype f32 "${quick[@]}"
else
    skip "libraries as bytes" "they are for x86-64"
fi

echo "-- no function of the op"
expect 2 "a library of another op" certify gemm --kernel documented.so --backend cpu --dtype f16 "${quick[@]}"
cat out err >said
says said "it defines gelu_fwd"
cat >named_badly.c <<'C'
#include <tokitai_kernel.h>
TOKITAI_KERNEL(gelu_forward)
{
    return 0;
}
C
expect 3 "a name that is no op's" certify --kernel named_badly.c --dtype f16 "${quick[@]}"
says err "it defines no kernel"

finish
