#!/usr/bin/env bash
# Checks every proof from scratch: what the sources may say, compilation by Coq, and the axioms of every marked theorem against axioms.txt.
# Then the extra checks of checks.txt, and the results of solvers, which are trusted and not proved.
# Prints a table: file, theorem, clauses, seconds of a processor for the theorem's own proof.
#
#     proofs/check.sh [--axioms] [--without-extra] [BUILD]
#
# bound_points.v is made first, by the program proof_constants of a build: PROOF_CONSTANTS, build/tests/proof_constants by default.
# BUILD is where all is compiled: a folder that is emptied first, build/proofs by default. --axioms prints the axioms found, as axioms.txt
# has them, and compares nothing. --without-extra leaves the extra checks and solvers out. JOBS (2) files are compiled at a time.
# Exit status: 0 all is proved, 1 something is not, 77 skipped, all or a part: Coq, a library of it, or what an extra check asks is not installed.
set -euo pipefail
shopt -s nullglob
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
axioms_only='' extra=1 build=''
for argument; do
    case $argument in
        --axioms) axioms_only=1 ;;
        --without-extra) extra='' ;;
        -*) echo "check.sh: no such option: $argument" >&2; exit 1 ;;
        *) build=$argument ;;
    esac
done
build=${build:-$here/../build/proofs}
points=${PROOF_CONSTANTS:-$here/../build/tests/proof_constants}
log() { echo "$@" >&2; } # the table, or the axioms, go to the standard output

for tool in coqc coqdep make; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
libraries=$(coqc -where)/user-contrib
for library in Flocq Interval Coquelicot; do
    [ -d "$libraries/$library" ] || { echo "skipped: the Coq library $library is not installed"; exit 77; }
done

sources=("$here"/*.v)
[ ${#sources[@]} -gt 0 ] || { log "check.sh: no proofs in $here"; exit 1; }
rm -rf "$build"
mkdir -p "$build"
build=$(readlink -f "$build")
failed=0
fail() { log "$@"; failed=1; }

# --- what the sources may say ---------------------------------------------------------------------------------------

# A source without comments, which nest, and strings; the lines keep their numbers.
bare() {
    awk '{
        out = ""
        for (i = 1; i <= length($0); i++) {
            two = substr($0, i, 2); one = substr($0, i, 1)
            if (quoted) { if (one == "\"") quoted = 0 }
            else if (two == "(*") { depth++; i++ }
            else if (two == "*)" && depth) { depth--; i++ }
            else if (depth) { }
            else if (one == "\"") quoted = 1
            else out = out one
        }
        print out
    }' "$1"
}

# Statements without proof are refused everywhere, assumptions outside sections, and so is what switches a check of the kernel off.
unproved='Admitted|Admit|admit|give_up|Axiom|Axioms|Parameter|Parameters|Conjecture|Conjectures|Abort'
assumed='Hypothesis|Hypotheses|Variable|Variables|Context'
switched='Unset[ ]+(Guard|Positivity|Universe)[ ]+Checking|bypass_check|Declare[ ]+ML[ ]+Module|Load'
for file in "${sources[@]}"; do
    bare "$file" | awk -v file="proofs/${file##*/}" -v unproved="$unproved" -v assumed="$assumed" -v switched="$switched" '
        function has(words) { return match(" " $0 " ", "[^A-Za-z0-9_.\x27](" words ")[^A-Za-z0-9_\x27]") }
        function word() { text = substr(" " $0 " ", RSTART + 1, RLENGTH - 2); return text }
        has(unproved) { print file ":" NR ": " word() ": not proved"; bad = 1 }
        has(switched) { print file ":" NR ": " word() ": not allowed"; bad = 1 }
        /^[ \t]*Section[ \t]/ { depth++; name[depth] = $2; sub(/\..*/, "", name[depth]) }
        !depth && has(assumed) { print file ":" NR ": " word() ": assumed outside a section"; bad = 1 }
        depth && $1 == "End" && $2 == name[depth] "." { depth-- }
        END { exit bad }' >&2 || failed=1
done

# --- the list of marked theorems: FILE THEOREM LINE CLAUSE... -------------------------------------------------------

for file in "${sources[@]}"; do
    awk -v file="${file##*/}" '
        function bad(what) { print "proofs/" file ":" FNR ": " what >"/dev/stderr"; status = 1 }
        /^\(\* supports:/ {
            if (state) bad("a mark follows a mark that no theorem follows")
            if ($0 !~ /^\(\* supports:( [A-Z][A-Z0-9_]*(\.[A-Z][A-Z0-9_]*)?)+ \*\)$/) bad("a malformed mark: " $0)
            clauses = $0; sub(/^\(\* supports: /, "", clauses); sub(/ \*\)$/, "", clauses); state = 1; next
        }
        /^\(\* says:/ {
            if (state != 1) bad("says, without supports in the line above")
            if ($0 !~ /^\(\* says: .*[^ ] \*\)$/) bad("a malformed mark: " $0)
            state = 2; next
        }
        state == 2 && /^Theorem [A-Za-z_][A-Za-z0-9_]*/ {
            name = $2; sub(/[^A-Za-z0-9_].*/, "", name); print file, name, FNR, clauses; state = 0; next
        }
        state { bad("a mark without a theorem directly below it"); state = 0 }
        /\(\*[ ]*(supports|says)[ ]*:/ { bad("a malformed mark: " $0) }
        END { if (state) bad("a mark without a theorem directly below it"); exit status }' "$file" >>"$build/theorems" || failed=1
done
[ "$failed" = 0 ] || { log "proofs: refused by what the sources say"; exit 1; }
[ -s "$build/theorems" ] || { log "check.sh: no theorem is marked"; exit 1; }

# --- compilation, in copies -----------------------------------------------------------------------------------------

mkdir "$build/compiled"
cp "${sources[@]}" "$build/compiled"
if [ -e "$here/bound_agreement.v" ] && ! "$points" points >"$build/compiled/bound_points.v"; then
    log "check.sh: $points does not print bound_points.v; cmake --build build --target proof_constants makes it"
    exit 1
fi
cd "$build/compiled"
SECONDS=0
coqdep -R . Tokitai ./*.v >"$build/dependencies"
cat >"$build/Makefile" <<'MAKE'
all: $(patsubst %.v,%.vo,$(wildcard *.v))
%.vo: %.v
	coqc -q -time -R . Tokitai $< >$*.time
include ../dependencies
MAKE
if ! make --no-print-directory -s -k -j "${JOBS:-2}" -f "$build/Makefile" >"$build/errors" 2>&1; then
    cat "$build/errors" >&2
    log "proofs: not proved"
    exit 1
fi
compiled=$SECONDS

# --- axioms ---------------------------------------------------------------------------------------------------------

# What Coq says that all theorems together rest on: one by one it would look through the libraries again for each. Names are as Coq gives
# them without anything imported; "NAME :" begins a line.
cut -d' ' -f1 "$build/theorems" | sort -u | sed -E 's/(.*)\.v/Require Tokitai.\1./' >"$build/assumptions.v"
assumptions() { # FILE THEOREM... on standard input: the names that all of them rest on
    awk '{ sub(/\.v$/, "", $1); print (NR == 1 ? "Definition all_of_them := (" : ", ") "@Tokitai." $1 "." $2 } END { print ").\nPrint Assumptions all_of_them." }' |
        cat "$build/assumptions.v" - >"$build/asked.v"
    coqc -q -R . Tokitai "$build/asked.v" >"$build/assumptions" 2>&1 || { cat "$build/assumptions" >&2; return 1; }
    awk '/^(Closed under the global context|Axioms:|Section Variables:)/ { next } /^[^ ]/ { name = $1; sub(/:$/, "", name); print name }' "$build/assumptions" | sort -u
}
if ! assumptions <"$build/theorems" >"$build/short_names"; then
    log "proofs: a marked theorem is not among what was compiled"
    exit 1
fi

# The whole name of each, which says whose it is.
cp "$build/assumptions.v" "$build/names.v"
while read -r name; do printf 'Goal True. idtac "== %s". Abort.\nLocate %s.\n' "$name" "$name"; done <"$build/short_names" >>"$build/names.v"
coqc -q -R . Tokitai "$build/names.v" >"$build/names" 2>&1 || { cat "$build/names" >&2; log "proofs: an axiom has no name that can be found"; exit 1; }
# The first line of each answer is what the short name means.
awk '/^== / { name = $2; next } name && /^(Constant|Inductive) / { print name, $2; name = "" }' "$build/names" | sort -u >"$build/whole_names"
if ! diff <(cut -d' ' -f1 "$build/whole_names") "$build/short_names" >&2; then
    log "proofs: assumptions that are no constants of a library"
    exit 1
fi
cut -d' ' -f2 "$build/whole_names" | sort -u >"$build/axioms"
if [ -n "$axioms_only" ]; then
    cat "$build/axioms"
    exit 0
fi
sed 's/#.*//; s/[ \t]*$//; /^$/d' "$here/axioms.txt" | sort >"$build/allowed"
while read -r axiom; do
    fail "axiom outside proofs/axioms.txt: $axiom"
done < <(comm -23 "$build/axioms" "$build/allowed")
first=$(comm -23 "$build/axioms" "$build/allowed" | head -n 1)
if [ -n "$first" ]; then
    short=$(awk -v axiom="$first" '$2 == axiom { print $1; exit }' "$build/whole_names")
    while read -r theorem; do
        ! assumptions <<<"$theorem" | grep -qxF "$short" || break
    done <"$build/theorems"
    fail "$first is assumed by ${theorem% [0-9]* *}"
fi
while read -r axiom; do
    fail "proofs/axioms.txt lists an axiom that no theorem rests on: $axiom"
done < <(comm -13 "$build/axioms" "$build/allowed")
while read -r axiom; do
    [[ $axiom == Coq.* ]] || fail "not an axiom of Coq's standard library: $axiom"
done <"$build/axioms"

# --- the table ------------------------------------------------------------------------------------------------------

# Coq's times of the sentences from "Theorem", which begins at that byte of the file, to "Qed". Lemmas before it are the file's.
seconds='function seconds(  part) { split($NF, part, /[(u,s)]/); return part[2] + part[4] }'
own_seconds() { # file line
    local begin
    begin=$(head -n $(($2 - 1)) "$1" | wc -c)
    awk -v begin="$begin" "$seconds"' $2 >= begin { sum += seconds(); if ($5 ~ /^\[(Qed|Defined)\.\]/) exit } END { printf "%.2f", sum }' "${1%.v}.time"
}
printf '%-18s %-42s %7s  %s\n' FILE THEOREM SECONDS SUPPORTS
last=''
while read -r file theorem line clauses; do
    if [ "$file" != "$last" ]; then
        printf '%-18s %-42s %7s\n' "$file" '(with its lemmas)' "$(awk "$seconds"' { sum += seconds() } END { printf "%.2f", sum }' "${file%.v}.time")"
        last=$file
    fi
    printf '%-18s %-42s %7s  %s\n' '' "$theorem" "$(own_seconds "$file" "$line")" "$clauses"
done <"$build/theorems"
echo
echo "$(wc -l <"$build/theorems") theorems in ${#sources[@]} files, compiled from scratch in $compiled s; axioms, all of Coq's standard library:"
sed 's/^/    /' "$build/axioms"

# --- what is checked beside the theorems ----------------------------------------------------------------------------

skipped=0
if [ -n "$extra" ]; then
    # NAME: COMMAND, run in the root of the project; exit status 77 is skipped.
    [ ! -e "$here/checks.txt" ] || while IFS= read -r line; do
        status=0
        SECONDS=0
        (cd "$here/.." && PROOFS_BUILD=$build bash -c "${line#*: }") >"$build/extra.log" 2>&1 </dev/null || status=$?
        case $status in
            0) echo "checked   ${line%%:*} ($SECONDS s)" ;;
            77) echo "skipped   ${line%%:*}: $(tail -n 1 "$build/extra.log")"; skipped=$((skipped + 1)) ;;
            *) cat "$build/extra.log" >&2; fail "failed: ${line%%:*}: ${line#*: }" ;;
        esac
    done < <(sed '/^#/d; /^$/d' "$here/checks.txt")
    # WHAT; SOLVER; COMMAND: trusted, since nothing checks the solver's word.
    [ ! -e "$here/solvers.txt" ] || while IFS=';' read -r what solver command; do
        status=0
        SECONDS=0
        (cd "$here/.." && PROOFS_BUILD=$build bash -c "$command") >"$build/extra.log" 2>&1 </dev/null || status=$?
        case $status in
            0) echo "trusted   $what, by the word of$solver ($SECONDS s)" ;;
            77) echo "skipped   $what: $(tail -n 1 "$build/extra.log")"; skipped=$((skipped + 1)) ;;
            *) cat "$build/extra.log" >&2; fail "failed: $what:$solver:$command" ;;
        esac
    done < <(sed '/^#/d; /^$/d' "$here/solvers.txt")
fi
[ "$failed" = 0 ] || { log "proofs: failed"; exit 1; }
if [ "$skipped" != 0 ]; then
    echo "skipped: the theorems hold, but $skipped of the checks beside them were not run"
    exit 77
fi
echo "all proofs hold"
