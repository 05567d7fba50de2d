#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh - the conformance suite over libfabric: what it chooses by itself, the ways
# round for providers that do not order and do no atomics, and another provider.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs OFI
suite ofi
suite ofi -a order,atomics
suite ofi -p net
finish
