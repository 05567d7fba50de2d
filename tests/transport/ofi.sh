#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh - the conformance suite over libfabric: what it chooses by itself, the ways
# round for providers that do not order and do no atomics, and another provider.  Left to
# the long form: all cases of those, and operations in small pieces through a pool.
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
else # what is different there
    suite ofi -a order,atomics -o order,amo,race
    suite ofi -p net -o amo
fi
suite ofi -a atomics,inject -o stopped.
finish
