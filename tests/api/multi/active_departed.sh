#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# active_departed.sh - a PE that finalizes while others wait for it in a team or an active set
# is named, and the job ends.
set -eu
program=$top_builddir/tests/api/multi/active_departed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# left WAY LEAVER PES: runs it; LEAVER must be named.
left() {
    status=0
    timeout -k 5 60 "$OSHRUN" -n "$3" "$program" "$1" >"$work/out" 2>&1 || status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] ||
        ! grep -q "PE $2 has exited or called shmem_finalize while PE [0-9]* waits in shmem_" \
            "$work/out"; then
        echo "active_departed $1 with $3 PEs: status $status"
        cat "$work/out"
        failed=1
    fi
}

for n in 2 5; do
    left shared $((n - 1)) $n
    left shared-first-late 0 $n
    left team $((n - 1)) $n
    left team-first 0 $n
    left team-late $((n - 1)) $n
    left set $((n - 1)) $n
    left set-late $((n - 1)) $n
    left set-first 0 $n
    left set-first-late 0 $n
    left broadcast-first 0 $n
done
exit $failed
