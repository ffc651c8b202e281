#!/usr/bin/env bash
# Every line of our own CPU kernels runs in calls that are judged: all lowerings that this machine takes at level quick, and the shapes below,
# which are large enough for paths that quick is too small for. Lines are counted by gcov, in a second libtokitai (cmake/tests.cmake) that
# the program loads instead of the first; a line counts as run if it ran for one instruction set. A line that cannot run here says why
# in a comment, "/* does not run here: ... */"; of those there may be 1 in 100. Skipped (77) where there is no such library, or no gcov.
# With --self-test: lines that did not run are found, and those with a reason are let pass, up to that share.
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Reads what gcov printed for all objects, in $2, about sources below $1; prints what is wrong, and a summary. Fails if there is anything wrong.
judge() {
    awk -F: -v root="$1" '
        $2 + 0 == 0 && $3 == "Source" { file = $4; sub(/^(\.\/)?src\//, "", file); next }
        file !~ /^(ops\/[a-z_]+\/kernel_cpu[a-z_]*\.[ch]|kernels\/cpu_vector[a-z0-9_]*\.h)$/ { next }
        {
            count = $1
            gsub(/ /, "", count)
            if ($2 + 0 == 0 || count == "-" || count !~ /^[0-9#=]/)
                next
            line = file ":" $2 + 0
            seen[line] = 1
            if (count !~ /^[#=]/)
                ran[line] = 1
        }
        END {
            for (line in seen) {
                total++
                if (line in ran)
                    continue
                split(line, place, ":")
                text = ""
                for (i = 0; i < place[2] && (getline text < (root "/" place[1])) > 0; i++)
                    ;
                close(root "/" place[1])
                if (text ~ /\/\* does not run here: [^*]+\*\//)
                    excused++
                else {
                    print "never ran: " line ": " text
                    bad++
                }
            }
            printf "%d of %d lines of the kernels ran, %d have a reason not to\n", total - bad - excused, total, excused
            if (total < 1) {
                print "nothing was counted"
                bad++
            }
            if (100 * excused > total) {
                print "more than 1 in 100 have a reason not to run"
                bad++
            }
            exit bad > 0
        }' "$2" | sort -t: -k2,2 -k3,3n
}

if [ "${1:-}" = --self-test ]; then
    mkdir -p "$work/ops/x"
    for i in $(seq 300); do
        if [ "$i" = 7 ]; then echo "line $i /* does not run here: no such processor */"; else echo "line $i"; fi
    done >"$work/ops/x/kernel_cpu.c"
    print() { # lines that did not run
        echo "        -:    0:Source:src/ops/x/kernel_cpu.c"
        for i in $(seq 300); do
            if [[ " $* " = *" $i "* ]]; then echo "    #####:  $i:x"; else echo "        5:  $i:x"; fi
        done
        echo "        -:    0:Source:src/ops/x/oracle.c"
        echo "    #####:    1:x"
    }
    expect() { # exit status, lines that did not run
        local expected=$1 status=0
        shift
        print "$@" >"$work/text"
        judge "$work" "$work/text" >"$work/said" || status=$?
        if [ "$status" -ne "$expected" ]; then
            echo "lines $*: status $status, not $expected"
            cat "$work/said"
            exit 1
        fi
    }
    expect 0
    expect 0 7
    expect 1 8
    expect 1 7 8
    # What ran for another instruction set has run.
    { print 8; print 9; } >"$work/text"
    judge "$work" "$work/text" >"$work/said" || { echo "lines that ran elsewhere count as not run"; exit 1; }
    sed -i 's|^line \([1-4]\)$|line \1 /* does not run here: x */|' "$work/ops/x/kernel_cpu.c"
    expect 1 1 2 3 4
    : >"$work/text"
    ! judge "$work" "$work/text" >"$work/said" || { echo "nothing at all passes"; exit 1; }
    echo "lines that did not run are found"
    exit 0
fi

tokitai=${TOKITAI:?the program to test}
library=${BUILD_DIR:?the folder of the build}/tests/counting/libtokitai.so
if ! cmake --build "$BUILD_DIR" --target help | grep '^counting\.libtokitai:' >/dev/null; then
    echo "skipped: this build has no library whose kernels count their lines"
    exit 77
fi
cmake --build "$BUILD_DIR" --target counting.libtokitai >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if ! command -v gcov >/dev/null; then
    echo "skipped: no gcov"
    exit 77
fi

run() { # arguments of certify; EXPECTED: another exit status than 0
    local status=0
    LD_PRELOAD=$library GCOV_PREFIX=$work/counters "$tokitai" certify "$@" --skip-mutants --quiet --out "$work/out" >"$work/log" 2>&1 || status=$?
    if [ "$status" -ne "${EXPECTED:-0}" ]; then
        echo "certify $*"
        cat "$work/log"
        exit 1
    fi
}

run --level quick
# Outputs that are written past the caches; rows too long to be kept; more rows than one panel holds; one of NaN among long rows; no output of
# a long sum.
run gelu_fwd --shape 1600003 --family normal
run softmax_fwd softmax_bwd --dtype bf16 --shape 1601x1003 --family normal
run softmax_fwd --dtype f16 --shape 7x262149 --family special
run softmax_fwd --dtype f16 --shape 7x262149 --family normal
run xent --dtype f16 --shape 1601x1003 --family normal
run xent --dtype f16 --shape 7x262149 --family normal
run embedding_fwd --dtype f16 --shape 12001x301x10 --family normal
run embedding_bwd --dtype f16 --shape 100x301x12001 --family normal
run gemm --dtype f16 --shape 4099x67x65 --family normal
EXPECTED=3 run gemm --dtype f16 --shape 0x300x300 --family normal # nothing to be judged

while read -r counters; do
    object=${counters#"$work/counters"}
    cp "${object%.gcda}.gcno" "${counters%.gcda}.gcno"
    (cd "$root" && gcov -t "$counters" 2>/dev/null)
done < <(find "$work/counters" -name '*.gcda' | sort) >"$work/text"
judge "$root/src" "$work/text"
