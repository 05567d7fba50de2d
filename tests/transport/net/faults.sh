#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# faults.sh - programs of tests/api/multi and tests/transport/net with fault injection
# (SHMEM_FAULTS): the transport delays, reorders and refuses operations.  On virtual nodes,
# and on one node, where SHMEM_FAULTS routes all operations through the transport.
# FAULTS_SEED: the first random seed.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
seed=${FAULTS_SEED:-1}
everything=delay=300us,reorder,eagain=20
programs='order signal contexts strided default_threads' loads='hammer:20 flood:4 mixed:3000'
[ -z "$long" ] || programs="$programs globals active alltoall barrier bcast collect lock reduce"
[ -z "$long" ] || programs="$programs teams wait_peers contexts_threads amo_contended"
[ -z "$brief" ] || programs='order signal' loads=

# run_with_faults NAME VNODES: run all programs, each with its own seed; VNODES may be empty.
run_with_faults() {
    for name in $programs; do
        seed=$((seed + 1))
        SHMEM_FAULTS=seed=$seed,$everything PES_VNODES=$2 PES_SIZES=3 \
            sh "$top_srcdir/tests/run-pes" "$top_builddir/tests/api/multi/$name.pes" \
            >"$work/out" 2>&1 || {
            fail "$1, SHMEM_FAULTS=seed=$seed,$everything: $name"
            cat "$work/out"
        }
    done
    for load in $loads; do
        seed=$((seed + 1))
        run 0 --timeout $stacks_s ${2:+--vnodes "$2"} -n 4 \
            -x SHMEM_FAULTS=seed=$seed,$everything "$net/${load%:*}" "${load#*:}"
        sed "s/^/$1, seed $seed: /" "$work/out"
    done
}

over_nodes() {
    run_with_faults "$SHMEM_TRANSPORT" 2
}

for_each "ofi ${long:+ucx tcp}" over_nodes
run_with_faults 'one node' ''
end
