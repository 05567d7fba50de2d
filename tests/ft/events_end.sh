#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# events_end.sh - shmem_finalize with SHMEM_FT=continue sends no message to the PMIx server
# that delays the next one, and leaves the event handlers of the program: see events_end.c.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=60
for mode in alone shared; do
    run 0 -x SHMEM_FT=continue -n 2 "$top_builddir/tests/ft/events_end" $mode
    [ "$(grep -c '^passed$' "$work/out")" = 2 ] || fail "$mode: not all PEs passed"
done
finish
