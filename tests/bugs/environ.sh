#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# environ.sh - environ.c on one node, and on two virtual nodes with each transport.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
unset FI_OFI_RXM_BUFFER_SIZE UCX_MEM_EVENTS
limit_s=30

run 0 -n 2 "$bugs/environ"
for transport in ofi ucx tcp; do
    # A build may lack one of the transports.
    SHMEM_TRANSPORT=$transport job --vnodes 2 -n 2 "$bugs/environ"
    [ "$got" = 0 ] || grep -q 'built without' "$work/err" || wrong "over $transport"
done
finish
