#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# active_departed.sh - if a PE finalizes while others wait for it in a collective of a team
# or an active set, the job ends with a message that names it.
set -eu
program=$top_builddir/tests/api/multi/active_departed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect_named WAY LEAVER PES: active_departed WAY fails with a message that names LEAVER.
expect_named() {
    status=0
    timeout -k 5 60 "$OSHRUN" -n "$3" "$program" "$1" >"$work/out" 2>&1 || status=$?
    if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] ||
        ! grep -q "PE $2 has exited or called shmem_finalize while other PEs wait in shmem_" \
            "$work/out"; then
        echo "active_departed $1 with $3 PEs: status $status"
        cat "$work/out"
        failed=1
    fi
}

for n in 2 5; do
    expect_named shared $((n - 1)) $n
    expect_named shared-first-late 0 $n
    expect_named team $((n - 1)) $n
    expect_named team-first 0 $n
    expect_named team-late $((n - 1)) $n
    expect_named set $((n - 1)) $n
    expect_named set-late $((n - 1)) $n
    expect_named set-first 0 $n
    expect_named set-first-late 0 $n
    expect_named broadcast-first 0 $n
done
exit $failed
