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

places() {
    grep -c '^oshrun: PE ' "$work/err" || :
}

more_places() {
    [ "$(places)" -gt "$1" ]
}

# reported PLACE: a report has that line.
reported() {
    grep -qxF -e "oshrun: $1" "$work/err"
}

# expect PLACE PLACE ARGS...: a report has both; then the job is ended.  PEs may not be in
# these places yet at the first reports.
expect() {
    first=$1 second=$2 reports=0
    shift 2
    start "$@"
    until_true 20 there "$(echo "$*" | sed 's/.*-n \([0-9]*\).*/\1/')" || fail "$*: not all PEs start"
    until [ $reports = 5 ] || { reported "$first" && reported "$second"; }; do
        reports=$((reports + 1)) before=$(places)
        kill -USR1 "$pid"
        until_true 40 more_places "$before" || fail "$*: no report"
    done
    reported "$first" || fail "$*: no report has '$first': $(cat "$work/err")"
    reported "$second" || fail "$*: no report has '$second': $(cat "$work/err")"
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
