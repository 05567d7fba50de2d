#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh - the conformance suite over libfabric: what it chooses by itself, the ways
# round for providers that do not order and do no atomics, and another provider.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs OFI
suite ofi
[ -z "$brief" ] || {
    finish
    exit
}
suite ofi -a order,atomics
only='-o amo' pieces='-o signal.' # what is different there; all in the long form
[ -z "${PGAS_TEST_LONG:-}" ] || only='' pieces=''
# shellcheck disable=SC2086 # words
suite ofi -p net $only
suite ofi -a atomics,inject -o stopped.
# shellcheck disable=SC2086 # words
suite ofi -a order,size,local $pieces
finish
