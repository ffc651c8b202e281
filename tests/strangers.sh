#!/usr/bin/env bash
# Kernels that were written from docs/bring-your-own-kernel.md alone, judged at quick: tests/strangers/README.md. Every eighth of them, by name;
# with --whole: all.
source "$(dirname "$(readlink -f "$0")")/strangers.bash"
share=8
[ "${1-}" != --whole ] || share=1
judge_strangers quick 97 $share
finish
