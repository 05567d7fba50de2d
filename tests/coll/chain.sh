#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# chain.sh - tests/coll/chain on 2 to 8 virtual nodes with each transport, with delays at
# synchronization points (SHMEM_STRESS), reordered messages, too little scratch memory, and a PE that has
# left.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
SHMEM_INTERNODE_REDUCE_ALGORITHM=chain
export SHMEM_INTERNODE_REDUCE_ALGORITHM
program=$top_builddir/tests/coll/chain
transports='ofi ucx tcp' shapes='2:2 3:3 4:8 8:8' calls=100 stress=0
[ -z "$brief" ] || transports=ofi shapes='3:5' calls=60
[ -z "$long" ] || shapes='2:2 2:7 3:3 3:7 4:4 5:8 6:11 7:7 8:8 8:16' calls=2000 stacks_s=900 limit_s=1000

over_nodes() {
    for shape in $shapes; do
        [ -n "$long" ] || [ "$transport" != tcp ] || [ "$shape" = 3:3 ] || continue
        run 0 --timeout $stacks_s -x SHMEM_STRESS=$((stress = stress + 1)) -x CHECK_SEED=$stress \
            --vnodes "${shape%:*}" -n "${shape#*:}" "$program" $calls
    done
}
for_each "$transports" over_nodes
run 0 --timeout $stacks_s -x SHMEM_DEBUG=1 --vnodes 3 -n 3 "$program" $calls
run 0 --timeout $stacks_s --vnodes 3 -n 3 "$program" order
run 0 --timeout $stacks_s --vnodes 5 -n 5 "$program" order
# Selected by a table it is used only if the bits may depend on the order of arrival.
printf '%s\n' 'pgas-coll-table 2' 'machine *' 'internode_reduce chain * * 2-' >"$work/table"
by_table="--timeout $stacks_s -x SHMEM_INTERNODE_REDUCE_ALGORITHM=auto -x SHMEM_COLL_TABLE=$work/table"
# shellcheck disable=SC2086 # words
run 0 $by_table -x SHMEM_REPRODUCIBLE=0 --vnodes 3 -n 3 "$program" order
# shellcheck disable=SC2086 # words
run 1 $by_table --vnodes 3 -n 3 "$program" order
says 'never in order of arrival'
run 1 --timeout $stacks_s -x SHMEM_REPRODUCIBLE=1 --vnodes 3 -n 3 "$program" order
says 'never in order of arrival'
run 0 --timeout $stacks_s -x SHMEM_SHARED_SIZE=64k --vnodes 2 -n 3 "$program" 20
run 0 --timeout $stacks_s -x SHMEM_TRANSPORT=ofi -x SHMEM_NET_DISABLE=order --vnodes 4 -n 5 "$program" $calls
run 0 --timeout $stacks_s -x SHMEM_FAULTS=seed=7,delay=500us,reorder,eagain=20 -x SHMEM_STRESS=5 --vnodes 3 -n 4 \
    "$program" $((4 * calls))
# A PE finalizes while the others wait for it.
for elements in 1 20000; do
    run 1 --timeout $stacks_s --vnodes 3 -n 5 "$top_builddir/tests/coll/internode_departed" reduce $elements
    says 'PE 4 has exited or called shmem_finalize while other PEs wait in'
done
end
