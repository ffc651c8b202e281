# Completion of tokitai for bash. Installed as bash-completion/completions/tokitai, or sourced from ~/.bashrc.
# Names come from the program itself, so that they never go stale.

# The words of a kind: ops, families, backends, gpus, types, attributes (as options), the choices of an attribute (by its option), or the
# mutants, variants or lowerings of an op.
_tokitai_list() {
    tokitai ops --list="$1" ${2:+"$2"} 2>/dev/null
}

# The first op on the command line, if any.
_tokitai_op() {
    local word ops
    ops=" $(_tokitai_list ops | tr '\n' ' ') "
    for word in "${COMP_WORDS[@]:2}"; do
        if [[ -n $word && $ops == *" $word "* ]]; then
            printf '%s' "$word"
            return
        fi
    done
}

_tokitai_reply() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_tokitai_files() {
    local suffix=$1 current=$2
    mapfile -t COMPREPLY < <(compgen -d -- "$current"; [ "$suffix" = / ] || compgen -f -X "!*$suffix" -- "$current")
    compopt -o filenames 2>/dev/null
}

# Options if one was begun, else the words that can stand there.
_tokitai_options() { # current, options, words
    if [[ $1 == -* ]]; then
        _tokitai_reply "$2" "$1"
    else
        _tokitai_reply "$3" "$1"
    fi
}

_tokitai_options_or_files() { # current, options, suffix
    if [[ $1 == -* ]]; then
        _tokitai_reply "$2" "$1"
    else
        _tokitai_files "$3" "$1"
    fi
}

# The choices of an attribute behind its option; 1 if it is none.
_tokitai_attributes() { # current, previous
    [[ $2 == --* && " $(_tokitai_list attributes | tr '\n' ' ')" == *" $2 "* ]] || return
    _tokitai_reply "$(_tokitai_list "$2")" "$1"
}

_tokitai_certify() {
    local current=$1 previous=$2
    case $previous in
        --backend) _tokitai_reply "$(_tokitai_list backends)" "$current" ;;
        --lowering) _tokitai_reply "all best slowest $(_tokitai_list lowerings "$(_tokitai_op)")" "$current" ;;
        --dtype) _tokitai_reply "$(_tokitai_list types "$(_tokitai_op)") first all" "$current" ;;
        --index) _tokitai_reply "i32 i64 all" "$current" ;;
        --variant) _tokitai_reply "$(_tokitai_list variants "$(_tokitai_op)")" "$current" ;;
        --mutant) _tokitai_reply "$(_tokitai_list mutants "$(_tokitai_op)")" "$current" ;;
        --level) _tokitai_reply "quick full exhaustive" "$current" ;;
        --family) _tokitai_reply "$(_tokitai_list families)" "$current" ;;
        --out | --kernels | --include) _tokitai_files / "$current" ;;
        --sign | --kernel | --json-lines | --junit) _tokitai_files "" "$current" ;;
        --compiler | --program) _tokitai_reply "$(compgen -c -- "$current")" "$current" ;;
        --flags | --timeout | --memory | --tasks | --output-size | --folder-depth | --total-timeout | --jobs | --seed | --threads | --alignment | --shape | --input | --plant) COMPREPLY=() ;;
        *) _tokitai_attributes "$current" "$previous" || _tokitai_options "$current" "--kernel --kernels --program --include --compiler --flags --timeout --jobs --json-lines --junit --backend
                    --lowering $(_tokitai_list attributes) --dtype --index --mutant --variant --level --seed --skip-mutants --fresh-mutants --keep-going --sanitize --no-sanitize --no-coverage
                    --memory --tasks --output-size --folder-depth --total-timeout --allow-weak-sandbox
                    --threads --alignment
                    --shape --family --input --plant --out --sign --json --quiet --help" "$(_tokitai_list ops)" ;;
    esac
}

_tokitai_judge() {
    local current=$1 previous=$2
    case $previous in
        --inputs | --outputs | --out | --sign) _tokitai_files "" "$current" ;;
        --dtype) _tokitai_reply "$(_tokitai_list types "$(_tokitai_op)")" "$current" ;;
        *) _tokitai_attributes "$current" "$previous" || _tokitai_options "$current" "--inputs --outputs --dtype $(_tokitai_list attributes) --out --sign --json --help" "$(_tokitai_list ops)" ;;
    esac
}

_tokitai_bench() {
    local current=$1 previous=$2
    case $previous in
        --lowering) _tokitai_reply "best $(_tokitai_list lowerings "$(_tokitai_op)")" "$current" ;;
        --dtype) _tokitai_reply "$(_tokitai_list types "$(_tokitai_op)") all" "$current" ;;
        --index) _tokitai_reply "i32 i64 all" "$current" ;;
        --indices) _tokitai_reply "uniform zipf equal all" "$current" ;;
        --backend) _tokitai_reply "$(_tokitai_list backends)" "$current" ;;
        --peers) _tokitai_reply "none plain sleef openblas blis onednn libxsmm flint pytorch torch.compile triton cublaslt" "$current" ;;
        --chart) _tokitai_files .svg "$current" ;;
        --from) _tokitai_files .json "$current" ;;
        --shape | --threads | --seconds) COMPREPLY=() ;;
        *) _tokitai_attributes "$current" "$previous" || _tokitai_options "$current" "--backend --lowering $(_tokitai_list attributes) --dtype --index --indices --shape --sweep --growth --scaling --startup --peers --certify
                    --threads --seconds --cpu-time --chart --json --from --help" "$(_tokitai_list ops)" ;;
    esac
}

_tokitai_kernel() {
    local current=$1 previous=$2
    case $previous in
        --backend) _tokitai_reply "$(_tokitai_list backends)" "$current" ;;
        --socket) _tokitai_files "" "$current" ;;
        --max-frame) COMPREPLY=() ;;
        *) _tokitai_options "$current" "--server --binary --socket --backend --max-frame --help" "gelu-bwd softmax gemm-bw embedding" ;;
    esac
}

_tokitai_corpus() {
    local current=$1 previous=$2
    case $previous in
        --level) _tokitai_reply "quick full" "$current" ;;
        --dtype) _tokitai_reply "$(_tokitai_list types "$(_tokitai_op)") all" "$current" ;;
        --chart) _tokitai_files .svg "$current" ;;
        --seed | --threads) COMPREPLY=() ;;
        *) _tokitai_options "$current" "--level --dtype --seed --threads --chart --json --verbose --help" "$(_tokitai_list ops)" ;;
    esac
}

_tokitai_tune() {
    local current=$1 previous=$2
    case $previous in
        --backend) _tokitai_reply "$(_tokitai_list gpus)" "$current" ;;
        --lowering) _tokitai_reply "$(_tokitai_list lowerings "$(_tokitai_op)")" "$current" ;;
        --dtype) _tokitai_reply "$(_tokitai_list types "$(_tokitai_op)") all" "$current" ;;
        --shapes) _tokitai_files "" "$current" ;;
        --shape | --seconds | --candidates) COMPREPLY=() ;;
        *) _tokitai_attributes "$current" "$previous" || _tokitai_options "$current" "--backend --lowering $(_tokitai_list attributes) --dtype --shape --shapes --seconds --candidates --dry-run --json --help" "$(_tokitai_list ops)" ;;
    esac
}

_tokitai_shards() {
    local current=$1 previous=$2 join="--contract --primary --accept-majority --sign --no-certificate --json --help"
    local layout="--count --dim --rule --by-tensor --halo --replicas --step"
    case $previous in
        --output | -o | --primary | --sign) _tokitai_files "" "$current" ;;
        --concat-dim | --rule | --in-rule | --contract | --count | --dim | --halo | --replicas | --step | --within) COMPREPLY=() ;;
        *)
            if [[ $current != -* ]]; then
                mapfile -t COMPREPLY < <(compgen -d -- "$current"; compgen -f -X '!*.@(safetensors|json)' -- "$current")
                compopt -o filenames 2>/dev/null
                return
            fi
            case ${COMP_WORDS[1]} in
                glue) _tokitai_reply "--output --concat-dim --rule $join" "$current" ;;
                shard) _tokitai_reply "--output $layout --json --help" "$current" ;;
                reshard) _tokitai_reply "--output --in-rule $layout $join" "$current" ;;
                diff-ckpt) _tokitai_reply "--within --all --json --help" "$current" ;;
            esac ;;
    esac
}

_tokitai_cache() {
    local current=$1 previous=$2
    case $previous in
        --backend) _tokitai_reply "$(_tokitai_list gpus)" "$current" ;;
        --dtype) _tokitai_reply "$(_tokitai_list types "$(_tokitai_op)") all" "$current" ;;
        --architecture | --source) COMPREPLY=() ;;
        *)
            if [[ $current == -* ]]; then
                _tokitai_reply "--json --repair --backend --architecture --source --dtype --help" "$current"
            elif ((COMP_CWORD == 2)); then
                _tokitai_reply "list verify clear build" "$current"
            fi ;;
    esac
}

_tokitai() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} commands="ops devices certify judge new-kernel corpus check replay diff report keygen bench tune padic kernel glue shard reshard diff-ckpt cache"
    # "--dtype=bf" comes as three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _tokitai_reply "$commands help --help --version" "$current"
        return
    fi
    case ${COMP_WORDS[1]} in
        ops) _tokitai_options "$current" "--json --families --proof --help" "$(_tokitai_list ops)" ;;
        devices) _tokitai_reply "--json --help" "$current" ;;
        certify) _tokitai_certify "$current" "$previous" ;;
        judge) _tokitai_judge "$current" "$previous" ;;
        new-kernel)
            case $previous in
                --backend) _tokitai_reply "$(_tokitai_list backends)" "$current" ;;
                --out) _tokitai_files "" "$current" ;;
                *) _tokitai_options "$current" "--backend --out --force --help" "$(_tokitai_list ops)" ;;
            esac ;;
        corpus) _tokitai_corpus "$current" "$previous" ;;
        bench) _tokitai_bench "$current" "$previous" ;;
        kernel) _tokitai_kernel "$current" "$previous" ;;
        tune) _tokitai_tune "$current" "$previous" ;;
        glue | shard | reshard | diff-ckpt) _tokitai_shards "$current" "$previous" ;;
        cache) _tokitai_cache "$current" "$previous" ;;
        check)
            if [[ $previous == --key ]]; then
                _tokitai_files .pub "$current"
            elif [[ $current == -* ]]; then
                _tokitai_reply "--key --json --markdown --help" "$current"
            else
                _tokitai_files .json "$current"
            fi ;;
        padic)
            case $previous in
                -p | --prime | -N | --precision | --threads) COMPREPLY=() ;;
                *)
                    if [[ $current == -* ]]; then
                        _tokitai_reply "--prime --precision --output --digits --check --report --threads --help" "$current"
                    elif ((COMP_CWORD == 2)); then
                        _tokitai_reply "gemm solve det" "$current"
                    else
                        _tokitai_files "" "$current"
                    fi ;;
            esac ;;
        keygen) _tokitai_options_or_files "$current" "--force --json --help" "" ;;
        replay)
            case $previous in
                --kernel | --include | --compiler) _tokitai_files "" "$current" ;;
                --flags | --timeout | --trial-memory | --memory | --tasks | --output-size | --folder-depth | --total-timeout) COMPREPLY=() ;;
                *) _tokitai_options_or_files "$current" "--kernel --include --compiler --flags --timeout --trial-memory --memory --tasks
                            --output-size --folder-depth --total-timeout --allow-weak-sandbox --json --help" .json ;;
            esac ;;
        diff) _tokitai_options_or_files "$current" "--json --help" .json ;;
        report)
            if [[ $previous == --output || $previous == -o ]]; then
                _tokitai_files .html "$current"
            elif [[ $current == -* ]]; then
                _tokitai_reply "--output --help" "$current"
            else
                _tokitai_files .json "$current"
            fi ;;
        help) _tokitai_reply "$commands" "$current" ;;
    esac
}

complete -F _tokitai tokitai
