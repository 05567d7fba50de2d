#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# active_many.sh - many active sets that overlap, with PEs that are outside: all of them as
# teams, and with space for a few teams only; with delays at the hand-overs; with threads;
# over nodes.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
program=$top_builddir/tests/api/multi/active_many

# many PES WAY OPTION..
many() {
    n=$1 way=$2
    shift 2
    run 0 --timeout 60 -n "$n" "$@" "$program" "$way"
}

few='-x SHMEM_TEAM_SIZE=4m'
sizes='2 5'
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='2 3 5'
# shellcheck disable=SC2086 # words
for n in $sizes; do
    many $n one
    many $n one $few -x SHMEM_STRESS=$n
    many $n mixed -x SHMEM_STRESS=$((n + 7))
    many $n threads
    many $n threads $few
done
# shellcheck disable=SC2086 # words
for n in ${sizes#2}; do
    many $n one --vnodes 2
    many $n one --vnodes 3 $few
    many $n mixed --vnodes 2
done
# An error only with SHMEM_DEBUG.
run 1 -n 3 -x SHMEM_DEBUG=1 "$program" one
grep -q "is no member of that active set" "$work/err" ||
    fail "SHMEM_DEBUG=1 and a PE outside: $(cat "$work/err")"
finish
