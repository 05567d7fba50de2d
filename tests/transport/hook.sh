#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hook.sh - the conformance suite on the hook transport, which wraps another transport and
# injects faults: delays, reordering, and posts refused with -EAGAIN.  sim.sh does the same
# with sim.  Only with PGAS_TEST_LONG: all cases over libfabric, UCX, and shm without faults
# or with more PEs.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

suite hook:shm -c seed=1,delay=300us,reorder,eagain=10 ${brief:+-o $some}
[ -z "$brief" ] || {
    finish
    exit
}
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    suite hook:shm
    suite hook:shm -n 5 -c seed=2,reorder
fi
cases=order,put_signal,done
[ -z "${PGAS_TEST_LONG:-}" ] || cases=
! has OFI || suite hook:ofi -c seed=3,delay=300us,reorder,eagain=10 ${cases:+-o $cases}
[ -z "${PGAS_TEST_LONG:-}" ] || ! has UCX || suite hook:ucx -c seed=4,delay=300us,reorder,eagain=10
finish
