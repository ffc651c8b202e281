#!/usr/bin/env bash
# What the proofs have of the C code is what the C code has, as proofs/constants.c prints it: proofs/constants.v (numbers), and by the SHA-256 of
# each list in proofs/bound_points.sha256 what the functions of the bounds return at some hundred points, which proofs/check.sh has Coq compare
# with the formulas. --write puts both files right, after which the proofs must still hold.
# With --self-test: changes a number and a formula in a copy and expects each to be named here, and, where there is a coqc, refused by the
# proofs after --write.
# A function of: proofs src/core src/exact src/model src/ops include; coqc gcc
set -euo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
build=${BUILD_DIR:-$root/build}

# The definitions in which two files differ.
differing() { # file, file
    in_definitions() { awk '$1 == "Definition" {name = $2} {print name "\t" $0}' "$1"; }
    { diff <(in_definitions "$1") <(in_definitions "$2") || true; } | sed -nE 's/^[<>] ([^\t]*)\t.*/\1/p' | sort -u
}

hashes() { # points: a line for each definition, its SHA-256 and its name
    awk '$1 == "Definition" {if (command) close(command); command = "sha256sum | sed s/-$/" $2 "/"} command {print | command}' "$1"
}

check() { # sources, program
    local file=$1/proofs/constants.v names bad=0
    names=$(differing "$file" <("$2" constants))
    if [ -n "$names" ]; then
        echo "proofs/constants.v and the C code differ in:" $names
        bad=1
    elif ! cmp -s "$file" <("$2" constants); then
        echo "proofs/constants.v is not what proofs/constants.c prints"
        bad=1
    fi
    names=$({ diff "$1/proofs/bound_points.sha256" <(hashes <("$2" points)) || true; } | sed -nE 's/^[<>] [0-9a-f]+ +//p' | sort -u)
    [ -z "$names" ] || { echo "proofs/bound_points.sha256 and the C code differ in:" $names; bad=1; }
    # A number that no proof has would be free to change.
    names=$(comm -23 <(sed -nE 's/^Definition (\w+) .*/\1/p' "$1/proofs/constants.v" | sort) \
        <(find "$1/proofs" -name '*.v' ! -name constants.v -exec grep -ohE '\w+' {} + | sort -u))
    [ -z "$names" ] || { echo "numbers of proofs/constants.v that no proof has:" $names; bad=1; }
    [ "$bad" = 0 ] || { echo "If the change is meant: tests/proofs_constants.sh --write, then proofs/check.sh"; return 1; }
    echo "$(grep -c '^Definition' "$1/proofs/constants.v") numbers and $("$2" points | grep -c '::$') points are those of the C code"
}

write() { # sources, program
    "$2" constants >"$1/proofs/constants.v"
    hashes <("$2" points) >"$1/proofs/bound_points.sha256"
}

compile() { # sources, program to be made
    "${CC:-cc}" -std=gnu17 -D_GNU_SOURCE -O1 -ffp-contract=off -ffunction-sections -fdata-sections -Wl,--gc-sections -I"$1/src" -I"$1/include" -I"$build/include" \
        "$1/proofs/constants.c" "$1"/src/ops/*/contract.c -lm -o "$2"
}

# The proofs that a change concerns, without those that take long: others are there compiled, from the unchanged sources.
prove() { # sources, compiled, the file that is to refuse it, program: what coqc says of the first one that it refuses
    local file said files="constants $3"
    if [ "$3" = bound_agreement ]; then
        files="bound_points bound_agreement"
        "$4" points >"$1/proofs/bound_points.v"
    fi
    cp "$2"/*.vo "$1/proofs"
    for file in $files; do
        if ! said=$(cd "$1/proofs" && coqc -q -R . Tokitai "$file.v" 2>&1); then
            echo "$file.v: $said"
            return 1
        fi
    done
}

self_test() {
    local copy
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    fresh() {
        rm -rf "$copy/tree"
        mkdir "$copy/tree"
        cp -r "$root"/{include,proofs,src} "$copy/tree"
    }
    fresh
    compile "$copy/tree" "$copy/program"
    check "$copy/tree" "$copy/program" || { echo "unchanged sources do not pass"; return 1; }
    local file prover=
    if command -v coqc >/dev/null; then
        prover=yes
        mkdir "$copy/compiled"
        "$copy/program" points >"$copy/tree/proofs/bound_points.v"
        for file in dyadic constants bounds bound_points bound_agreement formats; do
            (cd "$copy/tree/proofs" && coqc -q -R . Tokitai "$file.v")
        done
        mv "$copy"/tree/proofs/*.vo "$copy/compiled"
    fi

    # file, what stands there, what comes in its place, the definition that must be named, the proof that must refuse it ('' asks none: one
    # for each kind is enough, and takes its time)
    changed() {
        local said
        fresh
        grep -qF -- "$2" "$copy/tree/$1" || { echo "$1 has no '$2'"; return 1; }
        WAS=$2 IS=$3 perl -0pi -e 's/\Q$ENV{WAS}\E/$ENV{IS}/' "$copy/tree/$1"
        compile "$copy/tree" "$copy/program"
        if said=$(check "$copy/tree" "$copy/program") || ! grep -qw -- "$4" <<<"$said"; then
            echo "'$3' in $1 is not noticed by the name $4: $said"
            return 1
        fi
        [ -n "$5" ] && [ -n "$prover" ] || { echo "noticed: $1: $3"; return 0; }
        write "$copy/tree" "$copy/program"
        if said=$(prove "$copy/tree" "$copy/compiled" "$5" "$copy/program") || ! grep -q -- "^$5.v" <<<"$said"; then
            echo "'$3' in $1, written to the proofs, is not refused by $5.v: $said"
            return 1
        fi
        echo "noticed, and refused by $5.v: $1: $3"
    }
    changed src/exact/exp_over_sum_bound.h 'TKI_SOFTMAX_FAR 104.0' 'TKI_SOFTMAX_FAR 103.0' TKI_SOFTMAX_FAR ''
    changed src/exact/exp_over_sum_bound.h 'TKI_SOFTMAX_PER_DISTANCE 2.25' 'TKI_SOFTMAX_PER_DISTANCE 2.5' TKI_SOFTMAX_PER_DISTANCE ''
    changed src/exact/gelu_bound.h 'TKI_GELU_CONSTANT 8.0' 'TKI_GELU_CONSTANT 9.0' TKI_GELU_CONSTANT ''
    changed src/exact/product_bound.h '{8, 0x1p-25}' '{8, 0x1p-26}' TKI_UNIT_SM_90_truncation ''
    changed src/exact/fp32.h 'TKI_U 0x1p-24' 'TKI_U 0x1p-25' TKI_U formats
    changed src/model/format.h '24,  -126, 0x80000000' '25,  -126, 0x80000000' F32_precision formats
    changed src/exact/product_bound.h 'terms - 1 : 0' 'terms - 2 : 0' product_points bound_agreement
    changed src/exact/product_bound.h 'sum.nonzero * unit.truncation + blocks' 'sum.nonzero * unit.truncation - blocks' product_points ''
    changed src/exact/product_bound.h '(1 + passed * TKI_U) * sum.products' 'sum.products' product_points ''
    changed src/exact/product_bound.h 'passed * TKI_PRODUCT_ROUND_UP >= TKI_FP32_OVERFLOW' 'passed >= 2 * TKI_FP32_OVERFLOW' product_points ''
    changed src/ops/embedding/contract.c '(double)(hits - 1)' '(double)hits' embedding_bwd_points bound_agreement
    changed src/exact/exact_sum.h 'magnitude == 0 ||' '' exact_sum_points ''
    changed src/exact/exp_over_sum_bound.h 'w / (1 - w)' 'w' softmax_points ''
    changed src/exact/exp_over_sum_bound.h 'terms - 1 : 0' 'terms : 0' softmax_depth_points bound_agreement
    changed src/exact/exp_over_sum_bound.h '(double)(t->near - 1)' '(double)t->near' softmax_depth_points ''
    changed src/exact/exp_over_sum_bound.h 'plateau < depth ? plateau : depth' 'plateau < depth ? depth : plateau' softmax_depth_points ''
    changed src/exact/product_bound.h '(sum.products + sum.extras) * TKI_U' 'sum.products * TKI_U' near_overflow_points bound_agreement
    changed src/ops/softmax/contract.c '(1 + (double)cols * U)' '(1 + (double)(cols - 1) * U)' softmax_overflow_points ''
    changed src/ops/softmax/contract.c '(fabs(difference) + 1.0001 * (sum_bound' '(fabs(difference) + (sum_bound' softmax_overflow_points ''
    changed src/ops/xent/contract.c '(row->depth_d + 4) * U) * row->sum_d' 'row->depth_d * U) * row->sum_d' xent_overflow_points bound_agreement
    changed src/exact/gelu_bound.h 'TKI_GELU_STEEPEST 1.13' 'TKI_GELU_STEEPEST 1.12' TKI_GELU_STEEPEST gelu_slope
    changed src/exact/domain.h 'TKI_DOMAIN_LOWEST_EXPONENT = -40' 'TKI_DOMAIN_LOWEST_EXPONENT = -41' TKI_DOMAIN_LOWEST_EXPONENT ''
    changed src/ops/softmax/contract.c 'y * (2.0001 * U' 'y * (1.9 * U' softmax_bwd_points ''
    changed src/ops/xent/contract.c '3 * U * (q + difference)' '2 * U * (q + difference)' xent_points bound_agreement
    changed src/ops/xent/contract.c '9 * row->rescalings + 20;' '9 * row->rescalings + 10;' xent_points ''
    changed src/exact/gelu_bound.h 'sigma * one_minus_sigma * h' 'sigma * h' gelu_points ''
    [ -n "$prover" ] || echo "skipped: no coqc, so that no proof was asked to refuse a change"
}

case ${1:-} in
    '') check "$root" "$build/tests/proof_constants" ;;
    --write) write "$root" "$build/tests/proof_constants" ;;
    --self-test) self_test ;;
    *) echo "usage: $0 [--write|--self-test]" >&2; exit 2 ;;
esac
