#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conform_ucx.sh - the API conformance programs over the ucx transport; see conform.sh.
set -eu
. "$top_srcdir/tests/transport/net/conform.sh"
for_each "ucx" all_suites
end
