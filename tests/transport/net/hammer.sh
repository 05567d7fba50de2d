#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hammer.sh - atomics of all PEs on one word, floods from all PEs to all, and random small
# operations against a model, on 2 virtual nodes of 2 PEs each (with PGAS_TEST_LONG also on
# 3); connections between all pairs of 16 PEs on 8 virtual nodes (64, and over ucx 128); see
# hammer.c, flood.c, mixed.c, all_pairs.c.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
hammer=100 flood=8 mixed=20000 grids=2 transports='ofi ucx tcp' pairs=16
[ -z "$long" ] || hammer=4000 flood=200 mixed=1000000 grids='2 3' pairs=64
[ -z "$brief" ] || transports=ofi

all_grids() {
    for nodes in $grids; do
        for program in "hammer $hammer" "flood $flood" "mixed $mixed"; do
            # shellcheck disable=SC2086 # a command with an argument
            job 0 "$nodes" $((2 * nodes)) "$net"/$program
            sed "s/^/$SHMEM_TRANSPORT, $nodes nodes: /" "$work/out"
        done
    done
}

all_pairs() {
    run 0 --timeout $stacks_s --vnodes 8 -n "$1" "$net/all_pairs" 2
    echo "$SHMEM_TRANSPORT, 8 nodes: $(cat "$work/out")"
}

for_each "$transports" all_grids
[ -n "$brief" ] || for_each "${long:+ofi ucx }tcp" all_pairs $pairs
[ -z "$long" ] || { stacks_s=200 limit_s=250 && for_each ucx all_pairs 128; }
end
