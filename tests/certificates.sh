#!/usr/bin/env bash
# The certificates in docs/certificates are intact, the trials of those in quick/ are still made, with the same seeds, and all are of the
# present kernels: where the compiler that they name is here, it gives the very artifact whose SHA-256 they carry. After a change to a kernel they have to
# be made anew on a device, or removed. What the kernels of an artifact use stands in one certificate of it at least. Needs TOKITAI, the
# program, and SOURCE_DIR.
set -euo pipefail
tokitai=${TOKITAI:?the program to test}
root=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TOKITAI_CACHE=$work/cache
failed=0 intact=0 same=0 untold=0

field() { sed -n "s/^$2 //p" "$1" | head -n 1; } # of the header of a cache entry

# --no-cache changes no image, only whether the compiler tells what the kernels use; the images are compared byte for byte.
without_cache() { sed 's/ --no-cache\b//' <<<"$1"; }

# The artifacts whose kernels' registers, shared memory and spills stand in one of these certificates.
told() {
    python3 - "$@" <<'PYTHON'
import json, sys
for path in sys.argv[1:]:
    built = json.load(open(path))["predicate"]["built"]
    if built.get("kernels"):
        print(built["artifact_sha256"])
PYTHON
}

# The certificate's own words, one a line: source, artifact, compiler, architecture, options.
words() {
    python3 - "$1" <<'PYTHON'
import json, sys
predicate = json.load(open(sys.argv[1]))["predicate"]
built = predicate["built"]
for word in (built["source"], built["artifact_sha256"], built["compiler"], predicate["machine"]["architecture"], built["options"]):
    print(word)
PYTHON
}

mapfile -t certificates < <(find "$root/docs/certificates" -name '*.json' | sort)
[ ${#certificates[@]} -gt 0 ] || { echo "there are no certificates"; exit 1; }
told "${certificates[@]}" >"$work/told"
for certificate in "${certificates[@]}"; do
    name=${certificate#"$root"/}
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
    # Those of the other folders were made before the trials became what they are.
    if [ $status -eq 1 ] && [[ $name != */quick/* ]] &&
        tr -s ' \n' ' ' <"$work/replay" | grep -q 'is none that this version makes'; then
        status=3
    fi
    if [ $status -ne 3 ]; then
        echo "$name cannot be replayed, exit status $status:"
        cat "$work/replay"
        failed=1
    fi
    mapfile -t word < <(words "$certificate")
    if ! grep -qx "${word[1]}" "$work/told"; then
        echo "$name: no certificate of its artifact tells what the kernels use: registers, shared memory, spills"
        failed=1
    fi
    "$tokitai" cache build --backend cuda --architecture "${word[3]}" --source "${word[0]}" >"$work/build" 2>&1 || {
        untold=$((untold + 1))
        continue
    }
    found=
    for entry in "$TOKITAI_CACHE"/*; do
        [ -f "$entry" ] || continue
        # The header is text, what comes after it is not.
        head -c 8192 "$entry" | tr -d '\0' >"$work/header"
        [ "$(field "$work/header" source)" = "${word[0]}" ] &&
            [ "$(without_cache "$(field "$work/header" options)")" = "$(without_cache "${word[4]}")" ] || continue
        found=$(field "$work/header" image)
        [ "$(field "$work/header" compiler)" = "${word[2]}" ] || found=other
    done
    if [ -z "$found" ] || [ "$found" = other ]; then
        untold=$((untold + 1))
    elif [ "$found" = "${word[1]}" ]; then
        same=$((same + 1))
    else
        echo "$name is of another ${word[0]} than this one: certify again on a device, or remove it"
        failed=1
    fi
done
echo "$intact certificates are intact; $same are of the artifacts that the present sources give, $untold cannot be told without their compiler"
exit $failed
