#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tcp.sh - the conformance suite over TCP sockets.
set -eu
. "$top_srcdir/tests/transport/lib.sh"

suite tcp ${brief:+-o $some}
finish
