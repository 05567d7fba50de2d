#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stress.sh - tests/api/multi/coll_mix with each algorithm of each collective, without and with
# delays at synchronization points (SHMEM_STRESS), with 5 PEs (PGAS_TEST_LONG: 2 to 16, a
# million calls), with small and large data.  COLL_SEED: first random seed.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
seed=${COLL_SEED:-1}
stacks_s=50 sizes=5 calls=150 few=25
[ -z "${SANITIZED:-}${DISTCHECK:-}" ] || sizes=3 calls=60
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='2 3 4 5 8 16' calls=9300 few=300 stacks_s=900 limit_s=1000

# one STRESS PES CALLS ELEMENTS NAME=VALUE..: run coll_mix once; STRESS: 0 or 1.
one() {
    stress=$1 n=$2 some=$3 elements=$4
    shift 4
    seed=$((seed + 1))
    (
        export "$@" SHMEM_STRESS=$((stress * seed))
        run 0 --timeout $stacks_s -n "$n" "$top_builddir/tests/api/multi/coll_mix.pes" \
            "$some" "$seed" "$elements"
        [ $failures -eq 0 ]
    ) || fail "$* seed $seed, stress $((stress * seed)): $n PEs"
    total=$((total + some))
}

# mix NAME=VALUE..: with all numbers of PEs, each run with its own seed.
mix() {
    for n in $sizes; do
        one 0 "$n" $calls 3000 "$@"
        one 1 "$n" $calls 3000 "$@"
    done
}

# large NAME=VALUE..: the same with data of several chunks and segments.
large() {
    for n in $sizes; do
        one $((n % 2)) "$n" $few 40000 "$@"
    done
    one 1 2 $few 40000 "$@"
}

total=0
for algorithm in auto flat last first lines slices chain tree static; do
    mix SHMEM_REDUCE_ALGORITHM=$algorithm
done
for algorithm in auto slices chain tree static; do
    large SHMEM_REDUCE_ALGORITHM=$algorithm
done
mix SHMEM_DEBUG=1 SHMEM_REDUCE_ALGORITHM=chain
for algorithm in mailbox direct barrier; do
    others=mailbox exchange=$algorithm barrier=dissemination
    [ $algorithm != barrier ] || others=barrier
    [ $algorithm != direct ] || exchange=arrival barrier=counter
    mix SHMEM_BROADCAST_ALGORITHM=$algorithm SHMEM_FCOLLECT_ALGORITHM=$exchange \
        SHMEM_COLLECT_ALGORITHM=$others SHMEM_ALLTOALL_ALGORITHM=$exchange \
        SHMEM_SCAN_ALGORITHM=$others SHMEM_BARRIER_ALGORITHM=$barrier
done
# Groups of several levels.
for groups in 2 3 none; do
    mix SHMEM_COLL_GROUPS=$groups SHMEM_BARRIER_ALGORITHM=tree SHMEM_REDUCE_ALGORITHM=groups \
        SHMEM_BROADCAST_ALGORITHM=groups SHMEM_FCOLLECT_ALGORITHM=barrier
done
run 1 -n 2 -x SHMEM_COLL_GROUPS=1 "$top_builddir/examples/hello"
says "SHMEM_COLL_GROUPS = '1' should be auto, none, or the number of members of a group"
# Different collectives that use the same synchronization words alternately.
for algorithm in chain tree; do
    mix SHMEM_REDUCE_ALGORITHM=$algorithm SHMEM_FCOLLECT_ALGORITHM=arrival \
        SHMEM_ALLTOALL_ALGORITHM=arrival
done
large SHMEM_REDUCE_ALGORITHM=tree SHMEM_FCOLLECT_ALGORITHM=arrival \
    SHMEM_ALLTOALL_ALGORITHM=arrival
# Strides, and dest overlapping the source.
for test in alltoall collect; do
    for n in $sizes; do
        run 0 --timeout $stacks_s -n "$n" -x SHMEM_STRESS=$((seed += 1)) \
            -x SHMEM_FCOLLECT_ALGORITHM=arrival -x SHMEM_ALLTOALL_ALGORITHM=arrival \
            "$top_builddir/tests/api/multi/$test.pes"
    done
done
# A PE finalizes while the others wait for it.
for n in 2 5; do
    run 1 --timeout $stacks_s -n "$n" -x SHMEM_ALLTOALL_ALGORITHM=arrival \
        "$top_builddir/tests/coll/internode_departed" alltoall 5000
    says "PE $((n - 1)) has exited or called shmem_finalize while other PEs wait in"
done
run 1 -n 2 -x SHMEM_REDUCE_ALGORITHM=quick "$top_builddir/examples/hello"
grep -q "SHMEM_REDUCE_ALGORITHM = 'quick' is not an algorithm; use one of auto, flat" \
    "$work/err" || fail "an unknown algorithm: $(cat "$work/err")"
echo "$total calls"
finish
