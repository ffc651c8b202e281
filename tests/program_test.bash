# Sourced by the scripts that test the program: puts them into an empty folder, and gives them these to run it and to look at what it wrote.
# $root is the source tree, $tokitai the program, $work the folder.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
[ -x "$tokitai" ] || { echo "no program at $tokitai"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state LC_ALL=C
cd "$work" || exit 1

passed=0 failed=0 skipped=0
pass() { passed=$((passed + 1)); echo "ok       $1"; }
fail() {
    failed=$((failed + 1))
    echo "FAILED   $1"
    sed 's/^/    out: /' out 2>/dev/null | head -30
    sed 's/^/    err: /' err 2>/dev/null | head -30
}
skip() { skipped=$((skipped + 1)); echo "skipped  $1: $2"; }
is() { # TITLE COMMAND...: the command succeeds
    local title=$1
    shift
    if "$@"; then pass "$title"; else fail "$title"; fi
}

subcommand=() # what `expect` puts before the arguments

# expect STATUS TITLE ARGUMENT...: runs the program, its output going to the files out and err.
expect() {
    local status=$1 title=$2
    shift 2
    "$tokitai" "${subcommand[@]}" "$@" >out 2>err </dev/null
    local got=$?
    if [ $got -eq "$status" ]; then pass "$title"; else fail "$title: exit status $got, not $status"; fi
}
says() { # FILE REGEX
    if grep -qE -- "$2" "$1"; then pass "    $1 says: $2"; else fail "    $1 does not say: $2"; fi
}
count() { # NUMBER FILE REGEX: so many lines match
    local got
    got=$(grep -cE -- "$3" "$2")
    if [ "$got" -eq "$1" ]; then pass "    $1 times in $2: $3"; else fail "    $got times in $2, not $1: $3"; fi
}
silent() { # FILE
    if [ -s "$1" ]; then fail "    $1 should be empty"; else pass "    nothing on $1"; fi
}
bad_usage() { # TITLE MESSAGE ARGUMENT...: refused, with that message and nothing else
    local title=$1 message=$2
    shift 2
    expect 2 "$title" "$@"
    says err "$message"
    silent out
}

# A safetensors file: HEADER BYTES, the bytes as the %b of printf takes them.
st() {
    local length
    printf -v length '\\x%02x\\x%02x' $((${#1} % 256)) $((${#1} / 256))
    printf "$length\0\0\0\0\0\0%s%b" "$1" "$2"
}
tensor() { printf '"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' "$@"; } # NAME DTYPE SHAPE BEGIN END

# Certificates
forge() { # FROM SED: to forged.json, with a SHA-256 that fits
    sed "$2" "$1" >edited.json
    cmp -s "$1" edited.json && fail "    $2 changes nothing"
    local hash
    hash=$(sed '/^  "integrity": {$/,/^  },$/d' edited.json | sha256sum | cut -d ' ' -f 1)
    sed "/^  \"integrity\": {\$/,/^  },\$/s/\"sha256\": \".*\"/\"sha256\": \"$hash\"/" edited.json >forged.json
}

if command -v python3 >/dev/null && python3 -c '' 2>/dev/null; then
    json_good() { python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"; }
elif command -v jq >/dev/null; then
    json_good() { jq -e . "$1" >/dev/null; }
else
    json_good() { grep -qE '^[[{]' "$1" && tail -n 1 "$1" | grep -qE '[]}]$'; }
fi

# The last line of a script.
finish() {
    echo
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
    exit
}
