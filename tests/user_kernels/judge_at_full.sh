#!/usr/bin/env bash
# All of these at full, where those that quick refutes must be refuted, and others may be. It takes an hour on two cores, and is not among the
# tests that run by themselves: TOKITAI=build/tokitai tests/user_kernels/judge_at_full.sh
export SOURCE_DIR=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/../..}
source "$(dirname "$(readlink -f "$0")")/../user_kernels.bash"
judge_user_kernels full 1
finish
