#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shared.sh - tests/coll/shared (node-shared results) with several numbers of PEs, on one
# node and on virtual nodes, without and with delays at synchronization points
# (SHMEM_STRESS); memory use; and the error messages.  COLL_SEED: first random seed.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
program=$top_builddir/tests/coll/shared
seed=${COLL_SEED:-1}
stacks_s=50 local_sizes='1 2 5' remote_sizes='2:5 3:4' calls=120
without_stress=0
[ -z "${SANITIZED:-}${DISTCHECK:-}" ] || local_sizes=3 remote_sizes=2:3 calls=60 without_stress=
[ -z "${PGAS_TEST_LONG:-}" ] ||
    local_sizes='1 2 3 8' remote_sizes='2:2 2:5 3:8 4:4' calls=20000 stacks_s=600 limit_s=700

mix() { # PEs, arguments of oshrun
    n=$1
    shift
    seed=$((seed + 1))
    for stress in $without_stress "$seed"; do
        run 0 --timeout $stacks_s -x SHMEM_STRESS="$stress" "$@" -n "$n" "$program" mix \
            "$calls" "$seed"
    done
}

for n in $local_sizes; do
    mix "$n"
done
for nodes in $remote_sizes; do
    mix "${nodes#*:}" --vnodes "${nodes%:*}"
done
mix 5 --vnodes 2 --map-by node

# -- memory --------------------------------------------------------------------------------
CHECK_VNODES=1 run 0 -n 8 "$program" memory private
cat "$work/out"
CHECK_VNODES=2 run 0 --vnodes 2 -n 5 "$program" memory
cat "$work/out"

# -- errors --------------------------------------------------------------------------------
wrong() { # case, message
    run 1 -n 2 "$program" wrong "$1"
    says "$2"
}
wrong invalid "shmemx_shared_ptr: argument 'shared' = (nil) is not a valid node-shared result \
(SHMEMX_SHARED_INVALID); use one from shmemx_shared_create"
wrong bytes "shmemx_shared_broadcast: argument 'bytes' = 1001, but the result was made for 1000 \
bytes; pass shmemx_shared_create a larger number"
wrong root "shmemx_shared_broadcast: argument 'PE_root' = 2, but the team has PEs 0..1"
wrong blocks "shmemx_shared_fcollect: argument 'bytes' = 501 of each of 2 PEs, but the result \
was made for 1000 bytes"
wrong elements "shmemx_long_shared_sum_reduce: argument 'nreduce' = 126 elements of 8 bytes, but \
the result was made for 1000 bytes"
wrong source "shmemx_long_shared_sum_reduce: 8 bytes at .* are not symmetric"
wrong differ "shmemx_shared_create: argument 'bytes' = .*; all PEs must pass the same number"
wrong team "shmemx_shared_reclaim: the team of argument 'shared' = .* has been destroyed; call"
wrong gone "shmemx_shared_reclaim: argument 'shared' = .* is not a valid node-shared result \
(already destroyed?)"
wrong again "shmemx_shared_reclaim: argument 'shared' = .* is not a valid node-shared result \
(already destroyed?)"
wrong left "PE 1 has exited or called shmem_finalize while other PEs wait in shmemx_shared_reclaim"
finish
