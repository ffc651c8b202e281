# Sourced by tests that do a share of their work each time: another one with every commit, so that all of it is done in turn.
# TOKITAI_SHARE says which instead.

share_of() { # N: which of the shares 0 to N - 1; the first where there is no git
    local number=${TOKITAI_SHARE:-}
    [ -n "$number" ] || number=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-list --count HEAD 2>/dev/null) || number=0
    echo $((number % $1))
}
