#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# progress.sh - contexts progress without calls on them; see progress.c.  Also with injected
# delays, so that operations are in flight while their PE sleeps, and while a thread opens
# its transport context, or calls quiet while others post without a gap; and with threads that
# use the default context of several initializations.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"

progress() {
    job 0 2 2 "$net/progress"
    case ${long:+long}:${brief:+brief}:$SHMEM_TRANSPORT in
    :brief:* | ::ucx) return ;;
    esac
    job 0 3 5 "$net/progress"
    [ "$SHMEM_TRANSPORT" != tcp ] || job 0 2 2 "$top_builddir/tests/api/multi/again.pes" 6
    SHMEM_FAULTS=seed=1,delay=20ms job 0 2 2 "$net/progress"
    SHMEM_FAULTS=seed=1,delay=50ms job 0 2 2 "$top_builddir/tests/api/multi/default_threads.pes" 0 16384
}

for_each "ofi ucx tcp" progress
end
