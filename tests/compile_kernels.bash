# compile_kernels.bash [--whole] BACKEND ARCHITECTURE...: compiles every GPU kernel through the library itself, and fails on a spill, on a
# warning, and on a kernel that was left out. In fp16, and in fp32 where its op takes that; with --whole in all types of its ops. Exits with 77
# where a compiler is missing, naming what was not compiled.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TOKITAI_CACHE=$work/cache LC_ALL=C
cd "$root/src" || exit 1

whole=
[ "$1" != --whole ] || { whole=1; shift; }
backend=$1
shift

# How many there are, by what contracts and lowerings of the family say.
types_of() { # SOURCE
    local family=${1%/*} count=2
    ! grep -q TK_U64 "$family/contract.c" || { echo 1; return; } # integers
    ! grep -q TKI_TYPES_FLOAT "$family/contract.c" || count=3
    ! grep -q TKI_TYPES_SUM "$family/contract.c" || count=5
    # Of matrix units: they take no fp32 elements, but may store fp32 results.
    [[ $1 != *_hopper.cu && $1 != *_tensor.cu ]] || ! grep -q only_16_bits "$family/lowering.c" || count=$((count == 5 ? 4 : 2))
    [ -n "$whole" ] || count=$((count % 2 + 1))
    echo $count
}

build() { # ARCHITECTURE: in all types, or in fp16 and fp32
    local source status=0
    local how=("$tokitai" cache build --backend "$backend" --architecture "$1")
    [ -z "$whole" ] || { "${how[@]}"; return; }
    "${how[@]}" --dtype f16 || return
    for source in "${sources[@]}"; do
        [[ $source != *_hopper.cu || $1 == sm_90 ]] || continue
        if grep -q TK_U64 "${source%/*}/contract.c"; then
            "${how[@]}" --dtype u64 --source "$source" || status=$?
            continue
        fi
        [ "$(types_of "$source")" = 1 ] || "${how[@]}" --dtype f32 --source "$source" || status=$?
    done
    return $status
}

status=0
without_compiler=()
for architecture in "$@"; do
    sources=(ops/*/kernel*.cu) # as they are named in certificates
    expected=0
    for source in "${sources[@]}"; do
        [[ $source == *_hopper.cu && $architecture != sm_90 ]] || expected=$((expected + $(types_of "$source")))
    done
    build "$architecture" >"$work/out" 2>"$work/err"
    built=$?
    cat "$work/out"
    if [ $built -eq 3 ]; then
        sed 's/^/    /' "$work/err"
        without_compiler+=("$architecture")
        continue
    fi
    problem=
    [ $built -eq 0 ] || problem="does not compile: $(cat "$work/err")"
    ! grep -qE ' spills [0-9]' "$work/out" || problem+=" spills registers: $(grep -E ' spills [0-9]' "$work/out")"
    ! grep -q '^    warning:' "$work/out" || problem+=" the compiler warns: $(grep '^    warning:' "$work/out")"
    done=$(grep -cE '(built|found) in [0-9.]+ s$' "$work/out")
    [ "$done" = "$expected" ] || problem+=" $done compilations, not $expected"
    # Each source must have told of at least one kernel, or the check of spills has looked at nothing.
    grep -A1 -E '(built|found) in [0-9.]+ s$' "$work/out" | grep -vE '^(ops/|--)' | grep -vqE ' registers, ' &&
        problem+=" a source without a kernel"
    if [ -n "$problem" ]; then
        echo "$backend $architecture: $problem"
        status=1
    else
        echo "$backend $architecture: $done compilations without spills or warnings"
    fi
done
if [ ${#without_compiler[@]} -gt 0 ]; then
    echo "skipped: no compiler of $backend for ${without_compiler[*]}; not compiled: ${sources[*]}"
    [ $status -ne 0 ] || status=77
fi
exit $status
