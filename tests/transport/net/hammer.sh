#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hammer.sh - atomics of all PEs at one word, and floods of all to all, on 2 x 2 and 3 x 2
# virtual nodes; see hammer.c, flood.c.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
hammer=200 flood=16 grids='2 3' transports='ofi ucx'
[ -z "$long" ] || hammer=4000 flood=200
[ -z "$brief" ] || hammer=100 flood=8 grids=2

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
