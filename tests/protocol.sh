#!/usr/bin/env bash
# The kernel programs driven by a client that knows docs/protocol.md only. Sanitizers make it slow, and their memory grows.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 77
fi
options=()
if grep -q '^TOKITAI_SANITIZE:STRING=.' "${BUILD_DIR:-$(dirname "$tokitai")}/CMakeCache.txt" 2>/dev/null; then
    options=(--requests 500 --without-speed --without-memory)
fi
exec python3 "$root/tests/protocol_client.py" "$tokitai" "${options[@]}"
