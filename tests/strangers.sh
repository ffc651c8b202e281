#!/usr/bin/env bash
# Kernels that were written from docs/bring-your-own-kernel.md alone, judged at quick: tests/strangers/README.md.
source "$(dirname "$(readlink -f "$0")")/strangers.bash"
judge_strangers quick 97
finish
