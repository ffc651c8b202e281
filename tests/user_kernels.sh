#!/usr/bin/env bash
# Kernels that were written from docs/bring-your-own-kernel.md alone, judged at quick: tests/user_kernels/README.md. At each commit another
# sixteenth of them; with --whole: all.
source "$(dirname "$(readlink -f "$0")")/user_kernels.bash"
shares=16
[ "${1-}" != --whole ] || shares=1
judge_user_kernels quick $shares
finish
