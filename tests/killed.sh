#!/usr/bin/env bash
# A judging process that a signal ends, while it compiles and while it runs a kernel: none of its processes stays, and the next one
# removes its folders, but not those of one that lives.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
judge=
trap '[ -z "$judge" ] || kill -s KILL "$judge" 2>/dev/null; rm -rf "$work"' EXIT
export TMPDIR=$work/tmp OMP_WAIT_POLICY=passive
mkdir "$TMPDIR"

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
next() { expect 0 "the next certify" certify gelu_fwd --dtype f16 --skip-mutants --kernel gelu_fwd.c; }
end_by() { # SIGNAL WHEN
    is "it has folders" test -n "$(folders)"
    kill -s "$1" "$judge"
    wait "$judge" 2>/dev/null
    local got=$?
    judge=
    is "SIG$1 $2 ended it: status $got" test $got -eq $((128 + $(kill -l "$1")))
    is "no process stays" until_true no_process
    next
    is "no folder stays" test -z "$(folders)"
}

for signal in KILL INT TERM HUP; do
    certify --kernel endless.c --timeout 1000 >out 2>err &
    judge=$!
    is "a kernel runs" until_true running
    if [ $signal = KILL ]; then
        before=$(folders)
        next
        is "the folders of a living process stay" test "$before" = "$(folders)"
    fi
    end_by $signal "while a kernel runs"
done
certify --kernel gelu_fwd.c --compiler ./endless_compiler >out 2>err &
judge=$!
is "a compiler runs" until_true compiling
end_by KILL "while a compiler runs"
finish
