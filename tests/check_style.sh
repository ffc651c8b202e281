#!/usr/bin/env bash
# All C files are laid out as .clang-format says. Skipped (77) where there is no clang-format of version 14 or later.
set -euo pipefail
cd "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}"

formatter=
for candidate in clang-format clang-format-{14..22}; do
    command -v "$candidate" >/dev/null || continue
    version=$("$candidate" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 14 ]; then
        formatter=$candidate
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "skipped: no clang-format 14 or later"
    exit 77
fi

mapfile -t files < <(find . -path './.git' -prune -o -path './build*' -prune -o -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) -print | sort)
if [ ${#files[@]} -eq 0 ]; then
    echo "no C files found"
    exit 1
fi
bad=()
if ! "$formatter" --dry-run -Werror "${files[@]}" 2>/dev/null; then
    for file in "${files[@]}"; do
        "$formatter" --dry-run -Werror "$file" 2>/dev/null || bad+=("$file")
    done
fi
if [ ${#bad[@]} -gt 0 ]; then
    echo "out of style; to put it right: $formatter -i ${bad[*]}"
    "$formatter" --dry-run -Werror --ferror-limit=2 "${bad[@]}" 2>&1 | grep -E '(error|warning):' | sort -u || true
    exit 1
fi
echo "${#files[@]} files are in style ($formatter $version)"
