#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pairs.sh - two threads of a PE in blocking calls never wait for each other (pairs.c): pairs of
# all blocking routines, on one node and on virtual nodes with each transport, with more threads
# than processors.  A sample; PGAS_TEST_LONG: all pairs, ten times.  PAIRS_SEED: the first seed.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
pairs=$top_builddir/tests/threads/pairs
seed=${PAIRS_SEED:-1} sample=40 repeats=1 transports="ucx tcp"
[ -z "${SANITIZED:-}${DISTCHECK:-}" ] || sample=24
[ -z "${PGAS_TEST_LONG:-}" ] || sample=0 repeats=10 limit_s=600 transports="ofi ucx tcp"

# The cases are those of tests/ft/nohang.txt, which has each routine of the library, except the
# routines for failures and shmem_finalize.
awk '!/^#/ && $1 != "-" && $1 !~ /^(agree|shrink|revoke|finalize|threads)$/ { print $1 }' \
    "$top_srcdir/tests/ft/nohang.txt" | sort >"$work/routines"
"$pairs" -l | sort | diff "$work/routines" - || fail "cases of nohang.txt (<) and pairs.c (>)"

# job STATUS 'OPTIONS OF oshrun' 'OPTIONS OF pairs'
job() {
    : >"$work/shm"
    # shellcheck disable=SC2086 # words
    run "$1" --timeout $((limit_s - 10)) $2 -n 3 "$pairs" -b "$work/shm" -s "$seed" $3
    sed "s/^/$2 $3: /" "$work/out"
    seed=$((seed + 1))
}

while [ $repeats -gt 0 ]; do
    repeats=$((repeats - 1))
    job 0 '' "-n $sample -e 6"
    for transport in $transports; do
        job 0 "--vnodes 3 -x SHMEM_TRANSPORT=$transport" "-n $sample -e $((seed % 3 * 3))"
        prints '[1-9][0-9]* of [1-9][0-9]* by a stopped process'
    done
    [ -n "${PGAS_TEST_LONG:-}" ] || break
    job 0 '' '' # the threads do not outnumber the processors as much
    job 0 "-x SHMEM_STRESS=$seed" '-e 2'
    for transport in $transports; do
        job 0 "--vnodes 2 -x SHMEM_TRANSPORT=$transport" '-e 6'
        job 0 "--vnodes 2 -x SHMEM_TRANSPORT=$transport -x SHMEM_STRESS=$seed" ''
    done
done

# A library with one lock around its calls is reported.  One run of a pair might not show it: a
# process may still answer after SIGSTOP was sent to it, and the second thread may be the first.
job 1 '' '-g -w 3 -n 20 -c wait_until,team_sync'
says 'FAIL: thread 0 in wait_until, thread 1 in team_sync: team_sync has not returned'
job 1 '--vnodes 3' '-g -w 3 -n 20 -c get,get'
says 'FAIL: thread 0 in get, thread 1 in get: get has not returned'
finish
