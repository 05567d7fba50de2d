#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# conform_ofi.sh - the API conformance programs over the ofi transport; see conform.sh.
set -eu
. "$top_srcdir/tests/transport/net/conform.sh"
for_each "ofi" all_suites
end
