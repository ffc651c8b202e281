#!/usr/bin/env bash
# Who may include whom: trust must be visible. The rules are in allowed() below. And no source outside of ops/ knows an op that is not like the
# others: what is special about it is in its contract.
# With --self-test: plants one forbidden include after the other in a copy and expects each to be found.
set -euo pipefail
shopt -s nullglob
script=$(readlink -f "$0")
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$script")/..}")

folders=(include core model exact ops generate verify plan backend artifact executor serve glue padic bench cli)

# Headers that libtokitai and libtokitai-serve must not reach, not even through another header: they depend on libc and OpenMP alone.
heavy='^<(mpfr|gmp|jansson|cblas|lapacke|openssl/.*)(\.h)?>$'

# The files that become libtokitai and libtokitai-serve (as in CMakeLists.txt).
is_run_source() {
    case $1 in
        core/hash.c | core/json.c) return 1 ;;
        core/*.c | model/*.c | plan/*.c | backend/*.c | artifact/*.c | executor/*.c | serve/*.c) return 0 ;;
        ops/*/contract.c | ops/*/lowering.c | ops/*/launch_*.c | ops/*/kernel*.c) return 0 ;;
        ops/*/*) return 1 ;;
        ops/*.c) return 0 ;;
    esac
    return 1
}

# May file $1 include $2? $2 is a path from the root, or a system header in <>, or one made by the build as build:NAME.
allowed() {
    local from=$1 to=$2 own=${1%/*} other=none
    # Groups of products, and layers, are products: these families launch, include and mutate the kernels of the other.
    [[ $own != ops/grouped && $own != ops/linear ]] || other=ops/gemm
    if [[ $to == \<* ]]; then
        # System headers are free, except that a kernel's shared struct is also read by device compilers.
        [[ $from != ops/*/params*.h || $to == "<stdint.h>" ]]
        return
    fi
    case $from in
        include/tokitai_types.h) return 1 ;;
        include/tokitai.h) case $to in include/tokitai_types.h | build:tokitai_ops.h) return 0 ;; *) return 1 ;; esac ;;
        include/tokitai_kernel.h) [ "$to" = build:tokitai_kernel_ops.h ] && return 0 || return 1 ;;
        include/tokitai_*.h) [ "$to" = include/tokitai.h ] && return 0 || return 1 ;;
        include/*) return 1 ;;
        # Limits of foreign code, and planted kernels, are told in the terms of who asks for certificates.
        core/limits.[ch] | model/mutant.h)
            case $to in include/tokitai_verify.h | core/* | model/*) return 0 ;; *) return 1 ;; esac ;;
        core/dtype.h) return 1 ;;
        core/*) case $to in include/tokitai.h | core/* | build:tokitai_build.h) return 0 ;; *) return 1 ;; esac ;;
        model/*) case $to in include/tokitai.h | core/* | model/*) return 0 ;; *) return 1 ;; esac ;;
        exact/*) case $to in include/tokitai.h | core/* | model/* | exact/*) return 0 ;; *) return 1 ;; esac ;;
        ops/*/contract.[ch] | ops/*/oracle.[ch])
            case $to in
                include/tokitai.h | core/* | model/* | exact/*) return 0 ;;
                "$own"/contract.h | "$own"/oracle.h | "$own"/params*.h | "$own"/trials.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/params*.h) return 1 ;;
        # All of it is in a kernel's hash, so a CPU kernel sees what it computes with and nothing else.
        ops/*/kernel_cpu.[ch])
            case $to in
                include/tokitai_types.h | core/dtype.h | backend/cpu_*.h | "$own"/params*.h | "$own"/kernel_cpu*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        backend/cpu_*.h) case $to in include/tokitai_types.h | core/dtype.h | backend/cpu_*.h) return 0 ;; *) return 1 ;; esac ;;
        ops/*/kernel*)
            case $to in
                include/tokitai.h | core/* | model/* | backend/* | "$own"/params*.h | "$own"/kernel*) return 0 ;;
                "$other"/params*.h | "$other"/kernel*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/lowering.[ch] | ops/*/launch_*.[ch])
            case $to in
                include/tokitai.h | core/* | model/* | backend/* | "$own"/lowering.h | "$own"/contract.h | "$own"/params*.h | \
                    "$own"/launch_*.h | "$own"/kernel*.h | "$other"/params*.h | "$other"/launch_*.h | "$other"/kernel*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/mutants.c | ops/*/variants.c | ops/*/planted.h | ops/variant_tools.h)
            case $to in
                include/tokitai.h | core/* | model/* | exact/* | backend/* | ops/mutant*.h | ops/variant*.h | "$own"/*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/test*.c) case $to in cli/*) return 1 ;; *) return 0 ;; esac ;;
        ops/*/*) case $to in include/tokitai.h | core/* | model/* | "$own"/*) return 0 ;; *) return 1 ;; esac ;;
        ops/*) case $to in include/tokitai.h | core/* | model/* | ops/ops.def) return 0 ;; *) return 1 ;; esac ;;
        generate/*) case $to in include/tokitai.h | generate/* | model/* | ops/ops.def) return 0 ;; *) return 1 ;; esac ;;
        verify/*) case $to in ops/*/kernel* | ops/*/params*.h | bench/* | glue/* | cli/*) return 1 ;; *) return 0 ;; esac ;;
        plan/* | backend/* | executor/* | artifact/*)
            case $to in exact/* | verify/* | bench/* | glue/* | cli/* | ops/*/* | include/tokitai_serve.h) return 1 ;; *) return 0 ;; esac ;;
        serve/*)
            case $to in include/tokitai.h | include/tokitai_serve.h | core/* | model/* | plan/* | executor/* | backend/gpu.h | serve/*) return 0 ;; *) return 1 ;; esac ;;
        glue/*)
            case $to in include/tokitai.h | include/tokitai_verify.h | core/* | verify/certificate.h | verify/envelope.h | verify/key.h | glue/*) return 0 ;; *) return 1 ;; esac ;;
        bench/isa/*) case $to in include/tokitai.h | core/dtype.h | backend/cpu_* | bench/isa/*) return 0 ;; *) return 1 ;; esac ;;
        bench/*)
            case $to in include/tokitai.h | core/* | model/* | plan/* | executor/* | backend/cpu.h | backend/gpu.h | bench/*) return 0 ;; *) return 1 ;; esac ;;
        # Numbers and systems, over the one public call; which moduli there are, the contract says.
        padic/*) case $to in include/tokitai.h | core/npy.h | core/random.h | ops/padic/contract.h | padic/*) return 0 ;; *) return 1 ;; esac ;;
        cli/*) case $to in padic/*.h | include/tokitai*.h | core/escape.h | bench/bench.h | bench/gpu.h | bench/tune.h | serve/server.h | glue/glue.h | glue/arrays.h | cli/*) return 0 ;; *) return 1 ;; esac ;;
    esac
    return 1
}

# Where an include leads, into $target; empty if nowhere.
resolve() { # from form name
    local from=$1 form=$2 name=$3 candidate
    target=
    local candidates=("$name" "include/$name")
    [ "$form" = '<' ] || candidates=("${from%/*}/$name" "${candidates[@]}")
    for candidate in "${candidates[@]}"; do
        [[ $candidate == *..* ]] && candidate=$(realpath -m --relative-to=. "$candidate")
        if [ -f "$candidate" ]; then
            target=$candidate
            return
        fi
    done
    if [ "$form" = '<' ]; then
        target="<$name>"
    elif [[ $name =~ ^tokitai_(build|ops|kernel_ops)\.h$ ]]; then
        target=build:$name
    fi
}

# The first way from file $1 to a heavy header, into $way; empty if there is none.
reach_heavy() { # file way-so-far
    local next
    way=
    for next in ${reaches[$1]-}; do
        if [[ $next =~ $heavy ]]; then
            way="$2 -> $next"
            return
        fi
        if [[ $next != \<* && -z ${visited[$next]-} ]]; then
            visited[$next]=1
            reach_heavy "$next" "$2 -> $next"
            [ -z "$way" ] || return 0
        fi
    done
}

# The op with attributes, an index, two outputs and one of them in place: whoever names it treats it as a special case. Shapes and peers of bench/
# are its own.
special=xent

name_no_op() { # root
    local found
    found=$(cd "$1" && grep -rniI "$special" CMakeLists.txt cmake include core model exact generate verify plan backend artifact executor serve glue cli 2>/dev/null || true)
    [ -z "$found" ] || { echo "names the op $special:"; echo "$found"; return 1; }
}

check() ( # root
    cd "$1"
    status=0
    name_no_op "$1" || status=1
    declare -A reaches
    present=()
    for folder in "${folders[@]}"; do
        [ ! -d "$folder" ] || present+=("$folder")
    done
    mapfile -t files < <(find "${present[@]}" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' \) | sort)
    if [ ${#files[@]} -eq 0 ]; then
        echo "no sources under $1"
        exit 1
    fi
    while IFS= read -r line; do
        from=${line%%:*}
        line=${line#*:}
        number=${line%%:*}
        if [[ ${line#*:} =~ include[[:space:]]*([\"\<])([^\"\>]*)[\"\>] ]]; then
            form=${BASH_REMATCH[1]} name=${BASH_REMATCH[2]}
        else
            echo "$from:$number: an include that cannot be read"
            status=1
            continue
        fi
        resolve "$from" "$form" "$name"
        if [ -z "$target" ]; then
            echo "$from:$number: includes $name, which is nowhere"
            status=1
        elif ! allowed "$from" "$target"; then
            echo "$from:$number: may not include $target"
            status=1
        fi
        reaches[$from]+=" $target"
    done < <(grep -HnE '^[[:space:]]*#[[:space:]]*include' "${files[@]}")

    for file in "${files[@]}"; do
        is_run_source "$file" || continue
        declare -A visited=()
        reach_heavy "$file" "$file"
        if [ -n "$way" ]; then
            echo "$file: belongs to a library that computes and reaches a library of libtokitai-verify: $way"
            status=1
        fi
        unset visited
    done
    [ $status -ne 0 ] || echo "the includes of ${#files[@]} files keep to the rules"
    exit $status
)

self_test() {
    local copy plants=0 file include
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    # What can be included; the sources that do are checked where they are.
    (cd "$root" && find "${folders[@]}" -type f \( -name '*.h' -o -name '*.def' \) -exec cp --parents -t "$copy" {} +)
    mkdir -p "$copy/ops/planted"
    for file in core exact verify plan backend executor serve glue bench cli; do
        echo '/* planted */' >"$copy/$file/planted.h"
    done
    printf '#include <mpfr.h>\n' >"$copy/exact/planted_heavy.h"
    for file in contract.h params.h oracle.h kernel_cpu.h launch_gpu.h; do
        echo '/* planted */' >"$copy/ops/planted/$file"
    done
    mkdir -p "$copy/ops/planted_other" && echo '/* planted */' >"$copy/ops/planted_other/contract.h"

    # file to plant, include, good or bad
    while read -r file include verdict; do
        [ -n "$file" ] || continue
        plants=$((plants + 1))
        local kept=
        [ ! -e "$copy/$file" ] || kept=$(cat "$copy/$file")
        echo "#include $include" >"$copy/$file"
        local output passes=1 found=good
        output=$(check "$copy") || passes=0
        grep -qE "^$file(:1)?: " <<<"$output" && found=bad
        if [ "$found" != "$verdict" ]; then
            echo "$file including $include was found $found, not $verdict"
            return 1
        fi
        if [ "$verdict" = bad ] && [ $passes = 1 ]; then
            echo "$file including $include did not fail the check"
            return 1
        fi
        if [ -n "$kept" ]; then printf '%s\n' "$kept" >"$copy/$file"; else rm "$copy/$file"; fi
    done <<'PLANTS'
core/planted_1.c "core/planted.h" good
core/planted_1.c "ops/ops.def" bad
core/planted_1.c "verify/planted.h" bad
core/planted_1.c "exact/planted.h" bad
core/planted_1.c <mpfr.h> bad
core/planted_1.c "nowhere.h" bad
exact/planted_1.c "core/planted.h" good
exact/planted_1.c <mpfr.h> good
exact/planted_1.c "verify/planted.h" bad
exact/planted_1.c "ops/planted/params.h" bad
ops/planted/contract.c "ops/planted/contract.h" good
ops/planted/contract.c "params.h" good
ops/planted/contract.c "kernel_cpu.h" bad
ops/planted/contract.c "../planted_other/contract.h" bad
ops/planted/contract.c "backend/planted.h" bad
ops/planted/contract.c "exact/planted.h" good
ops/planted/contract.c "exact/planted_heavy.h" bad
ops/planted/oracle.c "exact/planted_heavy.h" good
ops/planted/oracle.c "verify/planted.h" bad
ops/planted/oracle.c "backend/planted.h" bad
ops/planted/kernel_cpu.c "params.h" good
ops/grouped/lowering.c "ops/gemm/kernel_cpu.h" good
ops/grouped/oracle.c "ops/gemm/params.h" bad
ops/planted/kernel_cpu.c "kernel_cpu.h" good
ops/planted/kernel_cpu.c "core/planted.h" bad
ops/planted/kernel_cpu.c "core/dtype.h" good
ops/planted/kernel_cpu.c "tokitai_types.h" good
ops/planted/kernel_cpu.c "tokitai.h" bad
ops/planted/kernel_cpu.c "backend/cpu_vector.h" good
ops/planted/kernel_cpu.c "backend/planted.h" bad
ops/planted/kernel_cpu.c "../planted_other/contract.h" bad
backend/cpu_planted.h "backend/cpu_isa.h" good
backend/cpu_planted.h "tokitai.h" bad
core/dtype.h "core/planted.h" bad
include/tokitai_types.h "tokitai.h" bad
include/tokitai.h "tokitai_types.h" good
include/tokitai.h "tokitai_ops.h" good
include/tokitai_cache.h "tokitai_ops.h" bad
include/tokitai_kernel.h "tokitai_kernel_ops.h" good
include/tokitai_kernel.h "tokitai.h" bad
include/tokitai.h "tokitai_verify.h" bad
ops/planted/kernel_cpu.c "exact/planted.h" bad
ops/planted/kernel_cpu.c "oracle.h" bad
ops/planted/kernel.cu "verify/planted.h" bad
ops/planted/params.h "exact/planted.h" bad
ops/planted/lowering.c "backend/planted.h" good
ops/planted/lowering.c "exact/planted.h" bad
ops/planted/lowering.c "launch_gpu.h" good
ops/planted/launch_gpu.c "backend/planted.h" good
ops/planted/launch_gpu.c "exact/planted.h" bad
ops/planted/lowering.c "verify/planted.h" bad
ops/planted/mutants.c "exact/planted.h" good
ops/planted/mutants.c "verify/planted.h" bad
ops/planted/variants.c "ops/variant_tools.h" good
ops/planted/variants.c "verify/planted.h" bad
ops/planted/test.c "verify/planted.h" good
ops/planted/test.c "cli/planted.h" bad
ops/planted.c "ops/ops.def" good
ops/planted.c "verify/planted.h" bad
generate/planted_1.c "ops/ops.def" good
generate/planted_1.c "ops/planted/contract.h" bad
generate/planted_1.c "executor/planted.h" bad
verify/planted_1.c "exact/planted_heavy.h" good
verify/planted_1.c "tokitai_build.h" good
verify/planted_1.c "ops/planted/kernel_cpu.h" bad
verify/planted_1.c "cli/planted.h" bad
plan/planted_1.c "core/planted.h" good
plan/planted_1.c "verify/planted.h" bad
executor/planted_1.c "cli/planted.h" bad
backend/planted_1.c "exact/planted_heavy.h" bad
serve/planted_1.c "executor/planted.h" good
serve/planted_1.c "verify/planted.h" bad
serve/planted_1.c "exact/planted_heavy.h" bad
serve/planted_1.c "cli/planted.h" bad
cli/planted_1.c "serve/server.h" good
cli/planted_1.c "serve/planted.h" bad
glue/planted_1.c "core/planted.h" good
glue/planted_1.c "verify/envelope.h" good
glue/planted_1.c "verify/planted.h" bad
glue/planted_1.c "exact/planted.h" bad
glue/planted_1.c "cli/planted.h" bad
verify/planted_1.c "glue/planted.h" bad
executor/planted_1.c "glue/planted.h" bad
cli/planted_1.c "glue/planted.h" bad
bench/planted_1.c "bench/planted.h" good
bench/planted_1.c "executor/planted.h" good
bench/planted_1.c "exact/planted.h" bad
bench/planted_1.c "verify/planted.h" bad
bench/planted_1.c "ops/planted/kernel_cpu.h" bad
bench/planted_1.c "cli/planted.h" bad
verify/planted_1.c "bench/planted.h" bad
cli/planted_1.c <tokitai.h> good
cli/planted_1.c "bench/bench.h" good
cli/planted_1.c "bench/planted.h" bad
cli/planted_1.c "planted.h" good
cli/planted_1.c <stdio.h> good
cli/planted_1.c "core/planted.h" bad
cli/planted_1.c "core/escape.h" good
cli/planted_1.c "../verify/planted.h" bad
include/planted_1.h "core/planted.h" bad
include/tokitai_planted.h "tokitai.h" good
include/tokitai_planted.h "tokitai_verify.h" bad
include/tokitai.h "tokitai_verify.h" bad
core/limits.c "tokitai_verify.h" good
core/planted_1.c "tokitai_verify.h" bad
ops/planted/oracle.c "tokitai_verify.h" bad
ops/planted/kernel_cpu.c "tokitai_verify.h" bad
executor/planted_1.c "tokitai_verify.h" good
executor/planted_1.c "tokitai_serve.h" bad
serve/planted_1.c "tokitai_serve.h" good
serve/planted_1.c "tokitai_verify.h" bad
cli/planted_1.c <tokitai_serve.h> good
PLANTS
    echo "/* as $special does */" >"$copy/core/planted_2.h"
    if name_no_op "$copy" >/dev/null; then
        echo "a source that names $special was not found"
        return 1
    fi
    echo "$plants planted includes were judged as they should be"
}

case ${1-} in
    --self-test) self_test ;;
    *) check "$root" ;;
esac
