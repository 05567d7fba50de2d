#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conform_tcp.sh - the API conformance programs over the tcp transport; see conform.sh.
set -eu
. "$top_srcdir/tests/transport/net/conform.sh"
for_each "tcp" all_suites
end
