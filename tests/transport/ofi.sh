#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh - the conformance suite over libfabric: the default provider, the fallbacks for
# providers without ordering and atomics, and another provider.  Only with PGAS_TEST_LONG:
# all cases of those, and transfers in small segments through a registered bounce pool.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs OFI
suite ofi ${brief:+-o $some}
[ -z "$brief" ] || {
    finish
    exit
}
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    suite ofi -a order,atomics
    suite ofi -p net
    suite ofi -a order,size,local
    suite ofi -a immediate
else # only the cases that use these code paths
    suite ofi -a order,atomics -o order,amo,race
    suite ofi -p net -o amo
    suite ofi -a order,atomics -s -o put_signal,done.quiet_all,lost
fi
suite ofi -s -o put_signal,order,done,stopped
suite ofi -a atomics,inject -o stopped.
suite ofi -a immediate -o blocks
finish
