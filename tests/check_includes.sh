#!/usr/bin/env bash
# Who may include whom: trust must be visible. The first line of a source says what a mistake in it does, and no file includes what has a word
# further down in `rank`; which folders may include which is in allowed() below. And no source outside of ops/ knows an op that is not like
# the others: what is special about it is in its contract. And what decides in define/ and judge/ has no sentences: errors are data.
# With --self-test: plants one forbidden include, word or sentence after the other in a copy and expects each to be found.
set -euo pipefail
shopt -s nullglob
script=$(readlink -f "$0")
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$script")/..}")

# Below src/, in the order of dependence: a folder includes itself and those before it, and of those what allowed() says.
folders=(core model exact define interpret generate kernels drivers compile isolate worker runtime ops headers kernel_file judge trials certify report tensors glue serve padic bench cli)

# What a mistake does: it accepts a wrong element; makes a verdict weaker; makes the certificate say otherwise; shows something else.
declare -A rank=([DECIDES]=0 [CHOOSES]=1 [RECORDS]=2 [SHOWS]=3)

# UNTRUSTED is what affects only its own result: kernels, and what launches or generates them. Tests have no word.
is_test() { [[ $1 == ops/*/test*.c ]]; }

# What kernels are made of, by path: first lines are part of their hashes.
is_of_kernels() {
    case $1 in core/dtype.h | kernels/* | ops/*/kernel* | ops/*/params*) return 0 ;; esac
    return 1
}

# Headers that libtokitai and libtokitai-serve must not reach, not even through another header: they depend on libc and OpenMP alone.
heavy='^<(mpfr|gmp|jansson|cblas|lapacke|openssl/.*)(\.h)?>$'

# The files that become libtokitai and libtokitai-serve (as in CMakeLists.txt).
is_run_source() {
    case ${1#src/} in
        core/hash.c) return 1 ;;
        core/*.c | model/*.c | define/*.c | generate/*.c | drivers/*.c | compile/*.c | isolate/*.c | runtime/*.c | serve/*.c) return 0 ;;
        ops/*/contract.c | ops/*/lowering.c | ops/*/launch_*.c | ops/*/kernel*.c) return 0 ;;
        ops/*/*) return 1 ;;
        ops/*.c) return 0 ;;
    esac
    return 1
}

# May file $1 include $2? Both are paths from the root, without src/; $2 may also be a system header in <>, or one made by the build as
# build:NAME.
allowed() {
    local from=$1 to=$2 own=${1%/*}
    if [[ $to == \<* ]]; then
        # System headers are free, except that a kernel's shared struct is also read by device compilers.
        [[ $from != ops/*/params*.h || $to == "<stdint.h>" ]]
        return
    fi
    # An op's files, by their names. All that a CPU kernel reads is in its hash, so it sees what it computes with and nothing else.
    case $from in
        ops/*/contract.[ch] | ops/*/oracle.[ch])
            case $to in
                include/tokitai.h | core/* | model/* | exact/*) return 0 ;;
                "$own"/contract.h | "$own"/oracle.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/params*.h) return 1 ;;
        ops/*/kernel_cpu*.[ch])
            case $to in
                include/tokitai_types.h | core/dtype.h | kernels/cpu_*.h | "$own"/params*.h | "$own"/kernel_cpu*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/kernel*)
            case $to in
                include/tokitai.h | core/* | model/* | kernels/* | "$own"/params*.h | "$own"/kernel*) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/lowering.[ch] | ops/*/launch_*.[ch])
            case $to in
                include/tokitai.h | core/* | model/* | kernels/* | drivers/* | compile/* | runtime/* | "$own"/lowering.h | "$own"/contract.h | "$own"/params*.h | \
                    "$own"/launch_*.h | "$own"/kernel*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/mutants.c | ops/*/variants.c | ops/*/planted.h | ops/variant_tools.h | ops/mutant_*.h)
            case $to in
                include/tokitai.h | core/* | model/* | exact/* | kernels/* | ops/mutant*.h | ops/variant*.h | "$own"/*.h) return 0 ;;
                *) return 1 ;;
            esac ;;
        ops/*/test*.c) [[ $to != cli/* ]]; return ;;
        ops/*/*) case $to in include/tokitai.h | core/* | model/* | "$own"/*) return 0 ;; *) return 1 ;; esac ;;
        ops/*) case $to in include/tokitai.h | core/* | model/* | ops/ops.def) return 0 ;; *) return 1 ;; esac ;;
        kernels/cpu_*.h) case $to in include/tokitai_types.h | core/dtype.h | kernels/cpu_*.h) return 0 ;; *) return 1 ;; esac ;;
    esac
    # What a folder may include beside itself. It must not lead to one behind it: what decides a verdict knows nothing of who chooses, records
    # and shows, and what computes nothing of who verifies.
    local may
    case $from in
        include/tokitai_types.h) may='' ;;
        include/tokitai.h) may='include/tokitai_types.h build:tokitai_ops.h' ;;
        include/tokitai_kernel.h) may=build:tokitai_kernel_ops.h ;;
        include/tokitai_*.h) may=include/tokitai.h ;;
        include/*) may='' ;;
        core/dtype.h) may='' ;;
        # Limits of foreign code, and planted kernels, are told in the terms of who asks for certificates.
        core/limits.[ch]) may='include/tokitai_verify.h core/*' ;;
        core/*) may='include/tokitai.h core/* build:tokitai_build.h' ;;
        model/mutant.h | model/trial_hints.h) may='include/tokitai_verify.h core/* model/*' ;;
        model/*) may='include/tokitai.h core/*' ;;
        exact/*) may='include/tokitai.h core/* model/*' ;;
        define/*) may='include/tokitai.h core/* model/* exact/*' ;;
        interpret/*) may='include/tokitai.h core/* model/* exact/* define/*' ;;
        generate/*) may='include/tokitai.h core/* define/*' ;;
        kernels/*) may='core/*' ;;
        drivers/*) may='include/tokitai.h core/* model/*' ;;
        compile/*) may='include/tokitai.h include/tokitai_cache.h core/* model/* drivers/* build:*' ;;
        isolate/*) may='include/tokitai.h include/tokitai_verify.h core/* model/* drivers/* compile/* build:*' ;;
        # The sandboxed program shares with its parent what they say to each other, and the drivers.
        worker/*) may='include/tokitai.h include/tokitai_kernel.h core/* drivers/* isolate/wire.h isolate/worker_start.h isolate/coverage.h build:*' ;;
        runtime/*) may='include/tokitai.h include/tokitai_cache.h include/tokitai_verify.h core/* model/* define/* kernels/device*.h drivers/* compile/* isolate/* build:*' ;;
        headers/*) may='include/tokitai.h model/* ops/ops.def certify/member_table.h' ;;
        kernel_file/*) may='include/tokitai*.h core/* model/* drivers/* compile/* isolate/* runtime/* build:*' ;;
        judge/*) may='include/tokitai*.h core/* model/* exact/* define/* interpret/*' ;;
        trials/*) may='include/tokitai*.h core/* model/* exact/* define/* interpret/* drivers/* compile/* isolate/* runtime/* ops/ops.def kernel_file/* judge/*' ;;
        certify/*) may='include/tokitai*.h core/* model/* exact/* drivers/* compile/* isolate/* runtime/* kernel_file/* judge/* trials/* build:*' ;;
        report/*) may='include/tokitai*.h core/* model/* exact/* trials/* certify/*' ;;
        tensors/*) may='include/tokitai.h core/* model/format.h exact/round.h' ;;
        glue/*) may='include/tokitai.h include/tokitai_verify.h core/* tensors/* certify/certificate.h certify/signed_envelope.h certify/signing_key.h' ;;
        serve/*) may='include/tokitai.h include/tokitai_serve.h core/* model/* isolate/wire* runtime/*' ;;
        # Numbers and systems, over the one public call; which moduli there are, the contract says.
        padic/*) may='include/tokitai.h core/random.h tensors/npy.h ops/padic/contract.h' ;;
        bench/isa/*) may='include/tokitai.h core/dtype.h kernels/cpu_*'; [[ $to != bench/* || $to == bench/isa/* ]] || return 1 ;;
        # What calls a kernel file's function, by its interface.
        bench/plain.c) may='include/tokitai*.h core/* model/*' ;;
        bench/*) may='include/tokitai.h core/* model/* drivers/cpu.h runtime/*' ;;
        cli/*) may='include/tokitai*.h core/escape.h tensors/array_files.h padic/*.h bench/bench.h bench/gpu_timing.h bench/tune.h serve/server.h glue/glue.h' ;;
        *) return 1 ;;
    esac
    local pattern patterns
    read -ra patterns <<<"$may"
    [[ $from == include/* || $from == core/dtype.h || ${to%%/*} != "${from%%/*}" ]] || return 0
    for pattern in "${patterns[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ $to != $pattern ]] || return 0
    done
    return 1
}

# Where an include leads, into $target; empty if nowhere.
resolve() { # from form name
    local from=$1 form=$2 name=$3 candidate
    target=
    local candidates=("src/$name" "include/$name" "$name")
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

# May what says $1 include what says $2? What decides includes nothing else.
word_allows() {
    [[ $1 == DECIDES ]] && { [[ $2 == DECIDES ]]; return; }
    [[ -z ${rank[${1:-none}]-} || -z ${rank[${2:-none}]-} || ${rank[$2]} -le ${rank[$1]} ]]
}

# The op with attributes, an index, two outputs and one of them in place: whoever names it treats it as a special case. Shapes and peers of bench/
# are its own.
special=xent

name_no_op() { # root
    local found
    found=$(cd "$1" && grep -rniI --exclude-dir=ops --exclude-dir=bench "$special" CMakeLists.txt cmake include src 2>/dev/null || true)
    [ -z "$found" ] || { echo "names the op $special:"; echo "$found"; return 1; }
}

# Three words in a string of what decides there. Who compiles reads why an assertion fails.
say_nothing() { # root
    local found
    found=$(cd "$1" && awk '
        FNR == 1 { decides = /^\/\* DECIDES\. / }
        /^_Static_assert/ { asserts = 1 }
        !decides || /^ \*/ || asserts { asserts = asserts && !/;/; next }
        {
            sub(/\/\*.*/, "")
            for (rest = $0; match(rest, /"([^"\\]|\\.)*"/); rest = substr(rest, RSTART + RLENGTH))
                if (substr(rest, RSTART, RLENGTH) ~ /[a-z] +[a-z%]+ +[a-z%]/)
                    print FILENAME ":" FNR ": decides, and says " substr(rest, RSTART, RLENGTH)
        }' src/define/*.[ch] src/judge/*.[ch])
    [ -z "$found" ] || { echo "$found"; return 1; }
}

check() ( # root
    cd "$1"
    status=0
    name_no_op "$1" || status=1
    say_nothing "$1" || status=1
    declare -A reaches words
    local folder
    for folder in src/*/; do
        folder=${folder#src/}
        [[ " ${folders[*]} " == *" ${folder%/} "* ]] || { echo "src/$folder: no rule of this script is about it"; status=1; }
    done
    mapfile -t files < <(find include src -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' \) | sort)
    if [ ${#files[@]} -eq 0 ]; then
        echo "no sources under $1"
        exit 1
    fi
    while IFS=: read -r file word; do
        words[$file]=$word
        if is_of_kernels "${file#src/}"; then
            words[$file]=UNTRUSTED
        elif [[ $word != UNTRUSTED && -z ${rank[${word:-none}]-} ]] && ! is_test "${file#src/}"; then
            echo "$file: its first line does not say what a mistake in it does: ${!rank[*]} UNTRUSTED"
            status=1
            words[$file]=
        fi
    done < <(find src -type f -exec awk '
        FNR == 1 && /^#!/ { next }
        { word = match($0, /^(\/\*|#|""") ?[A-Z]+\. /) ? substr($0, 1, RLENGTH - 2) : ""; gsub(/[^A-Z]/, "", word); print FILENAME ":" word; nextfile }' {} +)
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
        elif ! allowed "${from#src/}" "${target#src/}"; then
            echo "$from:$number: may not include $target"
            status=1
        fi
        reaches[$from]+=" $target"
        if [[ $from == src/* && $target == src/* ]] && ! word_allows "${words[$from]-}" "${words[$target]-}"; then
            echo "$from:$number: is ${words[$from]-} and includes $target, which is ${words[$target]:-without a word}"
            status=1
        fi
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
    local copy plants=0 file include verdict word folder kind
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' RETURN
    # What can be included; the sources that do are checked where they are.
    (cd "$root" && find include src -type f \( -name '*.h' -o -name '*.def' \) -exec cp --parents -t "$copy" {} +)
    mkdir -p "$copy/src/ops/planted"
    plant() { # path word line: a first line with that word, then the line
        mkdir -p "$copy/${1%/*}"
        printf '/* %splanted */\n%s\n' "${2:+$2. }" "$3" >"$copy/$1"
    }
    usual_word() { # path without src/
        case $1 in
            include/* | ops/*/test*) ;;
            core/* | model/* | exact/* | define/* | interpret/* | judge/* | ops/*/contract.[ch] | ops/*/oracle.[ch]) echo DECIDES ;;
            trials/* | kernel_file/* | isolate/* | worker/* | drivers/* | compile/* | runtime/* | headers/* | ops/*/mutants.c | ops/*/variants.c) echo CHOOSES ;;
            ops/*/*) echo UNTRUSTED ;;
            ops/*) echo CHOOSES ;;
            certify/* | tensors/* | glue/*) echo RECORDS ;;
            report/* | serve/* | padic/* | bench/* | cli/*) echo SHOWS ;;
            *) echo UNTRUSTED ;;
        esac
    }
    for file in "${folders[@]/%//planted.h}" ops/planted/{contract,params,oracle,kernel_cpu,launch_gpu}.h ops/planted_other/contract.h; do
        plant "src/$file" "$(usual_word "$file")" ''
    done
    plant src/exact/planted_heavy.h DECIDES '#include <mpfr.h>'
    # By their folders all may include these, so that what is found is their word.
    for word in "${!rank[@]}" UNTRUSTED; do
        plant "src/core/says_$word.h" "$word" ''
    done

    # file to plant, include, good or bad, and its word if it is not that of its folder; - is none
    while read -r file include verdict word; do
        [ -n "$file" ] || continue
        plants=$((plants + 1))
        [ -n "$word" ] || word=$(usual_word "$file")
        [[ $file == include/* ]] || file=src/$file
        local kept=
        [ ! -e "$copy/$file" ] || kept=$(cat "$copy/$file")
        plant "$file" "${word#-}" "#include $include"
        local output passes=1 found=good
        output=$(check "$copy") || passes=0
        grep -qE "^$file(:2)?: " <<<"$output" && found=bad
        if [ "$found" != "$verdict" ]; then
            echo "$file including $include was found $found, not $verdict"
            return 1
        fi
        if [ "$verdict" = bad ] && [ $passes = 1 ]; then
            echo "$file including $include did not fail the check"
            return 1
        fi
        if [ -n "$kept" ]; then printf '%s\n' "$kept" >"$copy/$file"; else rm "$copy/$file"; rmdir --ignore-fail-on-non-empty "$copy/${file%/*}"; fi
    done <<'PLANTS'
core/planted_1.c "core/planted.h" good
core/planted_1.c "ops/ops.def" bad
core/planted_1.c "judge/planted.h" bad
core/planted_1.c "exact/planted.h" bad
core/planted_1.c <mpfr.h> bad
core/planted_1.c "nowhere.h" bad
exact/planted_1.c "core/planted.h" good
exact/planted_1.c <mpfr.h> good
exact/planted_1.c "judge/planted.h" bad
exact/planted_1.c "ops/planted/params.h" bad
ops/planted/contract.c "ops/planted/contract.h" good
ops/planted/contract.c "params.h" bad
ops/planted/contract.c "kernel_cpu.h" bad
ops/planted/contract.c "../planted_other/contract.h" bad
ops/planted/contract.c "drivers/planted.h" bad
ops/planted/contract.c "exact/planted.h" good
ops/planted/contract.c "exact/planted_heavy.h" bad
ops/planted/oracle.c "exact/planted_heavy.h" good
ops/planted/oracle.c "judge/planted.h" bad
ops/planted/oracle.c "drivers/planted.h" bad
ops/planted/kernel_cpu.c "params.h" good
ops/planted/lowering.c "ops/product/kernel_cpu.h" bad
ops/planted/oracle.c "params.h" bad
ops/planted/kernel_cpu.c "kernel_cpu.h" good
ops/planted/kernel_cpu.c "core/planted.h" bad
ops/planted/kernel_cpu.c "core/dtype.h" good
ops/planted/kernel_cpu.c "tokitai_types.h" good
ops/planted/kernel_cpu.c "tokitai.h" bad
ops/planted/kernel_cpu.c "kernels/cpu_vector.h" good
ops/planted/kernel_cpu.c "drivers/planted.h" bad
ops/planted/kernel_cpu.c "../planted_other/contract.h" bad
kernels/cpu_planted.h "kernels/cpu_isa.h" good
kernels/cpu_planted.h "tokitai.h" bad
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
ops/planted/kernel.cu "judge/planted.h" bad
ops/planted/params.h "exact/planted.h" bad
ops/planted/lowering.c "drivers/planted.h" good
ops/planted/lowering.c "exact/planted.h" bad
ops/planted/lowering.c "launch_gpu.h" good
ops/planted/launch_gpu.c "drivers/planted.h" good
ops/planted/launch_gpu.c "exact/planted.h" bad
ops/planted/lowering.c "judge/planted.h" bad
ops/planted/mutants.c "exact/planted.h" good
ops/planted/mutants.c "judge/planted.h" bad
ops/planted/variants.c "ops/variant_tools.h" good
ops/planted/variants.c "judge/planted.h" bad
ops/planted/test.c "judge/planted.h" good
ops/planted/test.c "cli/planted.h" bad
ops/planted.c "ops/ops.def" good
ops/planted.c "judge/planted.h" bad
headers/planted_1.c "ops/ops.def" good
headers/planted_1.c "ops/planted/contract.h" bad
headers/planted_1.c "runtime/planted.h" bad
certify/planted_1.c "tokitai_build.h" good
certify/planted_1.c "ops/planted/kernel_cpu.h" bad
certify/planted_1.c "cli/planted.h" bad
runtime/planted_1.c "core/planted.h" good
runtime/planted_1.c "judge/planted.h" bad
isolate/planted_1.c "cli/planted.h" bad
drivers/planted_1.c "exact/planted_heavy.h" bad
serve/planted_1.c "runtime/planted.h" good
serve/planted_1.c "judge/planted.h" bad
serve/planted_1.c "exact/planted_heavy.h" bad
serve/planted_1.c "cli/planted.h" bad
cli/planted_1.c "serve/server.h" good
cli/planted_1.c "serve/planted.h" bad
glue/planted_1.c "core/planted.h" good
glue/planted_1.c "certify/signed_envelope.h" good
glue/planted_1.c "judge/planted.h" bad
glue/planted_1.c "exact/planted.h" bad
glue/planted_1.c "cli/planted.h" bad
certify/planted_1.c "glue/planted.h" bad
isolate/planted_1.c "glue/planted.h" bad
cli/planted_1.c "glue/planted.h" bad
bench/planted_1.c "bench/planted.h" good
bench/planted_1.c "runtime/planted.h" good
bench/planted_1.c "exact/planted.h" bad
bench/planted_1.c "judge/planted.h" bad
bench/planted_1.c "ops/planted/kernel_cpu.h" bad
bench/planted_1.c "cli/planted.h" bad
certify/planted_1.c "bench/planted.h" bad
cli/planted_1.c <tokitai.h> good
cli/planted_1.c "bench/bench.h" good
cli/planted_1.c "bench/planted.h" bad
cli/planted_1.c "planted.h" good
cli/planted_1.c <stdio.h> good
cli/planted_1.c "core/planted.h" bad
cli/planted_1.c "core/escape.h" good
cli/planted_1.c "../judge/planted.h" bad
include/planted_1.h "core/planted.h" bad
include/tokitai_planted.h "tokitai.h" good
include/tokitai_planted.h "tokitai_verify.h" bad
core/limits.c "tokitai_verify.h" good
core/planted_1.c "tokitai_verify.h" bad
ops/planted/oracle.c "tokitai_verify.h" bad
ops/planted/kernel_cpu.c "tokitai_verify.h" bad
isolate/planted_1.c "tokitai_verify.h" good
isolate/planted_1.c "tokitai_serve.h" bad
serve/planted_1.c "tokitai_serve.h" good
serve/planted_1.c "tokitai_verify.h" bad
cli/planted_1.c <tokitai_serve.h> good
judge/planted_1.c "trials/planted.h" bad
judge/planted_1.c "certify/planted.h" bad
judge/planted_1.c "report/planted.h" bad
judge/planted_1.c "kernel_file/planted.h" bad
judge/planted_1.c "exact/planted_heavy.h" good
judge/planted_1.c "runtime/planted.h" bad
trials/planted_1.c "judge/planted.h" good
trials/planted_1.c "certify/planted.h" bad
certify/planted_1.c "trials/planted.h" good
certify/planted_1.c "report/planted.h" bad
report/planted_1.c "certify/planted.h" good
report/planted_1.c "judge/planted.h" bad
drivers/planted_1.c "compile/planted.h" bad
compile/planted_1.c "drivers/planted.h" good
compile/planted_1.c "runtime/planted.h" bad
isolate/planted_1.c "worker/planted.h" bad
worker/planted_1.c "isolate/wire.h" good
worker/planted_1.c "isolate/planted.h" bad
runtime/planted_1.c "isolate/planted.h" good
kernels/planted_1.h "drivers/planted.h" bad
ops/planted/kernel.cu "kernels/planted.h" good
ops/planted/kernel.cu "drivers/planted.h" bad
tensors/planted_1.c "glue/planted.h" bad
nowhere/planted_1.c "core/planted.h" bad
model/planted_1.c "core/says_DECIDES.h" good
model/planted_1.c "core/says_CHOOSES.h" bad
model/planted_1.c "core/says_RECORDS.h" bad
model/planted_1.c "core/says_SHOWS.h" bad
model/planted_1.c "core/says_UNTRUSTED.h" bad
model/planted_1.c "core/dtype.h" bad
ops/planted/oracle.c "core/says_CHOOSES.h" bad
trials/planted_1.c "core/says_DECIDES.h" good
trials/planted_1.c "core/says_CHOOSES.h" good
trials/planted_1.c "core/says_RECORDS.h" bad
trials/planted_1.c "core/says_SHOWS.h" bad
trials/planted_1.c "drivers/planted.h" good
ops/planted/mutants.c "core/says_RECORDS.h" bad
certify/planted_1.c "core/says_CHOOSES.h" good
certify/planted_1.c "core/says_RECORDS.h" good
certify/planted_1.c "core/says_SHOWS.h" bad
report/planted_1.c "core/says_SHOWS.h" good
report/planted_1.c "core/says_SHOWS.h" bad RECORDS
report/planted_1.c "core/says_RECORDS.h" bad CHOOSES
bench/planted_1.c "core/says_SHOWS.h" good
bench/planted_1.c "core/says_SHOWS.h" bad DECIDES
drivers/planted_1.c "core/says_SHOWS.h" bad
compile/planted_1.c "core/says_RECORDS.h" bad
compile/planted_1.c "core/says_RECORDS.h" good RECORDS
runtime/planted_1.c "core/says_UNTRUSTED.h" good
runtime/planted_1.c "core/says_UNTRUSTED.h" bad DECIDES
generate/planted_1.c "core/says_DECIDES.h" good
serve/planted_1.c "core/says_SHOWS.h" good
serve/planted_1.c "core/says_SHOWS.h" bad RECORDS
exact/planted_1.c "core/planted.h" bad TRUSTED
ops/planted/oracle.c "core/planted.h" bad -
ops/planted/mutants.c "core/planted.h" bad -
ops/planted/lowering.c "core/planted.h" bad -
ops/planted.c "core/planted.h" bad -
ops/planted/test.c "core/planted.h" good -
PLANTS
    plant src/core/planted_2.h DECIDES "/* as $special does */"
    if name_no_op "$copy" >/dev/null; then
        echo "a source that names $special was not found"
        return 1
    fi
    rm "$copy/src/core/planted_2.h"
    local -A lines=([fail]='return tki_fail(ctx, TK_INTERNAL, "%s: no clause is broken", name);' [cut]=$'tki_fail(ctx, status, "%s: the"\n         " oracle of it failed");'
        [data]='return TKI_FAIL_BY(ctx, TKI_FAILED_CLAUSE, .op = "y = x"); /* "no clause of it" */')
    for kind in "${!lines[@]}"; do
        for file in define/planted_2.c judge/planted_2.c judge/planted_2.h; do
            plants=$((plants + 1))
            plant "src/$file" DECIDES "${lines[$kind]}"
            found=bad
            say_nothing "$copy" >/dev/null && found=good
            if [ $found = good ] && [ $kind != data ] || [ $found = bad ] && [ $kind = data ]; then
                echo "${lines[$kind]} in src/$file was found $found"
                return 1
            fi
            rm "$copy/src/$file"
        done
    done
    # A file of any kind in any folder needs a word, but for kernels and tests.
    local -A first=([c]='/* planted */' [def]='/* Planted. */' [py]=$'#!/usr/bin/env python3\n"""Planted. """' [op]='# planted' [bash]='DECIDES.')
    for folder in "${folders[@]}" ops/planted ops/definitions bench/peers; do
        mkdir -p "$copy/src/$folder"
        for kind in "${!first[@]}"; do
            echo "${first[$kind]}" >"$copy/src/$folder/wordless.$kind"
        done
    done
    check "$copy" >"$copy/said" && { echo "files without a word were not found"; return 1; }
    for file in "$copy"/src/*/wordless.* "$copy"/src/*/*/wordless.*; do
        plants=$((plants + 1))
        file=${file#"$copy"/}
        [[ $file == src/kernels/* ]] || grep -q "^$file: its first line" "$copy/said" || { echo "$file was not found"; return 1; }
    done
    echo "$plants planted includes and first lines were judged as they should be"
}

case ${1-} in
    --self-test) self_test ;;
    *) check "$root" ;;
esac
