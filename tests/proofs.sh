#!/usr/bin/env bash
# All proofs, from scratch: proofs/check.sh. And the theorems that it has checked are those of the program's list. Skipped (77) where Coq or
# one of its libraries is not installed.
# A function of: proofs src/headers src/core src/exact src/model src/ops include; coqc gcc z3 cvc5
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:-$root/build}
tokitai=${TOKITAI:-$build/tokitai}
PROOF_CONSTANTS=$build/tests/proof_constants "$root/proofs/check.sh" "$build/proofs"
checked() { awk '{ file = $1; name = $2; $1 = $2 = $3 = ""; sub(/^ +/, ""); print "proofs/" file, name, $0 }' "$build/proofs/theorems"; }
listed() { "$tokitai" ops --proof --json | sed -nE 's/^ *"(file|theorem|supports)": "(.*)",$/\2/p' | paste -d ' ' - - -; }
if ! diff <(checked | sort) <(listed | sort); then
    echo "proofs/check.sh (<) has checked other theorems than the program lists (>)"
    exit 1
fi
