#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nb.sh - tests/coll/nb (nonblocking collectives) at several numbers of PEs, on one node and
# on virtual ones with each transport, without and with delays at every hand-over, and the
# sentences about wrong calls.  COLL_SEED: another sequence.
set -eu
. "$top_srcdir/tests/cli/oshrun-lib.sh"
program=$top_builddir/tests/coll/nb
seed=${COLL_SEED:-1}
stacks_s=50 near='1 2 3 5 8' far='2:2 2:5 3:8' calls=400
[ -z "${SANITIZED:-}${DISTCHECK:-}" ] || near='3 5' far=2:5 calls=120
[ -z "${PGAS_TEST_LONG:-}" ] || calls=30000 stacks_s=900 limit_s=1000

mix() { # PEs, arguments of oshrun
    n=$1
    shift
    seed=$((seed + 1))
    for stress in 0 "$seed"; do
        run 0 --timeout $stacks_s -x SHMEM_STRESS="$stress" "$@" -n "$n" "$program" mix \
            "$calls" "$seed"
    done
}

for n in $near; do
    mix "$n"
done
mix 5 -x SHMEM_REPRODUCIBLE=1
mix 5 -x SHMEM_DEBUG=1
for transport in ofi ucx; do
    export SHMEM_TRANSPORT=$transport
    for nodes in $far; do
        mix "${nodes#*:}" --vnodes "${nodes%:*}"
    done
    run 0 --timeout $stacks_s --vnodes 2 -n 4 "$program" many
    run 0 --timeout $stacks_s --vnodes 2 -n 4 "$program" waits
    run 0 --timeout $stacks_s --vnodes 2 -n 3 "$program" overlap
done
unset SHMEM_TRANSPORT

for n in 2 5; do
    run 0 --timeout $stacks_s -n "$n" "$program" threads "$calls" "$seed"
    run 0 --timeout $stacks_s -n "$n" "$program" overlap
    run 0 --timeout $stacks_s -n "$n" "$program" waits
    run 0 --timeout $stacks_s -n "$n" "$program" many
    run 0 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 -n "$n" "$program" order
done
run 0 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 --vnodes 2 -n 5 "$program" order
run 0 --timeout $stacks_s --vnodes 2 -n 4 "$program" threads "$calls" "$seed"

# -- what is wrong -------------------------------------------------------------------------
wrong() { # what, sentence
    run 1 -n 2 "$program" wrong "$1"
    says "$2"
}
wrong finalize "shmem_finalize: 1 nonblocking collectives have been started and not completed, \
one of them by nb_barrier; test or wait for each before"
wrong destroy "shmem_team_destroy: 1 nonblocking collectives have been started and not completed"
wrong root "nb_bcast: argument 'PE_root' = 2, but the team has PEs 0..1"
wrong source "nb_fcollect: .* not symmetric"
wrong left "PE 1 has left (shmem_finalize) while PE 0 waits in nb_barrier"
run 1 --vnodes 2 -n 2 "$program" wrong left
says "PE 1 has left (shmem_finalize) while PE 0 waits in nb_barrier"
finish
