#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stress.sh - a random mix of calls by 8 threads of 4 PEs, verified (stress.c), with random delays
# in the program and in the library, on one node and on virtual nodes with each transport.
# A second; PGAS_TEST_LONG: ten minutes.  THREADS_SEED: the first seed; THREADS_S: seconds of a job.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
seed=${THREADS_SEED:-1} seconds=${THREADS_S:-0.3} repeats=1 transports="ucx tcp"
[ -z "${PGAS_TEST_LONG:-}" ] || seconds=${THREADS_S:-30} repeats=5 limit_s=150 transports="ofi ucx tcp"

# job 'OPTIONS OF oshrun'
job() {
    # shellcheck disable=SC2086 # words
    run 0 --timeout $((limit_s - 10)) -n 4 -x SHMEM_STRESS=$((seed % 3 * seed)) $1 \
        "$top_builddir/tests/threads/stress" -s "$seed" -w "$seconds" ${2:-}
    sed "s/^/seed $seed $1: /" "$work/out"
    seed=$((seed + 1))
}

while [ $repeats -gt 0 ]; do
    repeats=$((repeats - 1))
    job ''
    [ -z "${PGAS_TEST_LONG:-}" ] || job '-x SHMEM_DEBUG=1'
    for transport in $transports; do
        job "--vnodes 2 -x SHMEM_TRANSPORT=$transport" '-a 8'
    done
done

# Lost updates are reported.
run 1 --timeout 50 -n 4 "$top_builddir/tests/threads/stress" -D -w 20
says 'now\[0\]\[i\] is'
finish
