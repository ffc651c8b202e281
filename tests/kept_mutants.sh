#!/usr/bin/env bash
# Verdicts on mutants that are kept from one certify to the next: which run them, what certificates say, what check, replay and cache make of
# that, and another build of the judge.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
unset TOKITAI_CACHE TOKITAI_CACHE_LIMIT
export XDG_CACHE_HOME=$work/cache
folder=cache/tokitai/artifacts
one=(gelu_fwd --dtype f16 --lowering best)
kept='"kept": "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"'
seed_of() { sed -n '/^   "mutants": {$/,/}/s/^ *"seed": //p' "$1"/*.json; }
# Whether, not by which clause: one that reads outside of its arrays meets other bytes each time.
verdicts_of() { sed -n '/^  "mutants": \[$/,/^  \]/p' "$1"/*.json | grep -vE '"(reason|clause)"'; }

echo "-- certify"
expect 0 "the first runs them" certify "${one[@]}" --out first
says out "^cpu\.gelu_fwd\.f16\.[a-z0-9_]+ .* ([0-9]+)/\1 +[0-9.]+$"
count 0 first/*.json "$kept"
says first/*.json '"[0-9]+ of [0-9]+ mutants were rejected by the same judge on the quick trials of seed '
is "    their verdicts are kept" test "$(find $folder -name '*.mutants' | wc -l)" = 1
is "    for the user alone" test "$(stat -c %a $folder) $(stat -c %a $folder/*.mutants)" = "700 600"
expect 0 "the second has them" certify "${one[@]}" --out second
says out "^cpu\.gelu_fwd\.f16\.[a-z0-9_]+ .* ([0-9]+)/\1\* +[0-9.]+$"
says out "^\* mutants: judged by this build on [0-9-]+, not run again \(--fresh-mutants runs them\)$"
count 1 second/*.json "$kept"
says second/*.json "mutants were rejected on $(date -u +%Y)-.* by this build of the judge, [0-9a-f]{12}, on the quick trials of seed [0-9]+; this run did not repeat them"
says second/*.json "This run did not judge the mutants"
says second/*.md "^Judged on .* by this build of the judge, [0-9a-f]{64}, on the quick trials of seed [0-9]+; not run again for this certificate\.$"
is "    the same verdicts" test "$(verdicts_of first)" = "$(verdicts_of second)"
is "    of the same seed" test "$(seed_of first)" = "$(seed_of second)"
is "    which is not the run's" test "$(seed_of first)" != "$(sed -n 's/^   "seed": \([0-9]*\),\{0,1\}$/\1/p' first/*.json)"
expect 0 "whatever the run's seed and level are" certify "${one[@]}" --seed 5 --level exhaustive --out third
count 1 third/*.json "$kept"
is "    the mutants' is the same" test "$(seed_of first)" = "$(seed_of third)"
expect 0 "--fresh-mutants runs them" certify "${one[@]}" --fresh-mutants --out fresh
count 0 fresh/*.json "$kept"
is "    the same verdicts" test "$(verdicts_of first)" = "$(verdicts_of fresh)"
expect 0 "--skip-mutants has none" certify "${one[@]}" --skip-mutants --out skipped
count 0 skipped/*.json "$kept"
says skipped/*.json '"mutants": \[\]'
says skipped/*.json "No mutants were run"
bad_usage "both" "exclude each other" certify "${one[@]}" --skip-mutants --fresh-mutants
expect 0 "another type is another matter" certify gelu_fwd --dtype bf16 --lowering best --out bf16
count 0 bf16/*.json "$kept"
is "    with another seed" test "$(seed_of first)" != "$(seed_of bf16)"
expect 0 "a kernel file has them, too" certify gelu_fwd --dtype f16 --kernel "$root/examples/kernels/gelu_fwd.c" --json-lines lines
says lines '"mutants_kept":"'

echo "-- check, diff, replay, report"
expect 0 "check" check second/*.json
says out "^    mutants: ([0-9]+) of \1 rejected on .* by the same build, and not run again for this certificate"
expect 0 "check as JSON" check second/*.json --json
says out '"mutants_kept": "'
expect 0 "    of one that ran them" check first/*.json
count 0 out "mutants"
expect 0 "they do not differ" diff first/*.json second/*.json
expect 0 "replay runs them" replay second/*.json
says out "same; verdict HELD"
expect 0 "the page" report second/*.json -o page.html
says page.html "by this build of the judge"
for edit in 's/^    "seed": [0-9]*/    "seed": 7/' 's/^    "build": "./&0/' "s/^    $kept/    \"kept\": \"2999-01-01T00:00:00Z\"/" \
    "s/^    $kept/    \"kept\": \"today\"/"; do
    forge "$(echo second/*.json)" "$(sed -E 's/\[0-9\]\{(.)\}/[0-9]\\{\1\\}/g; s/\{8\}/\\{8\\}/' <<<"$edit")"
    expect 1 "check refuses $edit" check forged.json
    says err "it contradicts itself: (the (seed|build|verdicts)|run.mutants.build is|run.mutants.kept is)"
done
forge "$(echo second/*.json)" '/^   "mutants": {$/,/^   },$/d'
expect 1 "check refuses one that hides it" check forged.json
says err "it lists mutants, but not how they were judged"
forge "$(echo first/*.json)" '/^   "mutants": {$/,/^   },$/d; s/ on the quick trials of seed [0-9]*, the seed of this build\./ on the quick trials./'
expect 1 "check refuses one that does not name their seed" check forged.json
says err "it lists mutants, but not how they were judged"

echo "-- damage, and other builds"
file=$(find $folder -name '*.mutants' -exec grep -l '^types f16$' {} +)
sed -i 's/^mutant all_zeros rejected/mutant all_zeros Rejected/' "$file"
expect 1 "cache verify finds what is damaged" cache verify
says err "damaged: .*its .mutant. is malformed"
expect 0 "    it is not used" certify "${one[@]}" --out damaged
says err "note: kept verdicts .* on the mutants of gelu_fwd ignored: its .mutant. is malformed"
count 0 damaged/*.json "$kept"
expect 0 "    but replaced" certify "${one[@]}" --out repaired
silent err
count 1 repaired/*.json "$kept"
chmod 770 $folder
expect 0 "a folder that others may write to is not used" certify "${one[@]}" --out theirs
says err "note: the verdicts on mutants are not kept: .* has mode 0770"
count 0 theirs/*.json "$kept"
chmod 700 $folder

# A survivor is kept as one, with the hash put right.
survivor=$(sed '$d; s/^mutant all_zeros rejected .*/mutant all_zeros survived/' "$file")
{ echo "$survivor"; echo "hash $(echo "$survivor" | sha256sum | cut -d ' ' -f 1)"; } >survived
cp "$file" intact
cat survived >"$file"
expect 3 "a survivor that is kept counts" certify "${one[@]}" --out survived_out
says out "why +the mutant 'all_zeros' was not rejected"
expect 0 "    until they are run again" certify "${one[@]}" --fresh-mutants --out ran
expect 0 "    which is kept" certify "${one[@]}" --out ran_kept
count 1 ran_kept/*.json "$kept"

libraries=$(dirname "$tokitai")
if command -v objcopy >/dev/null && [ -e "$libraries/libtokitai-verify.so" ]; then
    mkdir other
    cp "$tokitai" other/
    cp -P "$libraries"/libtokitai*.so* other/
    note=$(readelf -n other/libtokitai-verify.so | sed -n 's/^ *Build ID: //p')
    objcopy --dump-section .note.gnu.build-id=note other/libtokitai-verify.so
    printf '\377' | dd of=note bs=1 seek=$(($(stat -c %s note) - 1)) conv=notrunc status=none
    [ "${note%ff}" != "$note" ] && printf '\0' | dd of=note bs=1 seek=$(($(stat -c %s note) - 1)) conv=notrunc status=none
    objcopy --update-section .note.gnu.build-id=note other/libtokitai-verify.so
    here=$tokitai
    tokitai=$work/other/tokitai
    expect 0 "another build runs them" certify "${one[@]}" --out other_first
    count 0 other_first/*.json "$kept"
    is "    under another seed" test "$(seed_of first)" != "$(seed_of other_first)"
    is "    with the same verdicts" test "$(verdicts_of first)" = "$(verdicts_of other_first)"
    expect 0 "    and has its own next time" certify "${one[@]}" --out other_second
    count 1 other_second/*.json "$kept"
    expect 0 "    checks those of the first" check first/*.json second/*.json
    expect 0 "    and replays them" replay second/*.json
    expect 0 "    and lists both" cache list
    count 2 out "^[0-9a-f]{12}  gelu_fwd +f16 "
    says out "^[0-9a-f]{12}  gelu_fwd +f16 +([0-9]+)/\1  no, other build "
    tokitai=$here
    expect 0 "the first build has still its own" certify "${one[@]}" --out still
    count 1 still/*.json "$kept"
else
    skip "another build" "no objcopy, or no shared libraries"
fi

echo "-- cache"
expect 0 "cache list" cache list
says out "^[0-9a-f]{12}  gelu_fwd +bf16 +([0-9]+)/\1  yes "
expect 0 "as JSON" cache list --json
is "    is JSON" json_good out
says out '"mutants_of": "gelu_fwd"'
expect 0 "cache verify" cache verify
expect 0 "cache clear" cache clear
is "    removes them" test "$(find $folder -name '*.mutants' | wc -l)" = 0
expect 0 "the next runs them" certify "${one[@]}" --out cleared
count 0 cleared/*.json "$kept"
TOKITAI_CACHE_LIMIT=0 expect 0 "no room" certify gelu_bwd --dtype f16 --lowering best
expect 0 "    nothing was kept" certify gelu_bwd --dtype f16 --lowering best --out no_room
finish
