#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# replay.sh - what a PE has sent on a tcp connection, handshake and a put, is recorded and
# sent once more: it is refused (replay.c).
# PGAS_UNDER_TEST=PREFIX: of the installed library.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
program=$net/replay
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
    program=$work/replay
    "$PGAS_UNDER_TEST/bin/oshcc" -D_GNU_SOURCE -o "$program" \
        "$top_srcdir/tests/transport/net/replay.c"
fi

SHMEM_TRANSPORT=tcp
export SHMEM_TRANSPORT
job 0 2 2 "$program"
cat "$work/out"
prints '^rows 2, outcomes 2$'
end
