#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# progress.sh - contexts go on without a call on them; see progress.c.  Also where operations
# are late, so that they are under way when their PE sleeps.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"

progress() {
    job 0 2 2 "$net/progress"
    case ${long:+long}:${brief:+brief}:$SHMEM_TRANSPORT in
    :brief:* | ::ucx) return ;;
    esac
    job 0 3 5 "$net/progress"
    SHMEM_FAULTS=seed=1,delay=20ms job 0 2 2 "$net/progress"
}

for_each "ofi ucx" progress
end
