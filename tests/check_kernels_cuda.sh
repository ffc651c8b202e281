#!/usr/bin/env bash
# Every CUDA kernel compiles, without spills and warnings; see compile_kernels.bash. With --whole: in all types.
# With --self-test: a compiler that tells of a spill, one that warns and one that fails must each be noticed.
# A function of: src/compile src/core src/drivers src/kernels src/ops src/runtime; gpu-compilers
set -uo pipefail
check=$(dirname "$(readlink -f "$0")")/compile_kernels.bash
whole=()
[ "${1-}" != --whole ] || whole=(--whole)
[ "${1-}" = --self-test ] || exec bash "$check" "${whole[@]}" cuda sm_80 sm_90

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TOKITAI_CUDA_COMPILER=$work/nvcc
expect() { # STATUS SPILL-BYTES MESSAGE COMMAND
    cat >"$work/nvcc" <<SH
#!/bin/sh
case \$* in
    *--version*) echo "Cuda compilation tools, release 99.1, V99.1.$RANDOM" ;;
    *--list-gpu-arch*) echo compute_90 ;;
    *)
        while [ "\$1" != -o ]; do shift; done
        { printf '\\177ELF'; head -c 100 /dev/zero; } >"\$2"
        echo "ptxas info    : Compiling entry function 'fake' for 'sm_90'"
        echo "    0 bytes stack frame, $2 bytes spill stores, 0 bytes spill loads"
        echo "ptxas info    : Used 21 registers"
        echo "$3"
        $4
        ;;
esac
SH
    chmod +x "$work/nvcc"
    bash "$check" cuda sm_90 >"$work/out" 2>&1
    local got=$?
    [ $got -eq "$1" ] || { echo "a compiler with $2 bytes of spills, '$3' and '$4' gave $got, not $1"; cat "$work/out"; exit 1; }
}
expect 0 0 "" ":"
expect 1 8 "" ":"
expect 1 0 "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized" ":"
expect 1 0 "kernel.cu(21): warning #177-D: variable was declared but never referenced" ":"
expect 1 0 "" "exit 1"
TOKITAI_CUDA_COMPILER=$work/none expect 77 0 "" ":"
echo "spills, warnings and failures are noticed"
