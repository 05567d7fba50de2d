#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What oshrun prints about the PEs of an OpenSHMEM program: where they are, at SIGUSR1 and
# --timeout.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
where=$top_builddir/tests/launcher/cli/oshrun-where

# at LINE: "oshrun-where.c:NUMBER".
at() {
    echo "oshrun-where.c:$(sed -n "/line: $1 /=" "$top_srcdir/tests/launcher/cli/oshrun-where.c")"
}

if command -v gdb >/dev/null || command -v eu-stack >/dev/null; then
    called=", called by enter ($(at barrier))"
    synced=", called by enter ($(at sync))"
    computes="compute ($(at compute)), called by main ($(at call-compute))"
else
    called='' synced='' computes='the program'
fi

there() {
    [ "$(grep -c 'is there' "$work/out")" = "$1" ]
}

# reports PLACE: a report, which this requests, has that line.
reports() {
    kill -USR1 "$pid"
    until_true 1 grep -qx -e "oshrun: $1" "$work/err"
}

# expect PLACE PLACE ARGS...: a report has both; then the job is ended.
expect() {
    first=$1 second=$2
    shift 2
    start "$@"
    until_true 20 there "$(echo "$*" | sed 's/.*-n \([0-9]*\).*/\1/')" || fail "$*: not all PEs start"
    until_true 20 reports "$first" || fail "$*: no report has '$first': $(cat "$work/err")"
    says "^oshrun: $second\$"
    ! grep -q 'stack of\|sleeps in' "$work/err" || fail "states or stacks without -v"
    kill -TERM "$pid"
    ended_with 143
}

expect "PE 0-2 in shmem_barrier_all (team WORLD)$called" "PE 3 in $computes" -n 4 "$where"
expect "PE 0-4 in shmem_barrier_all (team WORLD)$called" "PE 5 in $computes" \
    --vnodes 2 -n 6 "$where"
expect "PE 1,2 in shmem_team_sync (team of 3 PEs from PE 1)$synced" "PE 3 in $computes" \
    --vnodes 2 -n 4 "$where" team

run 124 --timeout 5 --vnodes 2 -n 4 "$where"
says "^oshrun: PE 0-2 in shmem_barrier_all (team WORLD)$called\$"
says "^oshrun: PE 3 in $computes\$"
! grep -q 'stack of\|sleeps in' "$work/err" || fail "states or stacks without -v"

run 124 -v --timeout 5 --vnodes 2 -n 4 "$where"
says "^oshrun: PE 0-2 in shmem_barrier_all (team WORLD)$called\$"
says '^oshrun:  *3 vn1 .* left shmem_init'
[ -z "$called" ] || says '^oshrun: stack of PE 3:'
[ -z "$called" ] || says '  main '
finish
