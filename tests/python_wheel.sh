#!/usr/bin/env bash
# Builds the wheel with pip and uses it as on a machine with Python alone, under every Python from 3.10 on that is found: libraries, the worker
# and the program come from inside it, and nothing else is loaded but the C library. Skipped (77) where PyPI does not answer, and with sanitizers.
# Builds everything once more, so that it is among the tests that only `ctest -L whole` runs.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:-$root/build}
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
[ -z "$(setting TOKITAI_SANITIZE)" ] || { echo "skipped: a wheel of a build with sanitizers"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
most_bytes=$((20 << 20))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH TOKITAI_LIBRARIES
base=
for candidate in ${PYTHON:-} /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then base=$candidate; break; fi
done
[ -n "$base" ] || { echo "skipped: no Python 3.10 or newer with venv"; exit 77; }
"$base" -m venv "$work/tools"
"$work/tools/bin/pip" install -q auditwheel scikit-build-core wheel >"$work/log" 2>&1 ||
    { echo "skipped: the wheel, since PyPI does not answer"; exit 77; }

echo "-- pip wheel ."
"$work/tools/bin/pip" wheel -q --no-deps -w "$work/dist" --config-settings="build-dir=$build/wheel" "$root" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "the wheel was not built"; }
wheels=("$work"/dist/*.whl)
[ ${#wheels[@]} = 1 ] || fail "made ${wheels[*]}"
wheel=${wheels[0]}
[[ $wheel == *-py3-none-linux_*.whl ]] || fail "$wheel is not for every Python"
size=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $size bytes"
[ "$size" -lt $most_bytes ] || fail "larger than $most_bytes bytes"

echo "-- auditwheel"
"$work/tools/bin/auditwheel" show "$wheel" >"$work/shown" 2>&1 || { cat "$work/shown"; fail "auditwheel show"; }
platform=$(tr '\n' ' ' <"$work/shown" | sed -n 's/.*following platform tag: *"\([a-z0-9_]*\)".*/\1/p')
[[ $platform == manylinux_* ]] || { cat "$work/shown"; fail "it is of no manylinux platform"; }
# As docs/python.md says: it is given the name of that platform.
tagged=$(cd "$work/dist" && "$work/tools/bin/wheel" tags --remove --platform-tag "$platform" "$wheel") || fail "wheel tags"
wheel=$work/dist/$tagged
[ -e "$wheel" ] || fail "there is no $wheel"
echo "$tagged"

# Each bundled library, and what is linked in, has its licence.
"$base" - "$wheel" <<'PYTHON' || fail "licences"
import re, sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
libraries = {n.split("/")[-1] for n in names if re.search(r"\.so(\.|$)", n)}
ours = {n for n in libraries if n.startswith("libtokitai")}
assert {n.split(".so.")[0] for n in ours} == {"libtokitai", "libtokitai-verify", "libtokitai-serve"}, libraries
assert ours < libraries, libraries
texts = [n.split("/")[-1] for n in names if "/licences/" in n]
for library in libraries - ours:
    stem = library.replace("libcrypto", "libssl").replace(".so.", "")
    assert f"{stem}.txt" in texts, (library, texts)
assert any(text.startswith("libopenblas") for text in texts), texts
assert any(n.endswith("/LICENSE") for n in names)
print("bundled:", *sorted(libraries - ours))
PYTHON

cat >"$work/use.py" <<'PYTHON'
import os, re, sys
import numpy as np, numpy.random

def loaded():
    return {line.split()[-1] for line in open("/proc/self/maps") if re.search(r"\.so(\.|$)", line)}

before = loaded()
import tokitai

def softmax(x):
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        e = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
        return (e / e.sum(axis=1, keepdims=True)).astype(x.dtype)

if __name__ == "__main__":
    inside = os.path.dirname(tokitai.__file__)
    assert "site-packages" in inside, inside
    for isolated in (False, True):
        certificate = tokitai.certify(softmax, "softmax_fwd", dtype="f16", seed=1, isolated=isolated)
        assert certificate.held, certificate
    x = np.random.default_rng(1).standard_normal((50, 60)).astype(np.float16)
    y = softmax(x)
    assert tokitai.judge("softmax_fwd", [x], [y]).held
    y[1, 2] *= 2
    assert tokitai.judge("softmax_fwd", [x], [y]).verdict == "REFUTED"
    outsiders = [f for f in loaded() - before if not f.startswith(inside)]
    of_c_library = r"/(libc|libm|libdl|librt|libpthread|ld-linux-[a-z0-9-]+)[.-]"
    others = [f for f in outsiders if not re.search(of_c_library, f) and "/lib-dynload/" not in f]
    # What modules of Python's own load. A libcrypto that they have loaded is shared.
    others = [f for f in others if not re.search(r"/lib(ffi|crypto|ssl|bz2|lzma|z|expat|uuid)[.-]", f)]
    assert not others, others
    bundled = {os.path.basename(f) for f in loaded() if f.startswith(inside)}
    assert {"libgmp.so.10", "libmpfr.so.6", "libjansson.so.4"} <= bundled, bundled
    print(sys.version.split()[0], "held; from the wheel:", *sorted(bundled))
PYTHON

# What the wheel brings is hidden from the system's folders, where namespaces allow that: nothing but the wheel's own can then be loaded.
hide=()
hidden=
if unshare -rm true 2>/dev/null; then
    for name in libgmp.so.10 libmpfr.so.6 libjansson.so.4 libopenblas.so.0 libgomp.so.1 libgfortran.so.5; do
        for file in /usr/lib/*/"$name"; do
            [ ! -e "$file" ] || hidden+=" $(readlink -f "$file")"
        done
    done
    hide=(unshare -rm bash -c 'for f in '"$hidden"'; do mount --bind /dev/null "$f" || exit 9; done; exec "$@"' hide)
else
    echo "the system's libraries cannot be hidden here: no namespaces"
fi

tried=0
for python in /usr/bin/python3 python3.1{0,1,2,3,4} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1*/bin/python; do
    command -v "$python" >/dev/null && "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue
    version=$("$python" -c 'import platform; print(platform.python_version())')
    [ ! -e "$work/$version" ] || continue
    "$python" -m venv "$work/$version"
    bin=$work/$version/bin
    "$bin/pip" install -q --no-index "$wheel" >"$work/log" 2>&1 || { cat "$work/log"; fail "$version: not installed"; }
    "$bin/pip" check >"$work/log" || { cat "$work/log"; fail "$version: pip check"; }
    "$bin/pip" install -q numpy >"$work/log" 2>&1 || { cat "$work/log"; fail "$version: NumPy"; }
    (cd "$work" && "${hide[@]}" env -i HOME="$work" PATH=/usr/bin:/bin "$bin/python" use.py) || fail "$version: certify and judge"
    tried=$((tried + 1))
done
[ $tried -gt 0 ] || fail "no Python was tried"

echo "-- the program and its worker"
env -i HOME="$work" PATH=/usr/bin:/bin "$bin/tokitai" certify gelu_fwd --kernel "$root/examples/kernels/gelu_fwd.c" --dtype f16 \
    --out "$work/certificates" --skip-mutants || fail "the program"

# AArch64: built by the cross compiler, used under QEMU by the Python of the sysroot that `quickstart test` unpacks.
arm=$root/build-arm64/sysroot
if command -v qemu-aarch64 aarch64-linux-gnu-gcc >/dev/null && [ -e "$arm/usr/bin/python3" ]; then
    echo "-- AArch64"
    _PYTHON_HOST_PLATFORM=linux-aarch64 "$work/tools/bin/pip" wheel -q --no-deps -w "$work/arm" \
        --config-settings="build-dir=$root/build-arm64/wheel" \
        --config-settings="cmake.define.CMAKE_TOOLCHAIN_FILE=$root/cmake/aarch64.cmake" "$root" >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "the wheel for AArch64 was not built"; }
    wheels=("$work"/arm/*.whl)
    wheel=${wheels[0]}
    [[ $wheel == *-py3-none-linux_aarch64.whl ]] || fail "$wheel is not for AArch64"
    [ "$(stat -c %s "$wheel")" -lt $most_bytes ] || fail "$wheel is larger than $most_bytes bytes"
    "$work/tools/bin/auditwheel" show "$wheel" >"$work/shown" 2>&1 || { cat "$work/shown"; fail "auditwheel show"; }
    grep -q manylinux_ "$work/shown" || { cat "$work/shown"; fail "it is of no manylinux platform"; }
    echo "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
    "$base" -m zipfile -e "$wheel" "$work/arm/site-packages"
    chmod +x "$work"/arm/site-packages/tokitai/lib/tokitai*
    # A new process, as isolated=True starts one, would need QEMU for itself.
    sed 's/for isolated in (False, True)/for isolated in (False,)/; s/seed=1/seed=1, mutants=False/' "$work/use.py" >"$work/arm/use.py"
    (cd "$work/arm" && env -i HOME="$work" PATH=/usr/bin PYTHONPATH="$work/arm/site-packages" OMP_WAIT_POLICY=passive \
        qemu-aarch64 -L "$arm" "$arm/usr/bin/python3" use.py) || fail "AArch64: certify and judge"
else
    echo "skipped: the wheel for AArch64, for want of its compiler, QEMU or build-arm64/sysroot"
fi
echo "passed with $tried versions of Python"
