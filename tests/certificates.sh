#!/usr/bin/env bash
# The index in docs/certificates is what it should be, the kept certificates are those of the index, intact, and the trials of those named
# quick.* are still made, with the same seeds. Where the compiler that the index names is here, the present sources give each artifact that it
# has as present, by SHA-256. What is stale has to be made anew on a device, or removed: a warning, and an error with RELEASE=1 or --release.
# A sixth of the artifacts is compiled, another one with each commit; with --whole, --release or RELEASE=1: all. What the
# kernels of a kept artifact use stands in one certificate of it at least. The two pages are what the program makes of their certificates.
# Needs TOKITAI, the program, and SOURCE_DIR.
# With --self-test: shows on a copy that an edited, a missing, an unlisted and a stale certificate are each reported.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
index=$root/docs/certificates/index.py
source "$root/tests/share.bash"
release=() shares=6
case ${1-} in --release) RELEASE=1 ;; --whole) shares=1 ;; esac
[ "${RELEASE:-0}" != 1 ] || release=(--release) shares=1
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
marked() { # ONE|TWO present|**stale**: of the artifact of that kernel
    grep -qE "^\| \`[0-9a-f]{16}\` \| ops/$1/kernel.cu \| .* \| $2 \|$" "$copy/index.md" || { echo "the index does not have $1 as $2"; exit 1; }
}
listed() { # RUN SUBJECT yes|no
    grep -qE "^\| $1 \| $2 \| HELD \| 2026-01-02 \| \`[0-9a-f]{16}\` \| $3 \| \`[0-9a-f]{64}\` \|$" "$copy/index.md" ||
        { echo "the index does not have $1.$2, kept: $3"; exit 1; }
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
   "compiler": "NVRTC 13.0",
   "options": "--gpu-architecture=sm_90 --no-cache -DTKI_DTYPE=0",
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
    reports 0 "2 certificates, 0 of them stale, 0 kept" --add full "$work/cuda.one.json" "$work/cuda.two.json"
    reports 0 "" --check --release
    listed full cuda.one no
    [ "$(ls "$copy")" = index.md ] || { echo "--add keeps files"; exit 1; }
    reports 0 "4 certificates, 0 of them stale, 2 kept" --add quick "$work/cuda.one.json" "$work/cuda.two.json" --keep
    reports 0 "" --check --release
    listed full cuda.one no
    listed quick cuda.one yes
    marked one present
    [ "$(grep -c '^| `' "$copy/index.md")" = 2 ] || { echo "an artifact is listed twice"; exit 1; }
    local file
    for file in one two; do
        [ "$(wc -l <"$copy/quick.cuda.$file.json")" = 1 ] || { echo "quick.cuda.$file.json is not one line"; exit 1; }
        grep -qF '"words":"a \" b: [ 1,  2 ]"' "$copy/quick.cuda.$file.json" || { echo "text of quick.cuda.$file.json was changed"; exit 1; }
    done
    local kept=$work/kept
    cp -r "$copy" "$kept"

    sed -i 's/2026-01-02/2026-02-03/' "$copy/quick.cuda.one.json"
    reports 1 "error: quick.cuda.one: edited" --check
    silent_about cuda.two
    echo '{}' >"$copy/quick.cuda.one.json"
    reports 1 "error: edited: quick.cuda.one: not a certificate" --check
    rm "$copy/quick.cuda.one.json"
    reports 1 "error: quick.cuda.one: missing" --check
    silent_about cuda.two
    reports 0 "4 certificates, 0 of them stale, 1 kept"
    reports 0 "" --check
    listed quick cuda.one no
    cp "$kept/quick.cuda.one.json" "$copy/"
    reports 1 "error: quick.cuda.one: the index does not say what it says" --check
    reports 0 "4 certificates, 0 of them stale, 2 kept"
    cmp "$copy/index.md" "$kept/index.md"
    cp "$copy/quick.cuda.one.json" "$copy/other.cuda.one.json"
    reports 1 "error: other.cuda.one: the index does not list it" --check
    mv "$copy/other.cuda.one.json" "$copy/full.cuda.three.json"
    reports 1 "full.cuda.three: not a certificate of a kernel: ValueError('its subject is cuda.one"
    rm "$copy/full.cuda.three.json"
    sed -i '/^| quick /s/cuda.one | HELD/cuda.one | PROVED/' "$copy/index.md"
    reports 1 "error: quick.cuda.one: the index does not say what it says" --check
    cp "$kept/index.md" "$copy/"
    sed -i '/ops\/one/d' "$copy/index.md"
    reports 1 "error: full.cuda.one: the index does not list its artifact" --check
    cp "$kept/index.md" "$copy/"
    sed -i '/ops\/one/s/DTYPE=0/DTYPE=1/' "$copy/index.md"
    reports 1 "quick.cuda.one: its artifact is listed as that of ops/one/kernel.cu with other options" --check
    cp "$kept/index.md" "$copy/"

    # A certificate that is made again takes the place of the kept one.
    sed 's/"words": .*/"words": "others"/' "$work/cuda.one.json" >"$work/again"
    mkdir "$work/made"
    mv "$work/again" "$work/made/cuda.one.json"
    reports 0 "4 certificates, 0 of them stale, 2 kept" --add quick "$work/made/cuda.one.json"
    grep -qF '"words":"others"' "$copy/quick.cuda.one.json" || { echo "--add leaves the kept file as it was"; exit 1; }
    reports 0 "" --check
    rm -r "$copy"
    cp -r "$kept" "$copy"

    # A header counts as the kernel does, and only where it is included; the file of the certificate is not needed for that.
    echo '/* planted */' >>"$work/src/kernels/device.h"
    reports 0 "warning: quick.cuda.one: stale: its kernel has changed; mark it" --check
    reports 0 "warning: full.cuda.one: stale: its kernel has changed; mark it" --check
    silent_about cuda.two
    reports 1 "error: full.cuda.one: stale" --check --release
    reports 0 "4 certificates, 2 of them stale, 2 kept"
    marked one '\*\*stale\*\*'
    marked two present
    reports 0 "warning: quick.cuda.one: stale: its kernel has changed" --check
    silent_about "mark it"
    reports 1 "error: quick.cuda.one: stale" --check --release
    rm "$work/src/ops/two/kernel.cu"
    reports 1 "error: quick.cuda.two: stale" --check --release
    echo 'int two; // #include "nowhere.h"' >"$work/src/ops/two/kernel.cu"
    cp -r "$copy" "$work/stale"

    # The same artifact from the present sources: a certificate made of them, or these as they were.
    plant cuda.one ops/one/kernel.cu ops/one/kernel.cu ops/one/params.h kernels/device.h
    reports 0 "4 certificates, 0 of them stale, 2 kept" --add full "$work/cuda.one.json"
    reports 0 "" --check --release
    rm -r "$copy"
    mv "$work/stale" "$copy"
    echo '#include <stdint.h>' >"$work/src/kernels/device.h"
    reports 0 "quick.cuda.one: marked stale, and its kernel is the present one" --check
    reports 0 "4 certificates, 0 of them stale, 2 kept"
    cmp "$copy/index.md" "$kept/index.md"
    echo "edited, missing, unlisted, misnamed, misdescribed and stale certificates are reported, kept or not, and no others"
}

if [ "${1-}" = --self-test ]; then
    self_test
    exit 0
fi

tokitai=${TOKITAI:?the program to test}
export TOKITAI_CACHE=$work/cache
failed=0 intact=0 same=0 untold=0
"$index" --root "$root" --check "${release[@]}" | tee "$work/index" || failed=1

# What the index has as present: a line for each artifact of the share, with what the present sources give (-: there is no such compiler).
python3 - "$root" "$tokitai" "$shares" "$((share_number % shares))" >"$work/artifacts" <<'PYTHON'
import os, sys
root, tokitai, shares, share = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sys.path.insert(0, os.path.join(root, "docs", "certificates"))
import index
tree = index.Tree(root)
asked = [a for i, a in enumerate(sorted(a for a in tree.artifacts.values() if a.kernel == "present")) if i % shares == share]
for artifact, now in zip(asked, index.artifacts_now(tokitai, asked)):
    if now and now[1] != tree.all_sources_now(artifact.source):
        sys.exit(f"{artifact.source}: the program has other sources, or index.py computes another hash")
    print(artifact.artifact, artifact.source, now[0][:index.SHORT] if now else "-")
PYTHON
while read -r artifact source now; do
    if [ "$now" = - ]; then
        untold=$((untold + 1))
    elif [ "$now" = "$artifact" ]; then
        same=$((same + 1))
    else
        echo "$source: the index has artifact $artifact as that of the present sources, which give $now"
        failed=1
    fi
done <"$work/artifacts"

# One a line: certificate, artifact, do its kernels' registers stand in it.
python3 - "$root"/docs/certificates/*.json >"$work/table" <<'PYTHON'
import json, os, sys
for path in sys.argv[1:]:
    built = json.load(open(path))["predicate"]["built"]
    print(os.path.basename(path), built["artifact_sha256"], "told" if built.get("kernels") else "untold")
PYTHON
while read -r name artifact told; do
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
        tr -s ' \n' ' ' <"$work/replay" | grep -q 'is not a trial of this version'; then
        status=3
    fi
    if [ $status -ne 3 ]; then
        echo "$name cannot be replayed, exit status $status:"
        cat "$work/replay"
        failed=1
    fi
    if ! grep -q "^[^ ]* $artifact told$" "$work/table"; then
        echo "$name: no certificate of its artifact tells what the kernels use: registers, shared memory, spills"
        failed=1
    fi
done <"$work/table"
[ $intact -gt 0 ] || { echo "there are no certificates"; failed=1; }

pages=("$root"/docs/certificates/*.cuda.*.md)
[ ${#pages[@]} -eq 2 ] || { echo "${#pages[@]} pages are kept, not two specimens"; failed=1; }
for page in "${pages[@]}"; do
    "$tokitai" check --markdown "${page%.md}.json" | cmp - "$page" || failed=1
done
echo "$intact kept certificates are intact; the present sources give $same artifacts of the index, $untold cannot be told without their compiler"
exit $failed
