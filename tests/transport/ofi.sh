#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh - the conformance suite over libfabric: what it chooses by itself, the ways
# round for providers that do not order and do no atomics, and another provider.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs OFI
suite ofi
[ -n "${DISTCHECK:-}" ] || suite ofi -a order,atomics
only=amo # what is different there; all in the long form
[ -z "${PGAS_TEST_LONG:-}" ] || only=
[ -n "$brief" ] || suite ofi -p net ${only:+-o $only}
[ -n "$brief" ] || {
    suite ofi -a atomics,inject -o stopped.
    suite ofi -a size,local -o signal.
    suite ofi -a order,size,local -o signal.
}
finish
