#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ending.sh - a PE that accesses the memory of an exiting PE reports that it has ended, and
# does not mention PID namespaces.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for i in 1 2 3 4 5 6 7 8; do
    run 3 -n 4 "$bugs/ending"
    grep -q 'PID namespace' "$work/err" && {
        fail "run $i: the message names a wrong cause"
        sed 's/^/    /' "$work/err"
        break
    }
    grep -e '^pgas: PE [1-3]' "$work/err" | grep -v 'PE 0 (process [0-9]*) has ended' && {
        fail "run $i: unexpected message"
        break
    }
done
finish
