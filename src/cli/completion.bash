# SHOWS. Completion of tokitai for bash. Installed as bash-completion/completions/tokitai, or sourced from ~/.bashrc.
# The program itself says what a word may become, from the tables that its parsers use.

_tokitai() {
    local current=${COMP_WORDS[COMP_CWORD]} kind ending words=()
    [[ $current != = ]] || current=
    COMPREPLY=()
    while read -r kind ending; do
        case $kind in
            /files | /folders)
                [[ $kind == /folders ]] || mapfile -t COMPREPLY < <(shopt -s extglob; compgen -f -X "!*$ending" -- "$current")
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current")
                compopt -o filenames 2>/dev/null ;;
            /programs) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
            *) words+=("$kind") ;;
        esac
    done < <(tokitai --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "${words[*]}" -- "$current")
}

complete -F _tokitai tokitai
