#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nb.sh - tests/coll/nb (nonblocking collectives) with several numbers of PEs, on one node
# and on virtual nodes with each transport, without and with delays at synchronization
# points (SHMEM_STRESS), and the error messages.  COLL_SEED: first random seed.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
program=$top_builddir/tests/coll/nb
seed=${COLL_SEED:-1}
stacks_s=50 local_sizes='1 2 5' remote_sizes=2:5 calls=250 few=60 pairs='2 5'
without_stress=0
[ -z "$brief" ] || local_sizes=3 remote_sizes=2:3 calls=80 few=30 pairs=3 without_stress=
[ -z "${PGAS_TEST_LONG:-}" ] ||
    local_sizes='1 2 3 5 8' remote_sizes='2:5 3:8' calls=30000 few=3000 stacks_s=900 limit_s=1000

mix() { # calls, PEs, arguments of oshrun
    some=$1 n=$2
    shift 2
    seed=$((seed + 1))
    for stress in $without_stress "$seed"; do
        run 0 --timeout $stacks_s -x SHMEM_STRESS="$stress" "$@" -n "$n" "$program" mix \
            "$some" "$seed"
    done
}

# With an unlimited sleep time, so that a lost wake-up makes the test time out.
run_sleeping() { # arguments of oshrun and of the program
    run 0 --timeout $stacks_s -x SHMEM_SLEEP_NS=1600000000000 "$@"
}

for n in $local_sizes; do
    mix $calls "$n"
done
[ -n "$brief" ] || mix $calls 5 -x SHMEM_REPRODUCIBLE=1
mix $calls 5 -x SHMEM_DEBUG=1 ${brief:+-x SHMEM_REPRODUCIBLE=1}
over_nodes() {
    for nodes in $remote_sizes; do
        mix $few "${nodes#*:}" --vnodes "${nodes%:*}"
    done
    run_sleeping --vnodes 2 -n 4 "$program" many
    run_sleeping --vnodes 2 -n 4 "$program" waits
    run 0 --timeout $stacks_s --vnodes 2 -n 3 "$program" overlap
}
transports="ofi ucx tcp"
[ -z "$brief" ] || transports=ofi
for_each "$transports" over_nodes

for n in $pairs; do
    run_sleeping -n "$n" "$program" threads $calls "$seed"
    run_sleeping -n "$n" "$program" overlap
    run_sleeping -n "$n" "$program" waits
    run_sleeping -n "$n" "$program" many
    run 0 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 -n "$n" "$program" order
done
run 0 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 --vnodes 2 -n 5 "$program" order
run 0 --timeout $stacks_s --vnodes 2 -n 4 "$program" threads $few "$seed"

# -- errors --------------------------------------------------------------------------------
wrong() { # case, message
    run 1 -n 2 "$program" wrong "$1"
    says "$2"
}
wrong finalize "shmem_finalize: 1 nonblocking collectives have been started and not completed, \
one of them by nb_barrier; test or wait for each before"
wrong destroy "shmem_team_destroy: 1 nonblocking collectives have been started and not completed"
wrong root "nb_bcast: argument 'PE_root' = 2, but the team has PEs 0..1"
wrong source "nb_fcollect: .* not symmetric"
wrong left "PE 1 has exited or called shmem_finalize while other PEs wait in nb_barrier"
run 1 --vnodes 2 -n 2 "$program" wrong left
says "PE 1 has exited or called shmem_finalize while other PEs wait in nb_barrier"
end
