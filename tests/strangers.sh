#!/usr/bin/env bash
# Kernels that were written from docs/bring-your-own-kernel.md alone, judged at quick: tests/strangers/README.md. Without coverage, which
# would only add to what is found, to save time.
source "$(dirname "$(readlink -f "$0")")/strangers.bash"
judge_strangers quick 97 --no-coverage
finish
