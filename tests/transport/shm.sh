#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shm.sh - the conformance suite on the shm transport, with 3 PEs and with more.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

suite shm
[ -n "$brief" ] || suite shm -n 7
finish
