#!/usr/bin/env bash
# The Python package against this build: pytest on python/tests, but for types, which python_types.sh checks. With a FILE or more: on these
# alone. Skipped (77) without a Python that has pytest and NumPy, and with sanitizers, whose run-time would have to be in Python itself.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:-$root/build}
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
[ -z "$(setting TOKITAI_SANITIZE)" ] || { echo "skipped: Python tests of a build with sanitizers"; exit 77; }

# The first of these that has the packages; the distribution's own has, where the PATH leads to another.
python=
for candidate in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys, numpy, pytest; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "skipped: no Python 3.10 or newer with NumPy and pytest"; exit 77; }

export BUILD_DIR=$build TOKITAI_LIBRARIES=$build PYTHONPATH=$root/python
export PYTHONPYCACHEPREFIX=$build/tests/pycache # nothing is written among the sources
[ $# -gt 0 ] || set -- "$root/python/tests" --ignore "$root/python/tests/test_typing.py"
exec "$python" -m pytest -q -p no:cacheprovider --rootdir "$root/python" "$@"
