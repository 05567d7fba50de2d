#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hammer.sh - atomics of all PEs on one word, and floods from all PEs to all, on 2 virtual
# nodes of 2 PEs each (with PGAS_TEST_LONG also on 3); see hammer.c, flood.c.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
hammer=100 flood=8 grids=2 transports='ofi ucx tcp'
[ -z "$long" ] || hammer=4000 flood=200 grids='2 3'
[ -z "$brief" ] || transports=ofi

all_grids() {
    for nodes in $grids; do
        for program in "hammer $hammer" "flood $flood"; do
            # shellcheck disable=SC2086 # a command with an argument
            job 0 "$nodes" $((2 * nodes)) "$net"/$program
            sed "s/^/$SHMEM_TRANSPORT, $nodes nodes: /" "$work/out"
        done
    done
}

for_each "$transports" all_grids
end
