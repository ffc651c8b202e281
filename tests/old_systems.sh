#!/usr/bin/env bash
# Kernel files where the system offers less: strong as long as one means keeps files from them, closed where none does, unless it is asked
# for. As this user and, if that is root, as an ordinary one too.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
old_system=$(dirname "$tokitai")/tests/old_system
[ -x "$old_system" ] || { echo "no program at $old_system"; exit 1; }
"$old_system" "" true || { echo "skipped: no filters of system calls here"; exit 77; }
chmod 0755 "$work"
cp "$root/examples/kernels/gelu_fwd.c" . && chmod 0644 gelu_fwd.c
# It says UNKNOWN (it returns 9) where the secret can be read.
printf 'no business of a kernel\n' >secret
chmod 0644 secret
cat >reads.c <<KERNEL
#include "tokitai_kernel.h"
#include <fcntl.h>
int tokitai_gelu_fwd(const tokitai_call *call, int64_t n, const void *x, void *y)
{
    (void)call, (void)n, (void)x, (void)y;
    return open("$work/secret", O_RDONLY) >= 0 ? 9 : 8;
}
KERNEL

user=()
judge() { # STATUS TITLE MEANS KERNEL ARGUMENT...
    local status=$1 title=$2 means=$3 kernel=$4 got
    shift 4
    "${user[@]}" env "XDG_STATE_HOME=$folder" "XDG_CACHE_HOME=$folder" "TMPDIR=$folder" "$old_system" "$means" \
        "$tokitai" certify gelu_fwd --dtype f16 --skip-mutants --no-coverage --kernel "$kernel" --out "$folder" "$@" \
        >out 2>err </dev/null
    got=$?
    if [ $got -eq "$status" ]; then pass "$title"; else fail "$title: exit status $got, not $status"; fi
}
replayed() { # STATUS TITLE MEANS ARGUMENT...: the last certificate
    local status=$1 title=$2 means=$3 got
    shift 3
    "${user[@]}" env "XDG_STATE_HOME=$folder" "XDG_CACHE_HOME=$folder" "TMPDIR=$folder" "$old_system" "$means" \
        "$tokitai" replay "$certificate" "$@" >out 2>err </dev/null
    got=$?
    if [ $got -eq "$status" ]; then pass "$title"; else fail "$title: exit status $got, not $status"; fi
}
offered() { # TEXT: the last certificate does not say that this could not be set up
    ! grep -E "\"$1[^\"]*could not be set up" "$certificate" >/dev/null
}

check() { # WHO
    folder=$work/$1
    mkdir -m 0777 "$folder"
    chmod 0777 "$folder"
    certificate=$folder/kernel.cpu.gelu_fwd.f16.gelu_fwd.json
    judge 0 "$1: with all that there is" "" gelu_fwd.c --allow-weak-sandbox
    local landlock=0 tree=0
    offered Landlock && landlock=1
    grep -q 'mount namespace: private file tree, read-only except the scratch folder"' "$certificate" && tree=1

    if [ $landlock = 1 ]; then
        judge 0 "$1: Landlock alone is enough" namespaces gelu_fwd.c
        says "$certificate" '"strength": "strong"'
        says "$certificate" '"user namespace: failed'
        judge 3 "$1: Landlock alone keeps files" namespaces reads.c
        says out 'it returned 8'
    else
        skip "$1: Landlock alone" "it is not offered here"
    fi
    if [ $tree = 1 ]; then
        judge 0 "$1: a tree alone is enough" landlock gelu_fwd.c
        says "$certificate" '"strength": "strong"'
        says "$certificate" '"Landlock: failed'
        judge 3 "$1: a tree alone keeps files" landlock reads.c
        says out 'it returned 8'
    else
        skip "$1: a tree alone" "it is not offered here"
    fi
    local built
    built=$(dirname "$tokitai")/tests
    if [ $tree = 1 ] && [ -e "$built/fake_gpu/libcuda.so.1" ]; then
        TOKITAI_CUDA_LIBRARY=$built/fake_gpu/libcuda.so.1 \
            judge 1 "$1: a GPU's driver finds what it needs in the tree" "" "$built/kernels/cuda_copy.so" --backend cuda --shape n=5
        says "$folder/kernel.cuda.gelu_fwd.f16.cuda_copy.json" 'mount namespace: private file tree'
        says "$folder/kernel.cuda.gelu_fwd.f16.cuda_copy.json" '"verdict": "REFUTED"'
    else
        skip "$1: a GPU's driver in the tree" "there is no such tree here, or no driver to try"
    fi
    judge 3 "$1: neither is refused" landlock,namespaces gelu_fwd.c
    says out 'sandbox incomplete'
    says out 'allow-weak-sandbox'
    says "$certificate" '"verdict": "UNKNOWN"'
    judge 0 "$1: neither is run if that is asked for" landlock,namespaces gelu_fwd.c --allow-weak-sandbox
    says out 'confinement weak: files are not protected'
    says "$certificate" '"strength": "weak"'
    says "$certificate" '"weakness": "files are not protected'
    says "$certificate" '"compiler": "[^"]*[0-9]"'
    says "${certificate%.json}.md" 'Confinement: weak'
    replayed 3 "$1: its replay is refused" landlock,namespaces
    says err 'sandbox incomplete'
    says err 'allow-weak-sandbox'
    replayed 0 "$1: its replay is run if that is asked for" landlock,namespaces --allow-weak-sandbox
    says out 'same; verdict HELD'
    judge 3 "$1: what it is warned of is so" landlock,namespaces reads.c --allow-weak-sandbox
    says out 'it returned 9'
    judge 3 "$1: no system call filter is refused" seccomp gelu_fwd.c
    says out 'no system call filter'
}

check this_user
# RLIMIT_NPROC does not bind root, so that only a control group limits tasks.
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    judge 0 "tasks of root" "" gelu_fwd.c --tasks 50
    if grep -qE '"control group: tasks' "$certificate"; then
        says "$certificate" '"tasks": 50'
        says "${certificate%.json}.md" '^. tasks . 50 .$'
    else
        says "$certificate" '"tasks": "not limited"'
    fi
    user=(unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh)
    judge 0 "tasks of root without control groups" "" gelu_fwd.c --tasks 50
    says "$certificate" '"tasks": "not limited"'
    says "${certificate%.json}.md" '^. tasks . not limited .$'
    user=()
else
    skip "tasks of root" "this is not root, or may not mount"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --regid 65534 --clear-groups \
    test -x "$tokitai" -a -r "$work/gelu_fwd.c"; then
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    check nobody
    if grep -q '"user namespace"' "$certificate"; then
        judge 0 "tasks of an ordinary user" "" gelu_fwd.c --tasks 50
        says "$certificate" '"tasks": 50'
    fi
else
    skip "as another user" "this is not root, or the program is not for others to run"
fi
finish
