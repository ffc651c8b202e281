#!/usr/bin/env bash
# Makes abi1.b64 and abi2.b64 anew: shared libraries for x86-64, gzip and base64, of kernels that were built before ABI 3. Their headers are those of
# the time: ../abi1/tokitai_kernel.h, and of ABI 2 what git has of 6641c90, with the part that its build made. tests/kernel_abi.sh and
# tests/kernel_file/test_kernel_abi.c load them; they are to be made again only where a kernel is added.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/abi2"
git show 6641c90:include/tokitai_kernel.h >"$work/abi2/tokitai_kernel.h"
cat >"$work/abi2/tokitai_kernel_ops.h" <<'C'
#define TOKITAI_CALL_ATTRIBUTES float label_smoothing; float scale; int64_t ignore_index
struct tokitai_call;
int tokitai_gelu_fwd(const struct tokitai_call *call, int64_t n, const void *x, void *y);
C
build() { # NAME HEADERS
    grep -qx "#define TOKITAI_KERNEL_ABI ${1#abi}" "$2/tokitai_kernel.h"
    cc -std=c11 -Wall -Wextra -Os -fPIC -shared -s -nostartfiles -fno-asynchronous-unwind-tables \
        -Wl,--build-id=none,-z,noseparate-code -I "$2" -o "$work/$1.so" "$1.c" -lm
    gzip -9n <"$work/$1.so" | base64 -w 150 >"$1.b64"
    wc -c "$work/$1.so" "$1.b64"
}
build abi1 ../abi1
build abi2 "$work/abi2"
