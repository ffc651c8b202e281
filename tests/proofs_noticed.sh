#!/usr/bin/env bash
# Changes proofs in a copy, and sees the check that is to notice it fail, by its own words: what Coq refuses, statements without proof, axioms,
# marks, clauses that no contract has, and certificates whose theorems are no longer those of the program. Numbers and formulas of the C
# code are the matter of proofs_constants.self_test, index maps that of tile_maps.self_test.
# What needs Coq is skipped where it is not installed.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:-$root/build}
tokitai=${TOKITAI:-$build/tokitai}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
noticed=0

# A file that compiles in seconds and imports nothing of the others.
fresh() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/proofs"
    cp "$root"/proofs/{check.sh,padic.v} "$work/tree/proofs"
    : >"$work/tree/proofs/axioms.txt" # it rests on none
}

change() { # file sed-script
    local file=$work/tree/proofs/$1
    cp "$file" "$work/before"
    sed -i -E "$2" "$file"
    ! cmp -s "$work/before" "$file" || { echo "FAILED: $2 changes nothing in $1"; failed=1; }
}

# Runs a command, which is to fail and to say something.
refused() { # what pattern command...
    local what=$1 pattern=$2 status=0
    shift 2
    "$@" >"$work/said" 2>&1 || status=$?
    if [ "$status" = 1 ] && grep -qE -- "$pattern" "$work/said"; then
        echo "noticed   $what: $(grep -E -m 1 -- "$pattern" "$work/said")"
        noticed=$((noticed + 1))
    else
        echo "FAILED: $what: exit status $status, without '$pattern':"
        tail -n 5 "$work/said"
        failed=1
    fi
}

check() { bash "$work/tree/proofs/check.sh" --without-extra "$work/proofs"; }
list() { "$build/tokitai-generate" "$work/proofs.c" -- "$work"/tree/proofs/*.v "$work/tree/proofs/axioms.txt"; }

# --- marks, by the build ----------------------------------------------------------------------------------------------

fresh
list || { echo "FAILED: the list of an unchanged copy"; failed=1; }
change padic.v '0,/supports: [A-Z_.]+/s//supports: GEMM.ERROR/'
refused "a clause that no contract has" "padic.v:[0-9]+: supports GEMM.ERROR, which no contract has" list
fresh
change padic.v '0,/^\(\* says: .*/s///'
refused "a mark without its sentence" "padic.v:[0-9]+: a malformed mark" list
fresh
change padic.v '0,/^Theorem valuation_of_product/s//Lemma valuation_of_product/'
refused "a mark without a theorem" "padic.v:[0-9]+: a mark without a theorem directly below it" list
fresh
change padic.v '0,/^\(\* supports: /s//(* supports : /'
refused "a mark in another form" "padic.v:[0-9]+: a malformed mark" list

# --- certificates that cite a theorem as it was -------------------------------------------------------------------------

# The program's own proof is the changed one here: the certificate has the hash of another text, as after a change of a statement.
"$tokitai" certify gemm --dtype f16 --shape m=3,n=2,k=4 --lowering best --out "$work/certificates" >/dev/null
certificate=$(echo "$work"/certificates/*.json)
"$tokitai" ops gemm --proof --json >"$work/chain.json"
read -r file hash < <(sed -n 's/^ *"file": "\(.*\)",$/\1/p; s/^ *"sha256": "\(.*\)".*/\1/p' "$work/chain.json" | paste -sd ' ' | cut -d ' ' -f 1,2)
# All of what a file imports of ours, each once, in the order in which they are met.
parts() {
    local name
    [[ " ${met[*]-} " != *" $1 "* ]] || return 0
    met+=("$1")
    for name in $(sed -nE 's/^From Tokitai Require (Import|Export) (.*)\.$/\2/p' "$2/$1.v"); do parts "$name" "$2"; done
}
hash_in() { # folder theorem-file: the hash by sha256sum
    met=()
    parts "$(basename "$2" .v)" "$1"
    (cd "$1" && cat "${met[@]/%/.v}") | sha256sum | cut -d ' ' -f 1
}
if [ "$(hash_in "$root/proofs" "$file")" != "$hash" ] || ! grep -q "\"sha256\": \"$hash\"" "$certificate"; then
    echo "FAILED: $file has the SHA-256 $(hash_in "$root/proofs" "$file"), the program says $hash"
    failed=1
fi
mkdir "$work/changed"
cp "$root"/proofs/*.v "$work/changed"
sed -i -E '0,/^Theorem [a-z_]+ : /s//&True -> /' "$work/changed/$(basename "$file")"
changed=$(hash_in "$work/changed" "$file")
[ "$changed" != "$hash" ] || { echo "FAILED: a changed statement has the same hash"; failed=1; }
sed "s/\"$hash\"/\"$changed\"/" "$certificate" >"$work/edited.json"
sealed=$(sed '/^  "integrity": {$/,/^  },$/d' "$work/edited.json" | sha256sum | cut -d ' ' -f 1)
sed -i "/^  \"integrity\": {\$/,/^  },\$/s/\"sha256\": \".*\"/\"sha256\": \"$sealed\"/" "$work/edited.json"
if "$tokitai" check "$work/edited.json" >"$work/said" 2>&1 &&
    grep -qE "cites [0-9]+ theorems? that this version changed or does not have: $file " "$work/said"; then
    echo "noticed   a changed statement: $(grep -oE 'cites [0-9]+ .*; intact' "$work/said")"
    noticed=$((noticed + 1))
else
    echo "FAILED: a certificate of a changed statement:"
    cat "$work/said"
    failed=1
fi

# --- proofs, by proofs/check.sh -------------------------------------------------------------------------------------------

fresh
status=0
check >"$work/said" 2>&1 || status=$?
if [ "$status" = 77 ]; then
    [ "$failed" = 0 ] || exit 1
    echo "skipped: $noticed changes were noticed; the others need Coq with its libraries"
    exit 77
fi
[ "$status" = 0 ] || { echo "FAILED: an unchanged copy is refused:"; tail -n 5 "$work/said"; failed=1; }

change padic.v '0,/ring\. Qed\./s//Admitted./'
refused "a theorem that is admitted" "padic.v:[0-9]+: Admitted: not proved" check
fresh
change padic.v '0,/lia\. ring\. Qed\./s//lia. admit. Qed./'
refused "a step that is admitted" "padic.v:[0-9]+: admit: not proved" check
fresh
change padic.v '0,/^Open Scope Z_scope\./s//&\nAxiom all_is_one : forall a b : Z, a = b./'
refused "an axiom of our own" "padic.v:[0-9]+: Axiom: not proved" check
fresh
change padic.v '0,/^Open Scope Z_scope\./s//&\nHypothesis all_is_one : forall a b : Z, a = b./'
refused "an assumption outside a section" "padic.v:[0-9]+: Hypothesis: assumed outside a section" check
fresh
change padic.v '0,/^From Coq Require Import/s//& Classical_Prop/; 0,/ring\. Qed\./s//destruct (classic (x = y)); ring. Qed./'
refused "a further axiom of Coq's library" "Coq.Logic.Classical_Prop.classic is assumed by padic.v valuation_of_product" check
fresh
echo Coq.Logic.Classical_Prop.classic >"$work/tree/proofs/axioms.txt"
refused "an axiom that is allowed for nothing" "lists an axiom that no theorem rests on: Coq.Logic.Classical_Prop.classic" check
fresh
change padic.v '0,/at_least p \(v \+ w\) \(a \* b\)/s//at_least p (v + w + 1) (a * b)/'
refused "a statement that is not true" "padic.v|not proved" check
fresh
change padic.v '0,/^Theorem valuation_of_product/s//Lemma valuation_of_product/'
refused "a mark without a theorem" "a mark without a theorem directly below it" check


# --- what check.sh has others check ---------------------------------------------------------------------------------------

# Runs all of check.sh, which is to end so and to say something.
whole() { # what status pattern
    local status=0
    bash "$work/tree/proofs/check.sh" "$work/proofs" >"$work/said" 2>&1 || status=$?
    if [ "$status" = "$2" ] && grep -qE -- "$3" "$work/said"; then
        echo "noticed   $1: $(grep -E -m 1 -- "$3" "$work/said")"
        noticed=$((noticed + 1))
    else
        echo "FAILED: $1: exit status $status, without '$3':"
        tail -n 5 "$work/said"
        failed=1
    fi
}
fresh
whole "nothing: an unchanged copy" 0 "^all proofs hold"
echo "a solver's word; nobody; exit 1" >"$work/tree/proofs/solvers.txt"
whole "a solver that says no" 1 "failed: a solver's word"
echo "a solver's word; nobody; echo not here; exit 77" >"$work/tree/proofs/solvers.txt"
whole "a solver that is not there" 77 "skipped: the theorems hold, but 1 of the checks beside them"
rm "$work/tree/proofs/solvers.txt"
echo "a comparison: exit 77" >"$work/tree/proofs/checks.txt"
whole "a check that was not run" 77 "skipped: the theorems hold, but 1 of the checks beside them"
echo "a comparison: exit 3" >"$work/tree/proofs/checks.txt"
whole "a check that fails" 1 "failed: a comparison"

[ "$failed" = 0 ] || exit 1
echo "$noticed changes, each noticed"
