#!/usr/bin/env bash
# Follows docs/adding-an-op.md and nothing else: puts the blocks of that page where it says into a copy of the tree, runs its commands, and
# expects the new op to be certified. The copy stays in BUILD_DIR for the next time, when only what has changed is built. Needs SOURCE_DIR
# and BUILD_DIR.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
work=$(readlink -f "${BUILD_DIR:?where to build}")/tests/adding_an_op
guide=$root/docs/adding-an-op.md
for tool in python3 cmake ninja gcc; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
rm -rf "$work/new"
mkdir -p "$work/new" "$work/tree"
tree=$work/tree

cd "$root"
{ git ls-files -co --exclude-standard -z 2>/dev/null || find . -path './build*' -prune -o -type f -print0; } |
    while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
    tar -c --null --files-from=- | tar -x -C "$work/new"

# **`PATH`**: a new file; **`PATH`**, at the end: and **`PATH`**, before `TEXT`: a piece of one. Files that stay the same keep their times.
python3 - "$guide" "$work/new" "$tree" <<'PYTHON'
import os, re, shutil, sys
guide, new, tree = sys.argv[1:]
blocks = re.findall(r"^\*\*`([^`\n]+)`\*\*(, at the end|, before `([^`\n]+)`)?:\n\n```c\n(.*?)^```$", open(guide).read(), re.M | re.S)
marked = len(re.findall(r"^\*\*`", open(guide).read(), re.M))
if not blocks or len(blocks) != marked:
    sys.exit(f"{len(blocks)} blocks of {marked} can be read")
for path, where, anchor, text in blocks:
    path = os.path.join(new, path)
    if not where:
        if os.path.exists(path):
            sys.exit(f"{path}: is there already")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        before, after = "", ""
    elif anchor:
        whole = open(path).read()
        if whole.count("\n" + anchor) != 1:
            sys.exit(f"{path}: '{anchor}' does not begin one line")
        at = whole.index("\n" + anchor) + 1
        before, after = whole[:at], whole[at:]
    else:
        before, after = open(path).read(), ""
    with open(path, "w") as file:
        file.write(before + text + after)

def files(folder):
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not (at == folder and name.startswith("build"))]
        yield from (os.path.relpath(os.path.join(at, name), folder) for name in names)

wanted = set(files(new))
for name in set(files(tree)) - wanted:
    os.remove(os.path.join(tree, name))
for name in wanted:
    source, target = os.path.join(new, name), os.path.join(tree, name)
    if not os.path.exists(target) or open(source, "rb").read() != open(target, "rb").read():
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
print(f"{len(blocks)} blocks of the guide are in place")
PYTHON
rm -rf "$work/new" "$tree/build/relu" "$tree/build/relu_fwd.c"
# A build folder that was moved is of no use any more.
grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$tree" "$tree/build/CMakeCache.txt" || rm -rf "$tree/build"

# Nothing here is about speed, and optimising takes most of the time of a build.
printf '#!/bin/sh\nexec %s "$@" -O1\n' "$(command -v ccache || true)" >"$work/compiler"
chmod +x "$work/compiler"
export CMAKE_C_COMPILER_LAUNCHER=$work/compiler CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
unset TOKITAI SOURCE_DIR BUILD_DIR
mapfile -t commands < <(sed -n '/^## 9\. /,/^## /s/^\$ //p' "$guide")
[ ${#commands[@]} -ge 4 ] || { echo "the guide has no commands under 9."; exit 1; }
cd "$tree"
for command in "${commands[@]}"; do
    echo "\$ $command"
    if ! bash -c "$command" >"$work/log" 2>&1; then
        tail -n 60 "$work/log"
        exit 1
    fi
    tail -n 4 "$work/log"
done

certificates=(build/relu/cpu.relu_fwd.*.json)
kernels=(build/relu/kernel.cpu.relu_fwd.*.json)
[ ${#certificates[@]} -ge 2 ] && [ ${#kernels[@]} -ge 2 ] || { echo "there are no certificates of both dtypes"; exit 1; }
for certificate in "${certificates[@]}" "${kernels[@]}"; do
    grep -q '^  "verdict": "HELD"' "$certificate" || { echo "$certificate is not HELD"; exit 1; }
done
for check in includes clauses; do
    SOURCE_DIR=$tree bash "$root/tests/check_$check.sh"
done
if command -v clang-format >/dev/null; then
    clang-format --dry-run --Werror src/ops/relu/*.[ch]
fi
echo "relu_fwd is HELD: ${#certificates[@]} certificates of lowerings, ${#kernels[@]} of the template"
