#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# active_many.sh - many overlapping active sets, which non-members call too: with space for
# all of them as teams and for a few teams only, with injected delays (SHMEM_STRESS), with
# threads, and on several nodes.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
program=$top_builddir/tests/api/multi/active_many

# run_many PES WAY OPTION..: run active_many WAY with PES PEs and these options of oshrun.
run_many() {
    n=$1 way=$2
    shift 2
    run 0 --timeout 60 -n "$n" "$@" "$program" "$way"
}

few='-x SHMEM_TEAM_SIZE=4m'
sizes='2 5'
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='2 3 5'
# shellcheck disable=SC2086 # words
for n in $sizes; do
    run_many $n one
    run_many $n one $few -x SHMEM_STRESS=$n
    run_many $n mixed -x SHMEM_STRESS=$((n + 7))
    run_many $n threads
    run_many $n threads $few
done
# shellcheck disable=SC2086 # words
for n in ${sizes#2}; do
    run_many $n one --vnodes 2
    run_many $n one --vnodes 3 $few
    run_many $n mixed --vnodes 2
done
# With SHMEM_DEBUG a call by a non-member is an error.
run 1 -n 3 -x SHMEM_DEBUG=1 "$program" one
grep -q "is not a member of that active set" "$work/err" ||
    fail "SHMEM_DEBUG=1 and a PE outside: $(cat "$work/err")"
finish
