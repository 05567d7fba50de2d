#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# uniform.sh - SHMEM_FT=continue: synchronizing calls during which a PE is killed succeed on
# all survivors or on none (uniform.c).  On one node, on virtual nodes with both transports,
# where whole nodes are killed too; with random delays in the barriers.  With SHMEM_FT_UNIFORM
# the same for collectives that move data, which leave no private memory behind (sanitizers).
# PGAS_TEST_LONG: 50 times as many kills.  UNIFORM_SEED: the first seed.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
uniform=$top_builddir/tests/ft/uniform
seed=${UNIFORM_SEED:-1} repeats=1 rounds=0
[ -z "${PGAS_TEST_LONG:-}" ] || repeats=50

# job 'OPTIONS OF oshrun' 'OPTIONS OF uniform' [NAME=VALUE..]
job() {
    oshrun_options=$1 options=$2 got=0
    shift 2
    # shellcheck disable=SC2086 # words
    set -- "$@" SHMEM_FT=continue SHMEM_STRESS="$seed" "$OSHRUN" --timeout 40 \
        $oshrun_options "$uniform" -s "$seed" $options
    timeout -s KILL "$limit_s" env "$mark" TMPDIR="$work/tmp" "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != 0 ]; then
        fail "status $got: env $*"
        cat "$work/out"
    fi
    rounds=$((rounds + $(sed -n 's/ rounds$//p' "$work/out" | head -n 1)))
    seed=$((seed + 1))
}

while [ $repeats -gt 0 ]; do
    repeats=$((repeats - 1))
    for n in 2 5 12; do
        job "-n $n" ''
    done
    job '-n 12' -a SHMEM_FT_UNIFORM=1
    job '--vnodes 3 -n 9' -a SHMEM_FT_UNIFORM=1
    job '-n 6' '' SHMEM_BARRIER_ALGORITHM=dissemination
    job '-n 6' '' SHMEM_DEBUG=1
    for transport in ofi ucx tcp; do
        job '--vnodes 3 -n 7' '' SHMEM_TRANSPORT=$transport
        job '--vnodes 4 -n 8' -N SHMEM_TRANSPORT=$transport
    done
done
echo "$rounds failures"
finish
