#!/usr/bin/env bash
# The same at full, where none may pass.
source "$(dirname "$(readlink -f "$0")")/strangers.bash"
judge_strangers full 100
finish
