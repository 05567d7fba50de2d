#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# destroy.sh - a thread that waits for a stopped PE in shmem_team_destroy does not block
# threads that create and destroy contexts; see destroy.c.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"

for_each tcp job 0 3 3 "$net/destroy"
end
