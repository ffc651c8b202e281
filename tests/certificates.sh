#!/usr/bin/env bash
# The certificates in docs/certificates are those of the index, intact, and the trials of those named quick.* are still made, with the same
# seeds. Where the compiler that they name is here, the present sources give the very artifact whose SHA-256 they carry, unless the index has
# them as stale: a warning, and an error with RELEASE=1 or --release, for then they have to be made anew on a device, or removed. Every sixth
# artifact is compiled for that, by hash; with --whole, --release or RELEASE=1: all. What the
# kernels of an artifact use stands in one certificate of it at least. The two pages are what the program makes of their certificates. Needs
# TOKITAI, the program, and SOURCE_DIR.
# With --self-test: shows on a copy that an edited, a missing, an unlisted and a stale certificate are each reported.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
index=$root/docs/certificates/index.py
release=() share=6
case ${1-} in --release) RELEASE=1 ;; --whole) share=1 ;; esac
[ "${RELEASE:-0}" != 1 ] || release=(--release) share=1
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

copy=$work/docs/certificates
reports() { # STATUS TEXT ARGUMENT...: of index.py on the planted tree; an empty text: it says nothing
    local status=0 expected=$1 text=$2
    shift 2
    "$index" --root "$work" "$@" >"$work/said" 2>&1 || status=$?
    local as_said
    if [ -n "$text" ]; then as_said=$(grep -cF -- "$text" "$work/said" || true); else as_said=$([ -s "$work/said" ] || echo 1); fi
    if [ $status -ne "$expected" ] || [ "${as_said:-0}" = 0 ]; then
        echo "index.py $*: exit status $status, not $expected, or it does not say '$text' alone but:"
        cat "$work/said"
        exit 1
    fi
}
silent_about() { ! grep -q -- "$1" "$work/said" || { echo "it speaks of $1:"; cat "$work/said"; exit 1; }; }
marked() { # SUBJECT present|**stale**
    grep -qE "^\| quick \| $1 \| HELD \| 2026-01-02 \| .* \| $2 \| \`[0-9a-f]{64}\` \|$" "$copy/index.md" || { echo "the index does not have $1 as $2"; exit 1; }
}

# What the script reads of a certificate, as certify writes it. The hash is of the kernel and what it includes, in the order of the includes.
plant() { # SUBJECT SOURCE FILE...
    local subject=$1 source=$2
    shift 2
    cat >"$work/$subject.json" <<JSON
{
 "predicate": {
  "built": {
   "artifact_sha256": "$(sha256sum <<<"$source" | cut -c1-64)",
   "source": "$source",
   "source_sha256": "$(cd "$work/src" && cat "$@" | sha256sum | cut -c1-64)"
  },
  "created": "2026-01-02T03:04:05Z",
  "run": {
   "subject": "$subject",
   "words": "a \\" b: [ 1,  2 ]"
  },
  "verdict": "HELD"
 }
}
JSON
}

self_test() {
    mkdir -p "$copy" "$work/src/ops/one" "$work/src/ops/two" "$work/src/kernels"
    printf '#include "params.h"\n#include "kernels/device.h"\n#include "params.h"\n' >"$work/src/ops/one/kernel.cu"
    echo '  #  include "kernels/device.h"' >"$work/src/ops/one/params.h"
    echo 'int two; // #include "nowhere.h"' >"$work/src/ops/two/kernel.cu"
    echo '#include <stdint.h>' >"$work/src/kernels/device.h"
    plant cuda.one ops/one/kernel.cu ops/one/kernel.cu ops/one/params.h kernels/device.h
    plant cuda.two ops/two/kernel.cu ops/two/kernel.cu
    reports 0 "2 certificates, 0 of them stale" --add quick "$work/cuda.one.json" "$work/cuda.two.json"
    reports 0 "" --check --release
    marked cuda.one present
    local file
    for file in one two; do
        [ "$(wc -l <"$copy/quick.cuda.$file.json")" = 1 ] || { echo "quick.cuda.$file.json is not one line"; exit 1; }
        grep -qF '"words":"a \" b: [ 1,  2 ]"' "$copy/quick.cuda.$file.json" || { echo "text of quick.cuda.$file.json was changed"; exit 1; }
    done
    local kept=$work/kept
    cp -r "$copy" "$kept"

    sed -i 's/2026-01-02/2026-02-03/' "$copy/quick.cuda.one.json"
    reports 1 "error: quick.cuda.one.json: edited" --check
    silent_about cuda.two
    echo '{}' >"$copy/quick.cuda.one.json"
    reports 1 "error: edited: quick.cuda.one.json: not a certificate" --check
    rm "$copy/quick.cuda.one.json"
    reports 1 "error: quick.cuda.one.json: missing" --check
    silent_about cuda.two
    cp "$kept/quick.cuda.one.json" "$copy/"
    reports 0 "" --check
    cp "$copy/quick.cuda.one.json" "$copy/full.cuda.one.json"
    reports 1 "error: full.cuda.one.json: the index does not list it" --check
    mv "$copy/full.cuda.one.json" "$copy/full.cuda.three.json"
    reports 1 "full.cuda.three.json: not a certificate of a kernel: ValueError('its subject is cuda.one"
    rm "$copy/full.cuda.three.json"
    sed -i 's/cuda.one | HELD/cuda.one | PROVED/' "$copy/index.md"
    reports 1 "error: quick.cuda.one.json: the index does not say what it says" --check
    cp "$kept/index.md" "$copy/"

    # A header counts as the kernel does, and only where it is included.
    echo '/* planted */' >>"$work/src/kernels/device.h"
    reports 0 "warning: quick.cuda.one.json: stale: its kernel has changed; mark it" --check
    silent_about cuda.two
    reports 1 "error: quick.cuda.one.json: stale" --check --release
    reports 0 "2 certificates, 1 of them stale"
    marked cuda.one '\*\*stale\*\*'
    marked cuda.two present
    reports 0 "warning: quick.cuda.one.json: stale: its kernel has changed" --check
    silent_about "mark it"
    reports 1 "error: quick.cuda.one.json: stale" --check --release
    rm "$work/src/ops/two/kernel.cu"
    reports 1 "error: quick.cuda.two.json: stale" --check --release
    echo 'int two; // #include "nowhere.h"' >"$work/src/ops/two/kernel.cu"
    echo '#include <stdint.h>' >"$work/src/kernels/device.h"
    reports 0 "quick.cuda.one.json: marked stale, and its kernel is the present one" --check
    reports 0 "2 certificates, 0 of them stale"
    cmp "$copy/index.md" "$kept/index.md"
    echo "edited, missing, unlisted, misnamed, misdescribed and stale certificates are reported, and no others"
}

if [ "${1-}" = --self-test ]; then
    self_test
    exit 0
fi

tokitai=${TOKITAI:?the program to test}
export TOKITAI_CACHE=$work/cache
failed=0 intact=0 same=0 untold=0 stale=0 passed_over=0
"$index" --root "$root" --check "${release[@]}" | tee "$work/index" || failed=1

# One a line: certificate, artifact, does the index have it as present, what the present sources give (-: no compiler; ?: not asked), do its
# kernels' registers stand in it.
python3 - "$root" "$tokitai" "$share" >"$work/table" <<'PYTHON'
import json, os, sys
root, tokitai, share = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path.insert(0, os.path.join(root, "docs", "certificates"))
import index
tree = index.Tree(root)
names = tree.names()
predicates = [json.load(open(os.path.join(tree.folder, name)))["predicate"] for name in names]
artifacts = sorted({predicate["built"]["artifact_sha256"] for predicate in predicates})
asked = [p for p in predicates if artifacts.index(p["built"]["artifact_sha256"]) % share == 0]
answers = iter(index.artifacts_now(tokitai, asked))
for name, predicate in zip(names, predicates):
    built = predicate["built"]
    row = tree.row(name)
    now = next(answers) if predicate in asked else ("?", tree.hashes[built["source"]])
    if now and now[1] != tree.hashes[built["source"]]:
        sys.exit(f"{built['source']}: the program has other sources, or index.py computes another hash")
    print(name, built["artifact_sha256"], row.kernel, now[0] if now else "-", "told" if built.get("kernels") else "untold")
PYTHON

while read -r name artifact kernel now told; do
    certificate=$root/docs/certificates/$name
    if ! "$tokitai" check "$certificate" >"$work/check" 2>&1; then
        echo "$name is not intact:"
        cat "$work/check"
        failed=1
        continue
    fi
    intact=$((intact + 1))
    # Without a device nothing is run, but the trials are looked for before that shows.
    status=0
    CUDA_VISIBLE_DEVICES='' "$tokitai" replay "$certificate" >"$work/replay" 2>&1 || status=$?
    # Those of the other runs were made before the trials became what they are.
    if [ $status -eq 1 ] && [[ $name != quick.* ]] &&
        tr -s ' \n' ' ' <"$work/replay" | grep -q 'is none that this version makes'; then
        status=3
    fi
    if [ $status -ne 3 ]; then
        echo "$name cannot be replayed, exit status $status:"
        cat "$work/replay"
        failed=1
    fi
    if ! grep -q "^[^ ]* $artifact .* told$" "$work/table"; then
        echo "$name: no certificate of its artifact tells what the kernels use: registers, shared memory, spills"
        failed=1
    fi
    if [ "$kernel" = stale ]; then
        stale=$((stale + 1))
    elif [ "$now" = - ]; then
        untold=$((untold + 1))
    elif [ "$now" = "?" ]; then
        passed_over=$((passed_over + 1))
    elif [ "$now" = "$artifact" ]; then
        same=$((same + 1))
    else
        echo "$name: the index has its kernel as the present one, whose sources give another artifact"
        failed=1
    fi
done <"$work/table"
[ $intact -gt 0 ] || { echo "there are no certificates"; failed=1; }

pages=("$root"/docs/certificates/*.cuda.*.md)
[ ${#pages[@]} -eq 2 ] || { echo "${#pages[@]} pages are kept, not two specimens"; failed=1; }
for page in "${pages[@]}"; do
    "$tokitai" check --markdown "${page%.md}.json" | cmp - "$page" || failed=1
done
echo "$intact certificates are intact; $same are of the artifacts that the present sources give, $untold cannot be told without their compiler, $passed_over were not compared, $stale are stale"
exit $failed
