#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# internode.sh - tests/coll/internode on virtual nodes with equal and unequal numbers of PEs,
# with each transport, with delays at synchronization points (SHMEM_STRESS).
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
program=$top_builddir/tests/coll/internode
stacks_s=150 limit_s=180 shapes='3:5' rounds=0
[ -z "$brief" ] || shapes=2:3
[ -z "${PGAS_TEST_LONG:-}" ] || shapes='2:4 2:7 3:7 4:4 5:5 6:7 4:11 7:9' rounds=10 stacks_s=900 limit_s=1000

over_nodes() {
    for shape in $shapes; do
        for leader in first static; do
            run 0 --timeout $stacks_s -x SHMEM_STRESS=$((stress += 1)) -x SHMEM_INTERNODE_LEADER=$leader \
                -x SHMEM_INTERNODE_RADIX=$((stress % 3 + 2)) \
                --vnodes "${shape%:*}" -n "${shape#*:}" "$program" $rounds
        done
    done
}
stress=0
# The runs with faults are the short form of tcp and of ofi.
[ -z "$brief$long" ] || for_each "ofi ${long:+ucx tcp}" over_nodes
# With too little shared memory for the leader scratch buffers; on more nodes than those whose
# leaders exchange messages directly (DIRECT_NODES).
little_memory() {
    run 0 --timeout $stacks_s -x SHMEM_SHARED_SIZE=64k --vnodes "$1" -n "$2" "$program" $rounds
}
if [ -z "$brief" ]; then for_each ucx little_memory 6 6; else little_memory 2 3; fi
# The node phases by groups of several levels.
for leader in first static; do
    [ -n "$brief" ] || run 0 --timeout $stacks_s -x SHMEM_STRESS=1 -x SHMEM_COLL_GROUPS=2 \
        -x SHMEM_BARRIER_ALGORITHM=tree -x SHMEM_REDUCE_ALGORITHM=groups \
        -x SHMEM_BROADCAST_ALGORITHM=groups -x SHMEM_INTERNODE_LEADER=$leader \
        --vnodes 2 -n 9 "$program" $rounds
done
# With results that do not depend on the order of arrival; with a transport that does not order
# messages; with injected delays, reordering and refused posts.
run_with_faults() {
    run 0 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 -x SHMEM_DEBUG=1 -x SHMEM_TRANSPORT=ofi \
        -x SHMEM_STRESS=1 -x SHMEM_NET_DISABLE=order -x SHMEM_INTERNODE_LEADER=first \
        --vnodes 4 -n 8 "$program" $rounds
    run 0 --timeout $stacks_s -x SHMEM_FAULTS=seed=5,delay=100us,reorder,eagain=20 \
        --vnodes 3 -n 4 "$program" $rounds
}
[ -n "$brief" ] || run_with_faults
# The bits of scans and of reproducible reductions are the same on each number of nodes, also if
# the PEs of a node do not have consecutive numbers.
order() {
    run 0 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 -x SHMEM_STRESS=$((stress += 1)) \
        --vnodes "$1" -n "$2" --map-by "$3" "$program" order
}
order 4 6 slot
order 2 5 node
[ -z "$long" ] || for nodes in 1 2 3 4 5; do
    order $nodes 7 slot
    order $nodes 7 node
done
# Sizes, numbers of nodes and ring buffers at their limits.
run 0 --timeout $stacks_s -x SHMEM_INTERNODE_RADIX=4 --vnodes 4 -n 8 "$program"_limits
run 0 --timeout $stacks_s -x SHMEM_INTERNODE_LEADER=first --vnodes 4 -n 8 "$program"_limits
run 1 -x SHMEM_INTERNODE_RADIX=1 --vnodes 2 -n 2 "$program"_limits
says 'SHMEM_INTERNODE_RADIX=1: must be 2 to 64'
[ -z "$long" ] || run 0 --timeout $stacks_s --vnodes 17 -n 17 "$program"_limits nodes
# A PE finalizes while the others wait for it: one call of each kind; with PGAS_TEST_LONG one
# of each algorithm.
leaves='reduce:20000 broadcast:100 alltoall:50'
[ -z "$long" ] || leaves="$leaves reduce:1 reduce:1000 rooted:20000 broadcast:20000 collect:20
    collect:10000 alltoall:1 alltoall:5000"
leave_each() {
    for call in $leaves; do
        run 1 --timeout $stacks_s --vnodes 3 -n 5 "$program"_departed "${call%:*}" "${call#*:}"
        says 'PE 4 has exited or called shmem_finalize while other PEs wait in'
    done
}
run 1 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 --vnodes 3 -n 5 "$program"_departed reduce 20000
says 'PE 4 has exited or called shmem_finalize while other PEs wait in'
# The last one on its node, and one of two.
for pes in 3 6; do
    run 1 --timeout $stacks_s --vnodes 3 -n $pes \
        -x SHMEM_INTERNODE_ALLTOALL_ALGORITHM=pairwise "$program"_departed mismatch 5000
    says "PE $((pes - 1)) has exited or called shmem_finalize while other PEs wait in shmem_long_alltoall"
done
[ -z "$long" ] || for_each "ofi ucx" leave_each
[ -n "$brief$long" ] || leave_each
end
