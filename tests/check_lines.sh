#!/usr/bin/env bash
# The files that git tracks have no more lines than tests/lines_budget.txt allows: each folder, those of src/ one by one, all together, and the
# product code, which is what goes into libraries and programs. --write writes the present numbers, rounded up to the next 50, for a reviewer
# to see; it leaves the product code's as it is. Skipped (77) where there is no git.
# With --self-test: plants files in a copy and expects each to be found.
set -euo pipefail
export LC_ALL=C
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")

counted() { # root: a line for each folder, `.` for the files beside them; `total`; `product`
    local product='src|include|python/tokitai'
    (cd "$1" && git -c safe.directory="$1" ls-files -z | xargs -0 -r wc -l 2>/dev/null || true) | awk -v product="^($product)/" '
        { lines = $1; path = $0; sub(/^ *[0-9]+ /, "", path) }
        path == "total" { next }
        {
            parts = split(path, part, "/")
            folder = parts == 1 ? "." : part[1] == "src" && parts > 2 ? "src/" part[2] : part[1]
            of[folder] += lines
            total += lines
            if (path ~ product && path !~ /\.md$/ && path !~ /\/test[^\/]*\.c$/)
                shipped += lines
        }
        END { if (NR) { for (folder in of) print folder, of[folder] | "sort"; close("sort"); print "total", total; print "product", shipped + 0 } }'
}

check() { # root
    local now
    now=$(counted "$1")
    [ -n "$now" ] || { echo "skipped: git tracks nothing here"; return 77; }
    awk '
        /^#/ || NF == 0 { next }
        FNR == NR { budget[$1] = $2; next }
        { there[$1] = 1 }
        !($1 in budget) { print $1 ": " $2 " lines, and no budget"; bad = 1; next }
        $2 > budget[$1] { print $1 ": " $2 " lines, " $2 - budget[$1] " over the budget of " budget[$1]; bad = 1 }
        END {
            for (folder in budget)
                if (!(folder in there)) { print folder ": in the budget, and not in the tree"; bad = 1 }
            exit bad
        }' "$1/tests/lines_budget.txt" - <<<"$now" || {
        echo "Take lines out; or, where they are worth it, tests/check_lines.sh --write, and the product code's number by hand"
        return 1
    }
    awk '{ said[$1] = $2 } END { print said["total"] " lines, " said["product"] " of them product code: within the budget" }' <<<"$now"
}

write() { # root
    local file=$1/tests/lines_budget.txt kept now
    kept=$(sed -n 's/^product //p' "$file" 2>/dev/null || true)
    now=$(counted "$1")
    {
        echo "# The most lines that git may track: in each folder, in all, and of product code. tests/check_lines.sh compares, --write makes it anew."
        awk -v kept="$kept" '$1 == "product" { print $1, (kept == "" ? $2 : kept); next } { print $1, int(($2 + 49) / 50) * 50 }' <<<"$now"
    } >"$file"
}

self_test() {
    local copy said
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    tree() { # FOLDER...: ten lines in each, a test and a page beside those of an op
        rm -rf "$copy/tree"
        mkdir -p "$copy/tree/tests"
        git -c init.defaultBranch=main init -q "$copy/tree"
        local folder
        for folder; do
            mkdir -p "$copy/tree/$folder"
            seq 10 >"$copy/tree/$folder/a.c"
            [[ $folder != *ops/* ]] || { seq 10 >"$copy/tree/$folder/test.c"; seq 10 >"$copy/tree/$folder/page.md"; }
        done
        echo x >"$copy/tree/top"
        git -C "$copy/tree" add -A
        write "$copy/tree"
        git -C "$copy/tree" add -A
        write "$copy/tree"
    }
    found() { # MESSAGE, '' for none: what check says of the tree
        local status=0
        git -C "$copy/tree" add -A
        said=$(check "$copy/tree") || status=$?
        [ "$status" = "$([ -z "$1" ] && echo 0 || echo 1)" ] && grep -qxF -- "${1:-$(tail -n 1 <<<"$said")}" <<<"$said" && return
        echo "expected '${1:-nothing}', got $status: $said"
        return 1
    }
    tree src/core src/ops/one docs || return 1
    found '' || return 1
    [ "$(grep '^product' "$copy/tree/tests/lines_budget.txt")" = "product 20" ] || { echo "tests and pages count as product code"; return 1; }
    seq 41 >"$copy/tree/docs/b.json"
    found 'docs: 51 lines, 1 over the budget of 50' || return 1
    seq 40 >"$copy/tree/docs/b.json"
    found '' || return 1
    echo x >"$copy/tree/src/core/b.h"
    found 'product: 21 lines, 1 over the budget of 20' || return 1
    write "$copy/tree"
    found 'product: 21 lines, 1 over the budget of 20' || return 1
    rm "$copy/tree/src/core/b.h"
    mkdir "$copy/tree/data"
    echo x >"$copy/tree/data/b"
    found 'data: 1 lines, and no budget' || return 1
    rm "$copy/tree/data/b"
    seq 45 >>"$copy/tree/top"
    sed -i 's/^total .*/total 100/' "$copy/tree/tests/lines_budget.txt"
    found 'total: 144 lines, 44 over the budget of 100' || return 1
    rm -r "$copy/tree/src/core"
    found 'src/core: in the budget, and not in the tree' || return 1

    tree src/core src/ops/one include || return 1
    found '' || return 1
    grep -qx 'src/core 50' "$copy/tree/tests/lines_budget.txt" || { echo "folders of src/ are not counted one by one"; return 1; }
    seq 41 >"$copy/tree/src/core/test_b.c"
    found 'src/core: 51 lines, 1 over the budget of 50' || return 1
    rm "$copy/tree/src/core/test_b.c"
    echo x >"$copy/tree/include/b.h"
    found 'product: 31 lines, 1 over the budget of 30' || return 1
    echo "folders, product code and a total beyond the budget are found"
}

command -v git >/dev/null || { echo "skipped: git is not installed"; exit 77; }
case ${1-} in
    --self-test) self_test ;;
    --write) write "$root" ;;
    '') check "$root" ;;
    *) echo "usage: $0 [--write|--self-test]" >&2; exit 2 ;;
esac
