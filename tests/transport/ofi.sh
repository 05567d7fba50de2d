#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh - the conformance suite over libfabric: what it chooses by itself, the ways
# round for providers that do not order and do no atomics, and another provider.  Left to
# the long form: all of that provider, and operations in small pieces through a pool.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs OFI
suite ofi
[ -z "$brief" ] || {
    finish
    exit
}
suite ofi -a order,atomics
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    suite ofi -p net
    suite ofi -a order,size,local
else
    suite ofi -p net -o amo # what is different there
fi
suite ofi -a atomics,inject -o stopped.
finish
