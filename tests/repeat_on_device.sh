#!/usr/bin/env bash
# Every row of a GPU gives the same bits over RUNS runs (100), on several streams at once and through graphs; and the rows that copy
# asynchronously, hopper and tensor, do nothing that compute-sanitizer objects to. Skipped without a device. On another machine than that of
# the build:
#     BUILD_DIR=build tests/repeat_on_device.sh [bits|memcheck|racecheck|synccheck|initcheck]...
# which needs, of the build, libtokitai.so.0.2 and tests/repeat_on_device.
set -uo pipefail
root=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}
build=${BUILD_DIR:-$root/build}
if [ ! -e /dev/nvidiactl ] && ! nvidia-smi >/dev/null 2>&1; then
    echo "skipped: no NVIDIA GPU"
    exit 77
fi
PATH=$PATH:/usr/local/cuda/bin
status=0
[ $# -gt 0 ] || set -- bits memcheck racecheck synccheck initcheck
for part; do
    begin=$SECONDS
    if [ "$part" = bits ]; then
        "$build/tests/repeat_on_device" "${RUNS:-100}" all || status=1
    elif ! command -v compute-sanitizer >/dev/null; then
        echo "no compute-sanitizer: $part is left out"
    else
        for variant in hopper tensor; do
            # A sanitized kernel takes thousands of times as long: two runs of small shapes.
            timeout "${LIMIT:-300}" compute-sanitizer --tool "$part" --error-exitcode 9 --print-limit 5 "$build/tests/repeat_on_device" 2 small "$variant"
            got=$?
            echo "$part, $variant: status $got"
            [ $got -eq 0 ] || status=1
        done
    fi
    echo "$part: $((SECONDS - begin)) s"
done
exit $status
