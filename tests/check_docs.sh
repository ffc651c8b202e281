#!/usr/bin/env bash
# The pages of the project: lines of prose have at most 120 columns (tables and code may have more), and every link to a file or to a
# heading leads somewhere.
# With --self-test: plants a line that is too long and links that lead nowhere in a copy and expects each to be found.
set -euo pipefail
shopt -s nullglob
script=$(readlink -f "$0")
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$script")/..}")

prose() { # page: its lines with their numbers, without code
    awk '/^ *```/ {inside = !inside; next} !inside && !/^    / {print FNR ":" $0}' "$1"
}

anchors() { # page: what a link may name behind #
    prose "$1" | sed -nE 's/^[0-9]+:#+ +//p' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9_ -]//g; s/ /-/g'
}

check() { # root
    cd "$1"
    local pages=(README.md CONTRIBUTING*.md docs/*.md docs/bench/*.md docs/certificates/README*.md examples/*.md examples/*/*.md tests/*/*.md)
    local page long number link file bad=0
    for page in "${pages[@]}"; do
        long=$(prose "$page" | awk -F: -v page="$page" \
            '{text = substr($0, length($1) + 2)} text !~ /^\|/ && length(text) > 120 {print page ":" $1 ": " length(text) " columns"}')
        [ -z "$long" ] || { echo "$long"; bad=1; }
        while IFS=: read -r number link; do
            file=${link%%#*}
            if [ -n "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
            if [ ! -e "$file" ]; then
                echo "$page:$number: no file: $link"
                bad=1
            elif [[ $link == *#* ]] && ! grep -qxF -- "${link#*#}" < <(anchors "$file"); then
                echo "$page:$number: no heading: $link"
                bad=1
            fi
        done < <(prose "$page" | sed -E 's/`[^`]*`//g' | awk -F: '{
            text = substr($0, length($1) + 2)
            while (match(text, /\]\([^)]+\)/)) {
                link = substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, RSTART + RLENGTH)
                if (link !~ /^[a-z]+:\/\//) print $1 ":" link
            }}')
    done
    [ "$bad" = 0 ] || return 1
    echo "${#pages[@]} pages: no line of prose over 120 columns, no link that leads nowhere"
}

self_test() {
    local copy page text expected
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    mkdir -p "$copy/docs"
    planted() { # expected ('' for none), page's text
        printf '%b\n' "$2" >"$copy/README.md"
        printf '# Page\n\n## A `b` heading, c_d\n' >"$copy/docs/page.md"
        local said status=0
        said=$(check "$copy") || status=$?
        if [ -n "$1" ]; then
            [ "$status" = 1 ] && grep -qF -- "$1" <<<"$said" && return
        else
            [ "$status" = 0 ] && return
        fi
        echo "'$2': expected '${1:-nothing}', got $status: $said"
        return 1
    }
    text=$(printf 'word %.0s' {1..24}) # 120 columns
    planted '' "${text}" || return 1
    planted 'README.md:1: 121 columns' "${text}s" || return 1
    planted '' "| ${text}${text} |" || return 1
    planted '' "\`\`\`\n${text}${text}\n\`\`\`" || return 1
    planted '' '[a](docs/page.md) [b](docs/page.md#a-b-heading-c_d) [c](https://example.org/x)' || return 1
    planted 'README.md:2: no file: docs/other.md' '\n[a](docs/page.md) [b](docs/other.md)' || return 1
    planted 'README.md:1: no heading: docs/page.md#other' '[a](docs/page.md#other)' || return 1
    planted 'README.md:1: no heading: #other' '[a](#other)' || return 1
    planted '' '# Other\n[a](#other) `[b](c)`' || return 1
    echo "lines that are too long and links that lead nowhere are found"
}

case ${1-} in
    --self-test) self_test ;;
    *) check "$root" ;;
esac
