#!/usr/bin/env bash
# Kernels that were written from docs/bring-your-own-kernel.md alone, judged at quick: tests/strangers/README.md. At each commit another eighth
# of them; with --whole: all.
source "$(dirname "$(readlink -f "$0")")/strangers.bash"
shares=8
[ "${1-}" != --whole ] || shares=1
judge_strangers quick $shares
finish
