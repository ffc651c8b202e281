#!/usr/bin/env bash
# mypy --strict on the Python package and on programs that use it: to read the types of NumPy and PyTorch takes most of a minute.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
exec bash "$root/tests/python.sh" "$root/python/tests/test_typing.py"
