# Sourced by tests that do a part of their work at each commit: of COUNT shares another one each time, so that COUNT commits in a row do all.
#
#     say_share COUNT           says which share it is, and how to choose another
#     in_share INDEX COUNT      whether what has that index, from 0, belongs to it
#
# It is the number of commits modulo COUNT; TOKITAI_SHARE=NUMBER chooses another. Without git, and in a clone without all commits, it is 0.
# $root is the source tree.

if [ -n "${TOKITAI_SHARE-}" ]; then
    [[ $TOKITAI_SHARE =~ ^[0-9]{1,9}$ ]] || { echo "TOKITAI_SHARE=$TOKITAI_SHARE is not a number"; exit 1; }
    share_number=$((10#$TOKITAI_SHARE)) share_by="by TOKITAI_SHARE"
elif [ -e "$root/.git" ] && [ "$(git -C "$root" rev-parse --is-shallow-repository 2>/dev/null)" = false ] &&
    share_number=$(git -C "$root" rev-list --count HEAD 2>/dev/null); then
    share_by="by the number of commits"
else
    share_number=0 share_by="since the number of commits is not known here"
fi

say_share() {
    echo "share $((share_number % $1)) of 0 to $(($1 - 1)), $share_by; TOKITAI_SHARE=NUMBER chooses another"
}
in_share() {
    [ $(($1 % $2)) -eq $((share_number % $2)) ]
}
