#!/usr/bin/env bash
# A judging process that a signal ends, while it compiles and while it runs a kernel: none of its processes stays, and the next one
# removes its folders, but not those of one that lives.
set -uo pipefail
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
tokitai=$(readlink -f "${TOKITAI:-$root/build/tokitai}")
work=$(mktemp -d)
judge=
trap '[ -z "$judge" ] || kill -s KILL "$judge" 2>/dev/null; rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state LC_ALL=C TMPDIR=$work/tmp OMP_WAIT_POLICY=passive
mkdir "$TMPDIR"
cd "$work" || exit 1

failed=0
fail() {
    failed=$((failed + 1))
    echo "FAILED   $1"
}
until_true() { # COMMAND...: tries it for a minute
    local i
    for ((i = 0; i < 600; i++)); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}
folders() { find "$TMPDIR" -mindepth 1 -maxdepth 1 | sort; }
some_process() { grep -qs "$TMPDIR/tokita[i]-" /proc/[0-9]*/cmdline; }
no_process() { ! some_process; }
compiling() { compgen -G "$TMPDIR/*/begun" >/dev/null; }
running() { grep -qs "artifac[t]=$TMPDIR/" /proc/[0-9]*/cmdline; }

"$tokitai" new-kernel gelu_fwd >/dev/null || exit 1
cp "$root/examples/kernels/bad_endless.c" endless.c
cat >endless_compiler <<'COMPILER'
#!/bin/sh
[ "$1" != --version ] || exit 0
mkdir -p deep/deeper
chmod 0 deep
: >begun
while :; do sleep 1; done
COMPILER
chmod +x endless_compiler

certify() { # ARGUMENT...: becomes the program; what a shell starts beside itself would ignore SIGINT
    exec env --default-signal=INT "$tokitai" certify gelu_fwd --dtype f16 --skip-mutants "$@"
}
next() {
    (certify --kernel gelu_fwd.c) >out 2>&1 && return
    fail "the next certify"
    cat out
}
end_by() { # SIGNAL WHEN
    [ -n "$(folders)" ] || fail "there are no folders"
    kill -s "$1" "$judge"
    wait "$judge" 2>/dev/null
    local got=$?
    judge=
    [ $got -eq $((128 + $(kill -l "$1"))) ] || fail "SIG$1 ended it with status $got"
    until_true no_process || fail "processes stay after SIG$1"
    next
    if [ -z "$(folders)" ]; then echo "ok       SIG$1, $2"; else fail "SIG$1, $2: TMPDIR has $(find "$TMPDIR")"; fi
}

for signal in KILL INT TERM HUP; do
    certify --kernel endless.c --timeout 1000 >endless_out 2>&1 &
    judge=$!
    until_true running || fail "no kernel runs: $(cat endless_out)"
    if [ $signal = KILL ]; then
        before=$(folders)
        next
        [ "$before" = "$(folders)" ] || fail "the folders of a living process are gone"
    fi
    end_by $signal "while a kernel runs"
done
certify --kernel gelu_fwd.c --compiler ./endless_compiler >endless_out 2>&1 &
judge=$!
until_true compiling || fail "no compiler runs: $(cat endless_out)"
end_by KILL "while a compiler runs"

[ "$failed" -eq 0 ] || echo "$failed failed"
[ "$failed" -eq 0 ]
