#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exits.sh - each way in which a PE can end (exits.c), with SHMEM_FT=abort and continue, on one
# node and on virtual nodes: exit status and message of oshrun; the end of oshrun itself.
# Nothing is left behind.
set -eu
: "${top_srcdir:?}"
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
exits=$top_builddir/tests/ft/exits
limit_s=40 most_ms=20000

# ends FT STATUS TEXT OPTIONS WAY..: a job of 4 PEs ends with STATUS (a pattern of grep -E) and
# TEXT in the messages of oshrun.
ends() {
    ft=$1 want=$2 text=$3 options=$4
    shift 4
    normal=
    case $ft.$1 in abort.* | *.exit0 | *.return0) normal=EXITS_NORMAL=1 ;; esac
    began=$(now_ms) got=0
    # shellcheck disable=SC2086 # words
    timeout -s KILL "$limit_s" env "$mark" TMPDIR="$work/tmp" SHMEM_FT="$ft" $normal "$OSHRUN" \
        --timeout 20 $options -n 4 "$exits" "$@" >"$work/out" 2>"$work/err" || got=$?
    took=$(($(now_ms) - began))
    if ! echo "$got" | grep -qxE "$want"; then
        fail "$ft $options $*: status $got, expected $want"
        sed 's/^/    /' "$work/err"
    fi
    [ $took -lt $most_ms ] || fail "$ft $options $*: took $took ms"
    [ -z "$text" ] || says "$text"
    [ -n "$text" ] || [ ! -s "$work/err" ] || fail "$ft $*: $(cat "$work/err")"
    check_nothing_left "$ft $options $*"
}

# all OPTIONS
all() {
    survived='the job survived 1 failed PE: PE 1'
    for way in exit _exit return; do
        ends continue 0 "$survived.*exited with status 9" "$1" $way
        ends abort 9 'PE 1 .*exited with status 9' "$1" $way
    done
    ends continue 0 "$survived.*signal 6" "$1" abort
    ends continue 0 "$survived.*signal 11" "$1" segv
    ends continue 0 "$survived.*signal 9" "$1" kill
    ends abort 134 'PE 1 .*signal 6' "$1" abort
    ends abort 139 'PE 1 .*signal 11' "$1" segv
    ends abort 137 'PE 1 .*signal 9' "$1" kill
    ends abort 137 'PE 1 .*signal 9' "$1" finalize
    ends continue 0 "$survived" "$1" finalize
    ends continue 0 "$survived" "$1" finalize 20000 # the PE has departed before it dies
    ends continue 0 "$survived" "$1" exec
    ends abort 1 'PE 1 .*without shmem_finalize' "$1" exec
    for ft in continue abort; do
        ends $ft 0 '' "$1" exit0
        ends $ft 0 '' "$1" return0
        ends $ft 3 'PE 1 ended the job with status 3: shmem_global_exit' "$1" thread
        ends $ft 3 'PE 1 ended the job with status 3: shmem_global_exit' "$1" handler
    done
    # Before all PEs have joined the node, a failure ends the job.
    for us in 0 10000 40000; do
        ends continue '0|1|137' 'PE 1.*signal 9' "$1" init $us
        ends abort 137 'PE 1 .*signal 9' "$1" init $us
    done
}

# front FT SIGNAL STATUS: oshrun itself is killed; its PEs end.
front() {
    start -x SHMEM_FT="$1" -n 4 "$exits" sleep
    until_true 30 sleeping || fail "the PEs do not sleep"
    kill -s "$2" "$pid"
    ended_with "$3"
    until_true 30 no_process || fail "$1, SIG$2 to oshrun: processes are left: $(marked)"
    rm -rf "$work/tmp"
    mkdir "$work/tmp"
}

sleeping() {
    [ "$(grep -lzxF -e "$mark" /proc/[0-9]*/environ 2>/dev/null | wc -l)" -ge 5 ]
}

no_process() {
    [ -z "$(marked)" ]
}

all ''
[ -z "${PGAS_TEST_LONG:-}" ] || all '--vnodes 2'
for ft in continue abort; do
    front $ft KILL 137
    front $ft TERM 143
done
finish
