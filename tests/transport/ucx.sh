#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ucx.sh - the conformance suite over UCX.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

needs UCX
suite ucx ${brief:+-o $some}
[ -n "$brief" ] || suite ucx -s # all operations by requests
finish
