#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# annex.sh - each case of annex.c with 3 PEs and SHMEM_DEBUG=2 ends within half a minute
# with the expected message and a nonzero status.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
program=$top_builddir/tests/api/check/annex
limit=30

status=0
bad() { echo "FAILED $*"; sed 's/^/    /' "$work/out" | tail -n 12; status=1; }

"$program" --list >"$work/cases"
n=0
while IFS='|' read -r name message; do
    n=$((n + 1))
    code=0
    SHMEM_DEBUG=2 SHMEM_SYMMETRIC_SIZE=1m timeout -k 1 "$limit" \
        "$OSHRUN" -n 3 "$program" "$name" </dev/null >"$work/out" 2>&1 || code=$?
    if [ "$code" -eq 124 ] || [ "$code" -eq 137 ]; then
        bad "$name: it did not end within $limit s"
    elif [ -z "$message" ]; then
        [ "$code" -eq 0 ] || bad "$name: is allowed, but ended with status $code"
    elif [ "$code" -eq 0 ]; then
        bad "$name: ended with status 0"
    else
        grep -qF "$message" "$work/out" || bad "$name: no PE printed \"$message\""
    fi
done <"$work/cases"
echo "$n cases"
[ "$n" -ge 30 ] || { echo "only $n cases"; status=1; }
exit $status
